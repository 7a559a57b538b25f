"""What lies in a folder of somebody else's, looked at with care."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.models.image_files import SUFFIXES, natural_order

JUNK = frozenset(("thumbs.db", "desktop.ini", "__macosx"))
"""What systems leave in folders of pictures, lower case; not worth a word."""
DEEPEST = 20
"""Folders within folders that are looked into for pictures that lie too deep."""

OUTSIDE = "links out of the folder"
NO_PICTURE = "no pictures"
NO_SET = "beside the folders of the sets"
TOO_DEEP = "in folders within those of the sets"


@dataclass
class Listing:
    """A folder whose entries are read by their paths within it, with ``/`` between the parts.

    Attributes:
        root: the folder.
        left_out: why -> the paths of files that are not pictures of a set, as they are met.
    """

    root: Path
    left_out: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> Listing:
        """The listing of a folder.

        Raises:
            InputError: it does not exist or cannot be read.
        """
        shown = printable(str(path))
        try:
            if path.is_dir():
                return cls(path.resolve())
            if path.exists():
                raise InputError(f"{shown} is a file: give a folder of pictures, or a manifest.csv")
            near = [
                entry.name
                for entry in path.absolute().parent.iterdir()
                if entry.is_dir() or entry.suffix.lower() == ".csv"
            ]
        except OSError as error:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                raise InputError(f"cannot read {shown}: {error.strerror}") from None
            near = []
        except ValueError as error:  # a null character
            raise InputError(f"cannot read {shown}: {error}") from None
        what = "folder or table" if path.suffix else "folder"
        raise InputError(f"{what} '{shown}' does not exist.{did_you_mean(path.name, near)}")

    def folders(self, folder: str = "") -> list[str]:
        """The names of the folders in `folder`, as a person counts."""
        return sorted(
            (entry.name for entry in self._entries(folder) if entry.is_dir()), key=natural_order
        )

    def pictures(self, folder: str = "") -> list[str]:
        """The paths of the picture files right in `folder`; others are noted in `left_out`."""
        paths = []
        for entry in self._entries(folder):
            if entry.is_dir():
                continue
            path = join(folder, entry.name)
            if _is_picture(entry):
                paths.append(path)
            else:
                self.leave_out(NO_PICTURE, path)
        return sorted(paths, key=natural_order)

    def holds_pictures(self, folder: str = "") -> bool:
        """Whether there are picture files in `folder` or below."""
        return any(
            _is_picture(entry) for path in self._tree(folder) for entry in self._entries(path)
        )

    def leave_out(self, reason: str, path: str) -> None:
        """Note a file that is not looked at."""
        paths = self.left_out.setdefault(reason, [])
        if path not in paths:
            paths.append(path)

    def leave_out_beside(self, reason: str, folder: str = "") -> None:
        """Note the picture files right in `folder`."""
        names = [entry.name for entry in self._entries(folder) if _is_picture(entry)]
        for name in sorted(names, key=natural_order):
            self.leave_out(reason, join(folder, name))

    def leave_out_below(self, reason: str, folder: str) -> None:
        """Note all picture files in the folders of `folder`."""
        for path in islice(self._tree(folder), 1, None):
            self.leave_out_beside(reason, path)

    def is_within(self, path: Path) -> bool:
        """Whether a path, all links in it followed, stays in the folder."""
        try:
            return path.resolve().is_relative_to(self.root)
        except (OSError, RuntimeError):  # not to be followed, or in a circle
            return False

    def _tree(self, folder: str, depth: int = 0) -> Iterator[str]:
        """`folder` and those within it, not too deep; no links, which may lead in circles."""
        yield folder
        for name in self.folders(folder) if depth < DEEPEST else []:
            if not (self.root / folder / name).is_symlink():
                yield from self._tree(join(folder, name), depth + 1)

    def _entries(self, folder: str) -> Iterator[Path]:
        where = self.root / folder
        try:
            names = os.listdir(where)
        except OSError as error:
            raise InputError(f"cannot read {printable(str(where))}: {error.strerror}") from None
        for name in names:
            path = where / name
            if name.startswith(".") or name.lower() in JUNK:
                continue
            if path.is_symlink() and not self.is_within(path):
                self.leave_out(OUTSIDE, join(folder, name))
                continue
            yield path


def _is_picture(entry: Path) -> bool:
    return entry.is_file() and entry.suffix.lower() in SUFFIXES


def join(*parts: str) -> str:
    """A path within a folder."""
    return "/".join(part for part in parts if part)
