"""What screens of the terminal are made of; everything shown is plain text, never markup."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from biasgraph.errors import printable
from biasgraph.report import words


def plain(text: str, style: str = "") -> Text:
    """Untrusted text: nothing in it is markup, moves the cursor or hides."""
    return Text(printable(text), style)


def sentence(text: str) -> Text:
    """One of the sentences that pages have, too, without their marks around names."""
    return plain(words.plain(text))


def show_toy(console: Console, toy: str | None) -> None:
    """Print what makes a result that of a toy; nothing where it is none."""
    if toy:
        console.print(Panel(plain(toy), title="Sandbox", box=box.ASCII, style="yellow"))


def facts(rows: Iterable[tuple[str, str]]) -> Table:
    """Titles, each with its words beside it."""
    grid = Table.grid(padding=(0, 2))
    for title, text in rows:
        grid.add_row(Text(title, "bold"), sentence(text))
    return grid


def captioned(caption: str) -> Table:
    """A table without columns yet, with its caption below it."""
    return Table(
        caption=Text(caption),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )


def show_list(console: Console, title: str, sentences: Iterable[Text]) -> None:
    """Print sentences below their title; nothing where there are none."""
    rows = list(sentences)
    if not rows:
        return
    grid = Table.grid(padding=(0, 1))
    for row in rows:
        grid.add_row("-", row)
    console.print(Text(title, "bold"))
    console.print(grid)
    console.print()
