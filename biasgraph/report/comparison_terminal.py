"""A comparison as tables in the terminal, readable at 80 columns.

Runs, axes and prompts are untrusted: they are shown as plain text, never as markup, and control
characters in them are made visible. Tables name a run by its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from biasgraph.errors import printable
from biasgraph.report import comparison_words, screen, words

Record = Mapping[str, Any]

CAPTION = (
    "Change: IS of the run less IS of the baseline, with its 95 % interval. p is adjusted over all "
    "pairs of the comparison."
)


def show(console: Console, document: Record) -> None:
    """Print the document of a comparison: runs, distances, rankings, changed pairs, gates."""
    screen.show_toy(console, document["toy"])
    console.print(_runs(document))
    _section(console, "Distance to the ideal", _distances(document))
    _section(console, "Influence: the sum of |IS| over an axis's pairs", _strengths(document))
    for comparison in document["comparisons"]:
        number = _numbers(document)[comparison["run"]]
        _section(console, f"What changed from 1 to {number}", None)
        changed = [pair for pair in comparison["pairs"] if pair["class"] == "changed"]
        if changed:
            console.print(_changed(changed))
        _sentences(console, comparison_words.summary(comparison))
    if document["gates"]:
        _section(console, "Gates", None)
        _sentences(console, comparison_words.gates(document))
    if document["notes"]:
        _section(console, "To keep in mind", None)
        _sentences(console, [f"{note}." for note in document["notes"]])


def _numbers(document: Record) -> dict[str, int]:
    return {run["name"]: number for number, run in enumerate(document["runs"], start=1)}


def _section(console: Console, title: str, content: Table | None) -> None:
    console.print(Text(f"\n{title}", "bold"))
    if content is not None:
        console.print(content)


def _sentences(console: Console, sentences: Iterable[str]) -> None:
    grid = Table.grid(padding=(0, 1))
    for sentence in sentences:
        grid.add_row("-", screen.sentence(sentence))
    console.print(grid)


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in headings:
        table.add_column(heading)
    return table


def _runs(document: Record) -> Table:
    table = _table("", "Run", "Images", "Edges", "Amplification", "By chance")
    for number, (run, total) in enumerate(
        zip(document["runs"], document["amplification"], strict=True), start=1
    ):
        floor = total["floor"] and total["floor"]["q95"]
        table.add_row(
            str(number),
            Text(_name(run["name"], 60)),
            f"{run['images']['initial']:,} + {run['images']['interventions']:,}",
            str(run["edges"]),
            _with_interval(total["value"], total["ci"]),
            "-" if floor is None else f"to {floor:.2f}",
        )
    return table


def _distances(document: Record) -> Table:
    numbers = _numbers(document)
    growth = {
        (comparison["run"], one["axis"]): one
        for comparison in document["comparisons"]
        for one in comparison["distances"]
    }
    table = _table("Axis", "Run", "Distance", "Growth from 1", "Closest")
    for place, axis in enumerate(axis["id"] for axis in document["axes"]):
        rows = [one for one in document["distances"] if one["axis"] == axis]
        for line, row in enumerate(rows):
            grown = growth.get((row["run"], axis), {"growth": None, "growth_ci": None})
            table.add_row(
                Text(_name(axis)) if not line else "",
                str(numbers[row["run"]]),
                _with_interval(row["w1"], row["w1_ci"]),
                _with_interval(grown["growth"], grown["growth_ci"], "+"),
                _share(row["probability_closest"]),
                end_section=line == len(rows) - 1 and place < len(document["axes"]) - 1,
            )
    return table


def _strengths(document: Record) -> Table:
    numbers = _numbers(document)
    table = _table("Axis", "Run", "Influenced", "Least", "Influences", "Most")
    table.caption = (
        "Least, Most: in what share of resamples it is the run's least influenced or most "
        "influential axis."
    )
    table.caption_justify = "left"
    for axis in (axis["id"] for axis in document["axes"]):
        rows = [one for one in document["strengths"] if one["axis"] == axis]
        for line, row in enumerate(rows):
            into, out = row["in"], row["out"]
            table.add_row(
                Text(_name(axis)) if not line else "",
                str(numbers[row["run"]]),
                _with_interval(into["value"], into["ci"]),
                _share(into["first_of_axes"]),
                _with_interval(out["value"], out["ci"]),
                _share(out["first_of_axes"]),
            )
    return table


def _changed(pairs: Sequence[Record]) -> Table:
    table = _table("Diversifying", "moves", "IS in 1", "IS in run", "Change", "p")
    table.caption, table.caption_justify = CAPTION, "left"
    for pair in sorted(pairs, key=lambda pair: pair["p_adjusted"]):
        table.add_row(
            Text(_name(pair["source"])),
            Text(_name(pair["target"])),
            f"{pair['is_baseline']:+.3f}",
            f"{pair['is_run']:+.3f}",
            _with_interval(pair["difference"], pair["difference_ci"], "+"),
            words.p_value(pair["p_adjusted"]),
        )
    return table


def _with_interval(value: float | None, interval: Sequence[float] | None, sign: str = "") -> str:
    low, high = interval or (None, None)
    return words.with_interval(value, low, high, sign)


def _name(text: str, longest: int = 40) -> str:
    return words.clip(printable(text), longest)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
