"""The benchmark behind docs/reference.md runs, and its worlds are what the page says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.reference import WORLDS, main

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"


def test_the_page_has_its_rows(capsys: pytest.CaptureFixture[str]) -> None:
    main(2)
    printed = capsys.readouterr().out.splitlines()
    page = PAGE.read_text(encoding="utf-8")
    for row in printed[:2]:
        assert row in page
    for row in printed[2:]:
        world, how = row.strip("|").split("|")[:2]
        assert f"|{world}|{how}|" in page
    assert len(printed) == 2 + 2 * len(WORLDS)
