"""Every kind of part, on the screen and on a page, also where its texts are hostile."""

from __future__ import annotations

import pytest

from biasgraph.data import findings
from biasgraph.report import html
from tests.hostile import HOSTILE, UNWRITABLE
from tests.sampled import sampled
from tests.screens import screen_of


def every_part(text: str) -> list[findings.ScreenPart]:
    bar = findings.Bar(text, 0.5, 0.25, 0.75, 0.125)
    cells = (text, 1234, 0.25, None, bar, (text, bar))
    words = (
        findings.MarkedWord(text, f" {text} ", 0.5, 0.25, 1.25, text, "first"),
        findings.MarkedWord(text, text, 0.25, mark="tied"),
        findings.MarkedWord(text, note=text),
    )
    views = [findings.MarkedView(label, words, text) for label in (text, f"{text} again")]
    return [
        findings.MarkedText(views, text),
        findings.MarkedText(views[:1]),
        findings.Banner(text),
        findings.Facts([("Model", text)]),
        findings.Heading(text),
        findings.Text(text, "warning"),
        findings.Number(text, 0.5, 0.25, 0.75, 48),
        findings.Number(text, None, reason="no images"),
        findings.Table([text, "b", "c", "d", "e", "f"], [cells], text, numeric=(1, 2)),
        findings.Ranking([bar], text),
        findings.Bars([bar], text),
        findings.Sentences(text, [text]),
        findings.Details(text, findings.Text("folded away")),
    ]


def screen(parts: list[findings.ScreenPart]) -> str:
    return screen_of(parts, 100)


def page(parts: list[findings.ScreenPart]) -> str:
    return html.render_parts(parts, title="Title", brand="Brand", note="Note").decode()


def test_numbers_are_the_same_on_both() -> None:
    shown, drawn = screen(every_part("x")), page(every_part("x"))
    for number in ("1,234", "0.250", "0.500 [0.250, 0.750]", "no images"):
        assert number in shown and number in drawn
    assert "0.125" in shown  # what a ranking is compared with
    assert 'class="mark"' in drawn
    assert "folded away" in drawn and "folded away" not in shown


def test_cells_link_to_the_sections_they_name() -> None:
    assert '<a href="#section-1"><bdi>x</bdi></a>' in page(every_part("x"))


def test_nothing_stands_for_what_is_empty() -> None:
    empty = [findings.Banner(None), findings.Sentences("Title of none", []), findings.Facts([])]
    assert screen([*empty, findings.Table(["Column"], []), findings.MarkedText([])]) == ""
    assert "Title of none" not in page([*empty])
    assert "<form" not in page([findings.MarkedText([])])


def nurse(first: float = 0.625, label: str = "gender, by gradient") -> findings.MarkedView:
    words = (
        findings.MarkedWord("a", " ", note="stop word"),
        findings.MarkedWord("tired", "\n ", 0.0),
        findings.MarkedWord("nurse", " ", first, 0.5, 0.75, "score 0.2", "first"),
        findings.MarkedWord("with", " ", note="stop word"),
        findings.MarkedWord("a", " ", note="stop word"),
        findings.MarkedWord("syringe", ".", 1 - first, mark="tied"),
    )
    return findings.MarkedView(label, words, "Two words stand out.")


def test_a_marked_text_is_readable_without_colour() -> None:
    shown = screen([findings.MarkedText([nurse(), nurse(0.5, "age")], "Of 10 images.")])
    assert shown.splitlines()[:5] == [
        "gender, by gradient",
        "a tired [0%] nurse [62%, first] with a syringe [38%, tied].",
        "not ranked, stop word: a, with",
        "Two words stand out.",
        "age",
    ]
    assert "Of 10 images." in shown


def test_a_marked_text_says_each_number_beside_its_word() -> None:
    drawn = page([findings.MarkedText([nurse(), nurse(0.5, "age")], "Of 10 images.")])
    assert drawn.count('type="radio"') == 2 and drawn.count('name="view" checked') == 1
    assert '<span class="marked-word shade-7 first" tabindex="0"><bdi>nurse</bdi>' in drawn
    assert "0.625 [0.500, 0.750], <strong>the first</strong>; score 0.2</span>" in drawn
    assert '<span class="marked-word shade-0 " tabindex="0"><bdi>tired</bdi>' in drawn
    assert '<span class="undefined">not ranked: stop word</span>' in drawn


def test_one_view_needs_no_switch() -> None:
    drawn = page([findings.MarkedText([nurse()])])
    assert "radio" not in drawn and "gender, by gradient</bdi></strong>" in drawn


def test_what_only_screens_need_is_not_in_the_file() -> None:
    table = findings.Table(["a"], [["x"]], "caption", numeric=(0,))
    found = findings.Finding("Method", "about", [table]).to_json()
    assert found["show"] == [
        {"kind": "table", "columns": ["a"], "rows": [["x"]], "caption": "caption"}
    ]


@pytest.mark.parametrize("text", sampled(text for text in HOSTILE if text not in UNWRITABLE))
def test_hostile_texts_stay_text(text: str) -> None:
    shown = screen(every_part(text))
    assert "\x1b" not in shown and "\u202e" not in shown
    body = page(every_part(text)).partition("<body>")[2]
    assert "\x1b" not in body and "\u202e" not in body
    assert "<script>alert" not in body and "<img" not in body
