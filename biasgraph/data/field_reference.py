"""Writes the field tables of docs/files.md: python -m biasgraph.data.field_reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from biasgraph.causal.fields import GraphRow, columns
from biasgraph.causal.rows import CountRow, LinkRow, NodeRow, PairRow
from biasgraph.data.word_accuracy_row import WordAccuracyRow
from biasgraph.data.word_influence import WordRow

PAGE = Path(__file__).parents[2] / "docs" / "files.md"
ROWS: dict[str, type[GraphRow]] = {
    "nodes": NodeRow,
    "links": LinkRow,
    "pairs": PairRow,
    "counts": CountRow,
    "words": WordRow,
    "evaluation": WordAccuracyRow,
}


def reference(page: str) -> str:
    """The page with every table between <!-- fields of ... --> and <!-- end --> written again."""
    marks = re.compile(r"(<!-- fields of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
    return marks.sub(lambda found: found[1] + "\n".join(_table(found[2])) + "\n" + found[3], page)


def _table(kind: str) -> Iterator[str]:
    # A link has every field of its pair, which have a table of their own.
    told = {*columns(PairRow)} if kind == "links" else set()
    yield "| field | meaning | unit | range | source |"
    yield "|---|---|---|---|---|"
    for name, column in columns(ROWS[kind]).items():
        about = column.measure
        if name not in told:
            cells = (f"`{name}`", about.about, about.unit, about.range, about.source)
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(reference(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
