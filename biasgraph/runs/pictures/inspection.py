"""What the files of a folder hold: every one looked into once, and again only when it changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from biasgraph.errors import InputError, list_words, printable, show_path
from biasgraph.io.json_files import StrictModel, check, parse_json
from biasgraph.io.text_files import read_regular
from biasgraph.models.image_files import REDUCED, THREADS, Look, lift_pixel_limit, read_picture
from biasgraph.models.kept_pictures import KeptPictures
from biasgraph.runs.progress import Progress, showing

PICTURES = "pictures.json"
"""The file of a run that says what was found in the folder."""
SCHEMA = "biasgraph-pictures/1"
NAMED = 3
"""Files that a message names."""
MOST = 2**63
"""Bytes, pixels, nanoseconds; more would be a mistake."""

Size = Annotated[int, Field(ge=-1, lt=MOST)]


class _FileRecord(StrictModel):
    bytes: Size
    mtime_ns: Annotated[int, Field(ge=-MOST, lt=MOST)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None
    width: Size
    height: Size
    problem: str | None
    remarks: list[str]


class _InspectionFile(StrictModel):
    schema_: Annotated[Literal["biasgraph-pictures/1"], Field(alias="schema")]
    folder: str
    max_pixels: int
    images: dict[str, str]
    files: dict[str, _FileRecord]


@dataclass(frozen=True)
class SeenFile:
    """A file: what a look showed, and what tells that it was not touched since."""

    look: Look
    bytes: int
    mtime_ns: int


@dataclass(frozen=True)
class Inspection:
    """What was seen of all files of a folder, by their paths within it."""

    root: Path
    max_pixels: int
    seen: Mapping[str, SeenFile]

    def is_picture(self, path: str) -> bool:
        """Whether the file is a picture that counts."""
        return self.seen[path].look.problem is None

    def notes(self) -> list[str]:
        """What a reader should know of the files, with their numbers and the first names."""
        problems: dict[str, list[str]] = {}
        remarks: Counter[str] = Counter()
        for path, seen in self.seen.items():
            if seen.look.problem is None:
                remarks.update(seen.look.remarks)
            else:
                problems.setdefault(printable(seen.look.problem), []).append(path)
        notes = [describe_left_out(problem, paths) for problem, paths in problems.items()]
        for remark, count in remarks.items():
            notes.append(f"{count:,} picture{'s' * (count > 1)}: {printable(remark)}")
        return notes

    def to_bytes(self, images: Mapping[str, str]) -> bytes:
        """The contents of the file that `read_inspection` reads.

        Args:
            images: image id -> the path of its picture, for people who look for it.
        """
        files = {
            path: {"bytes": seen.bytes, "mtime_ns": seen.mtime_ns, **seen.look.record()}
            for path, seen in self.seen.items()
        }
        record = {
            "schema": SCHEMA,
            "folder": str(self.root),
            "max_pixels": self.max_pixels,
            "images": dict(images),
            "files": files,
        }
        return (json.dumps(record, indent=1) + "\n").encode()


def count_files(paths: Sequence[str]) -> str:
    """How many files: "1 file was", "3 files were"."""
    return "1 file was" if len(paths) == 1 else f"{len(paths):,} files were"


def describe_left_out(reason: str, paths: Sequence[str]) -> str:
    """That files do not count, with the first names."""
    return f"{count_files(paths)} left out: {reason} ({list_words(paths, NAMED)})"


def read_inspection(run: Path, root: Path, max_pixels: int) -> dict[str, SeenFile]:
    """What an earlier build saw of the files below `root`, if it kept to the same limit."""
    try:
        record = _read(run)
    except (OSError, InputError):
        return {}  # nothing is lost: the files are looked into again
    if (record.folder, record.max_pixels) != (str(root), max_pixels):
        return {}
    return {
        path: SeenFile(
            Look(one.sha256, one.width, one.height, one.problem, tuple(one.remarks)),
            one.bytes,
            one.mtime_ns,
        )
        for path, one in record.files.items()
    }


def read_paths(run: Path) -> dict[str, str]:
    """The pictures that a run was given: image id -> the path of its picture.

    Raises:
        InputError: The file that says so is damaged or cannot be read.
    """
    try:
        return dict(_read(run).images)
    except OSError as error:
        raise InputError(f"cannot read {show_path(run / PICTURES)}: {error.strerror}") from None


def _read(run: Path) -> _InspectionFile:
    """The file of a run; raises OSError, and InputError where it is damaged."""
    source = show_path(run / PICTURES)
    data = parse_json(read_regular(run / PICTURES), source)
    check(_InspectionFile, data, source)
    return _InspectionFile.model_validate(data)


def inspect_files(
    root: Path,
    files: Sequence[str],
    max_pixels: int,
    known: Mapping[str, SeenFile],
    progress: Progress | None = None,
    kept: KeptPictures | None = None,
) -> Inspection:
    """Look into `files`; those that are as they were when they were seen are not opened.

    Args:
        root: the folder.
        files: paths within it.
        max_pixels: pictures with more are refused.
        known: what an earlier build saw.
        progress: shows how far it is.
        kept: takes the large pictures, for who needs them next.

    Raises:
        Interrupted: the user asks to stop.
    """
    seen = {
        path: before
        for path in files
        if (before := known.get(path)) is not None
        and before.look.sha256 is not None
        and _stamp(root / path) == (before.bytes, before.mtime_ns)
    }
    new = [path for path in files if path not in seen]
    if new:
        with showing(progress, "Files", total=len(files), done=len(seen)) as work:
            for path, found in _looks(root, new, max_pixels, kept):
                seen[path] = found
                work.advance(1)
    return Inspection(root, max_pixels, {path: seen[path] for path in files})


def _looks(
    root: Path, files: Sequence[str], max_pixels: int, kept: KeptPictures | None
) -> Iterator[tuple[str, SeenFile]]:
    pool = ThreadPoolExecutor(THREADS)
    try:
        with lift_pixel_limit():
            looks = pool.map(partial(_look, root, max_pixels, kept), files)
            yield from zip(files, looks, strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


def _look(root: Path, max_pixels: int, kept: KeptPictures | None, path: str) -> SeenFile:
    file = root / path
    size, mtime_ns = _stamp(file)
    look, picture = read_picture(file, max_pixels)
    if kept is not None and picture is not None and REDUCED in look.remarks:
        kept.keep(look.seed, picture)
    return SeenFile(look, size, mtime_ns)


def _stamp(file: Path) -> tuple[int, int]:
    try:
        status = file.stat()
    except OSError:
        return -1, -1
    return status.st_size, status.st_mtime_ns
