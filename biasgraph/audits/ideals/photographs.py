"""A folder of photographs as a reference: asked by the build's judge, in a run of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.ideals.reference import FOLDER_PREFIX, Reference, is_folder_of_images
from biasgraph.causal.tables import Variable
from biasgraph.data.answer_codes import variable_of
from biasgraph.data.answers import Answers
from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError
from biasgraph.io.folder_names import folder_name, slug
from biasgraph.models.folder import BACKEND
from biasgraph.models.inference_options import ModelOptions
from biasgraph.runs.job import AXES, SEED, Work
from biasgraph.runs.pictures.picture_sets import name_of, read_picture_sets
from biasgraph.runs.wanted_images import prompt_rows

if TYPE_CHECKING:
    from biasgraph.audits.options import BuildOptions
    from biasgraph.runs.progress import Progress

FOLDER = "reference"
"""The folder of a run in which its photographs have runs of their own."""


@dataclass(frozen=True)
class Photographs:
    """What is asked about photographs beside the work of a build; of sets, the initial one only."""

    work: Work
    name: str

    @classmethod
    def of(
        cls, options: BuildOptions, work: Work, progress: Progress | None = None
    ) -> Photographs | None:
        """The photographs that options name as reference; None where they name none.

        Raises InputError for a folder without a picture that can be read, or with sets of other
        axes; Interrupted.
        """
        if not is_folder_of_images(options.reference):
            return None
        where = str(options.reference).removeprefix(FOLDER_PREFIX)
        if not where.strip():
            raise InputError("--reference 'folder:' names no folder: folder:photos")
        spec = f"{BACKEND}:{os.path.normpath(where)}"
        name = name_of(spec)
        place = folder_name(str(Path(where).expanduser().resolve()))[-8:]
        directory = work.directory / FOLDER / f"{slug(name)}-{place}"
        found = read_picture_sets(
            spec,
            axes=_whole_set(options, work),
            only=[axis.name for axis in work.axes.axes],
            prompt=None,
            options=ModelOptions(max_pixels=options.max_pixels),
            run=directory,
            progress=progress,
        )
        plans = tuple(replace(plan, counterfactuals=()) for plan in found.plans)
        initial = {row.id for plan in plans for row in prompt_rows(plan.prompts)}
        found = replace(
            found,
            plans=plans,
            given={key: given for key, given in found.given.items() if key in initial},
        )
        own = Work(
            axes=found.axes,
            plans=plans,
            generator=found.generator,
            judge=work.judge,
            images=found.largest,
            seed=SEED,
            directory=directory,
            model_options=work.model_options,
            pictures=found,
        )
        return cls(own, name)

    def ask(self, command: Sequence[str], progress: Progress | None) -> Reference:
        """Ask the build's judge about every photograph; what is answered is not asked again.

        Raises as `Work.do` does.
        """
        with self.work.opened(fresh=False) as run:
            table = self.work.do(run, {}, command, progress)
        counted = Reference.of_answers(
            Answers.from_frame(table, source=str(self.work.directory)),
            self._variables,
            source=self.name,
            kind="photographs",
            unlisted_unknown=True,
        )
        notes = self.work.pictures.notes if self.work.pictures else ()
        return replace(
            counted,
            judge=(self.work.judge.spec, self.work.judge.fingerprint),
            notes=tuple(f"the reference {self.name}: {note}" for note in notes),
        )

    def placeholder(self) -> Reference:
        """One answer of each kind: enough to check options before anybody is asked."""
        counts = {one.name: dict.fromkeys(one.attributes, 1) for one in self._variables}
        return Reference.of_counts(counts, self._variables, self.name)

    def size(self) -> dict[str, Any]:
        """What would be asked, as `Work.size` says it."""
        return self.work.size()

    @property
    def _variables(self) -> list[Variable]:
        return [variable_of(axis) for axis in self.work.axes.axes]


def _whole_set(options: BuildOptions, work: Work) -> AxisSet:
    """The axes that the folders of photographs may name, not only those that are looked at."""
    if work.proposal is not None:
        return work.proposal.axes
    if isinstance(options.axes, AxisSet):
        return options.axes
    if options.axes is not None:
        return load_axis_set(options.axes)
    return load_axis_set(AXES) if work.axes.name == AXES else work.axes
