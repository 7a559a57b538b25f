"""What panels and tables of a report show, to the last number and column, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.report.page import report_files, report_html
from tests.answer_tables import librarian_table, with_controls
from tests.browser.conftest import Open

pytestmark = pytest.mark.slow(reason="pages of their own; the report's is tried in test_report.py")


@pytest.fixture
def page(open_page: Open, run: Path) -> Any:
    return open_page(run / "report.html")


def test_numbers_are_rounded_as_in_the_sentences(page: Any) -> None:
    halves = [(0.5625, 3), (0.0625, 3), (0.125, 2), (0.375, 2), (-0.1875, 3), (2.5, 0)]
    others = [(0.35, 1), (1.005, 2), (0.0005, 3), (4.05, 2), (1e-9, 3), (0.99996, 3)]
    for value, digits in halves + others:
        shown = page.evaluate("([v, d]) => biasgraph.dom.shown(v, d, true)", [value, digits])
        assert shown.replace("\N{MINUS SIGN}", "-") == f"{value:+.{digits}f}"


def test_every_panel_tells_its_numbers(open_page: Open, tmp_path: Path) -> None:
    """Those of neutral rewordings, too; nothing of a script shows through."""
    result = biasgraph.analyze(with_controls(librarian_table(images=20), images=7), bootstrap=100)
    (tmp_path / "report.html").write_bytes(report_html(result))
    page = open_page(tmp_path / "report.html")
    size = len(result.document["nodes"])
    for k in range(size):
        page.evaluate("k => biasgraph.page.pick({axis: k})", k)
        text = page.locator("#detail").inner_text()
        assert ", 7 images" in text
        assert not re.search(r"\[object|undefined|NaN", text)
    for k in range(size**2):
        page.evaluate("k => biasgraph.page.pick({pair: k})", k)
        assert not re.search(r"\[object|undefined|NaN", page.locator("#detail").inner_text())


@pytest.mark.parametrize("width", [768, 390])
def test_the_tables_of_eight_axes_are_not_clipped(
    open_page: Open, tmp_path: Path, width: int
) -> None:
    names = [
        "gender", "age", "ethnicity", "bodytype", "environment", "clothing", "emotion", "disability"
    ]  # fmt: skip
    axes = {name: (f"low {name}", f"high {name}") for name in names}
    tables = [librarian_table(20, axes, prompt, seed=i) for i, prompt in enumerate(("a", "b"))]
    for some in (tables[:1], tables):
        result = biasgraph.analyze(pd.concat(some), bootstrap=100)
        (tmp_path / "report.html").write_bytes(report_files(result)["report.html"])
        page = open_page(tmp_path / "report.html", width=width)
        for name in ("#matrix", "#pairs", "#axis-table"):
            inner, outer = page.locator(name).evaluate("one => [one.scrollWidth, one.clientWidth]")
            assert inner <= outer, name
        names_cut = page.locator("#matrix tbody bdi").evaluate_all(
            "all => all.filter((one) => one.scrollWidth > one.clientWidth).length"
        )
        assert names_cut == 0
    ends = page.locator("#grid .cell[data-axis='7']").first.bounding_box()
    assert ends["x"] + ends["width"] <= width
