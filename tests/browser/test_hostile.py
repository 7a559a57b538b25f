"""Hostile names in a report do nothing but show up as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import biasgraph
from biasgraph.report import html
from biasgraph.report.page import LAST, SCRIPTS, report_html
from biasgraph.report.pyvis_page import to_pyvis
from biasgraph.report.words import label
from tests.answer_tables import AXES, librarian_table
from tests.browser.conftest import Open, Windows
from tests.browser.conftest import biasgraph as command_line
from tests.hostile import HOSTILE, UNWRITABLE

PAYLOADS = [text for text in HOSTILE if text not in UNWRITABLE]
CHUNK = 5
LATER = range(CHUNK, len(PAYLOADS), CHUNK)
SLOW = pytest.mark.slow(reason="a page for each payload; report/test_page.py has them all as text")
ELEMENTS = "iframe, object, embed, svg[onload], img[src='x'], a[href^='javascript'], title svg"


def check(page: Any, file: Path, payload: str) -> None:
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    shown = label(payload)
    assert shown in page.locator("h1").text_content()
    assert " ".join(shown.split()) in " ".join(page.title().split())
    node = page.locator("#graph .node").first
    assert node.get_attribute("aria-label").startswith(f"{shown}, ")
    node.click()
    assert page.locator("#detail h2").text_content() == shown
    assert page.locator("#detail .bar-label").first.text_content() == shown
    page.click("#matrix [data-k='1']")
    assert page.locator("#detail .contingency tbody th").first.text_content() == shown
    facts = page.locator(".facts dd").all_text_contents()
    assert shown in facts
    assert page.locator(ELEMENTS).count() == 0
    ours = (*html.FIRST, *html.SCRIPTS, *SCRIPTS, *LAST)
    assert page.locator("script").count() == 1 + len(ours)  # the data is one, too
    scroll, client = page.evaluate(
        "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
    )
    assert scroll <= client


def test_there_are_at_least_100() -> None:
    assert len(PAYLOADS) >= 100


@pytest.mark.parametrize("first", [0, *(pytest.param(i, marks=SLOW) for i in LATER)])
def test_as_prompt_model_axis_and_attribute(open_page: Open, tmp_path: Path, first: int) -> None:
    page = None
    for i, payload in enumerate(PAYLOADS[first : first + CHUNK]):
        axes = {payload: (payload, payload + "!"), "gender": AXES["gender"]}
        frame = librarian_table(images=4, axes=axes, prompt=payload, model=payload)
        result = biasgraph.analyze(frame, alpha=0.7, min_valid=1, bootstrap=100)
        file = tmp_path / f"{i}.html"
        file.write_bytes(report_html(result))
        page = page or open_page(file, width=1000)
        check(page, file, payload)


@pytest.mark.slow(reason="a build for its page; the payloads' pages stay")
def test_through_the_command_line_and_the_address(open_page: Open, tmp_path: Path) -> None:
    """Eight payloads at once, as axes and attributes of a table that is read from its file."""
    names = [
        "</script><script>alert(1)</script>", '"', "=1+1", "\u202eright", "&lt;", "'", "</title>",
        "\U0001f469\u200d\U0001f4bb",
    ]  # fmt: skip
    axes = {name: (name + " 1", name + " 2") for name in names}
    frame = librarian_table(images=16, axes=axes, prompt=names[0])
    frame.to_csv(tmp_path / "answers.csv", index=False)
    options = ["--alpha", "0.5", "--bootstrap", "100", "--quiet", "-o", tmp_path / "out"]
    command_line("build", "--answers", tmp_path / "answers.csv", *options)
    command_line("report", tmp_path / "out")
    page = open_page(tmp_path / "out" / "report.html")
    told = page.locator("#graph .node").evaluate_all("all => all.map(one => one.ariaLabel)")
    for name, text in zip(names, told, strict=True):
        assert text.startswith(f"{label(name)}, ")
    page.click("#matrix [data-k='9']")
    other = open_page(tmp_path / "out" / "report.html", page.evaluate("location.hash")[1:])
    assert other.locator("#detail h2").text_content() == page.locator("#detail h2").text_content()
    page.fill("#find", "</title>")
    assert page.locator("#found button").first.text_content() == "</title>"
    page.fill("#find", "<img src=x onerror=alert(1)>")
    with page.expect_download():
        page.click("#png")


@pytest.mark.slow(reason="another page; the report's stays")
def test_in_a_page_of_pyvis(open_page: Open, windows: Windows, tmp_path: Path) -> None:
    axes = {payload: (payload, payload + "!") for payload in PAYLOADS[:12]}
    axes |= {'<a href="x">': ("<b>", "</script>")}
    prompt = "<img src=x onerror=alert(1)>"
    frame = librarian_table(images=4, axes=axes, prompt=prompt, model=prompt)
    result = biasgraph.analyze(frame, alpha=0.7, min_valid=1, bootstrap=100)
    (tmp_path / "pyvis.html").write_bytes(to_pyvis(result.document))
    page = windows.page(0)
    page.goto((tmp_path / "pyvis.html").as_uri())
    page.wait_for_selector("#mynetwork canvas")
    drawn = page.evaluate("nodes.get().map(one => one.label.split('\\n')[0])")
    assert drawn == [label(node["id"]) for node in result.document["nodes"]]
    assert page.evaluate("edges.length") == len(result.document["links"]) > 0
    assert page.locator("h1").inner_text() == f"Bias graph of “{prompt}”"
    assert page.locator(ELEMENTS).count() == 0
    page.evaluate("network.fit({animation: false})")
    middle = page.evaluate(
        "(() => { const [one] = edges.getIds(); const {from, to} = edges.get(one);"
        "const {x, y} = network.body.edges[one].edgeType.getPoint(0.5);"
        "return network.canvasToDOM({x, y}); })()"
    )
    box = page.locator("#mynetwork").bounding_box()
    page.mouse.move(box["x"] + middle["x"] - 3, box["y"] + middle["y"])
    page.mouse.move(box["x"] + middle["x"], box["y"] + middle["y"], steps=3)
    page.wait_for_selector(".vis-tooltip", state="visible")
    assert page.locator(".vis-tooltip *").count() == 0


def test_an_address_that_makes_no_sense_is_ignored(open_page: Open, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_bytes(report_html(biasgraph.analyze(librarian_table(images=16), bootstrap=100)))
    fragment = "is=x&p=-3&focus=%3Cscript%3E&axis=&from=gender&sort=constructor-&theme=<b>&%zz"
    page = open_page(file, fragment)
    assert page.locator("#detail").is_hidden()
    assert page.evaluate("biasgraph.page.state.is") == 0
