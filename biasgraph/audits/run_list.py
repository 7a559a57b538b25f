"""What runs lie under a folder: a row for each, from its graph.json and run.json alone."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from biasgraph.data.file_names import DOCUMENTS, GRAPH, RECORD, REPORT
from biasgraph.errors import InputError, show_path
from biasgraph.io.text_files import read_regular
from biasgraph.models.registry import traits_of

BUILD = DOCUMENTS[GRAPH]
PROBES, PROBE = ".safetensors", "probe"
"""What a training of probes writes beside its run, which `search` makes when it has none."""
TOY = "The generator is one of the built-in toys."
PAGES = (REPORT, "mined.html", "found.html", "openbias.html", "transfer.html")
"""What there is to open in the directory of a run; the first that is there."""


MOST = 10**12
"""Images; more would be a mistake."""


class _Part(BaseModel):
    """Of a file, what a list needs; all else goes unread."""

    model_config = ConfigDict(strict=True)


Ends = Annotated[list[FiniteFloat], Field(min_length=2, max_length=2)]


Count = Annotated[int, Field(ge=0, le=MOST)]


class _Shares(_Part):
    distribution: list[FiniteFloat] | None
    n_valid: Count = 0


class Node(_Part):
    """Of an axis; as `biasgraph.causal.rows.NodeRow`."""

    id: str
    metric: str
    attributes: Annotated[list[str], Field(min_length=1)]
    initial: _Shares
    distribution_ci: list[Ends] | None = None
    ideal: list[FiniteFloat]
    cost: list[list[FiniteFloat]] | None = None
    reference: list[Count] | None = None
    w1: FiniteFloat | None
    w1_ci: Ends | None
    near_ideal: bool | None


class _Images(_Part):
    initial: Count
    interventions: Count
    controls: Count = 0


class _Prompt(_Part):
    prompt: str


class _Ideal(_Part):
    source: str


class _Graph(_Part):
    prompt: str | None
    model: str
    vqa: str | None
    vqa_fingerprint: str | None = None
    people: bool = False
    toy: str | None
    ideal: _Ideal
    images: _Images
    prompts: list[_Prompt] = Field(default_factory=list)


class Document(_Part):
    """Of graph.json."""

    graph: _Graph
    nodes: list[Node]
    links: list[dict[str, Any]]


class _Model(_Part):
    spec: str


class _Build(_Part):
    at: str = ""
    command: list[str]


class _Record(_Part):
    created: str = ""
    generator: _Model
    judges: dict[str, _Model]
    builds: list[_Build]


Read = TypeVar("Read", bound=_Part)


@dataclass(frozen=True)
class RunRow:
    """A run, or the result of an answers table.

    Attributes:
        directory: Where it is, seen from the folder that was searched.
        kind: The command that made it: build, mine, search ...
        state: finished, unfinished, or broken.
        problem: Why it is broken, in one line.
        page: What there is to open in it; None where there is nothing.
        date: When it was built last, in ISO 8601 and UTC.
        prompt: The prompt; None of several.
        prompts: How many there are.
        model: The generator's spec.
        judge: The judge's.
        toy: What says that model or judge are the built-in toys; None where they are not.
        images: How many images it rests on, all sets together.
        edges: Of its graph; None where no pair is tested, for lack of counterfactual images.
        measured: How many axes have enough valid answers for a distance to their ideal.
        axis: The axis that is furthest from its ideal, of those that are clearly away from it.
        attribute: What most initial images show of it.
        share: Of the initial images that show it, 0 to 1.
        w1: Its distance to the ideal, 0 to 1.
        w1_ci: The interval of that.
        valid: How many initial images say something about the axis.
        ideal: Where the ideals come from.
    """

    directory: str
    kind: str = BUILD
    state: str = "finished"
    problem: str | None = None
    page: str | None = None
    date: str | None = None
    prompt: str | None = None
    prompts: int | None = None
    model: str | None = None
    judge: str | None = None
    toy: str | None = None
    images: int | None = None
    edges: int | None = None
    measured: int | None = None
    axis: str | None = None
    attribute: str | None = None
    share: float | None = None
    w1: float | None = None
    w1_ci: list[float] | None = None
    valid: int | None = None
    ideal: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The fields, in JSON types."""
        return asdict(self)


@dataclass(frozen=True)
class RunEntry:
    """A run, and what its graph.json says, if it is that of a build and can be read."""

    row: RunRow
    document: Document | None = None


def list_runs(folder: Path) -> list[RunRow]:
    """The rows of `find_runs`."""
    return [run.row for run in find_runs(folder)]


def find_runs(folder: Path) -> list[RunEntry]:
    """The runs and results under a folder, those built last first.

    Folders within a run are not searched, and links are not followed. Files are read as far as the
    list needs them: that a run is listed does not say that it is whole.

    Raises:
        InputError: The folder does not exist or cannot be read.
    """
    if not folder.is_dir():
        raise InputError(f"{show_path(folder)} is not a folder")

    def refuse(error: OSError) -> None:
        if Path(error.filename) == folder:
            raise InputError(f"cannot read {show_path(folder)}: {error.strerror}")

    runs = []
    for place, below, files in os.walk(folder, onerror=refuse):
        if GRAPH in files or RECORD in files:
            below.clear()
            runs.append(_run(Path(place), Path(place).relative_to(folder).as_posix(), files))
    return sorted(runs, key=lambda run: (run.row.date or "", run.row.directory), reverse=True)


def _run(run: Path, directory: str, files: Collection[str]) -> RunEntry:
    pages = (name for name in PAGES if name in files and not (run / name).is_symlink())
    row = RunRow(directory, page=next(pages, None))
    try:
        about = _of_record(_read(_Record, run / RECORD)) if RECORD in files else {}
        done = next((kind for name, kind in DOCUMENTS.items() if name in files), None)
        if done is None and run.with_name(run.name + PROBES).is_file():
            done = PROBE
        if done != BUILD:
            kind = done or about.pop("kind")
            state = "finished" if done or kind not in DOCUMENTS.values() else "unfinished"
            return RunEntry(replace(row, **about | {"kind": kind, "state": state}))
        document = _read(Document, run / GRAPH)
        date = {"date": _date_of(run / GRAPH)}
        return RunEntry(replace(row, **date | about | _of_document(document)), document)
    except InputError as error:
        return RunEntry(replace(row, state="broken", problem=str(error)))


def _date_of(path: Path) -> str | None:
    """When a file was written last; None where no calendar has the day."""
    try:
        at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None
    return at.isoformat(timespec="seconds")


def _of_record(record: _Record) -> dict[str, Any]:
    latest = record.builds[-1] if record.builds else None
    return {
        "kind": latest.command[0] if latest and latest.command else BUILD,
        "date": _readable((latest.at if latest else "") or record.created),
        "model": record.generator.spec,
        "toy": TOY if traits_of(record.generator.spec).toy else None,
        "judge": next((judge.spec for judge in record.judges.values()), None),
    }


def _readable(date: str) -> str | None:
    """A date in ISO 8601; None where it is none."""
    try:
        datetime.fromisoformat(date)
    except ValueError:
        return None
    return date


def _of_document(document: Document) -> dict[str, Any]:
    graph, images = document.graph, document.graph.images
    far = [node for node in document.nodes if node.near_ideal is False]
    most = max(far, key=lambda node: node.w1 or 0.0, default=None)
    return {
        "kind": BUILD,
        "prompt": graph.prompt,
        "prompts": len(graph.prompts) or 1,
        "model": graph.model,
        "judge": graph.vqa,
        "toy": graph.toy,
        "images": images.initial + images.interventions + images.controls,
        "edges": len(document.links) if images.interventions else None,
        "measured": sum(node.w1 is not None for node in document.nodes),
        "ideal": graph.ideal.source,
        **(_of_axis(most) if most else {}),
    }


def _of_axis(node: Node) -> dict[str, Any]:
    shares = dict(zip(node.attributes, node.initial.distribution or (), strict=False))
    attribute = max(shares, key=lambda name: shares[name], default=None)
    return {
        "axis": node.id,
        "attribute": attribute,
        "share": None if attribute is None else shares[attribute],
        "w1": node.w1,
        "w1_ci": node.w1_ci,
        "valid": node.initial.n_valid,
    }


def _read(model: type[Read], path: Path) -> Read:
    """What a list needs of a file, in a fifth of the time that checking all of it takes."""
    try:
        return model.model_validate(json.loads(read_regular(path)))
    except OSError as error:
        raise InputError(f"cannot read {path.name}: {error.strerror}") from None
    except ValidationError as error:
        where = ".".join(str(step) for step in error.errors(include_url=False)[0]["loc"])
        raise InputError(f"{path.name} is damaged{where and f': {where}'}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path.name} is damaged: it is not JSON") from None
