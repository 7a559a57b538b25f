"""An OpenBias report as a table in the terminal, readable at 80 columns; names are plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from biasgraph.errors import printable
from biasgraph.report import openbias_words, words
from biasgraph.report.terminal import show_list

Record = Mapping[str, Any]

CAPTION = (
    "Intensity: 0 where all classes are as frequent as each other, 1 where there is only one; of "
    "the mean distribution over captions (context-free), with its 95 % interval, and below it the "
    "mean of the captions by themselves (context-aware). Chance: uniform classes stay below it in "
    "95 % of cases."
)


def show(console: Console, document: Record) -> None:
    """Print a report: where it comes from, the ranking, what to keep in mind."""
    if document["toy"]:
        toy = Text(printable(document["toy"]))
        console.print(Panel(toy, title="Sandbox", box=box.ASCII, style="yellow"))
    grid = Table.grid(padding=(0, 2))
    for title, text in openbias_words.facts(document):
        grid.add_row(Text(title, "bold"), _sentence(text))
    console.print(grid)
    scored = [one for one in document["biases"] if one["intensity"] is not None]
    if scored:
        console.print(_ranking(scored))
    console.print()
    others = (openbias_words.without_score(document), openbias_words.others(document))
    show_list(console, "Others", [_sentence(one) for one in others if one])
    show_list(console, "To keep in mind", map(_sentence, openbias_words.caveats(document)))


def _ranking(biases: list[Record]) -> Table:
    table = Table(
        caption=Text(CAPTION),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    table.add_column("Bias, most frequent class")
    table.add_column("Intensity", no_wrap=True)
    table.add_column("Chance", justify="right", no_wrap=True)
    table.add_column("Captions", justify="right", no_wrap=True)
    table.add_column("Valid", justify="right", no_wrap=True)
    for one in biases:
        table.add_row(
            _sentence(words.name(one["bias"])) + _below(openbias_words.majority(one)),
            Text(openbias_words.intensity(one)) + _below(openbias_words.aware(one)),
            _levels(one),
            f"{one['n_captions']:,}",
            f"{one['n_valid']:,}/{one['n_images']:,}",
        )
    return table


def _levels(one: Record) -> Text:
    first, second = one["intensity_uniform_q95"], one["intensity_context_aware_uniform_q95"]
    return Text(f"{first:.3f}") + _below(f"{second:.3f}")


def _below(text: str) -> Text:
    """A second line, without the mark that the first may end in."""
    return Text("\n") + Text(_sentence(text).plain, "dim")


def _sentence(text: str) -> Text:
    return Text(printable(words.plain(text)))
