"""What models do for an audit: the plan of prompts, images and questions, its cost, and the work.

Loading a plan loads no weights; generators and judges load theirs when they are first used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.options import BuildOptions
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.io.folder_names import OUTPUTS, folder_name, slug
from biasgraph.io.writing import write_atomically
from biasgraph.models.base import Noting, Remote
from biasgraph.models.folder import BACKEND as FOLDER
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import (
    GENERATOR,
    JUDGE,
    LANGUAGE_MODEL,
    backend_of,
    load_generator,
    load_judge,
    refuse_unread,
)
from biasgraph.prompts.counterfactuals import PromptPlan, plan_prompts
from biasgraph.prompts.prompt_lists import PromptList
from biasgraph.prompts.subject import strip_brackets
from biasgraph.runs.directory import Run, open_run
from biasgraph.runs.local_engine import ask, declare, generate
from biasgraph.runs.pictures.picture_sets import PictureSets, name_of, read_picture_sets
from biasgraph.runs.progress import Progress
from biasgraph.runs.proposed_axes import LLM, WAYS, Proposal, proposed_axes
from biasgraph.runs.questions import UNKNOWN, questions_about
from biasgraph.runs.record import storing

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.models.base import ImageGenerator, VisualQA

MODEL = "sandbox:stereotyped"
AXES = "occupation"
IMAGES = 48
SEED = 0
TOY_JUDGE = (
    "These results describe a toy: the sandbox's judge knows nothing but the sandbox's own icons. "
    "About other pictures its answers mean nothing."
)
JOURNAL = "responses"
"""The folder of a run where paid backends keep what they were sent."""


@dataclass(frozen=True)
class Work:
    """The plans of one or many prompts: what is generated with which model and asked of whom."""

    axes: AxisSet
    plans: tuple[PromptPlan, ...]
    generator: ImageGenerator
    judge: VisualQA
    images: int
    seed: int
    directory: Path
    model_options: ModelOptions
    pictures: PictureSets | None = None
    """What is there already, where nothing is made."""
    proposal: Proposal | None = None
    """Where the axes come from, if they were proposed."""

    @classmethod
    def of(cls, options: BuildOptions, progress: Progress | None = None) -> Work:
        """The work that options ask for.

        Raises:
            InputError: a prompt, axes or models are wrong, or the generator would cut a
                counterfactual off; nothing has been written by then, unless a language model was
                asked for axes.
            ModelError: it proposed nothing of use.
            Interrupted: the user stopped it while it looked into a folder's files.
        """
        if backend_of(options.model or MODEL) == FOLDER:
            return cls._of_pictures(options, progress)
        axes = options.axes if isinstance(options.axes, AxisSet) else None
        if axes is None and options.axes not in WAYS:
            named = str(options.axes or AXES)
            hint = did_you_mean(named, WAYS)
            if hint and "." not in named:  # no file
                raise InputError(f"unknown axis set '{printable(named)}'.{hint}")
            axes = load_axis_set(named)
        listed = None if options.prompts is None else PromptList.of(options.prompts)
        spec = options.model or MODEL
        judge = options.vqa or usual_judge(spec)
        how = options.model_options()
        # A reference may be a folder, and --max-pixels about its photographs.
        made_by = how if options.reference is None else replace(how, max_pixels=None)
        refuse_unread(made_by, {GENERATOR: spec, JUDGE: judge, **_proposing(options)})
        folder = slug(listed.name) if listed else _folder(strip_brackets(str(options.prompt))[0])
        folder = f"{folder}-axes-llm" if options.axes == LLM else folder
        directory = Path(options.output or OUTPUTS / slug(spec) / folder)
        journal = directory / JOURNAL
        generator = load_generator(spec, how, journal)
        asked = load_judge(judge, how, journal)
        proposal = None
        if axes is None:
            texts = [text for text, _ in listed.prompts] if listed else [str(options.prompt)]
            proposal = proposed_axes(
                str(options.axes),
                texts,
                directory=directory,
                llm=options.llm,
                generator=spec,
                options=how,
                journal=journal,
                fresh=options.fresh,
                dry_run=options.dry_run,
                progress=progress,
            )
            axes = proposal.axes
        axes = axes.only(options.only) if options.only else axes
        if listed is None:
            plan = plan_prompts(str(options.prompt), axes)
            generator.check_prompts([prompt.text for prompt in plan.prompts])
            plans = [plan]
        else:
            plans = listed.plans(axes, generator.check_prompts)
        return cls(
            axes=axes,
            plans=tuple(plans),
            generator=generator,
            judge=asked,
            images=IMAGES if options.images is None else options.images,
            seed=SEED if options.seed is None else options.seed,
            directory=directory,
            model_options=how,
            proposal=proposal,
        )

    @classmethod
    def _of_pictures(cls, options: BuildOptions, progress: Progress | None) -> Work:
        """The work on pictures made elsewhere; raises as `of` does."""
        spec, how = str(options.model), options.model_options()
        judge = options.vqa or usual_judge(spec)
        refuse_unread(how, {GENERATOR: spec, JUDGE: judge, **_proposing(options)})
        text = None if options.prompt is None else strip_brackets(options.prompt)[0]
        name = name_of(spec)
        usual = OUTPUTS / slug(f"{FOLDER} {name}") / (_folder(text) if text else slug(name))
        directory = Path(options.output or usual)
        axes = options.axes
        found = read_picture_sets(
            spec,
            axes=load_axis_set(axes) if isinstance(axes, str) else axes,
            only=options.only,
            prompt=options.prompt,
            options=how,
            run=directory,
            progress=progress,
        )
        return cls(
            axes=found.axes,
            plans=found.plans,
            generator=found.generator,
            judge=load_judge(judge, how, directory / JOURNAL),
            images=options.images or found.largest,
            seed=SEED,  # whatever is asked for: these pictures come from none
            directory=directory,
            model_options=how,
            pictures=found,
        )

    def size(self) -> dict[str, Any]:
        """What would be done: prompts, images, questions, and the seconds it would take.

        ``plans`` holds each prompt, its subject and its counterfactuals; ``prompts`` is the number
        of them all; ``seconds`` is None for models whose speed is not known; ``notes`` is what to
        know of pictures that are there already, and what servers would be asked.
        """
        _, asked = questions_about(self.axes)
        prompts = sum(len(plan.prompts) for plan in self.plans)
        images = prompts * self.images
        if self.pictures is not None:
            images = sum(min(len(one), self.images) for one in self.pictures.given.values())
        paces = (self.generator.seconds_per_image, self.judge.seconds_per_image)
        seconds = None if None in paces else images * sum(pace for pace in paces if pace)
        questions = images * (1 + sum(len(axis.questions) for axis in asked))
        notes = list(self.pictures.notes) if self.pictures else []
        notes += self.proposal.notes if self.proposal else []
        return {
            "plans": [
                {
                    "prompt": plan.initial.text,
                    "subject": plan.subject.text,
                    "counterfactuals": [prompt.text for prompt in plan.counterfactuals],
                }
                for plan in self.plans
            ],
            "prompts": prompts,
            "images": images,
            "questions": questions,
            "answers": images * len(asked),
            "seconds": seconds,
            "directory": str(self.directory),
            "notes": notes + self._requests(images, questions),
        }

    def _requests(self, images: int, questions: int) -> list[str]:
        """What servers would be asked, in a sentence; none where there is no server."""
        models = [model for model in (self.generator, self.judge) if isinstance(model, Remote)]
        if not models:
            return []
        calls = sum(model.requests(images=images, questions=questions) for model in models)
        return [
            f"about {calls:,} requests to servers; --budget calls={calls} would hold them there"
        ]

    @contextmanager
    def opened(self, *, fresh: bool) -> Iterator[Run]:
        """The run this work belongs to, locked for as long as the block runs; see `open_run`."""
        with open_run(
            self.directory,
            generator=self.generator,
            judges=[self.judge],
            seed=self.seed,
            fresh=fresh,
        ) as run:
            yield run

    def do(
        self, run: Run, settings: dict[str, Any], command: Sequence[str], progress: Progress | None
    ) -> pd.DataFrame:
        """Make what images are missing, ask what is not answered; returns the answers table.

        Raises:
            Interrupted: the user stopped it; the same call goes on from there.
            InputError: the judge was asked in other words before, or is a file of labels that
                are about something else.
            ModelError: a model or the disk failed.
        """
        gate, questions = questions_about(self.axes)
        declare(run, self.judge, questions, gate)
        run.request(
            [plan.prompts for plan in self.plans],
            images=self.images,
            targets=[axis.name for axis in self.axes.axes],
            settings={
                **settings,
                "images": self.images,
                "axes": self.axes.digest(),
                "models": self.model_options.record(),
            },
            command=command,
            given=None if self.pictures is None else self.pictures.given,
        )
        if self.proposal is not None:
            self.proposal.keep(run)
        if self.pictures is not None:
            with storing(run.directory):
                for name, content in self.pictures.files(run.sources()).items():
                    write_atomically(run.directory / name, content)
        generate(run, self.generator, progress=progress)
        ask(run, self.judge, questions, gate, generator=self.generator, progress=progress)
        answers = run.answers(self.judge.spec)
        if backend_of(self.judge.spec) == "human" and (answers["answer"] == UNKNOWN).all():
            raise InputError(
                f"{printable(self.judge.spec)} has no label of these pictures for what is asked "
                "here: labels hold for a picture's pixels and a question's words; `biasgraph "
                "label` writes a page for a run"
            )
        return answers

    def origin(self, run: Run) -> dict[str, Any]:
        """What a graph says of where its images come from."""
        withheld, rewritten = run.withheld(), run.revised()
        notes = list(self.pictures.notes) if self.pictures else []
        notes += self.proposal.notes if self.proposal else []
        notes += withheld_notes(withheld, "counted as gated")
        if rewritten:
            notes.append(
                f"the model rewrote the prompts of {rewritten:,} images, which confounds the "
                "counterfactuals; the ledger holds what they became"
            )
        sandbox = backend_of(self.judge.spec) == "sandbox" != backend_of(self.generator.spec)
        notes += notes_of(self.generator, self.judge)
        return {
            **({"toy": TOY_JUDGE} if sandbox else {}),
            "withheld": withheld,
            "rewritten_prompts": rewritten,
            "notes": notes,
            "model": self.generator.spec,
            "model_fingerprint": self.generator.fingerprint,
            "vqa": self.judge.spec,
            "vqa_fingerprint": self.judge.fingerprint,
            "seed": self.seed,
            "unseen_words": self._unseen(self.plans),
        }

    def about_prompts(self) -> dict[str, dict[str, Any]]:
        """What the graph of each initial prompt says besides."""
        return {
            plan.initial.text: {
                "subject": plan.subject.text,
                "typed": plan.typed if plan.typed != plan.initial.text else None,
                "fixed_by_prompt": dict(plan.fixed),
                "unseen_words": self._unseen([plan]),
            }
            for plan in self.plans
        }

    def _unseen(self, plans: Sequence[PromptPlan]) -> list[str]:
        texts = [prompt.text for plan in plans for prompt in plan.prompts]
        return self.generator.unseen_words(texts)


def withheld_notes(withheld: Mapping[str, int], fate: str) -> list[str]:
    """What became of images that a service withheld, by its reason: so many."""
    return [
        f"{count:,} {'image was' if count == 1 else 'images were'} withheld "
        f"({printable(reason)}) and {fate}"
        for reason, count in withheld.items()
    ]


def notes_of(*models: object) -> list[str]:
    """What models found out at work."""
    return [note for model in models if isinstance(model, Noting) for note in model.notes()]


def usual_judge(model: str) -> str:
    """The judge of a generator where none is named. Raises InputError, with a suggestion."""
    if backend_of(model) == "sandbox":
        return "sandbox"
    raise InputError(
        f"--vqa is needed for {printable(model)}: name the model that answers questions about its "
        "images, for example --vqa vlm:Qwen/Qwen3-VL-2B-Instruct (`biasgraph models` lists more)"
    )


def _proposing(options: BuildOptions) -> dict[str, str]:
    """The language model, by its role, where one is named."""
    return {LANGUAGE_MODEL: options.llm} if options.llm else {}


def _folder(prompt: str) -> str:
    """A prompt's folder name; where the name loses something, a hash keeps prompts apart."""
    name = slug(prompt)
    return name if name.replace("-", " ") == prompt else folder_name(prompt)
