"""The field tables of docs/files.md are what the rows say of their fields."""

from __future__ import annotations

from biasgraph.causal.fields import columns
from biasgraph.causal.rows import CountRow, LinkRow, NodeRow
from biasgraph.data.field_reference import PAGE, reference


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == reference(page), "run: make docs"


def test_every_field_has_a_row_of_its_own() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for row in (NodeRow, LinkRow, CountRow):
        for name, column in columns(row).items():
            assert f"\n| `{name}` | " in page, name
            about = column.measure
            assert about.about and about.range and about.source, name
