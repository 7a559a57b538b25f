"""Further images of a run's own prompts, beside those that its result was computed from.

They are made by the run's own generator and judged by its own judge, kept in its ledger as the next
ones of each prompt, and made once: a later build that asks for more images finds them there.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biasgraph.audits.compare.evidence import code_like
from biasgraph.audits.plan.verification import ask_besides, axis_set_of, own_fewer, plan_again
from biasgraph.data.file_names import RECORD
from biasgraph.data.result import why_no_run
from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.folder_names import slug
from biasgraph.models.registry import traits_of
from biasgraph.runs.directory import read_run
from biasgraph.runs.job import Job
from biasgraph.runs.progress import duration
from biasgraph.runs.questions import count_questions

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.causal.tables import CodedImages
    from biasgraph.data.axes import AxisSet
    from biasgraph.data.result import Result
    from biasgraph.prompts.counterfactuals import Prompt, PromptPlan
    from biasgraph.runs.progress import Progress

FOLDER = "other-models"
"""The folder of a run in which images of other models have runs of their own."""


def why_no_images(result: Result) -> str | None:
    """Why the run of a result can make no further images; None where it can."""
    directory = result.directory
    if directory is None or not (directory / RECORD).exists():
        return "there is no model: " + (why_no_run(directory) if directory else "nothing is saved")
    if traits_of(result.document["graph"]["model"]).pictures_given:
        return "its pictures were given, and no model can make more of them"
    return None


def why_no_judge(result: Result) -> str | None:
    """Why nobody can be asked about images of the same prompts; None where somebody can."""
    graph, directory = result.document["graph"], result.directory
    if directory is None or not (directory / RECORD).exists():
        return why_no_images(result)
    if traits_of(graph["vqa"] or "").people:
        return "people answered, and they cannot be asked again"
    return None


@dataclass(frozen=True)
class FurtherImages:
    """What is made and asked beside a run's own images.

    Attributes:
        result: Of the run.
        job: The models that work, and where.
        axes: The axis set that the run was built with.
        plans: The run's own prompts.
        wanted: Those of which further images are wanted, an initial one first.
        first: The number of the first one that is wanted, from 0.
        images: How many of each prompt.
    """

    result: Result
    job: Job
    axes: AxisSet
    plans: Sequence[PromptPlan]
    wanted: Sequence[Sequence[Prompt]]
    first: int
    images: int

    @classmethod
    def of_run(
        cls,
        result: Result,
        images: int,
        axes: str | None = None,
        command: Sequence[str] = (),
        progress: Progress | None = None,
        *,
        controls: bool = False,
    ) -> FurtherImages:
        """`images` more of every initial prompt and each of its counterfactuals.

        Args:
            result: Of the run.
            images: Of each prompt.
            axes: The axis set that the run was built with, where it is not one that ships.
            command: What was typed.
            progress: What shows where the work stands.
            controls: Whether of its neutral rewordings, too.

        Raises:
            InputError: The run can make none, or the axis set is another one.
        """
        why = why_no_images(result) or why_no_judge(result)
        if why or result.directory is None:
            raise InputError(f"no further images can be made: {why}")
        directory, graph = result.directory, result.document["graph"]
        with closing(read_run(directory)) as run:
            usual = int(run.settings["images"])
            if own_fewer(run):
                raise InputError(
                    "no further images can be made: those of this run were made until pairs were "
                    "decided, and its prompts have unequal numbers of them"
                )
        declared = axis_set_of(directory, result, axes)
        parts = result.prompts or (result,)
        plans = [plan_again(directory, part, declared)[0] for part in parts]
        job = Job.reopen(
            directory, vqa=graph["vqa"], makes_images=True, command=command, progress=progress
        )
        wanted = [
            plan.prompts if controls else [plan.initial, *plan.counterfactuals] for plan in plans
        ]
        return cls(result, job, declared, plans, wanted, usual, images)

    @classmethod
    def of_other_model(
        cls,
        result: Result,
        model: str,
        images: int,
        axes: str | None = None,
        command: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> FurtherImages:
        """`images` of another model of every initial prompt, in a run within the run.

        Raises:
            InputError: As `of_run`, or the model's spec is wrong or the run's own.
            ModelError: What the model's backend needs is missing.
        """
        why = why_no_judge(result)
        if why or result.directory is None:
            raise InputError(f"no images of another model can be judged: {why}")
        directory, graph = result.directory, result.document["graph"]
        if model == graph["model"]:
            raise InputError(
                f"{printable(model)} is the model of {show_path(directory)}: name another"
            )
        own = Job.reopen(directory, vqa=graph["vqa"])
        job = Job.begin(
            directory / FOLDER / slug(model),
            model=model,
            vqa=graph["vqa"],
            options=own.options,
            checked=type(own.options)(),
            seed=own.seed,
            command=command,
            progress=progress,
        )
        declared = axis_set_of(directory, result, axes)
        parts = result.prompts or (result,)
        plans = [plan_again(directory, part, declared)[0] for part in parts]
        plans = [replace(plan, counterfactuals=(), controls=()) for plan in plans]
        job.generator.check_prompts([plan.initial.text for plan in plans])
        wanted = [[plan.initial] for plan in plans]
        return cls(result, job, declared, plans, wanted, 0, images)

    def size(self) -> dict[str, Any]:
        """What is made and asked, and the seconds it takes; None where the pace is not known."""
        images = sum(map(len, self.wanted)) * self.images
        return {
            "model": self.job.generator.spec,
            "images": images,
            "questions": images * count_questions(self.axes),
            "seconds": self.job.seconds(images),
        }

    def cost(self, what: str) -> str:
        """What it takes, in a line; what: that it is for."""
        size = self.size()
        seconds = size["seconds"]
        pace = "time not known"
        if seconds is not None:
            pace = f"about {duration(seconds)} on two CPU cores"
        return (
            f"{what}: {size['images']:,} images of {printable(size['model'])}, "
            f"{size['questions']:,} questions; {pace}; existing images are not made again"
        )

    def carry_out(self) -> list[CodedImages]:
        """Make what is missing, ask what is not answered; the codes of each initial prompt.

        Raises:
            Interrupted: The user stopped it; the same command resumes it.
            InputError: The run was made with another generator, judge or seed.
            ModelError: A model or the disk failed.
        """
        wanted = self.wanted, self.first + self.images
        own = ([plan.prompts for plan in self.plans], self.first) if self.first else None
        with ask_besides(self.job, self.axes, wanted, own) as run:
            answers = run.answers(self.job.vqa)
        return code_like(self.result, _from_number(answers, self.first))


def _from_number(answers: pd.DataFrame, first: int) -> pd.DataFrame:
    """The rows about images from this number on."""
    numbers = answers["image"].astype(str).str.rpartition("-")[2].astype(int)
    return answers[(numbers >= first).to_numpy()].reset_index(drop=True)
