"""The story of `biasgraph words evaluate`: GradBias's table 3 for one's own model.

prompts -> gradients, judged by one model -> words left out, judged by another: the truth ->
baselines -> how often each ranking begins with the truth's first word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from biasgraph.audits.audit_result import AuditResult
from biasgraph.audits.words.evaluation_options import EvaluationOptions
from biasgraph.audits.words.measurement import Work, removals_of
from biasgraph.audits.words.ranked_words import (
    Influences,
    WordPair,
    accuracies,
    counts_of,
    ranked_words,
)
from biasgraph.causal.fields import columns
from biasgraph.data.word_accuracy_row import WordAccuracyRow
from biasgraph.errors import BiasgraphError, InputError, printable
from biasgraph.io.csv_files import to_csv
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import write_files
from biasgraph.methods.word_baselines import (
    BaselineScores,
    answered_scores,
    judge_questions,
    language_model_scores,
    random_scores,
    require_reader,
    require_yes_no,
    tree_scores,
)
from biasgraph.methods.word_gradients import influence_by_gradient
from biasgraph.methods.word_removal import influence_by_removal
from biasgraph.models.backend import JUDGE
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import load_judge, traits_of
from biasgraph.prompts.subject import find_subject, strip_brackets
from biasgraph.report.bar_figure import Panel, bar_figure
from biasgraph.runs.job import Job
from biasgraph.runs.media import RunMedia
from biasgraph.runs.model_choice import MODEL, companion_of, judge_of
from biasgraph.runs.other_images import OtherImages, pair_texts
from biasgraph.runs.questions import count_questions
from biasgraph.runs.record import installed_versions
from biasgraph.runs.unloaded import load_or_name
from biasgraph.runs.word_answers import score_yes, yes_beside_images

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.models.base import VisualQA
    from biasgraph.prompts.prompt_words import PromptWord
    from biasgraph.prompts.subject import Subject
    from biasgraph.runs.directory import Run
    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-words-evaluation/1"
DOCUMENT, TABLE, FIGURE = "evaluation.json", "evaluation.csv", "evaluation"
OWN_JUDGE = "judge2"
"""The second judge of the sandbox."""
Record = dict[str, Any]


@dataclass(frozen=True)
class Evaluation(AuditResult):
    """How often rankings are right; document: everything evaluation.json holds."""

    def frame(self) -> pd.DataFrame:
        """A row for each threshold, method, k and way to count ties."""
        return self.tabulate(self.document["accuracy"], list(columns(WordAccuracyRow)))

    def files(self) -> dict[str, bytes]:
        """The contents of all files by their names."""
        files = {DOCUMENT: to_json(self.document), TABLE: to_csv(self.frame())}
        return files | {f"{FIGURE}.{kind}": self._figure(kind) for kind in ("svg", "png")}

    def _figure(self, kind: str) -> bytes:
        from biasgraph.audits.words.evaluation_summary import bars, caption

        document = self.document
        panels = [Panel(title, [("", own)]) for title, own in bars(document)]
        title = "How often rankings of words begin with the word that matters most"
        return bar_figure(panels, kind, 2, title, caption(document), document["toy"])


def evaluate(
    options: EvaluationOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> Evaluation:
    """Hold rankings of words against removal; what the run has already is not done again.

    command: what was typed, for the run's record.

    Raises:
        InputError: the options or a prompt are wrong; nothing has been written then.
        ModelError: a model, the machine or the network failed.
        Interrupted: the user stopped the work; the same call goes on from there.
    """
    job = _Evaluating.of(options, progress, command)
    found = Evaluation(job.document(), job.work.job.directory)
    write_files(found.directory, found.files())
    return found


def plan(options: EvaluationOptions) -> Record:
    """What `evaluate` would do, in JSON types: nothing is made, asked or written.

    Raises:
        InputError: As `evaluate` does.
    """
    evaluating = _Evaluating.of(options, None, ())
    work = evaluating.work
    prompts = len(work.prompts)
    judged = sum(1 + len(short.texts) for short in work.prompts) * options.images
    images = judged + prompts * max(0, options.gradient_images - options.images)
    return {
        "removals": list(map(removals_of, work.prompts)),
        "axes": [axis.name for axis in work.axes.axes],
        "images": images,
        "followed": prompts * options.gradient_images * (1 + options.released),
        "questions": judged * count_questions(work.axes),
        "seconds": evaluating.of_truth.seconds(images),
        "directory": str(work.job.directory),
        "notes": work.unchecked,
    }


@dataclass(frozen=True)
class _Evaluating:
    """Who does what, and where.

    Attributes:
        options: What was asked for.
        work: The prompts, and the job whose judge gives the gradients.
        truth: The judge of the truth.
        asking: The judge that is asked about words, where there is one.
        subjects: Of the prompts whose brackets name it.
    """

    options: EvaluationOptions
    work: Work
    truth: VisualQA
    asking: VisualQA | None
    subjects: Mapping[str, Subject]

    @classmethod
    def of(
        cls, options: EvaluationOptions, progress: Progress | None, command: Sequence[str]
    ) -> _Evaluating:
        """Raises InputError for what does not fit; nothing is written."""
        spec = _truth_spec(options)
        further = [one for one in (spec, options.ask_vqa) if one is not None]
        checked = _read_by_no(further, options.model_options())
        work = Work.of(options.words, progress, command, options.llm, checked)
        job = work.job
        truth = _judge(job, spec, "--truth-vqa", options.dry_run)
        same = truth.fingerprint and truth.fingerprint == job.judge_fingerprint
        if same or truth.spec == job.vqa:
            raise InputError(
                f"--truth-vqa '{printable(truth.spec)}' is the judge that gives the gradients: its "
                "own mistakes would count as truth, and gradients would be right where they share "
                "them; name another judge"
            )
        if not any(
            len(one.words_to_rank(axis)) > 1 for one in work.prompts for axis in one.reasons
        ):
            raise InputError(
                "no prompt has two words that are ranked along the same axis, so no ranking could "
                "be wrong: give prompts such as 'a chef in a kitchen'"
            )
        asking = None
        if options.ask_vqa is not None:
            asking = _judge(job, options.ask_vqa, "--ask-vqa", options.dry_run)
            require_reader(asking, "--ask-vqa")
        for model in job.language_models.values():
            require_yes_no(model)
        subjects = {
            strip_brackets(typed)[0]: find_subject(typed)
            for typed, _ in options.words.list_prompts().prompts
            if strip_brackets(typed)[0] != typed
        }
        return cls(options, work, truth, asking, subjects)

    @property
    def of_truth(self) -> Job:
        """The job by whose judge words are left out; it goes on in the run of the other."""
        return replace(self.work.job, judge=self.truth, fresh=False)

    def document(self) -> Record:
        """Everything evaluation.json holds, once all is made and asked."""
        work, options = self.work, self.options
        job, prompts, axes = work.job, work.prompts, work.axes
        with job.open() as run:
            most = max(options.images, options.gradient_images)
            work.request(run, most, self.settings())
            media = RunMedia(run, job)
            found = {
                name: influence_by_gradient(
                    prompts, axes, media, options.gradient_images, options.seed, how
                )
                for name, how in options.readings.items()
            }
        with self.of_truth.open() as run:
            media = RunMedia(run, self.of_truth)
            truths = influence_by_removal(prompts, axes, media, options.images, options.seed)
            withheld = job.withheld_notes(run, "left out, with their pairs")
        by_pair: list[Influences] = [
            {name: found[name][place] for name in found} for place in range(len(truths))
        ]
        pairs = self._pairs(truths, by_pair)
        texts = [text for short in prompts for text in (short.prompt, *short.texts)]
        return {
            "schema": SCHEMA,
            "toy": job.toy,
            **job.identities(),
            **self._judges(),
            "axes": {"name": axes.name, "digest": axes.digest()},
            "settings": self.settings(),
            "prompts": [short.prompt for short in prompts],
            "removals": list(map(removals_of, prompts)),
            "counts": counts_of(truths, pairs),
            "sources": {one.name: one.source for pair in pairs for one in pair.baselines},
            "accuracy": [row.record() for row in accuracies(pairs, options.seed)],
            "pairs": [pair.record() for pair in pairs],
            "unseen_words": job.generator.unseen_words(texts),
            "notes": [*withheld, *job.notes()],
            "seed": options.seed,
            "versions": installed_versions(),
        }

    def _pairs(self, truths: Sequence[Any], by_pair: Sequence[Influences]) -> list[WordPair]:
        """Every pair with its baselines; models are asked where there is something to rank."""
        found = [ranked_words(truth, others) for truth, others in zip(truths, by_pair, strict=True)]
        job = self.work.job if self.asking is None else replace(self.of_truth, judge=self.asking)
        with replace(job, fresh=False).open() as run:
            return [
                replace(pair, baselines=self._baselines(run, job, pair)) if pair.words else pair
                for pair in found
            ]

    def _baselines(self, run: Run, job: Job, pair: WordPair) -> list[BaselineScores]:
        prompt, axis, words = pair.truth.prompt, pair.truth.axis, pair.words
        scored = [
            random_scores(words),
            tree_scores(prompt, words, self.subjects.get(prompt)),
        ]
        if len(words) < 2:
            return scored
        for model in job.language_models.values():
            kept = partial(score_yes, run.directory, model, require_yes_no(model))
            scored.append(language_model_scores(model, prompt, words, axis, kept))
        if self.asking is not None and (own := self._beside(run, job, prompt, words, axis)):
            scored.append(own)
        return scored

    def _beside(
        self, run: Run, job: Job, prompt: str, words: Sequence[PromptWord], axis: str
    ) -> BaselineScores | None:
        """What the judge makes of the words; None where all images were withheld."""
        count = self.options.gradient_images
        rows = OtherImages.of(run, pair_texts({prompt: ()}), count).by_text()[prompt][prompt]
        shown = [row for row in rows if row.withheld is None]
        asked = judge_questions(prompt, words, axis)
        shares = yes_beside_images(RunMedia(run, job), shown, asked)
        return answered_scores(job.asked, shares) if shares else None

    def _judges(self) -> dict[str, str]:
        """Who else works, by spec and fingerprint."""
        record = {"truth_vqa": self.truth.spec, "truth_vqa_fingerprint": self.truth.fingerprint}
        for model in self.work.job.language_models.values():
            record |= {"llm": model.spec, "llm_fingerprint": model.fingerprint}
        if self.asking is not None:
            record |= {
                "ask_vqa": self.asking.spec, "ask_vqa_fingerprint": self.asking.fingerprint
            }  # fmt: skip
        return record

    def settings(self) -> Record:
        """What the numbers depend on beside the models, in JSON types."""
        options, axes = self.options, self.work.axes
        return {
            "axes": axes.name,
            "axis": [axis.name for axis in axes.axes],
            "images": options.images,
            "gradient_images": options.gradient_images,
            "every": options.words.gradients.every,
            "readings": {name: asdict(how) for name, how in options.readings.items()},
            "truth_vqa": self.truth.spec,
            "seed": options.seed,
        }


def _truth_spec(options: EvaluationOptions) -> str:
    model = options.model or MODEL
    vqa, spec = judge_of(model, options.vqa), options.truth_vqa
    if spec is None and (own := companion_of(model, JUDGE)) is not None:
        spec = f"{own}:{OWN_JUDGE}"
    if spec is None:
        raise InputError(
            "--truth-vqa is needed: name a judge of the images without each word, other than "
            f"'{printable(vqa)}', whose mistakes the gradients share"
        )
    return spec


def _read_by_no(judges: Sequence[str], given: ModelOptions) -> ModelOptions:
    """The options that none of these judges reads: the other models have to."""
    backends = (traits_of(spec) for spec in judges)
    read = {
        name
        for backend in backends
        if JUDGE in backend.roles
        for name in backend.roles[JUDGE].reads
    }
    left = {name: value for name, value in given.record().items() if name not in read}
    return ModelOptions.from_record(left)


def _judge(job: Job, spec: str, option: str, plans_only: bool) -> VisualQA:
    """A further judge; errors name the option that it was given by."""
    if traits_of(spec).people:
        raise InputError(
            f"{option} is asked about images made during the run, which people cannot answer: name "
            "a model"
        )
    try:
        judge: VisualQA = load_or_name(plans_only, load_judge, spec, job.options, job.journal)
    except BiasgraphError as error:
        raise type(error)(str(error).replace("--vqa", option, 1)) from None
    return judge
