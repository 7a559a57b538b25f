"""What screens and pages say, as text."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from rich.cells import cell_len
from rich.console import Console

from biasgraph.data import findings
from biasgraph.errors import printable
from biasgraph.report.terminal import show


def screen_of(parts: Iterable[findings.ScreenPart], width: int = 80) -> str:
    """Parts as a terminal without colours shows them."""
    buffer = io.StringIO()
    show(Console(file=buffer, width=width, highlight=False), parts)
    return buffer.getvalue()


def one_line(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def page_words(page: bytes) -> str:
    """The words of a page: without its head, tags, entities of quotes and marks around names."""
    body = page.decode().partition("<body>")[2].partition("<script")[0]
    text = re.sub(r"<[^>]*>", " ", body)
    text = text.replace("&#39;", "'").replace("&#34;", '"')
    return one_line(text.replace("\u2068", "").replace("\u2069", ""))


def check_name(screen: str, name: str) -> None:
    """A hostile name shows up on a screen, as text, and no line of it is too long."""
    lines = screen.splitlines()
    assert all(line == printable(line) for line in lines)
    assert max(cell_len(line) for line in lines) <= 80
    start = "".join(printable(name).split())[:20]
    assert start in "".join(screen.split())
