"""The section of a validation in report.html, opened in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import biasgraph
from biasgraph.commands import main
from tests.answer_tables import librarian_table
from tests.browser.conftest import Open


@pytest.mark.slow(reason="a validation of its own")
def test_numbers_stand_with_their_intervals(tmp_path: Path, open_page: Open) -> None:
    prompts = [f"a librarian in room {number}" for number in range(5)]
    tables = [librarian_table(24, prompt=one, seed=n) for n, one in enumerate(prompts)]
    biasgraph.save(biasgraph.analyze(pd.concat(tables), bootstrap=100), tmp_path / "run")
    assert main(["validate", str(tmp_path / "run"), "--quiet"]) == 0
    document = json.loads((tmp_path / "run" / "validation.json").read_text("utf-8"))
    r = document["mitigations"][0]["all_pairs"]["r"]
    page = open_page(tmp_path / "run" / "report.html")
    section = page.locator("details.finding", has_text="Predictions against mitigations")
    section.locator("summary").click()
    row = section.locator("tr", has_text="r within prompts").last
    assert row.locator("td").last.inner_text() == (
        f"{r['value']:.3f}\n[{r['low']:.3f}, {r['high']:.3f}]"
    )
    assert "NaN" not in section.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
