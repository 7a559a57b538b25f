"""What a build makes and asks: its prompts, images and questions, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.data.answer_codes import variable_of
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import BiasgraphError, InputError, did_you_mean, list_words, printable
from biasgraph.io.folder_names import OUTPUTS, folder_name, slug
from biasgraph.models.base import AnnotatedJudge, Remote, VisualQA
from biasgraph.models.registry import traits_of
from biasgraph.prompts.controls import usual_number
from biasgraph.prompts.counterfactuals import PromptPlan, plan_prompts
from biasgraph.prompts.prompt_lists import PromptList
from biasgraph.prompts.subject import strip_brackets
from biasgraph.runs.job import AXES, SEED, TOY_JUDGE, Job
from biasgraph.runs.ledger_rows import CONTROL
from biasgraph.runs.model_choice import MODEL, judge_of
from biasgraph.runs.pictures.inspection import NAMED
from biasgraph.runs.pictures.picture_sets import PictureSets, name_of, read_picture_sets
from biasgraph.runs.proposed_axes import LLM, WAYS, Proposal, proposed_axes
from biasgraph.runs.questions import UNKNOWN, count_questions, questions_about
from biasgraph.runs.record import recorded_controls
from biasgraph.runs.unloaded import UnloadedModel

if TYPE_CHECKING:
    from biasgraph.audits.build_options import BuildOptions
    from biasgraph.causal.tables import Variable
    from biasgraph.runs.directory import Run
    from biasgraph.runs.progress import Progress

IMAGES = 48
"""Of each prompt."""


@dataclass(frozen=True)
class PlannedBuild:
    """The plans of one or many prompts, and the job that makes and asks them.

    Attributes:
        job: The models, their options and the directory.
        axes: What is varied and asked.
        plans: Each initial prompt with its counterfactuals.
        images: Of each prompt.
        controls: Neutral rewordings of each initial prompt.
        pictures: What is given, where no image is made.
        proposal: Where the axes come from, if they were proposed.
        unchecked: What could not be checked for a plan.
    """

    job: Job
    axes: AxisSet
    plans: tuple[PromptPlan, ...]
    images: int
    controls: int
    pictures: PictureSets | None = None
    proposal: Proposal | None = None
    unchecked: tuple[str, ...] = ()

    @property
    def variables(self) -> list[Variable]:
        """The axes as the analysis sees them."""
        return [variable_of(axis) for axis in self.axes.axes]

    @property
    def prompts(self) -> list[str]:
        """The initial prompts."""
        return [plan.initial.text for plan in self.plans]

    def with_helpers(self, embedders: Iterable[str], llms: Iterable[str]) -> PlannedBuild:
        """The same with the models that methods need beside the judge."""
        return replace(self, job=self.job.with_helpers(embedders, llms))

    def size(self) -> dict[str, Any]:
        """What would be done: prompts, images, questions, and the seconds it would take.

        Returns:
            ``plans`` holds each prompt, its subject, its counterfactuals and controls; ``prompts``
            is the number of them all; ``seconds`` is None for models whose speed is not known;
            ``notes`` says what to know of given pictures, and what servers would be asked.
        """
        prompts = sum(len(plan.prompts) for plan in self.plans)
        images = prompts * self.images
        if self.pictures is not None:
            images = sum(min(len(given), self.images) for given in self.pictures.given.values())
        questions = images * count_questions(self.axes)
        return {
            "plans": [
                {
                    "prompt": plan.initial.text,
                    "subject": plan.subject.text,
                    "counterfactuals": [prompt.text for prompt in plan.counterfactuals],
                    "controls": [prompt.text for prompt in plan.controls],
                }
                for plan in self.plans
            ],
            "prompts": prompts,
            "images": images,
            "questions": questions,
            "answers": images * len(self.axes.axes),
            "seconds": self.job.seconds(images),
            "directory": str(self.job.directory),
            "notes": self._notes() + self._requests(images, questions),
        }

    def _notes(self) -> list[str]:
        notes = list(self.pictures.notes) if self.pictures else []
        if shared := self._find_shared(self.plans):
            some = "1 picture is" if len(shared) == 1 else f"{len(shared):,} pictures are"
            notes.append(f"{some} in several sets ({list_words(shared, NAMED)})")
        return [*notes, *(self.proposal.notes if self.proposal else ()), *self.unchecked]

    def _find_shared(self, plans: Sequence[PromptPlan]) -> list[str]:
        return self.pictures.find_shared(plans, self.images) if self.pictures else []

    def _requests(self, images: int, questions: int) -> list[str]:
        """What servers would be asked, in a sentence; none where there is no server."""
        servers = [model for model in self.job.models if isinstance(model, Remote)]
        calls = sum(model.requests(images=images, questions=questions) for model in servers)
        text = (
            f"about {calls:,} requests to servers; --budget calls={calls} would limit them to that"
        )
        return [text] if servers else []

    def carry_out(
        self, run: Run, settings: dict[str, Any], fewer: Mapping[str, int] | None = None
    ) -> None:
        """Make what images are missing and ask what is not answered.

        Args:
            run: The open run.
            settings: Of the analysis, for run.json.
            fewer: Prompt id -> images of those that want fewer than `images`.

        Raises:
            Interrupted: The user stopped it; the same command resumes it.
            InputError: The judge was asked in other words before, or is a file of labels that
                are about something else.
            ModelError: A model or the disk failed.
        """
        job = self.job
        gate, questions = questions_about(self.axes)
        job.declare(run, questions, gate)
        run.request(
            [plan.prompts for plan in self.plans],
            images=self.images,
            targets=[axis.name for axis in self.axes.axes],
            settings={
                **settings,
                "images": self.images,
                **({"controls": self.controls} if self.controls else {}),
                "axes": self.axes.digest(),
                "models": job.options.record(),
            },
            command=job.command,
            given=None if self.pictures is None else self.pictures.given,
            fewer=fewer,
        )
        if self.proposal is not None:
            self.proposal.keep(run)
        if self.pictures is not None:
            run.write_files(self.pictures.files(run.sources()))
        job.complete(run, questions, gate)
        if traits_of(job.vqa).people and (run.answers(job.vqa)["answer"] == UNKNOWN).all():
            raise InputError(
                f"{printable(job.vqa)} labels none of these pictures for these questions: labels "
                "belong to a picture's pixels and a question's words; `biasgraph label` writes a "
                "page for a run"
            )

    def origin(self, run: Run) -> dict[str, Any]:
        """What a graph says of where its images come from."""
        job, rewritten = self.job, run.ledger.count_revised()
        notes = self._notes() + job.withheld_notes(run, "counted as gated")
        if rewritten:
            notes.append(
                f"the model rewrote the prompts of {rewritten:,} images, which confounds the "
                "counterfactuals; the ledger has the new wording"
            )
        return {
            **({"toy": TOY_JUDGE} if job.toy == TOY_JUDGE else {}),
            "withheld": run.ledger.withheld(),
            "rewritten_prompts": rewritten,
            "notes": notes + self._control_notes() + job.notes(),
            **job.identities(embedder=False),
            **_about_annotators(job.judge),
            "seed": job.seed,
            "unseen_words": self._unseen_words(self.plans),
            "flags": ["shared_images"] if self._find_shared(self.plans) else [],
        }

    def about_prompts(self) -> dict[str, dict[str, Any]]:
        """What the graph of each initial prompt says besides."""
        return {
            plan.initial.text: {
                "subject": plan.subject.text,
                "typed": plan.typed if plan.typed != plan.initial.text else None,
                "fixed_by_prompt": dict(plan.fixed),
                "unseen_words": self._unseen_words([plan]),
                "flags": ["shared_images"] if self._find_shared([plan]) else [],
            }
            for plan in self.plans
        }

    def _unseen_words(self, plans: Sequence[PromptPlan]) -> list[str]:
        texts = [prompt.text for plan in plans for prompt in plan.prompts if prompt.role != CONTROL]
        return self.job.generator.unseen_words(texts)

    def _control_notes(self) -> list[str]:
        texts = [prompt.text for plan in self.plans for prompt in plan.controls]
        words = {*self.job.generator.unseen_words(texts)} - {*self._unseen_words(self.plans)}
        if not words:
            return []
        return [
            "the neutral rewordings have words that the model never saw "
            f"({list_words(sorted(words))}): what they move is also what unknown words do"
        ]


def plan_build(
    options: BuildOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> PlannedBuild:
    """The work that options ask for.

    Raises:
        InputError: A prompt, axes or models are wrong, or the generator would cut a counterfactual
            off; nothing has been written by then, unless a language model was asked for axes.
        ModelError: It proposed nothing of use.
        Interrupted: The user stopped it while it looked into a folder's files.
    """
    if traits_of(options.model or MODEL).pictures_given:
        return _plan_of_pictures(options, progress, command)
    axes = _named_axes(options)
    listed = None if options.prompts is None else PromptList.of(options.prompts)
    job = _job(options, _directory(options, listed), progress, command)
    proposal = None
    if axes is None:
        texts = [text for text, _ in listed.prompts] if listed else [str(options.prompt)]
        proposal = proposed_axes(
            str(options.axes),
            texts,
            directory=job.directory,
            llm=options.llm,
            generator=job.generator.spec,
            options=job.options,
            journal=job.journal,
            fresh=options.fresh,
            dry_run=options.dry_run,
            progress=progress,
        )
        axes = proposal.axes
    axes = axes.only(options.only) if options.only else axes
    unchecked: list[str] = []

    def check(texts: Sequence[str]) -> None:
        try:
            job.generator.check_prompts(texts)
        except BiasgraphError as error:
            if not options.dry_run:
                raise
            unchecked.append(str(error))

    controls = _controls(options, axes, job.directory)
    if listed is None:
        plans = [plan_prompts(str(options.prompt), axes, controls)]
        check([prompt.text for prompt in plans[0].prompts])
    else:
        plans = listed.plans(axes, check, controls)
    if isinstance(job.judge, UnloadedModel):
        unchecked.append(job.judge.why)
    images = options.most_images or IMAGES
    notes = tuple(dict.fromkeys(unchecked))
    return PlannedBuild(
        job, axes, tuple(plans), images, controls, proposal=proposal, unchecked=notes
    )


def _controls(options: BuildOptions, axes: AxisSet, directory: Path) -> int:
    """How many rewordings are wanted: in a run that is there, as many as before."""
    if options.controls is not None:
        return options.controls
    usual = usual_number(axes)
    return usual if options.fresh else recorded_controls(directory, usual)


def _named_axes(options: BuildOptions) -> AxisSet | None:
    """The axis set that options name; None where it is to be proposed."""
    if isinstance(options.axes, AxisSet):
        return options.axes
    if options.axes in WAYS:
        return None
    named = str(options.axes or AXES)
    hint = did_you_mean(named, WAYS)
    if hint and "." not in named:  # no file
        raise InputError(f"unknown axis set '{printable(named)}'.{hint}")
    return load_axis_set(named)


def _about_annotators(judge: VisualQA | None) -> dict[str, Any]:
    if not isinstance(judge, AnnotatedJudge):
        return {"annotators": None}
    return {"annotators": judge.annotators, "people": judge.by_people}


def _directory(options: BuildOptions, listed: PromptList | None) -> Path:
    folder = slug(listed.name) if listed else _folder(strip_brackets(str(options.prompt))[0])
    folder = f"{folder}-axes-llm" if options.axes == LLM else folder
    return Path(options.output or OUTPUTS / slug(options.model or MODEL) / folder)


def _job(
    options: BuildOptions, directory: Path, progress: Progress | None, command: Sequence[str]
) -> Job:
    spec, models = options.model or MODEL, options.model_options()
    # A reference may be a folder, and --max-pixels about its photographs.
    given = traits_of(spec).pictures_given or options.reference is None
    return Job.begin(
        directory,
        model=spec,
        vqa=judge_of(spec, options.vqa),
        llm=options.llm,
        options=models,
        checked=models if given else replace(models, max_pixels=None),
        seed=options.seed,
        fresh=options.fresh,
        plans_only=options.dry_run,
        command=command,
        progress=progress,
    )


def _plan_of_pictures(
    options: BuildOptions, progress: Progress | None, command: Sequence[str]
) -> PlannedBuild:
    """The work on pictures made elsewhere; raises as `plan_build` does."""
    spec = str(options.model)
    text = None if options.prompt is None else strip_brackets(options.prompt)[0]
    name = name_of(spec)
    usual = OUTPUTS / slug(f"folder {name}") / (_folder(text) if text else slug(name))
    directory = Path(options.output or usual)
    job = _job(options, directory, progress, command)
    axes = options.axes
    sets = read_picture_sets(
        spec,
        axes=load_axis_set(axes) if isinstance(axes, str) else axes,
        only=options.only,
        prompt=options.prompt,
        controls=options.controls,
        options=job.options,
        run=directory,
        progress=progress,
        plans_only=options.dry_run,
    )
    # Whatever seed is asked for: these pictures come from none.
    job = replace(job, generator=sets.generator, seed=SEED)
    images, controls = options.most_images or sets.largest, max(len(p.controls) for p in sets.plans)
    if options.until is not None:
        images = min(images, sets.largest)
    return PlannedBuild(job, sets.axes, sets.plans, images, controls, pictures=sets)


def _folder(prompt: str) -> str:
    """A prompt's folder name; where the name loses something, a hash keeps prompts apart."""
    name = slug(prompt)
    return name if name.replace("-", " ") == prompt else folder_name(prompt)
