"""Runs of `mine` whose prompts are scored in other models, and whether they fit each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from biasgraph.data.axes import load_axis_set, shipped_axis_sets
from biasgraph.data.mined_file import MinedFile
from biasgraph.errors import InputError, printable
from biasgraph.methods.mining_objectives import BIAS
from biasgraph.models.inference_options import EngineOptions, ModelOptions
from biasgraph.runs.job import AXES
from biasgraph.runs.record import Record, differences, identity, read_record, refuse_unreadable

if TYPE_CHECKING:
    from biasgraph.data.axes import AxisSet
    from biasgraph.models.base import Embedder, ImageGenerator, VisualQA


@dataclass(frozen=True)
class Origin:
    """A run of `mine`, and what it is called."""

    name: str
    directory: Path
    mined: MinedFile


def read_origins(runs: Sequence[str | Path]) -> list[Origin]:
    """The runs, read; raises InputError for those that cannot be in one matrix."""
    given = [Path(run) for run in runs]
    names = [path.resolve().name for path in given]
    origins = [
        Origin(printable(name if names.count(name) == 1 else str(path)), path, MinedFile.of(path))
        for name, path in zip(names, given, strict=True)
    ]
    if len({path.resolve() for path in given}) < len(given):
        raise InputError("--evaluate names a run twice")
    first = dict(_comparable(origins[0].mined))
    for origin in origins[1:]:
        for what, value in _comparable(origin.mined):
            if first.get(what) != value:
                differ = f"{_say(first.get(what))} and {_say(value)}"
                raise InputError(
                    f"{origins[0].name} and {origin.name} cannot be in one matrix: their {what} "
                    f"differ ({differ})"
                )
        said = "{} is {} in the first and {} in the second"
        if differ := _other_settings(recorded_judge(origins[0]), recorded_judge(origin), said):
            raise InputError(
                f"{origins[0].name} and {origin.name} cannot be in one matrix: {differ}"
            )
    return origins


def _comparable(mined: MinedFile) -> Iterator[tuple[str, object]]:
    """What must be the same in all runs, by its name."""
    settings = mined.settings
    yield "objectives", settings.objective
    yield "images of each prompt", settings.images
    yield "judges", mined.vqa
    yield "judges' fingerprints", mined.vqa_fingerprint
    yield "embedders", mined.embedder
    yield "embedders' fingerprints", mined.embedder_fingerprint
    if settings.objective == BIAS:
        yield "values of alpha", settings.alpha
        yield "axes of --vary", settings.vary
        if not settings.vary:
            yield "numbers of variations", settings.variations
    else:
        yield "ideals", settings.ideal
    if settings.objective != BIAS or settings.vary:
        yield "axis sets", settings.axes_digest


def _say(value: object) -> str:
    return "none" if value in (None, []) else printable(str(value))[:60]


def axes_of(origin: Origin, given: str | None) -> AxisSet:
    """The axis set of a run's objective.

    Args:
        origin: The run.
        given: What the user named.

    Raises:
        InputError: It is another one now, or its file has to be named.
    """
    settings = origin.mined.settings
    if settings.objective == BIAS:
        return load_axis_set(AXES)
    name = printable(settings.axes[:80])
    if given is None and settings.axes not in shipped_axis_sets():
        raise InputError(
            f"{origin.name} was mined with the axis set '{name}': name its --axes FILE"
        )
    axes = load_axis_set(given or settings.axes)
    if axes.digest() != settings.axes_digest:
        raise InputError(
            f"{origin.name} was mined with another axis set than '{printable(axes.name)}' is now: "
            "name its file with --axes"
        )
    return axes


def recorded_options(run: Path, where: EngineOptions | None = None) -> ModelOptions:
    """The options that a run was mined with; the usual ones where nothing is recorded.

    where: what they are to run on now.
    """
    record = _record(run)
    builds = record["builds"] if record else []
    models = builds[-1]["settings"].get("models", {}) if builds else {}
    return ModelOptions.from_record(models, where)


def recorded_judge(origin: Origin) -> Record | None:
    """What a run's judge was; None where nothing is recorded."""
    record = _record(origin.directory)
    return record and record["judges"].get(origin.mined.vqa)


def _record(run: Path) -> Record | None:
    record = read_record(run)
    if record is not None:
        refuse_unreadable(run, record)
    return record


def _other_settings(before: Record | None, now: Record | None, said: str) -> str:
    """What differs between two judges; empty where one was not recorded."""
    return ", ".join(differences("judge", before, now, said)) if before and now else ""


def refuse_changed_settings(judge: VisualQA | None, origin: Origin) -> None:
    """Raise InputError for a judge that is not asked as it was when a run was mined."""
    if judge is None:
        return
    said = "{} was {} and is now {}"
    if differ := _other_settings(recorded_judge(origin), identity(judge), said):
        raise InputError(
            f"{printable(judge.spec)} is not what it was when {origin.name} was mined: {differ}"
        )


def refuse_changed(
    model: ImageGenerator | VisualQA | Embedder | None, before: str | None, origin: Origin
) -> None:
    """Raise InputError for a model that is not the one a run was mined with."""
    if model is not None and model.fingerprint != before:
        raise InputError(
            f"{printable(model.spec)} is not what it was when {origin.name} was mined: it has "
            "other weights, files or options now"
        )
