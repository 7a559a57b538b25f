"""A result as notebooks show it, in a real browser: no column is cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

import biasgraph
from tests.answer_tables import librarian_table
from tests.browser.conftest import Open


@pytest.mark.parametrize("width", [800, 1000, 1400])
def test_the_table_of_axes_shows_every_column(open_page: Open, tmp_path: Path, width: int) -> None:
    names = {"environment": ("indoor", "outdoor"), "clothing": ("formal", "casual")}
    result = biasgraph.analyze(librarian_table(axes=names), bootstrap=100)
    head = '<!doctype html><html data-ready><meta charset="utf-8">'
    head += "<style>body { font: 16px sans-serif }</style>"
    (tmp_path / "cell.html").write_text(head + result._repr_html_(), "utf-8")
    table = open_page(tmp_path / "cell.html", width=width).locator(".biasgraph-result > div")
    assert table.evaluate("one => one.scrollWidth <= one.clientWidth")
