"""The story of `biasgraph minethegap score`: prompts, images, variations, scores, a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from biasgraph.audits.audit_result import AuditResult
from biasgraph.audits.minethegap.reference_table import ReferenceTable, spearman
from biasgraph.audits.pipeline_options import ScoreOptions
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError, printable
from biasgraph.io.csv_files import to_csv
from biasgraph.io.folder_names import slug
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import write_files
from biasgraph.methods.minethegap import (
    ALPHA,
    VariationImages,
    Varying,
    find_missed,
    least_aligned,
    score_spanned,
)
from biasgraph.methods.variations import read_attributes, usual_axes
from biasgraph.models.backend import WANTED_EMBEDDER
from biasgraph.models.json_chat import ReplyError
from biasgraph.models.registry import EMBEDDER
from biasgraph.prompts.counterfactuals import Prompt, plan_prompts
from biasgraph.prompts.prompt_lists import PromptList
from biasgraph.prompts.subject import strip_brackets
from biasgraph.runs.directory import Run
from biasgraph.runs.job import AXES, Job, directory_for
from biasgraph.runs.media import RunMedia
from biasgraph.runs.model_choice import companion_of, generator_of
from biasgraph.runs.record import installed_versions
from biasgraph.runs.transcripts import describe_writer
from biasgraph.runs.wanted_images import image_id, prompt_rows

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.models.base import ImageGenerator, LanguageModel
    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-minethegap/1"
DOCUMENT, RANKING = "scores.json", "scores.csv"
IN_A_ROW = 3
"""So many prompts without usable variations, one after the other, and no further one is tried."""
Record = dict[str, Any]


@dataclass(frozen=True)
class PromptRanking(AuditResult):
    """The scores of prompts; document: everything scores.json holds."""

    def frame(self) -> pd.DataFrame:
        """A row for each prompt, the most biased first; lists are left out."""
        rows = [
            {name: value for name, value in one.items() if not isinstance(value, list)}
            | {"missed": "; ".join(text["text"] for text in one["missed"])}
            for one in self.document["prompts"]
        ]
        return self.tabulate(rows)


def rank(
    options: ScoreOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> PromptRanking:
    """Score the prompts and write the ranking; what the run has already is not done again.

    command: what was typed, for the run's record.

    Raises:
        InputError: the options, a prompt or a table are wrong; nothing has been written then.
        ModelError: a model, the machine or the network failed; no usable variations came back.
        Interrupted: the user stopped the work; the same call goes on from there.
    """
    work = _Scoring.of(options, progress, command)
    job = work.job
    with job.open() as run:
        plans = [[Prompt(text, "initial")] for text in work.prompts.values()]
        job.request(run, plans, options.images, work.settings())
        job.complete(run)
        media = RunMedia(run, job, job.embedder, next(iter(work.llms), None))
        rows = _rank(_score(work, media))
        ranking = PromptRanking(_document(work, run, rows), job.directory)
        files = {DOCUMENT: to_json(ranking.document), RANKING: to_csv(ranking.frame())}
        write_files(job.directory, files)
    return ranking


@dataclass(frozen=True)
class _Scoring:
    """Who does what, and where. prompts: as typed -> without brackets."""

    options: ScoreOptions
    job: Job
    prompts: Mapping[str, str]
    varying: Varying
    truth: ReferenceTable | None

    @classmethod
    def of(
        cls, options: ScoreOptions, progress: Progress | None, command: Sequence[str]
    ) -> _Scoring:
        """Raises InputError for what does not fit; nothing is written."""
        spec = generator_of(
            options.model,
            "minethegap score makes images of prompts, and a folder makes none: audit it "
            "with `biasgraph build --model folder:DIR --annotate minethegap`",
        )
        embedder = options.embedder or companion_of(spec, EMBEDDER)
        if embedder is None:
            raise InputError(f"minethegap score needs {WANTED_EMBEDDER}")
        varying = _varying(options, load_axis_set(options.axes or AXES))
        listed = PromptList.of(options.prompts)
        truth = None if options.truth is None else ReferenceTable.of(options.truth)
        job = Job.begin(
            directory_for(spec, f"minethegap-{slug(listed.name)}", options.output),
            model=spec,
            embedder=embedder,
            llm=options.llm,
            options=options.model_options(),
            seed=options.seed,
            fresh=options.fresh,
            command=command,
            progress=progress,
        )
        return cls(options, job, _check(listed, varying, job.generator), varying, truth)

    @property
    def llms(self) -> list[LanguageModel]:
        """The language model that proposes variations, if one does."""
        return list(self.job.language_models.values())

    def settings(self) -> Record:
        """What the scores depend on beside the generator, in JSON types."""
        varying, options = self.varying, self.options
        source: Record = {"vary": list(varying.vary)} if varying.vary else {"llm": options.llm}
        return {
            **source,
            "axes": varying.axes.name,
            "variations": None if varying.vary else varying.count,
            "images": options.images,
            "null": options.null,
            "alpha": ALPHA,
            "seed": options.seed,
        }


def _varying(options: ScoreOptions, axes: AxisSet) -> Varying:
    if options.llm:
        return Varying(axes, (), options.variations)
    for name in options.vary or ():
        axes.axis(name)
    return Varying(axes, tuple(options.vary or usual_axes(axes)))


def _check(listed: PromptList, varying: Varying, generator: ImageGenerator) -> dict[str, str]:
    """The prompts, as typed and without brackets; raises InputError with the place."""
    prompts: dict[str, str] = {}
    for text, place in listed.prompts:
        try:
            clean = strip_brackets(text)[0]
            if clean in prompts.values():
                raise InputError(f"the prompt '{printable(clean[:80])}' is listed twice")
            if varying.vary:
                plan_prompts(text, varying.axes.only(varying.vary))  # do the axes fit it?
            generator.check_prompts([clean, *(one.text for one in varying.texts(text))])
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        prompts[text] = clean
    return prompts


def _score(work: _Scoring, media: RunMedia) -> list[Record]:
    """A record for each prompt. Raises ReplyError where no prompt has variations."""
    ids: dict[str, list[str]] = {}
    for prompt in work.prompts.values():
        row = prompt_rows([Prompt(prompt, "initial")])[0]
        ids[prompt] = [image_id(row.id, number) for number in range(work.options.images)]
    if seen := media.find_shown([image for images in ids.values() for image in images]):
        media.embed_images(seen)  # all at once: it is slow where each prompt has its turn
    rows: list[Record] = []
    failed: list[ReplyError] = []
    in_a_row = 0
    for typed, prompt in work.prompts.items():
        truth = {} if work.truth is None else {"truth": work.truth.of_prompt(typed)}
        try:
            if in_a_row == IN_A_ROW:
                raise ReplyError("not tried: the prompts before it had no usable variations", ())
            found = work.varying.span(prompt, ids[prompt], media, typed)
        except ReplyError as error:
            failed.append(error)
            in_a_row = min(IN_A_ROW, in_a_row + 1)
            rows.append(_without(prompt, error.in_run) | truth)
            continue
        in_a_row = 0
        rows.append(_record(work, media, found) | truth)
    if len(failed) == len(rows):
        for one in failed:
            one.forget()
        raise failed[0]
    return rows


def _without(prompt: str, reason: str) -> Record:
    return {
        "prompt": prompt,
        "score": None,
        "reason": reason,
        "n_images": 0,
        "n_variations": 0,
        "missed": [],
        "least_aligned": [],
    }


def _record(work: _Scoring, media: RunMedia, found: VariationImages) -> Record:
    if not found.images:
        return _without(found.prompt, "all images were withheld")
    scored = score_spanned(found)
    record = {
        "prompt": found.prompt,
        "score": scored.value,
        "reason": scored.reason,
        "n_images": len(found.images),
        "n_variations": len(found.texts),
        "missed": [
            {
                "text": found.texts[place].text,
                "similarity": float(scored.best_image[place]),
                "says": read_attributes(work.varying.axes, found.texts[place], found.prompt),
            }
            for place in find_missed(scored)
        ],
        "least_aligned": [
            {"image": found.images[place], "similarity": float(scored.best_text[place])}
            for place in least_aligned(scored)
        ],
    }
    if work.options.null:
        record["score_null"] = work.varying.ceiling(found, media).value
    return record


def _rank(rows: list[Record]) -> list[Record]:
    """The most biased first; those without a score last."""
    order = sorted(rows, key=lambda row: (row["score"] is None, row["score"] or 0, row["prompt"]))
    return [
        {"rank": None if row["score"] is None else place, **row}
        for place, row in enumerate(order, start=1)
    ]


def _document(work: _Scoring, run: Run, rows: list[Record]) -> Record:
    job = work.job
    notes = job.withheld_notes(run, "left out")
    if len({(row["n_images"], row["n_variations"]) for row in rows if row["score"]}) > 1:
        notes.append(
            "prompts differ in how many images or variations they have, and only scores of as many "
            "of both can be compared"
        )
    return {
        "schema": SCHEMA,
        "toy": job.toy,
        **job.identities(),
        "proposed_by": next(map(describe_writer, work.llms), None),
        "settings": work.settings(),
        "truth": None if work.truth is None else _against(work.truth, rows),
        "prompts": rows,
        "unseen_words": job.generator.unseen_words(list(work.prompts.values())),
        "notes": notes + job.notes(),
        "seed": work.options.seed,
        "versions": installed_versions(),
    }


def _against(truth: ReferenceTable, rows: Sequence[Record]) -> Record:
    """How well the ranking agrees with the truth: rho is 1 where it is the same."""
    pairs = [
        (-row["score"], row["truth"])
        for row in rows
        if row["score"] is not None and row["truth"] is not None
    ]
    found = spearman([score for score, _ in pairs], [bias for _, bias in pairs])
    unknown = [row["prompt"] for row in rows if row["truth"] is None]
    return {"source": truth.source, **asdict(found), "not_in_table": unknown}
