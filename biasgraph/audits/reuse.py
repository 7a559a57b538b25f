"""A rerun with nothing new to compute reads the result back, by digests of inputs and files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from biasgraph.data.file_names import GRAPH
from biasgraph.data.result import Result, load_intact
from biasgraph.errors import InputError
from biasgraph.io.json_files import parse_json
from biasgraph.io.text_files import read_regular
from biasgraph.io.writing import write_atomically
from biasgraph.methods.wordnet import find_wordnet

FILE = "inputs.json"
SCHEMA = "biasgraph-inputs/1"


def digest_inputs(inputs: Mapping[str, Any]) -> str:
    """The SHA-256 (hex) of everything that a result is computed from.

    Args:
        inputs: JSON types, paths and arrays.
    """
    text = json.dumps(inputs, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def stamp_installation() -> list[str]:
    """What a result depends on beside its inputs: the code as it lies here, and WordNet.

    A version number alone would hide what somebody edits in a checkout.
    """
    root = Path(__file__).parents[1]
    files = sorted(root.rglob("*.py"))
    stamps = [(path, path.stat()) for path in files]
    code = [f"{path.relative_to(root)} {at.st_size} {at.st_mtime_ns}" for path, at in stamps]
    return [*code, f"WordNet: {find_wordnet()}, NLTK: {find_spec('nltk') is not None}"]


def digest_file(path: Path | None) -> str | None:
    """The SHA-256 (hex) of a file; None where there is none."""
    if path is None or not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_inputs(directory: Path) -> tuple[str, dict[str, str | None]] | None:
    """What `digest_inputs` returned for the result in a directory, and the digests of its files.

    None where there is no result, or where a file is not as biasgraph wrote it.
    """
    try:
        record = parse_json(read_regular(directory / FILE), FILE)
        inputs, files = str(record["inputs"]), dict(record["files"])
        same = all(digest_file(directory / name) == digest for name, digest in files.items())
        return (inputs, files) if same and GRAPH in files and record["schema"] == SCHEMA else None
    except (InputError, OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def read_back(directory: Path, inputs: str) -> Result | None:
    """The result in a directory, if it was computed from these inputs and its files are intact.

    Args:
        directory: Of the run.
        inputs: What `digest_inputs` returned.
    """
    known = read_inputs(directory)
    return load_intact(directory) if known is not None and known[0] == inputs else None


def remember(directory: Path, inputs: str, paths: Sequence[Path]) -> None:
    """Record what the files of a result in a directory were computed from."""
    _write(directory, inputs, {}, paths)


def write_finding(result: Result, directory: Path) -> list[Path]:
    """Write a result again with a finding more, so that a build of the same reads it back.

    Raises ModelError: its files cannot be written.
    """
    from biasgraph.report.saving import write

    intact = read_inputs(directory)
    paths = write(result, directory)
    if intact is not None:
        _write(directory, *intact, paths)
    return paths


def _write(
    directory: Path, inputs: str, files: Mapping[str, str | None], paths: Sequence[Path]
) -> None:
    new = {path.relative_to(directory).as_posix(): digest_file(path) for path in paths}
    record = {"schema": SCHEMA, "inputs": inputs, "files": {**files, **new}}
    write_atomically(directory / FILE, (json.dumps(record, indent=1) + "\n").encode())
