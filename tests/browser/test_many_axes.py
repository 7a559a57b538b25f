"""report.html of forty axes: rows are drawn when they are scrolled to, and none is lost."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from biasgraph.commands import main
from tests.browser.conftest import Open

AXES = 40
PAIRS = AXES * (AXES - 1)


pytestmark = pytest.mark.slow(reason="pages of 14 to 100 axes")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    names = [f"axis {number}" for number in range(AXES)]
    arms = [("initial", "", "")]
    arms += [("counterfactual", name, value) for name in names for value in ("low", "high")]
    with (folder / "answers.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(
            ("model", "prompt", "role", "axis", "attribute", "image", "target", "answer")
        )
        for arm, (role, axis, value) in enumerate(arms):
            for image in (2 * arm, 2 * arm + 1):
                for place, name in enumerate(names):
                    seen = value if name == axis else ("low", "high")[(image >> place % 7) & 1]
                    table.writerow(("m", "a chef", role, axis, value, image, name, seen))
    options = ["--answers", folder / "answers.csv", "--min-valid", 5]
    options += ["-q", "-o", folder / "run"]
    assert main(["build", *map(str, options)]) == 0
    return folder / "run"


@pytest.fixture
def page(open_page: Open, run: Path) -> Any:
    return open_page(run / "report.html")


def rows(page: Any) -> int:
    count: int = page.locator("#pairs tbody tr").count()
    return count


def scroll_to_the_end(page: Any) -> None:
    while (before := rows(page)) < PAIRS:
        page.locator("#pairs tbody tr").last.scroll_into_view_if_needed()
        more = "before => document.querySelectorAll('#pairs tbody tr').length > before"
        page.wait_for_function(more, arg=before)


def test_rows_are_drawn_when_they_are_scrolled_to(page: Any) -> None:
    assert 100 <= rows(page) < PAIRS / 2
    page.evaluate("biasgraph.page.pick({pair: 39 * 40 + 38})")
    assert page.locator("#detail h2").inner_text() == "axis 39 → axis 38"
    scroll_to_the_end(page)
    ends = page.locator("#pairs tbody tr").evaluate_all(
        "all => all.map(one => one.cells[0].innerText + '>' + one.cells[1].innerText)"
    )
    assert len(ends) == len(set(ends)) == PAIRS
    marked = page.locator("#pairs tr.selected")
    assert marked.count() == 1 and marked.locator("th, td").nth(1).inner_text() == "axis 38"


def test_all_rows_are_sorted_not_only_those_drawn(page: Any, run: Path) -> None:
    pairs = json.loads((run / "graph.json").read_text())
    assert len(pairs["nodes"]) == AXES
    for _ in range(2):  # by the keyboard: the table moves while the matrix above it is drawn
        page.locator("th[data-key='target'] button").press("Enter")
    first = page.locator("#pairs tbody tr").first.locator("td").first.inner_text()
    assert first == "axis 9"
    assert rows(page) < PAIRS / 2


def test_the_arrow_keys_go_on_behind_the_last_row_of_the_matrix(page: Any) -> None:
    drawn = page.locator("#matrix tbody tr").count()
    assert drawn < AXES
    page.locator(f"#matrix [data-k='{(drawn - 1) * AXES}']").evaluate("one => one.focus()")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.k") == str(drawn * AXES)


def test_only_edges_that_are_shown_are_elements(page: Any, run: Path) -> None:
    links = json.loads((run / "graph.json").read_text())["links"]
    edges = page.locator("#graph .edge")
    assert edges.count() == len(links) < PAIRS / 10
    assert page.locator("#graph *").count() < 20 + 5 * AXES + 8 * len(links)
    page.select_option("#focus", "3")
    page.check("#pruned")
    assert edges.count() == AXES - 1
    page.click("#reset")
    assert edges.count() == len(links)


def test_everything_is_printed(page: Any) -> None:
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert rows(page) == PAIRS
    assert page.locator("#matrix tbody tr").count() == AXES
