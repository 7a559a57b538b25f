"""A prompt with its words shaded: in the report, which draws it by its script, and on a page
without scripts. Both behave alike."""

from __future__ import annotations

import copy
import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import biasgraph
from biasgraph.data.findings import Finding, Heading, MarkedText, MarkedView, MarkedWord
from biasgraph.report import html
from biasgraph.report.page import report_html
from tests.answer_tables import librarian_table
from tests.browser.conftest import DARK, LUMINANCE, Open, Windows
from tests.hostile import HOSTILE, UNWRITABLE

LEAST_CONTRAST = 4.5
"""WCAG 2.2 AA, for text of any size."""


def view(label: str, librarian: float, note: str = "") -> MarkedView:
    words = (
        MarkedWord("a", " ", note="stop word"),
        MarkedWord("librarian", " ", librarian, 0.25, 0.75, "score 0.2", "first"),
        MarkedWord("with", " ", note="stop word"),
        MarkedWord("glasses", "", 1 - librarian, mark="tied"),
    )
    return MarkedView(label, words, note)


MARKED = MarkedText(
    [view("gender, by gradient", 0.625, "Two words stand out."), view("age", 1.0)], "Of 10 images."
)


@functools.cache
def analysed() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(images=16), bootstrap=100)


def in_report(part: MarkedText) -> bytes:
    result = analysed()
    document = copy.deepcopy(result.document)
    document["graph"]["findings"]["words"] = Finding("Words", "About.", [part, part]).to_json()
    return report_html(replace(result, document=document))


def on_its_own(part: MarkedText) -> bytes:
    parts = [Heading("Words"), part, part]
    return html.render_parts(parts, title="Title", brand="Brand", note="Note")


@pytest.fixture(params=[in_report, on_its_own])
def page(request: pytest.FixtureRequest, windows: Windows, open_page: Open, tmp_path: Path) -> Any:
    if request.param is in_report:
        return opened_in_report(open_page, tmp_path / "page.html", MARKED)
    return opened_alone(windows, tmp_path / "page.html", MARKED)


def opened_in_report(open_page: Open, file: Path, part: MarkedText) -> Any:
    """A report, with the findings of other methods unfolded."""
    file.write_bytes(in_report(part))
    page = open_page(file)
    for finding in page.locator("details.finding").all():
        finding.locator("summary").first.click()
    return page


def opened_alone(windows: Windows, file: Path, part: MarkedText) -> Any:
    """A page without scripts, which never says that it is ready."""
    file.write_bytes(on_its_own(part))
    page = windows.page(1)
    page.set_viewport_size({"width": 700, "height": 780})
    page.goto(file.as_uri())
    return page


def shown(form: Any) -> list[str]:
    """The readouts that can be seen."""
    texts: list[str] = form.locator(".readout").evaluate_all(
        "all => all.filter(one => getComputedStyle(one).clipPath === 'none')"
        ".map(one => one.textContent)"
    )
    return texts


def test_one_view_shows_and_the_arrow_keys_switch(page: Any, windows: Windows) -> None:
    first, second = page.locator("form.marked").all()
    assert [one.is_visible() for one in first.locator(".view").all()] == [True, False]
    first.locator("input").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert [one.is_visible() for one in first.locator(".view").all()] == [False, True]
    assert [one.is_visible() for one in second.locator(".view").all()] == [True, False]
    assert windows.watch.seen == []


def test_numbers_show_on_hover_and_on_focus(page: Any) -> None:
    form = page.locator("form.marked").first
    assert shown(form) == []
    said = "librarian 0.625 [0.250, 0.750], the first; score 0.2"
    form.locator(".view .marked-word.first").first.hover()
    assert shown(form) == [said]
    form.locator(".hint").first.wait_for(state="hidden")
    page.mouse.move(0, 0)
    form.locator(".hint").first.wait_for(state="visible")
    form.locator("input").first.focus()
    page.keyboard.press("Tab")
    assert shown(form) == ["a not ranked: stop word"]
    page.keyboard.press("Tab")
    assert shown(form) == [said]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("make", [in_report, on_its_own])
def test_many_views_are_folded_away(
    make: Any, windows: Windows, open_page: Open, tmp_path: Path
) -> None:
    views = [view(f"prompt {number}, a long one of many words", 0.5) for number in range(40)]
    if make is in_report:
        page = opened_in_report(open_page, tmp_path / "page.html", MarkedText(views))
    else:
        page = opened_alone(windows, tmp_path / "page.html", MarkedText(views))
    form = page.locator("form.marked").first
    assert form.locator("input").count() == 0
    assert [one.is_visible() for one in form.locator(".marked-words").all()] == [True] + [
        False
    ] * 39
    form.locator("summary").nth(7).focus()
    page.keyboard.press("Enter")
    assert form.locator(".marked-words").nth(7).is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert windows.watch.seen == []


def contrasts(page: Any) -> list[float]:
    """Of every shaded word in sight, its letters' contrast with its ground."""
    found: list[float] = page.locator(".view .marked-word").evaluate_all(
        "all => all.filter(one => one.offsetParent).map(one => {"
        + LUMINANCE
        + """
          const look = getComputedStyle(one);
          let at = one;
          while (getComputedStyle(at).backgroundColor === 'rgba(0, 0, 0, 0)') at = at.parentElement;
          return ratio(look.color, getComputedStyle(at).backgroundColor);
        })"""
    )
    return found


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=DARK)])
def test_every_shade_can_be_read(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    for radio in page.locator("form.marked").first.locator("input").all():
        radio.check()
        assert min(contrasts(page)) >= LEAST_CONTRAST


def test_hostile_words_labels_and_notes_stay_text(
    windows: Windows, open_page: Open, tmp_path: Path
) -> None:
    texts = [text for text in HOSTILE if text not in UNWRITABLE]
    words = [
        word
        for text in texts
        for word in (MarkedWord(text, text, 0.5, note=text), MarkedWord(text, note=text))
    ]
    part = MarkedText([MarkedView(text, words, text) for text in texts[:4]], texts[0])
    (tmp_path / "report.html").write_bytes(in_report(part))
    opened = [open_page(tmp_path / "report.html"), opened_alone(windows, tmp_path / "a.html", part)]
    for page in opened:
        form = page.locator("form.marked").first
        assert form.locator(".view").first.locator(".marked-word").count() == len(words)
        assert page.locator("iframe, object, embed, img[src='x'], form form").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert windows.watch.seen == []
