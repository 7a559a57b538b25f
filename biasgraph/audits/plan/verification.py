"""Joint counterfactuals of several axes, made and judged in a run to check what was predicted.

Their prompts have the role "other", so that they never enter the run's tables, and what is made is
kept: the same call does nothing twice. The run's request is as it was when the work ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.causal.tables import GATED, UNKNOWN, Codes, Variable
from biasgraph.data.axes import AxisSet, load_axis_set, shipped_axis_sets
from biasgraph.data.file_names import RECORD
from biasgraph.errors import InputError, show_path
from biasgraph.prompts.counterfactuals import Prompt, PromptPlan, joint_prompts, plan_prompts
from biasgraph.runs.directory import read_run
from biasgraph.runs.job import Job
from biasgraph.runs.pictures.picture_sets import AXES_FILE
from biasgraph.runs.questions import count_questions, questions_about
from biasgraph.runs.wanted_images import prompt_rows

if TYPE_CHECKING:
    from pathlib import Path

    from biasgraph.data.result import Result
    from biasgraph.runs.directory import Run
    from biasgraph.runs.progress import Progress


def run_of(result: Result) -> Path:
    """The run's directory; InputError unless it has one prompt and models that can work again."""
    if result.document["graph"].get("kind") == "global":
        raise InputError("--verify needs the run of a single prompt, and this one has several")
    if result.directory is None or not (result.directory / RECORD).exists():
        where = "the result" if result.directory is None else show_path(result.directory)
        raise InputError(
            f"--verify needs models to make images with, and {where} has none: it was made from an "
            "answers table, or is one of several prompts"
        )
    return result.directory


@dataclass(frozen=True)
class JointPlan:
    """What is made and asked to see several axes set at once.

    Attributes:
        job: The run's own models and options.
        axes: The axis set that the run was built with.
        plan: The run's own prompts.
        usual_images: How many images each of these has.
        prompts: Those that set all chosen axes.
        images: For each of them.
    """

    job: Job
    axes: AxisSet
    plan: PromptPlan
    usual_images: int
    prompts: tuple[Prompt, ...]
    images: int

    @classmethod
    def of(
        cls,
        result: Result,
        chosen: Sequence[str],
        images: int | None = None,
        axes: str | None = None,
        command: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> JointPlan:
        """The work for the axes `chosen`, in the run that `result` was loaded from.

        Args:
            result: Of one prompt.
            chosen: Names of axes.
            images: For each combination of attributes; None for as many as the run has for each
                prompt, but no more in all than the run has, and at least one.
            axes: The axis set that the run was built with, where it is not one that ships.
            command: What was typed.
            progress: What shows where the work stands.

        Raises:
            InputError: The run cannot go on, see `run_of`; the axis set is another one; or the
                generator would cut a prompt off.
        """
        directory, graph = run_of(result), result.document["graph"]
        with closing(read_run(directory)) as run:
            usual = int(run.settings["images"])
        axis_set = axis_set_of(directory, result, axes)
        plan, text = plan_again(directory, result, axis_set)
        prompts = joint_prompts(text, [axis for axis in axis_set.axes if axis.name in chosen])
        job = Job.reopen(
            directory, vqa=graph["vqa"], makes_images=True, command=command, progress=progress
        )
        job.generator.check_prompts([prompt.text for prompt in prompts])
        total = graph["images"]["initial"] + graph["images"]["interventions"]
        each = images or max(1, min(usual, total // len(prompts)))
        return cls(job, axis_set, plan, usual, prompts, each)

    def size(self) -> dict[str, Any]:
        """What is made and asked, and the seconds it takes; None where the pace is not known."""
        images = len(self.prompts) * self.images
        return {
            "combinations": len(self.prompts),
            "images_per_combination": self.images,
            "images": images,
            "questions": images * count_questions(self.axes),
            "seconds": self.job.seconds(images),
        }

    def carry_out(self, variables: Sequence[Variable]) -> list[Codes]:
        """Make what is missing, ask what is not answered; returns each prompt's codes.

        Raises:
            Interrupted: The user stopped it; the same command resumes it.
            InputError: The run was made with another generator, judge or seed.
            ModelError: A model or the disk failed.
        """
        wanted = [[self.plan.initial, *self.prompts]], self.images
        own = [self.plan.prompts], self.usual_images
        with ask_besides(self.job, self.axes, wanted, own) as run:
            return self._codes(run, variables)

    def _codes(self, run: Run, variables: Sequence[Variable]) -> list[Codes]:
        """(images, variables) for each joint prompt."""
        answered = run.ledger.read_answered(self.job.vqa)
        rows = prompt_rows([self.plan.initial, *self.prompts])[1:]
        found: dict[str, list[list[int]]] = {row.id: [] for row in rows}
        for image in run.ledger.images():
            prompt = image.id.rpartition("-")[0]
            if prompt in found:  # the initial prompt's images are in the request as well
                said = answered[image.key]
                found[prompt].append([_code(said[one.name].answer, one) for one in variables])
        return [np.array(codes, dtype=np.int16) for codes in found.values()]


def _code(answer: str, variable: Variable) -> int:
    if answer in variable.attributes:
        return variable.attributes.index(answer)
    return GATED if answer == "gated" else UNKNOWN


Request = tuple[Sequence[Sequence[Prompt]], int]
"""Prompts, an initial one first in each group, and how many images of each."""

FEWER = "fewer"
"""The setting that holds a run's own numbers while images besides its own are made."""


@contextmanager
def ask_besides(job: Job, axes: AxisSet, wanted: Request, own: Request | None) -> Iterator[Run]:
    """A run with images beside its own made and asked about.

    Args:
        job: The models that work, and where.
        axes: The axis set that the run was built with.
        wanted: What is made besides.
        own: The run's own request: who reads the run afterwards finds it again.

    Raises:
        Interrupted: The user stopped it; the same command resumes it.
        InputError: The run was made with another generator, judge or seed.
        ModelError: A model or the disk failed.
    """
    gate, questions = questions_about(axes)
    with job.open() as run:
        job.declare(run, questions, gate)
        fewer, settings = own_fewer(run), run.settings or {"images": wanted[1]}
        settings.pop(FEWER, None)

        def request(
            prompts: Sequence[Sequence[Prompt]],
            images: int,
            fewer: Mapping[str, int] | None,
            settings: Mapping[str, Any],
        ) -> None:
            run.request(
                prompts,
                images=images,
                fewer=fewer,
                targets=[axis.name for axis in axes.axes],
                settings=settings,
                command=job.command,
            )

        try:
            request(*wanted, None, settings | {FEWER: fewer} if fewer else settings)
            job.complete(run, questions, gate)
            yield run
        finally:
            if own is not None:
                request(*own, fewer, settings)


def own_fewer(run: Run) -> dict[str, int]:
    """Prompt id -> images of those of which the run itself wants fewer than of others.

    Its ledger knows; where work beside the run was killed, the ledger's request is that of the
    work, and its settings know.
    """
    return dict(run.settings.get(FEWER) or run.ledger.fewer())


def axis_set_of(directory: Path, result: Result, given: str | None) -> AxisSet:
    """The axis set that a run was built with: `given`, the run's own file, or one that ships.

    Raises InputError when it is another one now.
    """
    recorded = result.document["graph"]["axes"]
    names = [node["id"] for node in result.document["nodes"]]
    own = directory / AXES_FILE
    shipped = recorded["name"] in shipped_axis_sets()
    usual = recorded["name"] if shipped or not own.is_file() else str(own)
    axes = None
    try:
        axes = load_axis_set(given or usual).only(names)
    except InputError:
        if given is not None:
            raise
    if axes is None or axes.digest() != recorded["digest"]:
        what = f"'{given}'" if given else f"an axis set named '{recorded['name']}'"
        raise InputError(
            f"{show_path(directory)} was built with other axes than {what} has now: give its "
            "axis set with --axes FILE"
        )
    return axes


def plan_again(directory: Path, result: Result, axes: AxisSet) -> tuple[PromptPlan, str]:
    """The run's prompts, and its initial prompt with brackets where it had some.

    Brackets are not recorded: they are tried around the subject until the prompts are the same.
    """
    graph = result.document["graph"]
    prompts = result.answers["image"].astype(str).str.rpartition("-")[0]
    made, controls = {*prompts}, prompts[(result.answers["role"] == "control")].nunique()
    for text in (graph["prompt"], *_bracket(graph["prompt"], graph["subject"])):
        try:
            plan = plan_prompts(text, axes, controls)
        except InputError:
            continue
        if {row.id for row in prompt_rows(plan.prompts)} == made:
            return plan, text
    raise InputError(
        f"{show_path(directory)} was built by another version of biasgraph, which made other "
        "prompts: build it again to verify a plan"
    )


def _bracket(prompt: str, subject: str) -> list[str]:
    """The prompt with brackets around the subject, wherever it stands."""
    places = [i for i in range(len(prompt)) if prompt.startswith(subject, i)]
    return [f"{prompt[:i]}[{subject}]{prompt[i + len(subject) :]}" for i in places]
