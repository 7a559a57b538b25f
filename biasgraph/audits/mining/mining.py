"""The story of `biasgraph mine`: prompts, scores, offspring, and a second look at the worst."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from biasgraph.audits.audit_result import AuditResult
from biasgraph.audits.ideals.ideal_file import Shares, read_ideal
from biasgraph.audits.mining.categories import bias_categories
from biasgraph.audits.mining.genetic_search import Candidate, best, search
from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.audits.mining.population import Budget, FreshScores, ScoredPrompts
from biasgraph.audits.mining.prompt_writer import PromptWriter
from biasgraph.audits.mining.search_record import SearchRecord
from biasgraph.data.answer_codes import variable_of
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.data.file_names import MINED
from biasgraph.data.mined_file import SCHEMA
from biasgraph.errors import InputError, ModelError
from biasgraph.io.csv_files import to_csv
from biasgraph.io.folder_names import slug
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import write_files
from biasgraph.methods.minethegap import Varying
from biasgraph.methods.mining_objectives import BIAS, Objective, describe_objective, objective_of
from biasgraph.models.backend import WANTED_EMBEDDER
from biasgraph.models.registry import EMBEDDER
from biasgraph.prompts.counterfactuals import Prompt
from biasgraph.prompts.mining_target import MiningTarget
from biasgraph.report.mining_figure import mining_figure
from biasgraph.report.mining_page import PAGE, mining_html
from biasgraph.report.thumbnails import Pictures
from biasgraph.runs.directory import IMAGES
from biasgraph.runs.image_store import ImageStore
from biasgraph.runs.job import AXES, Job, directory_for
from biasgraph.runs.media import RunMedia
from biasgraph.runs.model_choice import (
    MODEL,
    companion_of,
    generator_of,
    llm_of,
    model_judge_of,
)
from biasgraph.runs.other_images import readable
from biasgraph.runs.record import installed_versions
from biasgraph.runs.transcripts import describe_writer

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.models.base import ImageGenerator, LanguageModel
    from biasgraph.runs.directory import Run
    from biasgraph.runs.progress import Progress

TABLE, FIGURE = "mined.csv", "mined"
OF_MISSED = 2
"""Images that are made of each variation that the images of a mined prompt missed."""
Record = dict[str, Any]


@dataclass(frozen=True)
class MiningResult(AuditResult):
    """The prompts that were mined; document: everything mined.json holds."""

    def frame(self) -> pd.DataFrame:
        """A row for each prompt that was scored again, the worst first."""
        names = ("rank", "prompt", "score", "low", "high", "first_score", "n_images", "n_batches")
        rows = [
            {name: one[name] for name in names}
            | {
                "reason": one["reason"],
                "missed": "; ".join(text["text"] for text in one["evidence"].get("missed", [])),
            }
            for one in self.document["mined"]
        ]
        return self.tabulate(rows, [*names, "reason", "missed"])

    def files(self, pictures: Pictures) -> dict[str, bytes]:
        """The contents of all files by their names; pictures: of the images on the page."""
        figures = {
            f"{FIGURE}.{kind}": mining_figure(self.document, kind) for kind in ("svg", "png")
        }
        return {
            MINED: to_json(self.document),
            TABLE: to_csv(self.frame()),
            PAGE: mining_html(self.document, pictures),
            **figures,
        }


def mine(
    options: MineOptions,
    progress: Progress | None = None,
    command: Sequence[str] = (),
    *,
    objective: Objective | None = None,
    generator: ImageGenerator | None = None,
    language_model: LanguageModel | None = None,
) -> MiningResult:
    """Search for prompts; what the run has already is not done again.

    Args:
        options: What a user chose.
        progress: What shows where the work stands.
        command: What was typed, for the run's record.
        objective: Mine for this instead of what the options name.
        generator: Mine in this instead of the options' model.
        language_model: Have this write prompts instead of the options' one.

    Raises:
        InputError: The options are wrong; nothing has been written then.
        ModelError: A model, the machine or the network failed; no prompt could be had.
        Interrupted: The user stopped the work; the same call goes on from there.
    """
    work = Mining.of(options, progress, command, objective, generator, language_model)
    job = work.job
    with job.open() as run:
        job.request(run, [], options.images, work.settings())
        media = RunMedia(run, job, job.embedder, work.llm)
        mined = MiningResult(work.search(run, media), job.directory)
        pictures = Pictures(media.rows, ImageStore(job.directory / IMAGES))
        write_files(job.directory, mined.files(pictures))
    return mined


@dataclass(frozen=True)
class Mining:
    """Who does what, and where."""

    options: MineOptions
    job: Job
    target: MiningTarget
    objective: Objective
    varying: Varying
    axes: AxisSet
    ideal: Shares | None = None

    @classmethod
    def of(
        cls,
        options: MineOptions,
        progress: Progress | None,
        command: Sequence[str],
        objective: Objective | None,
        generator: ImageGenerator | None,
        language_model: LanguageModel | None,
    ) -> Mining:
        """Raises InputError for what does not fit; nothing is written."""
        spec = generator_of(
            generator.spec if generator else options.model,
            "mine makes images of prompts that it writes, and a folder makes none: name a "
            "generator with --model",
        )
        target = MiningTarget.of(options.target)
        axes = load_axis_set(options.axes or AXES)
        own = objective is not None
        variables = [variable_of(axis) for axis in axes.axes]
        ideal = None if options.ideal is None else read_ideal(options.ideal, variables)
        if objective is None:
            objective = objective_of(options.objective, axes, ideal, options.alpha)
        for name in options.vary or ():
            axes.axis(name)
        embeds = objective.name == BIAS
        embedder = options.embedder or (companion_of(spec, EMBEDDER) if embeds else None)
        if embeds and embedder is None:
            raise InputError(f"mine needs {WANTED_EMBEDDER}, for the bias score")
        judges = not own and not embeds
        job = Job.begin(
            directory_for(spec, _folder(objective, target), options.output),
            model=MODEL if generator else spec,
            vqa=model_judge_of(spec, options.vqa, "mine") if judges else options.vqa,
            embedder=embedder,
            llm=None if language_model else llm_of(spec, options.llm, "mine"),
            options=options.model_options(),
            seed=options.seed,
            fresh=options.fresh,
            command=command,
            progress=progress,
        )
        varying = Varying(axes, tuple(options.vary or ()), options.variations, target)
        job = replace(
            job,
            generator=generator or job.generator,
            language_models={language_model.spec: language_model}
            if language_model
            else job.language_models,
        )
        work = cls(options, job, target, objective, varying, axes, ideal)
        work.budget()
        return work

    @property
    def llm(self) -> LanguageModel:
        """The language model that writes the prompts."""
        return next(iter(self.job.language_models.values()))

    def settings(self) -> Record:
        """What the result depends on beside the models, in JSON types."""
        options = self.options
        return {
            "objective": self.objective.name,
            "target": self.target.name,
            **asdict(options.search()),
            "images": options.images,
            "variations": options.variations,
            "vary": list(options.vary or ()),
            "axes": self.axes.name,
            "axes_digest": self.axes.digest(),
            "ideal": self.ideal,
            "alpha": options.alpha,
            "best": options.best,
            "fresh_batches": options.fresh_batches,
            "max_words": options.max_words,
            "max_images": options.max_images,
            "seed": options.seed,
        }

    def check(self, prompt: str) -> None:
        """Raises InputError for a prompt that the generator cuts off or that cannot be scored."""
        needs = self.objective.needs(prompt)
        if self.varying.vary and needs.variations:
            self.varying.texts(prompt)
        self.job.generator.check_prompts([prompt, *(own.text for own in needs.prompts)])

    def search(self, run: Run, media: RunMedia) -> Record:
        """The search, its best prompts scored again, and everything mined.json holds."""
        options, lower = self.options, self.objective.lower_is_worse
        budget = self.budget()
        scoring = ScoredPrompts(self.objective, self.varying, media, options.images, budget)
        writer = PromptWriter(
            self.llm, self.job.directory, self.target, options.seed, options.max_words, self.check
        )
        found = SearchRecord(options.iterations, lower, budget)
        for now in search(writer, scoring, options.search(), lower=lower):
            found.add(now, writer.take_dropped())
            if self.job.progress is not None and (line := found.latest()):
                self.job.progress.note(line)
        found.drop(writer.take_dropped(), found.done + 1)
        chosen = best(found.candidates, options.best, lower=lower)
        if not chosen:
            raise ModelError(f"no prompt has a score; {found.why_nothing()}")
        again = scoring.score_again([one.prompt for one in chosen], options.fresh_batches)
        mined = self._describe_mined(chosen, again)
        notes = self._show_missed(mined, media)
        return self._document(run, found, mined, notes)

    def budget(self) -> Budget:
        """The images that may be made.

        Raises:
            InputError: They are too few to score one prompt, and the best again.
        """
        options = self.options
        beside = 0
        if self.objective.name == BIAS:
            sets = [len(self.axes.axis(name).attributes) for name in options.vary or ()]
            texts = math.prod(sets) if sets else options.variations
            beside = options.best * max(1, math.ceil(options.alpha * texts)) * OF_MISSED
        again = options.best * options.fresh_batches * options.images
        least = options.images + again + beside
        if options.max_images is not None and options.max_images < least:
            raise InputError(
                f"--max-images {options.max_images} is too few: to score one prompt, and --best "
                f"{options.best} again on --fresh-batches {options.fresh_batches}, takes {least:,}"
            )
        return Budget(options.max_images, again, beside)

    def _describe_mined(
        self, chosen: Sequence[Candidate], again: Sequence[FreshScores]
    ) -> list[Record]:
        """A record for each chosen prompt, the worst by its fresh score first."""
        sign = 1 if self.objective.lower_is_worse else -1

        def rank(row: Record) -> tuple[bool, float]:
            return row["score"] is None, sign * (row["score"] or 0.0)

        rows = sorted(map(_again, chosen, again), key=rank)
        return [{"rank": place, **row} for place, row in enumerate(rows, start=1)]

    def _show_missed(self, mined: Sequence[Record], media: RunMedia) -> list[str]:
        """Add images of the variations that the images of each mined prompt missed (fig. 7).

        Returns what is to be said of those that the generator does not take.
        """
        plans, refused = [], 0
        for row in mined:
            texts = [one["text"] for one in row["evidence"].get("missed", ())]
            taken = readable(texts, self.job.generator.check_prompts)[0]
            refused += len(texts) - len(taken)
            if taken:
                others = [Prompt(text, "other") for text in taken]
                plans.append([Prompt(row["prompt"], "initial"), *others])
        made = media.make_images(plans, OF_MISSED) if plans else {}
        for row in mined:
            row["variation_images"] = [
                {"text": text, "images": media.find_shown(images)}
                for text, images in made.get(row["prompt"], {}).items()
                if text != row["prompt"]
            ]
        if not refused:
            return []
        return [f"{refused:,} missed variations are not shown: the generator does not take them"]

    def _document(
        self, run: Run, found: SearchRecord, mined: Sequence[Record], notes: Sequence[str]
    ) -> Record:
        job, options = self.job, self.options
        return {
            "schema": SCHEMA,
            "toy": job.toy,
            **job.identities(),
            "proposed_by": describe_writer(self.llm),
            "settings": self.settings(),
            "objective": describe_objective(self.objective),
            **found.record(),
            "n_images": {
                "search": found.budget.spent,
                "fresh": sum(row["n_images"] for row in mined),
                "variations": sum(
                    len(one["images"]) for row in mined for one in row["variation_images"]
                ),
            },
            "mined": list(mined),
            "categories": bias_categories(mined, self.llm, job.directory),
            "unseen_words": job.generator.unseen_words([row["prompt"] for row in mined]),
            "notes": [*notes, *job.withheld_notes(run, "left out"), *job.notes()],
            "seed": options.seed,
            "versions": installed_versions(),
        }


def _folder(objective: Objective, target: MiningTarget) -> str:
    return slug(f"mined-{objective.name}" + f"-{target.name}" * (target.name != "open"))


def _again(candidate: Candidate, fresh: FreshScores) -> Record:
    """What a prompt's first score and its fresh ones say."""
    return {
        "prompt": candidate.prompt,
        "candidate": candidate.number,
        "first_score": candidate.scored.value,
        **fresh.record(),
        "evidence": dict(fresh.of_all.evidence),
        "images": fresh.images,
        "variations": fresh.variations,
        "variation_images": [],
    }
