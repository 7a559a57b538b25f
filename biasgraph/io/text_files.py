"""Files that people name: read whole, or refused in a line that says which and why."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from biasgraph.errors import InputError, printable

COMMENT = "#"
IRREGULAR = "it is not a regular file"
BOM = b"\xef\xbb\xbf"
LONGEST = 2**28
"""Bytes read of what is no regular file and may never end, such as /dev/zero."""

_HALF = re.compile("[\ud800-\udfff]")


def has_half_character(text: str) -> bool:
    """Whether a text holds a lone surrogate, which neither UTF-8 nor SQLite can."""
    return _HALF.search(text) is not None


def read_bytes(path: str | Path, what: str = "") -> bytes:
    """The content of a file.

    Args:
        path: of the file.
        what: what it is, for the error: "the prompts in".

    Raises:
        InputError: it cannot be read, or is a pipe or device with more than `LONGEST` bytes.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(-1 if Path(path).is_file() else LONGEST + 1)
            if len(raw) > LONGEST and not Path(path).is_file():
                raise OSError(errno.EFBIG, f"{IRREGULAR} and does not end")
            return raw
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or error
        name = f"{what} {printable(str(path))}".lstrip()
        raise InputError(f"cannot read {name}: {reason}") from None


def refuse_pipe(path: Path) -> None:
    """Raise InputError where a pipe, which may never end, stands in the place of a run's file."""
    if _is_pipe(path):
        raise InputError(f"cannot read {printable(str(path))}: {IRREGULAR}")


def read_regular(path: Path) -> bytes:
    """The content of a file that nobody named. Raises OSError, for a pipe too."""
    if _is_pipe(path):
        raise OSError(errno.EINVAL, IRREGULAR, str(path))
    return path.read_bytes()


def _is_pipe(path: Path) -> bool:
    return path.exists() and not path.is_dir() and not path.is_file()


@contextmanager
def at_place(place: str | Callable[[], str]) -> Iterator[None]:
    """Put a place before the message of an InputError: "FILE, line 3: ...".

    Args:
        place: the place, or what looks it up; called only for a message.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{place if isinstance(place, str) else place()}: {error}") from None


def lines_of(raw: bytes, source: str) -> Iterator[tuple[str, str]]:
    """The lines of a text that say something, and the place of each: "FILE, line 3".

    Blank lines and those that begin with # are left out.

    Raises:
        InputError: a line is not UTF-8.
    """
    lines = re.split(rb"\r\n|\r|\n", raw.removeprefix(BOM))
    for number, line in enumerate(lines, start=1):
        place = f"{source}, line {number}"
        try:
            text = line.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise InputError(f"{place}: not UTF-8 text") from None
        if text and not text.startswith(COMMENT):
            yield text, place
