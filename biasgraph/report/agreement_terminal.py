"""An agreement as tables in the terminal, readable at 80 columns; names are plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from biasgraph.errors import printable
from biasgraph.report import agreement_words, words
from biasgraph.report.terminal import show_list

Record = Mapping[str, Any]

CAPTION = (
    "Valid: images with a valid answer of both. Intervals are 95 %. KL, in nats: of the "
    "distribution of the judge's answers from the reference's, and the other way round; TV: half "
    "the sum of the differences of their shares."
)


def show(console: Console, record: Record) -> None:
    """Print an agreement: a line for each axis, its confusion matrix, what to keep in mind."""
    if record["toy"]:
        toy = Text(printable(record["toy"]))
        console.print(Panel(toy, title="Sandbox", box=box.ASCII, style="yellow"))
    grid = Table.grid(padding=(0, 2))
    for title, text in (
        ("Judge", words.name(record["judge"] or "not recorded in an answers table", 300)),
        ("Reference", agreement_words.reference(record)),
        ("Images", f"{record['images']:,} of {record['images_in_all']:,}"),
    ):
        grid.add_row(Text(title, "bold"), _sentence(text))
    console.print(grid)
    console.print(_axes(record))
    for axis in record["axes"]:
        heading = _sentence(
            f"{words.name(axis['axis'])}: the reference (rows), the judge (columns)"
        )
        heading.stylize("bold")
        console.print()
        console.print(heading)
        console.print(_confusion(axis))
    console.print()
    caveats = [_sentence(text) for text in agreement_words.caveats(record)]
    show_list(console, "To keep in mind", caveats)


def _sentence(text: str) -> Text:
    return Text(printable(words.plain(text)))


def _axes(record: Record) -> Table:
    table = Table(
        caption=Text(CAPTION),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    for heading in ("Axis", "Valid", "Accuracy", "Macro F1", "Kappa", "KL", "TV"):
        table.add_column(
            heading,
            justify="left" if heading == "Axis" else "right",
            no_wrap=heading != "Axis",
        )
    for axis in record["axes"]:
        table.add_row(
            _sentence(words.name(axis["axis"])),
            f"{axis['n_valid']}/{axis['n']}",
            *(_interval(axis, field) for field in ("accuracy", "f1", "kappa")),
            f"{_number(axis['kl_reference_judge'])}\n{_number(axis['kl_judge_reference'])}",
            _number(axis["tv"]),
        )
    return table


def _interval(axis: Record, field: str) -> str:
    value, ends = axis[field], axis[f"{field}_ci"]
    if value is None:
        return "-"
    return f"{value:.2f}" + (f"\n[{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _confusion(axis: Record) -> Table:
    """Rows: what the reference says; columns: what the judge says."""
    labels = [*axis["attributes"], "unknown", "gated"]
    used = [
        place
        for place in range(len(labels))
        if place < len(axis["attributes"])
        or any(axis["table"][place])
        or any(row[place] for row in axis["table"])
    ]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("")
    for place in used:
        table.add_column(_sentence(words.name(labels[place], 14)), justify="right")
    for row in used:
        cells = [str(axis["table"][row][column]) for column in used]
        table.add_row(_sentence(words.name(labels[row], 20)), *cells)
    return table
