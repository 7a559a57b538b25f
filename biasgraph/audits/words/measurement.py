"""The story of `biasgraph words`: prompts, their words, images, answers, influences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from biasgraph.audits.audit_result import AuditResult
from biasgraph.audits.axis_options import choose_axes
from biasgraph.audits.words.words_options import WordsOptions
from biasgraph.causal.fields import columns
from biasgraph.data.axes import AxisSet
from biasgraph.data.word_influence import WordInfluence, WordRow
from biasgraph.errors import InputError
from biasgraph.io.csv_files import to_csv
from biasgraph.io.folder_names import folder_name, slug
from biasgraph.io.json_files import to_json
from biasgraph.io.text_files import at_place
from biasgraph.io.writing import write_files
from biasgraph.methods.gradbias import MEASURED, USUAL, Measured, measure_influence
from biasgraph.methods.over_prompts import over_prompts
from biasgraph.methods.word_removal import ShortPrompts, refuse_without_words
from biasgraph.prompts.counterfactuals import Prompt
from biasgraph.prompts.tokens import excerpt
from biasgraph.report.words_figure import words_figure
from biasgraph.runs.job import Job, directory_for
from biasgraph.runs.media import RunMedia
from biasgraph.runs.model_choice import generator_of, model_judge_of
from biasgraph.runs.questions import count_questions, questions_about
from biasgraph.runs.record import installed_versions
from biasgraph.runs.traced_images import why_no_gradients
from biasgraph.runs.unloaded import UnloadedModel

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.models.inference_options import ModelOptions
    from biasgraph.runs.directory import Run
    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-words/1"
DOCUMENT, TABLE, FIGURE = "words.json", "words.csv", "words"
Record = dict[str, Any]


@dataclass(frozen=True)
class WordsResult(AuditResult):
    """The influences of words; document: everything words.json holds."""

    def frame(self) -> pd.DataFrame:
        """A row for each word, axis and prompt, words that are not ranked included."""
        influences = map(WordInfluence.of_record, self.document["influences"])
        rows = [row.record() for influence in influences for row in influence.rows()]
        return self.tabulate(rows, list(columns(WordRow)))

    def files(self) -> dict[str, bytes]:
        """The contents of all files by their names; figures are of one prompt."""
        files = {DOCUMENT: to_json(self.document), TABLE: to_csv(self.frame())}
        if len(self.document["prompts"]) == 1:
            influences = [WordInfluence.of_record(one) for one in self.document["influences"]]
            origin = "Generator: {model}; judge: {vqa}.".format(**self.document)
            for kind in ("svg", "png"):
                files[f"{FIGURE}.{kind}"] = words_figure(
                    influences, kind, origin=origin, toy=self.document["toy"]
                )
        return files


def measure(
    options: WordsOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> WordsResult:
    """Measure the influence of the prompts' words; what the run has already is not done again.

    command: what was typed, for the run's record.

    Raises:
        InputError: the options or a prompt are wrong; nothing has been written then.
        ModelError: a model, the machine or the network failed.
        Interrupted: the user stopped the work; the same call goes on from there.
    """
    work = Work.of(options, progress, command)
    job = work.job
    with job.open() as run:
        work.request(run, max(work.images.values()), work.settings())
        influences = measure_influence(
            options.by,
            work.prompts,
            work.axes,
            RunMedia(run, job),
            work.images,
            options.seed,
            options.gradients,
        )
        found = WordsResult(work.document(run, influences), job.directory)
        write_files(job.directory, found.files())
    return found


def plan(options: WordsOptions) -> Record:
    """What `measure` would do, in JSON types: nothing is made, asked or written.

    Raises:
        InputError: As `measure` does.
    """
    work = Work.of(options, None, ())
    compared = sum(1 + len(short.texts) for short in work.prompts) * work.images.get("removal", 0)
    images = max(compared, len(work.prompts) * work.images.get("gradient", 0))
    return {
        "removals": list(map(removals_of, work.prompts)) if "removal" in work.images else [],
        "axes": [axis.name for axis in work.axes.axes],
        "images": images,
        "questions": compared * count_questions(work.axes),
        "seconds": work.job.seconds(images),
        "directory": str(work.job.directory),
        "notes": work.unchecked,
    }


def removals_of(short: ShortPrompts) -> Record:
    """A prompt without each of its words, in JSON types."""
    return {
        "prompt": short.prompt,
        "without": [
            {"word": word.text, "start": word.start, "prompt": removal.text, "note": removal.note}
            for word, removal in short.removals.items()
        ],
    }


@dataclass(frozen=True)
class Work:
    """Who does what, and where."""

    options: WordsOptions
    job: Job
    axes: AxisSet
    prompts: Sequence[ShortPrompts]
    unchecked: Sequence[str] = ()
    """Why models that a plan names could not be loaded."""

    @classmethod
    def of(
        cls,
        options: WordsOptions,
        progress: Progress | None,
        command: Sequence[str],
        llm: str | None = None,
        checked: ModelOptions | None = None,
    ) -> Work:
        """Raises InputError for what does not fit; nothing is written.

        llm, checked: as for `Job.begin`.
        """
        spec = generator_of(
            options.model,
            "words makes images of prompts short of a word, and a folder makes none: name a "
            "generator with --model",
        )
        vqa = model_judge_of(spec, options.vqa, "words")
        axes = choose_axes(options.axes, options.axis)
        listed = options.list_prompts()
        prompts: dict[str, ShortPrompts] = {}
        for text, place in listed.prompts:
            with at_place(place):
                short = ShortPrompts.of(text, axes)
                refuse_without_words([short])
                if short.prompt in prompts:
                    raise InputError(f"the prompt '{excerpt(short.prompt)}' is listed twice")
                prompts[short.prompt] = short
        name = slug(listed.name) if options.prompts is not None else folder_name(listed.name)
        job = Job.begin(
            directory_for(spec, f"words-{name}", options.output),
            model=spec,
            vqa=vqa,
            llm=llm,
            options=options.model_options(),
            checked=checked,
            seed=options.seed,
            fresh=options.fresh,
            plans_only=options.dry_run,
            command=command,
            progress=progress,
        )
        follows = "gradient" in MEASURED[options.by] and not options.dry_run
        if follows and (why := why_no_gradients(job.generator, job.judge)):
            raise InputError(f"{why}; `biasgraph words --by removal` needs none")
        named = [one.why for one in (job.generator, job.judge) if isinstance(one, UnloadedModel)]
        for (_, place), short in zip(listed.prompts, prompts.values(), strict=True):
            left = short.texts if "removal" in MEASURED[options.by] else ()
            if not isinstance(job.generator, UnloadedModel):
                with at_place(place):
                    job.generator.check_prompts([short.prompt, *left])
        return cls(options, job, axes, tuple(prompts.values()), named)

    def request(self, run: Run, images: int, settings: Record) -> None:
        """Declare what is asked, and want so many images of each prompt."""
        gate, questions = questions_about(self.axes)
        self.job.declare(run, questions, gate)
        plans = [[Prompt(short.prompt, "initial")] for short in self.prompts]
        targets = [axis.name for axis in self.axes.axes]
        self.job.request(run, plans, images, settings, targets)

    @property
    def images(self) -> dict[Measured, int]:
        """Of each prompt and, by removal, of the prompt without each of its words."""
        return {one: self.options.images or USUAL[one] for one in MEASURED[self.options.by]}

    def settings(self) -> Record:
        """What influences depend on beside the models, in JSON types."""
        return {
            "by": self.options.by,
            "axes": self.axes.name,
            "axis": [axis.name for axis in self.axes.axes],
            "images": max(self.images.values()),
            **(asdict(self.options.gradients) if "gradient" in self.images else {}),
            "seed": self.options.seed,
        }

    def document(self, run: Run, influences: Sequence[WordInfluence]) -> Record:
        """Everything words.json holds."""
        job = self.job
        left = [text for short in self.prompts for text in short.texts if "removal" in self.images]
        texts = [*(short.prompt for short in self.prompts), *left]
        return {
            "schema": SCHEMA,
            "toy": job.toy,
            **job.identities(),
            "axes": {"name": self.axes.name, "digest": self.axes.digest()},
            "settings": self.settings(),
            "prompts": [short.prompt for short in self.prompts],
            "removals": list(map(removals_of, self.prompts)) if "removal" in self.images else [],
            "influences": [influence.record() for influence in influences],
            "over_prompts": over_prompts(influences),
            "unseen_words": job.generator.unseen_words(texts),
            "notes": [
                *job.withheld_notes(run, "left out, with their pairs"),
                *job.notes(),
            ],
            "seed": self.options.seed,
            "versions": installed_versions(),
        }
