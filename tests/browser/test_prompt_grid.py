"""The grid of many prompts and axes, in a real browser: colours, words, ranking and keyboard."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph as package
from biasgraph.data.result import load
from biasgraph.report import words
from biasgraph.report.page import report_files
from tests.answer_tables import librarian_table
from tests.browser.conftest import Open, biasgraph, broken_words, contrast, fits
from tests.hostile import MARKUP
from tests.report.test_prompt_tables import initial_table

PROMPTS = ("a librarian", "a nurse", "a cook", "a ghost")
AXES = 3


pytestmark = pytest.mark.slow(reason="a page of its own; the report's is tried in test_report.py")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three prompts of 40 images, and one whose three are too few."""
    folder = tmp_path_factory.mktemp("grid")
    frames = [
        librarian_table(images=3 if one == "a ghost" else 40, prompt=one, seed=i)
        for i, one in enumerate(PROMPTS)
    ]
    pd.concat(frames).to_csv(folder / "answers.csv", index=False)
    options = ["--bootstrap", "200", "--quiet", "-o", folder / "run"]
    biasgraph("build", "--answers", folder / "answers.csv", *options)
    return folder / "run"


@pytest.fixture
def page(open_page: Open, run: Path) -> Any:
    return open_page(run / "report.html")


def cell(page: Any, prompt: str, axis: int) -> Any:
    row = page.locator("#grid tbody tr", has=page.get_by_text(prompt, exact=True))
    return row.locator(".cell").nth(axis)


def percent(share: float) -> str:
    """As the sentences have it: 12.5 % is 12, and 13.5 % is 14."""
    return f"{share:.0%}".rstrip("%")


def prompts(page: Any) -> list[str]:
    found: list[str] = page.locator("#grid tbody th").all_inner_texts()
    return found


def test_every_cell_says_what_its_prompt_shows(page: Any, run: Path) -> None:
    result = load(run)
    for part in result.prompts[:3]:
        prompt = part.document["graph"]["prompt"]
        for i, node in enumerate(part.document["nodes"]):
            one = cell(page, prompt, i)
            share = max(node["initial"]["distribution"])
            place = node["initial"]["distribution"].index(share)
            ends = ", ".join(percent(end) for end in node["distribution_ci"][place])
            low, high = node["w1_ci"]
            expected = (
                f"{prompt}, {node['id']}: {percent(share)} % {node['attributes'][place]} "
                f"[{ends}], ideal {percent(node['ideal'][place])} %; distance to the ideal "
                f"{node['w1']:.3f} [{low:.3f}, {high:.3f}]"
                f"{', within chance of the ideal' if node['near_ideal'] else ''}; "
                f"{node['initial']['n_valid']} of {node['initial']['n_total']} images with a "
                "valid answer."
            )
            said = one.get_attribute("aria-label").replace("\u00a0", " ")
            assert said == expected
            one.hover()
            shown = page.locator("#grid-said").inner_text().replace("\u00a0", " ")
            assert shown == f"{expected} Its report"
            assert ("near" in one.get_attribute("class")) == node["near_ideal"]
            shade = float(one.evaluate("one => one.style.getPropertyValue('--share')"))
            assert (shade > 0) == (not node["near_ideal"])


def test_too_few_images_have_a_hatch_and_a_reason_and_no_colour(page: Any) -> None:
    ghost = cell(page, "a ghost", 0)
    assert "undecidable, too few valid answers" in ghost.get_attribute("aria-label")
    assert "repeating-linear-gradient" in ghost.evaluate("one => getComputedStyle(one).background")
    assert ghost.inner_text() == "n/d"
    row = page.locator("#grid tbody tr", has=page.get_by_text("a ghost", exact=True))
    assert row.locator(".edges").inner_text().startswith("undecidable: too few images")
    assert "0 edges" not in page.locator("#grid").inner_text()
    assert "undecidable" in page.locator("#grid-legend").inner_text()
    assert contrast(page, "#grid .cell", "color") > 4.5


def test_a_column_ranks_the_prompts(page: Any, run: Path) -> None:
    known = {
        part.document["graph"]["prompt"]: part.document["nodes"][0]["w1"]
        for part in load(run).prompts
        if part.document["nodes"][0]["w1"] is not None
    }
    far = sorted(known, key=lambda prompt: -known[prompt])
    head = page.locator("#grid thead th").nth(1)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert prompts(page) == [*far, "a ghost"]
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert prompts(page) == [*sorted(known, key=lambda prompt: known[prompt]), "a ghost"]
    page.locator("#grid thead th").first.get_by_role("button").click()
    assert prompts(page) == sorted(PROMPTS)


def test_the_keyboard_reaches_every_cell(page: Any) -> None:
    page.locator("#grid thead button").last.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # the first prompt's link stands before its cells
    seen = set()
    for row in range(len(PROMPTS)):
        for _ in range(AXES - 1):
            seen.add(page.evaluate("document.activeElement.getAttribute('aria-label')"))
            page.keyboard.press("ArrowLeft" if row % 2 else "ArrowRight")
        seen.add(page.evaluate("document.activeElement.getAttribute('aria-label')"))
        page.keyboard.press("ArrowDown")
    assert len(seen) == len(PROMPTS) * AXES and None not in seen
    said = page.locator("#grid-said").inner_text().removesuffix(" Its report")
    assert said in seen
    assert page.locator('#grid .cell[tabindex="0"]').count() == 1


def test_charts_have_a_dot_for_each_prompt_that_was_seen(page: Any, run: Path) -> None:
    document = json.loads((run / "graph.json").read_text("utf-8"))
    charts = page.locator("#multiples svg")
    assert charts.count() == sum(len(node["attributes"]) for node in document["nodes"])
    seen = [p for p in load(run).prompts if p.document["nodes"][0]["initial"]["distribution"]]
    dots = charts.first.locator(".dot title").all_text_contents()
    named = [line for dot in dots for line in dot.split("\n") if ": " in line]
    assert len(named) == len(seen)
    cell(page, "a cook", 1).hover()
    lit = page.locator(".dot.here")
    assert lit.count() == charts.count()
    assert all("a cook" in text for text in lit.locator("title").all_text_contents())
    share = max(seen[0].document["nodes"][0]["initial"]["distribution"])
    assert re.search(r"male: from \d+.% to \d+.%", charts.first.get_attribute("aria-label"))
    assert 0 <= share <= 1


def test_the_numbers_of_an_axis_are_a_table(page: Any, run: Path) -> None:
    document, parts = load(run).document, load(run).prompts
    page.locator("#compared > summary").click()
    assert page.locator("#compared tbody tr").count() == 0, "rows are drawn when it is opened"
    first = page.locator("#compared .compared > details").first
    first.locator("summary").click()
    first.locator("tbody tr").first.wait_for()
    title = first.locator("summary").inner_text()
    axis = words.plain(title).partition(":")[0]
    place = [node["id"] for node in document["nodes"]].index(axis)
    for part, row in zip(parts, first.locator("tbody tr").all(), strict=True):
        node = part.document["nodes"][place]
        label, *shares, valid, distance = row.locator("th, td").all_inner_texts()
        assert label == part.document["graph"]["prompt"]
        assert valid == f"{node['initial']['n_valid']} of {node['initial']['n_total']}"
        if node["w1"] is None:
            assert distance.startswith("not defined")
            continue
        initial = node["initial"]
        assert [share.replace("\u00a0", " ") for share in shares] == [
            f"{percent(share)} % ({count})"
            for share, count in zip(initial["distribution"], initial["counts"], strict=True)
        ]
        low, high = node["w1_ci"]
        assert distance == f"{node['w1']:.3f} [{low:.3f}, {high:.3f}]"
    assert first.locator("tfoot th").inner_text() == "all prompts together"
    with page.expect_navigation():
        first.locator("tbody a").first.click()


@pytest.mark.parametrize("width", [1440, 768, 390])
def test_it_fits(open_page: Open, run: Path, width: int) -> None:
    assert fits(open_page(run / "report.html", width=width))


def test_a_table_of_prompts_has_their_whole_names(open_page: Open, tmp_path: Path) -> None:
    prompts = ["an elementary school teacher of physics", "a cook"]
    tables = [librarian_table(images=20, prompt=one, seed=i) for i, one in enumerate(prompts)]
    result = package.analyze(pd.concat(tables), bootstrap=100)
    (tmp_path / "report.html").write_bytes(report_files(result)["report.html"])
    for width in (1440, 390):
        page = open_page(tmp_path / "report.html", width=width)
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        names = page.locator("#compared tbody th bdi")
        names.first.wait_for()
        cut = names.evaluate_all("all => all.filter((one) => one.scrollWidth > one.clientWidth)")
        assert cut == [] and broken_words(page, "#compared tbody th") == []
        table = page.locator("#compared .scroll").first
        table.evaluate("one => { one.scrollLeft = 1000 }")
        assert names.first.bounding_box()["x"] >= table.bounding_box()["x"]


def test_prompts_that_begin_alike_lead_each_to_its_own_report(
    open_page: Open, tmp_path: Path
) -> None:
    prompts = ["a " + "very " * 60 + end for end in ("old nurse", "young nurse")]
    table = initial_table(dict.fromkeys(prompts, 0.5), images=20)
    package.save(package.analyze(table, bootstrap=100), tmp_path)
    page = open_page(tmp_path / "report.html")
    links = page.locator("#grid tbody th a").evaluate_all("all => all.map(one => one.href)")
    assert len({*links}) == 2


def test_120_prompts_are_drawn_as_they_are_scrolled_to(open_page: Open, tmp_path: Path) -> None:
    shares = {f"prompt {i:03d}": i / 119 for i in range(120)}
    table = initial_table(shares, images=20)
    result = package.analyze(table[table["target"] == "gender"], bootstrap=100)
    package.save(result, tmp_path)
    page = open_page(tmp_path / "report.html")
    assert page.locator("#grid tbody tr").count() == 50
    page.locator("#grid thead button").nth(1).click()
    page.locator("#grid tbody tr").last.scroll_into_view_if_needed()
    page.locator("#grid tbody tr").nth(50).wait_for(state="attached")
    page.locator("#grid .cell").nth(49).focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.closest('tr').rowIndex") == 51


@pytest.mark.parametrize("hostile", MARKUP[:3])
def test_hostile_prompts_are_text(open_page: Open, tmp_path: Path, hostile: str) -> None:
    table = initial_table({hostile: 0.9, "a nurse": 0.1}, images=20)
    package.save(package.analyze(table, bootstrap=100), tmp_path)
    page = open_page(tmp_path / "report.html")
    page.locator("#grid .cell").first.hover()
    assert hostile in page.locator("#grid-said").inner_text()
