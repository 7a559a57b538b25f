"""How a result was made: when, with what command, and an id that is the same in every export."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from biasgraph.data.file_names import GRAPH
from biasgraph.data.result import run_directory
from biasgraph.errors import printable
from biasgraph.runs.record import read_record, refuse_unreadable

if TYPE_CHECKING:
    from biasgraph.data.result import Result

BUILD = "build"
IDENTITY = (
    "prompt", "prompts", "model", "vqa", "model_fingerprint", "vqa_fingerprint", "seed", "axes",
    "images",
)  # fmt: skip
"""Of a graph: who was asked about which images. Analysing them otherwise makes no new audit."""
_HIGH_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")


@dataclass(frozen=True)
class BuildRecord:
    """How a result was made, as far as that is recorded.

    Attributes:
        date: When it was built last, in UTC; of an answers table, when its graph.json was written.
        command: The latest `build` as it was typed, without the program's name; empty where none
            was: of an answers table, or in Python.
        has_run: Whether there is a run with images, which `command` made.
        model_settings: What the generator was told besides the prompt.
    """

    date: datetime | None = None
    command: Sequence[str] = ()
    has_run: bool = False
    model_settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, result: Result) -> BuildRecord:
        """That of a result; of one prompt of many, of the run that it belongs to.

        Raises:
            InputError: run.json is damaged.
        """
        root = run_directory(result.directory)
        record = None if root is None else read_record(root)
        if root is None or record is None:
            return cls(_find_time(result))
        refuse_unreadable(root, record)
        builds = [build for build in record["builds"] if build["command"][:1] in ([], [BUILD])]
        if not builds:
            return cls(_find_time(result), (), True, record["generator"]["settings"])
        date = _moment(str(builds[-1].get("at"))) or _find_time(result)
        return cls(date, builds[-1]["command"], True, record["generator"]["settings"])

    @property
    def shell(self) -> str:
        """`command` for a shell, in one line in which nothing is hidden; empty without one."""
        words = ["biasgraph", *self.command] if self.command else []
        return " ".join(map(_quote, words))


def identity(result: Result) -> UUID:
    """The id of an audit: the same for the same models, prompts and numbers of images."""
    graph = result.document["graph"]
    known = json.dumps([graph.get(name) for name in IDENTITY]).encode()
    return UUID(bytes=hashlib.sha256(known).digest()[:16], version=4)


def _find_time(result: Result) -> datetime | None:
    if result.directory is None:
        return None
    path = result.directory / GRAPH
    return datetime.fromtimestamp(int(path.stat().st_mtime), UTC) if path.is_file() else None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None


def _quote(word: str) -> str:
    """A word of a command; what is invisible in it stands as an escape of bash's."""
    if printable(word) == word:
        return shlex.quote(word)
    seen = printable(word.replace("\\", "\\\\").replace("'", "\\'"))
    escapes = _HIGH_BYTE.sub(r"\\u00\1", seen)  # bash's \\xHH are bytes, not characters
    return f"$'{escapes}'"
