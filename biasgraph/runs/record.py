"""run.json: what a run was made with, and the refusal of anything else by name."""

from __future__ import annotations

import functools
import json
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from biasgraph.data.file_names import RECORD
from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.json_files import check, parse_json
from biasgraph.io.text_files import refuse_pipe
from biasgraph.io.writing import write_atomically
from biasgraph.models.base import ConfiguredModel
from biasgraph.models.plug_ins import GROUPS, plug_ins
from biasgraph.runs.storage import NEW_RUN

SCHEMA_NAME = "biasgraph-run"
SCHEMA_VERSION = 1
PACKAGES = (
    "biasgraph", "numpy", "scipy", "pandas", "pillow", "torch", "diffusers", "transformers", "peft"
)  # fmt: skip
DIFFERENCES_SHOWN = 4

Record = dict[str, Any]


class _RecordedModel(BaseModel, strict=True, extra="forbid"):
    spec: str
    fingerprint: str
    settings: dict[str, Any]


class _RecordedSettings(BaseModel, strict=True):
    images: int | None = None
    controls: int | None = None
    fewer: dict[str, int] = Field(default_factory=dict)
    models: dict[str, Any] = Field(default_factory=dict)


class _RecordedBuild(BaseModel, strict=True):
    command: list[str]
    settings: _RecordedSettings
    versions: dict[str, str]


class _RunRecord(BaseModel, strict=True):
    seed: int = Field(ge=0)
    generator: _RecordedModel
    judges: dict[str, _RecordedModel]
    builds: list[_RecordedBuild]


def installed_versions() -> dict[str, str]:
    """Versions of Python and of the packages that decide about pixels and numbers.

    Those of installed plug-ins are among them: they may have been at work.
    """
    return dict(_versions_on(tuple(sys.path)))


@functools.lru_cache(maxsize=4)
def _versions_on(_path: tuple[str, ...]) -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    offered = (entry.dist for group in GROUPS for entry in plug_ins(group))
    return versions | {package.name: package.version for package in offered if package}


def identity(model: ConfiguredModel) -> Record:
    """A model as run.json holds it, in JSON types."""
    return _as_json(
        {"spec": model.spec, "fingerprint": model.fingerprint, "settings": dict(model.settings)}
    )


def new_record(generator: ConfiguredModel, seed: int) -> Record:
    """The record of a run that begins."""
    return {
        "schema": f"{SCHEMA_NAME}/{SCHEMA_VERSION}",
        "created": _now(),
        "seed": seed,
        "generator": identity(generator),
        "judges": {},
        "builds": [],
    }


def with_build(record: Record, settings: Mapping[str, Any], command: Sequence[str]) -> Record:
    """`record` with one more build at its end, or as it is when the last one was the same."""
    build = _as_json(
        {"command": list(command), "settings": dict(settings), "versions": installed_versions()}
    )
    last = record["builds"][-1] if record["builds"] else {}
    if {**last, "at": None} == {**build, "at": None}:
        return record
    return {**record, "builds": [*record["builds"], {"at": _now(), **build}]}


def with_judge(folder: Path, record: Record, judge: ConfiguredModel) -> Record:
    """`record` with `judge` in it; one of the same name with other settings is refused."""
    recorded = record["judges"].get(judge.spec)
    if recorded is None:
        return {**record, "judges": {**record["judges"], judge.spec: identity(judge)}}
    refuse_differences(folder, f"judge {judge.spec}", recorded, identity(judge))
    return record


def refuse_another_run(folder: Path, record: Record, generator: ConfiguredModel, seed: int) -> None:
    """Raise InputError unless `record` was made with this generator and seed."""
    before, now = record["generator"], identity(generator)
    if before["spec"] != now["spec"]:
        before, now = {"": before["spec"]}, {"": now["spec"]}
    refuse_differences(
        folder, "", {"seed": record["seed"], "model": before}, {"seed": seed, "model": now}
    )


def refuse_differences(folder: Path, what: str, before: object, now: object) -> None:
    """Raise InputError naming every value of `what` that differs, the old one and the new one."""
    if found := differences(what, before, now):
        raise InputError(f"{show_path(folder)} cannot be resumed: {', '.join(found)}; {NEW_RUN}")


def differences(
    what: str, before: object, now: object, said: str = "{} was {} and is now {}"
) -> list[str]:
    """Every value of `what` that differs: its name, the old and the new one, as `said` has them."""
    old, new = dict(_leaves(what, before)), dict(_leaves(what, now))
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    found = [
        said.format(printable(name), old.get(name, "not set"), new.get(name, "not set"))
        for name in names[:DIFFERENCES_SHOWN]
    ]
    more = len(names) - DIFFERENCES_SHOWN
    return [*found, f"{more} more differ"] if more > 0 else found


def read_record(folder: Path) -> Record | None:
    """The record in `folder`, of whatever version; None when there is none.

    Raises InputError when run.json is not a run's record.
    """
    path = folder / RECORD
    refuse_pipe(path)
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        record = parse_json(text, show_path(path))
        if record["schema"].startswith(f"{SCHEMA_NAME}/"):
            return dict(record)
    except (InputError, LookupError, TypeError, AttributeError):
        pass
    raise _no_record(path)


def recorded_controls(folder: Path, usual: int) -> int:
    """How many rewordings the latest build of a run asked for; `usual` where none was begun.

    Raises InputError when run.json is not a run's record.
    """
    record = read_record(folder)
    if record is None or not record.get("builds"):
        return usual
    refuse_unreadable(folder, record)
    return int(record["builds"][-1]["settings"].get("controls") or 0)


def refuse_unreadable(folder: Path, record: Record) -> None:
    """Raise InputError when `record` was made by a newer biasgraph or is not whole."""
    version = record["schema"].removeprefix(f"{SCHEMA_NAME}/")
    if version != str(SCHEMA_VERSION):
        raise InputError(
            f"{show_path(folder / RECORD)} has schema version {printable(version)}; this biasgraph "
            f"reads version {SCHEMA_VERSION}: install a newer one, or {NEW_RUN}"
        )
    if not {"seed", "generator", "judges", "builds"} <= record.keys():
        raise _no_record(folder / RECORD)
    check(_RunRecord, record, show_path(folder / RECORD))


def write_record(folder: Path, record: Record) -> None:
    """Write run.json in one step."""
    text = json.dumps(record, indent=2) + "\n"
    write_atomically(folder / RECORD, text.encode(), durable=True)


def _no_record(path: Path) -> InputError:
    return InputError(
        f"{show_path(path)} is not the record of a biasgraph run, or is damaged: restore it from a "
        "copy, or build into another directory"
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _as_json(value: Record) -> Record:
    return dict(json.loads(json.dumps(value)))


def _leaves(name: str, value: object) -> Iterator[tuple[str, str]]:
    """The names and printed values of all leaves of nested JSON."""
    if isinstance(value, Mapping):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = list(enumerate(value, start=1))
    else:
        text = printable(json.dumps(value, ensure_ascii=False))
        yield name, text if len(text) <= 80 else f"{text[:79]}…"
        return
    for key, part in parts:
        yield from _leaves(f"{name} {key}".strip(), part)
