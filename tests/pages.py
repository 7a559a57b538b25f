"""The pages of the documentation as readers see them: the blocks of commands, and of other text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TYPED = [page for page in PAGES if page.name != "cli.md"]
"""The pages whose commands people type; the one left out shows what a program says of them."""
BLOCK = re.compile(
    r"(?:^ *<!-- not run: (?P<reasons>.+) -->\n)?"
    r"(?:^ *```(?P<language>.*)\n(?P<fenced>(?s:.*?))^ *```$|(?P<indented>(?:^    .*\n)+))",
    re.MULTILINE,
)
COMMAND = re.compile(r"(?:biasgraph|python3?|make|pip|export|vllm|srun|\.|\.venv/bin/\S+) .+")
COMMENT = re.compile(r" +# ?(.*)$")


@dataclass(frozen=True)
class Block:
    """What a page sets apart: fenced, with the word behind the fence, or indented ("")."""

    language: str
    text: str
    reasons: tuple[str, ...]
    """Why commands of it are not run, as the comment above it says."""

    @cached_property
    def lines(self) -> list[str]:
        """Its lines, those that go on in the next one joined."""
        return [line.strip() for line in re.sub(r"\\\n *", "", self.text).splitlines()]

    @cached_property
    def commands(self) -> list[str]:
        """Those of its lines that are typed."""
        return [line for line in self.lines if COMMAND.fullmatch(line)]


def blocks(page: Path) -> Iterator[Block]:
    """The blocks of a page, in its order."""
    for found in BLOCK.finditer(page.read_text("utf-8")):
        reasons = tuple(found["reasons"].split("; ")) if found["reasons"] else ()
        yield Block(found["language"] or "", found["fenced"] or found["indented"] or "", reasons)


def without_comment(command: str) -> str:
    """A command without what stands behind its `#`."""
    return COMMENT.sub("", command)
