"""Images in rounds: each look says which pairs are open, and which prompts they wait for.

A round is a request with other numbers of images, so nothing is kept between rounds: rerun after
any interruption, or with another --delta, the looks are taken again over the answers that are
there, and only what is missing is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from biasgraph.causal.sequential import LookResult, look_at
from biasgraph.data.answer_codes import code_images
from biasgraph.data.answers import Answers
from biasgraph.errors import InputError, list_words, printable, show_path
from biasgraph.runs.pictures.picture_paths import manifest_of
from biasgraph.runs.pictures.picture_sets import manifest_in
from biasgraph.runs.wanted_images import prompt_rows

if TYPE_CHECKING:
    from biasgraph.audits.build_options import BuildOptions
    from biasgraph.audits.build_plan import PlannedBuild
    from biasgraph.audits.ideals.declared import DeclaredIdeals
    from biasgraph.causal.settings import AnalysisSettings
    from biasgraph.runs.directory import Run

Ended = Literal["decided", "max_images", "budget", "pictures"]
"""Why no further round began; pictures: none can be made."""
ENDED: Ended = "max_images"
"""Unless something else ends them."""

ORDER = "wanted.csv"
"""The manifest, in the run's directory, of the pictures that a folder lacks for its next look."""
NAMED = 6
"""Open pairs that a note names."""


@dataclass(frozen=True)
class Rounds:
    """How the rounds went.

    Attributes:
        ended: Why they did.
        looks: How many looks were taken.
        images: Of all prompts together.
        fixed: The images of a fixed design whose errors are as rare and which finds as much: as
            many of every prompt as at the last look.
        open: The pairs that are not decided, by source and target.
        order: What to say of pictures that are still to be made elsewhere; empty if none are.
    """

    ended: Ended
    looks: int
    images: int
    fixed: int
    open: tuple[tuple[str, str], ...]
    order: str = ""

    def record(self) -> dict[str, Any]:
        """For graph.json."""
        record = asdict(self)
        del record["order"]
        return record | {"open": [list(pair) for pair in self.open]}

    def notes(self) -> list[str]:
        """What a reader should know: the pairs that are open, and why no more images were made."""
        if not self.open:
            return []
        pairs = [f"{printable(source)} → {printable(target)}" for source, target in self.open]
        several = "s are" if len(pairs) > 1 else " is"
        why = {
            "max_images": "at the last look",
            "budget": f"after {self.images:,} images, because the next round would exceed "
            "--budget-images",
            "pictures": self.order,
        }.get(self.ended, "")
        return [f"{len(pairs)} pair{several} still open {why}: {list_words(pairs, NAMED)}"]


def check_rounds(planned: PlannedBuild, options: BuildOptions) -> None:
    """Raise InputError, having changed nothing, where rounds could decide or begin nothing."""
    axes = len(planned.axes.axes)
    if axes < 2 or not any(plan.counterfactuals for plan in planned.plans):
        why = "a second axis" if axes < 2 else "an axis that counterfactuals vary"
        raise InputError(
            f"--until decided has no pair to decide: it needs two axes and an intervention, and "
            f"{why} is missing"
        )
    most, first = options.budget_images, options.analysis_settings().looks[0]
    needed = sum(_sizes(planned, {variable.name: first for variable in planned.variables}).values())
    if most is not None and needed > most:
        raise InputError(
            f"--budget-images {most} is too small for the first round, which takes {needed:,} "
            "images"
        )


def size_of_rounds(planned: PlannedBuild, options: BuildOptions) -> str:
    """What a plan says of rounds: the images of the first, and the most."""
    prompts = sum(len(plan.prompts) for plan in planned.plans)
    if planned.pictures is not None:
        return "existing pictures are used; no others are made"
    first = options.analysis_settings().looks[0]
    return (
        f"images are made until pairs are decided: {prompts * first:,} in the first round, "
        f"at most {prompts * planned.images:,}"
    )


def make_until_decided(
    run: Run, planned: PlannedBuild, options: BuildOptions, declared: DeclaredIdeals
) -> Rounds:
    """Make images and ask about them, round after round, of the prompts that open pairs need.

    Args:
        run: The open run.
        planned: Its prompts, and the most images of each.
        options: Of the build.
        declared: The ideals.

    Raises:
        Interrupted: The user stopped it; the same command resumes it.
        InputError: As `PlannedBuild.carry_out`.
        ModelError: A model or the disk failed.
    """
    settings, most = options.analysis_settings(), options.budget_images
    if planned.pictures is not None:
        planned.carry_out(run, asdict(settings))
        return _look_at_pictures(run, planned, _look(run, planned, options, declared), settings)
    wanted = {variable.name: 0 for variable in planned.variables}
    sources, ended = list(wanted), ENDED
    made, looked = 0, LookResult([], 0)
    for images in settings.looks:
        grown = wanted | dict.fromkeys(sources, images)
        sizes = _sizes(planned, grown)
        if most is not None and sum(sizes.values()) > most:
            ended = "budget"
            break
        fewer = {prompt: size for prompt, size in sizes.items() if size < planned.images}
        planned.carry_out(run, asdict(settings), fewer)
        wanted, made = grown, sum(sizes.values())
        looked = _look(run, planned, options, declared, looked)
        sources = looked.open_sources
        if not sources:
            break
    return _rounds(looked, made, planned, settings, ended)


def _sizes(planned: PlannedBuild, wanted: Mapping[str, int]) -> dict[str, int]:
    """Prompt id -> images, where each axis's arms want so many.

    The initial prompts serve all pairs, and so do their rewordings: they want the most.
    """
    most = max(wanted.values())
    rows = [row for plan in planned.plans for row in prompt_rows(plan.prompts)]
    return {row.id: wanted[row.axis] if row.role == "counterfactual" else most for row in rows}


def _look(
    run: Run,
    planned: PlannedBuild,
    options: BuildOptions,
    declared: DeclaredIdeals,
    before: LookResult | None = None,
) -> LookResult:
    """What the answers there are say of every pair that decides where images go."""
    table = Answers.from_frame(run.answers(planned.job.vqa), source=str(run.directory))
    coded = code_images(table, planned.axes, options.unlisted).images
    baseline = declared.baseline([images.prompt for images in coded], None)
    several = options.prompts is not None or len(coded) > 1
    return look_at(coded, options.analysis_settings(), baseline, several=several, before=before)


def _rounds(
    looked: LookResult,
    made: int,
    planned: PlannedBuild,
    settings: AnalysisSettings,
    ended: Ended,
    order: str = "",
) -> Rounds:
    prompts = sum(len(plan.prompts) for plan in planned.plans)
    return Rounds(
        ended=ended if looked.open else "decided",
        looks=looked.looks,
        images=made,
        fixed=prompts * settings.looks[-1],
        open=tuple((row.source, row.target) for row in looked.open),
        order=order,
    )


def _look_at_pictures(
    run: Run, planned: PlannedBuild, looked: LookResult, settings: AnalysisSettings
) -> Rounds:
    """The looks that pictures made elsewhere allow; those of the next one are ordered."""
    pictures = planned.pictures.given if planned.pictures else {}
    there = {prompt: min(len(given), planned.images) for prompt, given in pictures.items()}
    needed = looked.next_images(settings.looks)
    only = {}
    if needed:
        sizes = _sizes(planned, {variable.name: 0 for variable in planned.variables} | needed)
        only = {prompt: range(there.get(prompt, 0), size) for prompt, size in sizes.items()}
        only = {prompt: numbers for prompt, numbers in only.items() if numbers}
    path = run.directory / ORDER
    made = sum(there.values())
    if not only:
        path.unlink(missing_ok=True)
        return _rounds(looked, made, planned, settings, ENDED)
    content = manifest_of(planned.plans, max(needed.values()), planned.job.seed, only)
    run.write_files({ORDER: content})
    more = sum(map(len, only.values()))
    order = (
        f"and wait for {more:,} more pictures of {len(only):,} of the prompts, "
        f"which {show_path(path)} lists"
    )
    if (manifest := manifest_in(planned.job.generator.spec)) is not None:
        order += f" (append the rows that {show_path(manifest)} lacks to it)"
    return _rounds(looked, made, planned, settings, "pictures", order)
