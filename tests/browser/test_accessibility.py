"""Every kind of page by axe-core's rules, best practices included: no violation, light and dark;
and none is wider than a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph as package
from biasgraph.audits.compare.comparison import compare_results
from biasgraph.report import html
from biasgraph.report.mining_page import mining_html
from biasgraph.report.page import report_files
from biasgraph.report.search_page import search_html
from tests.answer_tables import librarian_table
from tests.browser.conftest import DARK, Windows, biasgraph, resize
from tests.browser.test_marked_text import MARKED, in_report
from tests.found import found_document, found_pictures
from tests.mined import mined_document, mined_pictures
from tests.report.test_parts import every_part
from tests.shared_runs import copy_of

LARGE = pytest.mark.slow(reason="the rules look at every element; one page stays")
PICKS = ("null", "{pair: 1}", "{axis: 0}")
UNFOLD = "for (const one of document.querySelectorAll('details')) one.open = true"


def report(run: Path, folder: Path) -> Path:
    """The report of a run whose judge was compared with another one."""
    copy = folder / "run"
    copy_of(run, copy)
    biasgraph("agreement", copy, "--with", run / "answers.csv", "--bootstrap", "100", "--quiet")
    biasgraph("report", copy)
    return copy / "report.html"


def many_prompts(_: Path, folder: Path) -> Path:
    prompts = ("a librarian", "a cook", "a nurse")
    tables = [librarian_table(images=20, prompt=one, seed=i) for i, one in enumerate(prompts)]
    pages = report_files(package.analyze(pd.concat(tables), bootstrap=100))
    (folder / "report.html").write_bytes(pages["report.html"])
    return folder / "report.html"


def comparison(_: Path, folder: Path) -> Path:
    runs = [package.analyze(librarian_table(images=30, seed=i), bootstrap=100) for i in range(2)]
    compare_results(runs).save(folder)
    return folder / "compare.html"


def mined(_: Path, folder: Path) -> Path:
    document = mined_document()
    (folder / "mined.html").write_bytes(mining_html(document, mined_pictures(document, folder)))
    return folder / "mined.html"


def found(_: Path, folder: Path) -> Path:
    document = found_document(n_prompts=8)
    (folder / "found.html").write_bytes(search_html(document, found_pictures(document, folder)))
    return folder / "found.html"


def parts(_: Path, folder: Path) -> Path:
    """What openbias and `mine --evaluate` write."""
    page = html.render_parts(every_part("a word"), title="Biases", brand="OpenBias", note="Notes")
    (folder / "ranking.html").write_bytes(page)
    return folder / "ranking.html"


def words(_: Path, folder: Path) -> Path:
    """A report in which the words of the prompt are shaded."""
    (folder / "words.html").write_bytes(in_report(MARKED))
    return folder / "words.html"


def labels(run: Path, folder: Path) -> Path:
    copy = folder / "run"
    copy_of(run, copy)
    biasgraph("label", copy, "--sample", "12")
    return copy / "label.html"


def runs(run: Path, folder: Path) -> Path:
    """The page of all runs: a whole one, others with a history, and a broken one."""
    copy_of(run, folder / "runs" / "toy")
    for seed in range(3):
        table = librarian_table(images=30, seed=seed)
        package.build(answers=table, output=folder / "runs" / str(seed), bootstrap=100)
    (folder / "runs" / "broken").mkdir()
    (folder / "runs" / "broken" / "graph.json").write_text("{}")
    biasgraph("view", folder / "runs", "--static", folder / "runs.html")
    return folder / "runs.html"


def violations(page: Any) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {node['html']}" for one in found for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=DARK)])
@pytest.mark.parametrize(
    "make",
    [runs]
    + [
        pytest.param(one, marks=LARGE)
        for one in (report, words, many_prompts, comparison, parts, mined, found, labels)
    ],
)
def test_axe_finds_nothing(
    make: Callable[[Path, Path], Path], windows: Windows, run: Path, tmp_path: Path, scheme: str
) -> None:
    page = windows.page(0)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto(make(run, tmp_path).as_uri())
    page.wait_for_load_state()
    page.evaluate(UNFOLD)
    resize(page, 390, 844)
    wide, seen = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= seen
    resize(page, 1280, 900)
    if not page.evaluate("Boolean(window.biasgraph && biasgraph.page && biasgraph.page.pick)"):
        assert violations(page) == []
        return
    for selection in PICKS:
        page.evaluate(f"biasgraph.page.pick({selection})")
        page.evaluate(UNFOLD)
        assert violations(page) == [], selection
    if page.locator("#seen .picture").count():
        page.evaluate("biasgraph.page.pick(null)")
        page.locator("#seen .picture").first.click()
        assert violations(page) == [], "one picture, large"
