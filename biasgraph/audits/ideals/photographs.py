"""A folder of photographs as a reference: asked by the build's judge, in a run of their own."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.build_plan import PlannedBuild
from biasgraph.audits.ideals.reference import FOLDER_PREFIX, Reference, is_folder_of_images
from biasgraph.data.answers import Answers
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError
from biasgraph.io.folder_names import folder_name, slug
from biasgraph.models.folder import BACKEND
from biasgraph.models.inference_options import ModelOptions
from biasgraph.runs.job import AXES, SEED
from biasgraph.runs.pictures.picture_sets import name_of, read_picture_sets
from biasgraph.runs.wanted_images import prompt_rows

if TYPE_CHECKING:
    from biasgraph.audits.build_options import BuildOptions

FOLDER = "reference"
"""The folder of a run in which its photographs have runs of their own."""


@dataclass(frozen=True)
class Photographs:
    """What is asked about photographs beside a build; of sets, the initial one only.

    Attributes:
        plan: The photographs as a build of their own, without counterfactuals.
        name: What the folder is called.
    """

    plan: PlannedBuild
    name: str

    @classmethod
    def of(cls, options: BuildOptions, build: PlannedBuild) -> Photographs | None:
        """The photographs that options name as reference; None where they name none.

        Raises:
            InputError: The folder holds no picture that can be read, or sets of other axes.
            Interrupted: The user stopped it.
        """
        if not is_folder_of_images(options.reference):
            return None
        where = str(options.reference).removeprefix(FOLDER_PREFIX)
        if not where.strip():
            raise InputError(
                "--reference 'folder:' names no folder: give, for example, folder:photos"
            )
        spec = f"{BACKEND}:{os.path.normpath(where)}"
        name = name_of(spec)
        place = folder_name(str(Path(where).expanduser().resolve()))[-8:]
        directory = build.job.directory / FOLDER / f"{slug(name)}-{place}"
        pictures = read_picture_sets(
            spec,
            axes=_whole_set(options, build),
            only=[axis.name for axis in build.axes.axes],
            prompt=None,
            controls=0,
            options=ModelOptions(max_pixels=options.max_pixels),
            run=directory,
            progress=build.job.progress,
            plans_only=options.dry_run,
        )
        plans = tuple(replace(plan, counterfactuals=()) for plan in pictures.plans)
        initial = {row.id for plan in plans for row in prompt_rows(plan.prompts)}
        given = {key: given for key, given in pictures.given.items() if key in initial}
        pictures = replace(pictures, plans=plans, given=given)
        job = replace(
            build.job, directory=directory, generator=pictures.generator, seed=SEED, fresh=False
        )
        own = PlannedBuild(job, pictures.axes, plans, pictures.largest, 0, pictures=pictures)
        return cls(own, name)

    @property
    def axes(self) -> list[str]:
        """The axes that the photographs are asked about."""
        return [variable.name for variable in self.plan.variables]

    def ask(self) -> Reference:
        """Ask the build's judge about every photograph; what is answered is not asked again.

        Raises as `PlannedBuild.carry_out` does.
        """
        job = self.plan.job
        with job.open() as run:
            self.plan.carry_out(run, {})
            table = run.answers(job.vqa)
        answers = Answers.from_frame(table, source=str(job.directory))
        counted = Reference.of_answers(
            answers, self.plan.variables, self.name, "photographs", unlisted_unknown=True
        )
        notes = self.plan.pictures.notes if self.plan.pictures else ()
        return replace(
            counted,
            judge=(job.vqa, job.judge_fingerprint),
            notes=tuple(f"the reference {self.name}: {note}" for note in notes),
        )

    def size(self) -> dict[str, Any]:
        """What would be asked, as `PlannedBuild.size` says it."""
        return self.plan.size()


def _whole_set(options: BuildOptions, build: PlannedBuild) -> AxisSet:
    """The axes that the folders of photographs may name, not only those that are looked at."""
    if build.proposal is not None:
        return build.proposal.axes
    if isinstance(options.axes, AxisSet):
        return options.axes
    if options.axes is not None:
        return load_axis_set(options.axes)
    return load_axis_set(AXES) if build.axes.name == AXES else build.axes
