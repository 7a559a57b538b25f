"""An agreement as tables in the terminal, readable at 80 columns; names are plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from biasgraph.report import agreement_words, words
from biasgraph.report.screen import captioned, facts, sentence, show_list, show_toy

Record = Mapping[str, Any]

CAPTION = (
    "Valid: images with a valid answer of both. Intervals are 95 %. KL, in nats: of the "
    "distribution of the judge's answers from the reference's, and the other way round; TV: half "
    "the sum of the differences of their shares."
)


def show(console: Console, record: Record) -> None:
    """Print an agreement: a line for each axis, its confusion matrix, what to keep in mind."""
    show_toy(console, record["toy"])
    about = [
        ("Judge", words.name(record["judge"] or "not recorded in an answers table", 300)),
        ("Reference", agreement_words.reference(record)),
        ("Images", f"{record['images']:,} of {record['images_in_all']:,}"),
    ]
    console.print(facts(about))
    console.print(_axes(record))
    for axis in record["axes"]:
        heading = sentence(f"{words.name(axis['axis'])}: the reference (rows), the judge (columns)")
        heading.stylize("bold")
        console.print()
        console.print(heading)
        console.print(_confusion(axis))
    console.print()
    caveats = [sentence(text) for text in agreement_words.caveats(record)]
    show_list(console, "To keep in mind", caveats)


def _axes(record: Record) -> Table:
    table = captioned(CAPTION)
    for heading in ("Axis", "Valid", "Accuracy", "Macro F1", "Kappa", "KL", "TV"):
        table.add_column(
            heading,
            justify="left" if heading == "Axis" else "right",
            no_wrap=heading != "Axis",
        )
    for axis in record["axes"]:
        table.add_row(
            sentence(words.name(axis["axis"])),
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
        table.add_column(sentence(words.name(labels[place], 14)), justify="right")
    for row in used:
        cells = [str(axis["table"][row][column]) for column in used]
        table.add_row(sentence(words.name(labels[row], 20)), *cells)
    return table
