"""The strips of a run whose images were made until pairs were decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from biasgraph.commands import main
from biasgraph.data.result import load
from tests.builds.test_until_decided import BUILD, MOST, fakes

__all__ = ["fakes"]


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory, fakes: None) -> Path:
    directory = tmp_path_factory.mktemp("strip") / "run"
    assert main([*BUILD, *MOST, "-o", str(directory)]) == 0
    return directory


def test_every_pair_says_when_it_was_decided(decided: Path, open_page: Any) -> None:
    page = open_page(decided / "report.html")
    pairs = [p for p in load(decided).pair_records() if p["source"] != p["target"]]
    strips = page.locator(".pairs .strip")
    assert strips.count() == len(pairs) == 2
    since = "its arms known to differ since look"
    said = {strips.nth(place).get_attribute("aria-label") for place in range(len(pairs))}
    assert said == {
        f"{'Decided' if pair['decided'] else 'Still open'} at look {int(pair['look'])} of 2, "
        f"{int(pair['look_images'])} images of each prompt"
        + (f", {since} {int(pair['edge_look'])}" if pair["edge_look"] else "")
        + "."
        for pair in pairs
    }
    page.locator(".pairs tbody tr button").first.click()
    assert page.locator(".panel .decided .strip i.taken").count() in (1, 2)
    assert "97.5 % interval" in page.locator(".pairs thead").inner_text()
