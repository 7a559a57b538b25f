"""An OpenBias report as a table in the terminal, readable at 80 columns; names are plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from biasgraph.report import openbias_words, words
from biasgraph.report.screen import captioned, facts, sentence, show_list, show_toy

Record = Mapping[str, Any]

CAPTION = (
    "Intensity: 0 where all classes are as frequent as each other, 1 where there is only one; of "
    "the mean distribution over captions (context-free), with its 95 % interval, and below it the "
    "mean of the captions by themselves (context-aware). Chance: uniform classes stay below it in "
    "95 % of cases."
)


def show(console: Console, document: Record) -> None:
    """Print a report: where it comes from, the ranking, what to keep in mind."""
    show_toy(console, document["toy"])
    console.print(facts(openbias_words.facts(document)))
    scored = [one for one in document["biases"] if one["intensity"] is not None]
    if scored:
        console.print(_ranking(scored))
    console.print()
    others = (openbias_words.without_score(document), openbias_words.others(document))
    show_list(console, "Others", [sentence(one) for one in others if one])
    show_list(console, "To keep in mind", map(sentence, openbias_words.caveats(document)))


def _ranking(biases: list[Record]) -> Table:
    table = captioned(CAPTION)
    table.add_column("Bias, most frequent class")
    table.add_column("Intensity", no_wrap=True)
    table.add_column("Chance", justify="right", no_wrap=True)
    table.add_column("Captions", justify="right", no_wrap=True)
    table.add_column("Valid", justify="right", no_wrap=True)
    for one in biases:
        table.add_row(
            sentence(words.name(one["bias"])) + _below(openbias_words.majority(one)),
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
    return Text("\n") + Text(sentence(text).plain, "dim")
