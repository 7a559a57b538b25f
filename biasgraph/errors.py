"""What went wrong, in words a user can act on; every error carries the exit code it ends with."""

from __future__ import annotations

import difflib
import errno
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

FULL_DISK = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
"""What an OSError has as its errno where a disk, or one's share of it, is full."""


WIDEST = 400
"""Characters of an error's line; what is quoted in it may be of any length."""


class BiasgraphError(Exception):
    """Base of every error that is shown without a traceback; its message is one clear line.

    Each of its lines is shortened, whoever catches it: what it quotes may be long. With "Error: "
    before it, it has at most `WIDEST` characters.
    """

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        most = WIDEST - len("Error: ")
        super().__init__("\n".join(shorten(line, most) for line in message.split("\n")))


class InputError(BiasgraphError):
    """What the user gave is wrong. Axis sets and comparisons list several problems, one a line."""

    exit_code = 2


class GateFailed(BiasgraphError):
    """A result or a comparison is worse than its gates allow; a line for each gate that failed."""

    exit_code = 3


class ModelError(BiasgraphError):
    """A model, the machine or the network failed."""

    exit_code = 1


class MissingExtra(ModelError):
    """An optional package is missing: ``MissingExtra("Parquet files", "parquet")``."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.command = f"pip install 'biasgraph[{extra}]'"
        super().__init__(f"{feature} need an optional package: {self.command}")


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the choice nearest to `word`, or ``""`` if none is near.

    Case is ignored; the leading space lets the answer be appended to any sentence.
    """
    by_lower = {choice.lower(): choice for choice in choices}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f" Did you mean '{printable(by_lower[near[0]])}'?" if near else ""


def list_words(words: Sequence[str], most: int = 12) -> str:
    """The first untrusted words for a message, with dots where there are more."""
    return ", ".join(map(printable, words[:most])) + (", ..." if len(words) > most else "")


def describe_missing(what: str, name: str, known: Iterable[str]) -> str:
    """Say that something has no part of this name, which it has, and which may be meant.

    Args:
        what: Who has none of what, printable: "the run has no axis".
        name: Untrusted, as the known ones are.
        known: The names of the parts that there are.
    """
    names = [*known]
    return f"{what} '{printable(name)}' (it has {list_words(names)}).{did_you_mean(name, names)}"


def printable(text: str) -> str:
    """Make control characters, escape sequences and invisible or bidirectional marks visible.

    Untrusted text (prompts, file names, model output) passes through here before it reaches a
    terminal or an error line. Letters of any script, marks, digits, punctuation and the plain
    space stay as they are; the result holds no line break.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def shorten(line: str, most: int = WIDEST) -> str:
    """`line`, or its beginning and its end where it has more than `most` characters."""
    return line if len(line) <= most else f"{line[: most - 153]} ... {line[-148:]}"


def show_path(path: Path) -> str:
    """`path` for an error line."""
    return printable(str(path))


def _visible(character: str) -> str:
    # C: control, format (bidi marks, zero width), surrogate, private use, unassigned;
    # Zl, Zp: line and paragraph separators.
    category = unicodedata.category(character)
    if category[0] == "C" or category in ("Zl", "Zp"):
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


def names_in(text: str, known: Sequence[str], *, option: str, what: str) -> list[str]:
    """The names in "svg,png", each once and in lower case.

    Args:
        text: What an option was given.
        known: The names that there are.
        option: What it is called, for the error: "--to".
        what: What a name is of: "format".

    Raises:
        InputError: A name is not among `known`, or there is none at all.
    """
    names = list(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    if not names:
        raise InputError(f"{option} is empty; choose from {', '.join(known)}")
    for name in names:
        if name not in known:
            raise InputError(
                f"unknown {what} '{printable(name)}'.{did_you_mean(name, known)} "
                f"Choose from {', '.join(known)}"
            )
    return names
