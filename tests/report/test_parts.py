"""Every kind of part, on the screen and on a page, also where its texts are hostile."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from biasgraph.data import findings
from biasgraph.report import html
from biasgraph.report.terminal import show
from tests.hostile import HOSTILE, UNWRITABLE


def every_part(text: str) -> list[findings.ScreenPart]:
    bar = findings.Bar(text, 0.5, 0.25, 0.75, 0.125)
    cells = (text, 1234, 0.25, None, bar, (text, bar))
    return [
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
    buffer = io.StringIO()
    show(Console(file=buffer, width=100, highlight=False), parts)
    return buffer.getvalue()


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
    assert screen([*empty, findings.Table(["Column"], [])]) == ""
    assert "Title of none" not in page([*empty])


def test_what_only_screens_need_is_not_in_the_file() -> None:
    table = findings.Table(["a"], [["x"]], "caption", numeric=(0,))
    found = findings.Finding("Method", "about", [table]).to_json()
    assert found["show"] == [
        {"kind": "table", "columns": ["a"], "rows": [["x"]], "caption": "caption"}
    ]


@pytest.mark.parametrize("text", [text for text in HOSTILE if text not in UNWRITABLE])
def test_hostile_texts_stay_text(text: str) -> None:
    shown = screen(every_part(text))
    assert "\x1b" not in shown and "\u202e" not in shown
    body = page(every_part(text)).partition("<body>")[2]
    assert "\x1b" not in body and "\u202e" not in body
    assert "<script>alert" not in body and "<img" not in body
