"""The probes of a search: those of a file, or trained first and kept beside the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.search.probe_options import ProbeOptions
from biasgraph.audits.search.probe_training import train
from biasgraph.data.axes import AxisSet
from biasgraph.data.found_file import Count, Share
from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.json_files import StrictModel, check
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.probe import SUFFIX, Probe, load_probes, read_probe_record

if TYPE_CHECKING:
    from biasgraph.audits.search.search_options import SearchOptions
    from biasgraph.runs.job import Job

Record = Mapping[str, Any]


class _Right(StrictModel):
    accuracy: Share | None
    low: Share | None
    high: Share | None
    n_images: Count


class _Step(StrictModel):
    step: Count
    unnamed: _Right


class _ProbeRecord(StrictModel):
    """A probe in the record of its file: how right it is at each step."""

    steps: list[_Step]


def find_probes(
    options: SearchOptions, axes: AxisSet, job: Job
) -> tuple[dict[str, Probe], list[Record]]:
    """The probes by axis, and what is said of each: its axis, checks by step, the file's digest.

    Without --probes each axis has a file of its own beside the run, which is trained where it is
    not there.

    Raises as `load_probes` and `train`.
    """
    probes: dict[str, Probe] = {}
    told: list[Record] = []
    for axis in axes.axes:
        own = axes.only([axis.name])
        path = options.probes or _beside(job.directory, axis.name, named=bool(options.output))
        if options.probes is None and not path.exists():
            if job.progress is not None:
                job.progress.note(f"No probes of {axis.name} yet: training some, {path}")
            train(_training(options, axis.name, path), job.progress, job.command)
        probes |= load_probes(path, job.generator, own)
        told.append(_describe_probe(path, axis.name))
    return probes, told


def _beside(directory: Path, axis: str, *, named: bool) -> Path:
    name = f"probes-{axis}{SUFFIX}"
    return directory.with_name(f"{directory.name}-{name}" if named else name)


def _training(options: SearchOptions, axis: str, path: Path) -> ProbeOptions:
    models: dict[str, Any] = {
        name: getattr(options, name) for name in ModelOptions.__dataclass_fields__
    }
    return ProbeOptions(
        **models, model=options.model, vqa=options.vqa, axes=options.axes, axis=(axis,),
        seed=options.seed, output=path,
    )  # fmt: skip


def _describe_probe(path: Path, axis: str) -> Record:
    record = read_probe_record(path)
    own = next(one for one in record["probes"] if one["axis"] == axis)
    check(_ProbeRecord, own, show_path(path))
    return {"axis": axis, "sha256": record["sha256"], "steps": own["steps"]}


def accuracy_at(told: Sequence[Record], axis: str, step: int) -> dict[str, Any]:
    """How right a probe is at a step about held-out prompts that do not name its axis.

    Raises:
        InputError: Its file does not say so.
    """
    own = next(one for one in told if one["axis"] == axis)
    for one in own["steps"]:
        if one["step"] == step:
            return {name: one["unnamed"][name] for name in _Right.model_fields}
    raise InputError(
        f"the file of the probe of '{printable(axis)}' does not give its accuracy at step {step}"
    )
