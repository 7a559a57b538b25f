"""The figure of word influence: every word with its numbers, and nothing over anything else."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import pytest

from biasgraph.report import figure_sheet, words_figure
from biasgraph.report.words_figure import words_figure as figure
from tests.hostile import HOSTILE, UNWRITABLE
from tests.word_influences import PROMPT, influence, undefined

LONG = "a nurse with " + " and ".join(f"an {'extra' * n}ordinary tired nurse" for n in range(12))


def texts(figure: bytes) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", figure.decode())


@pytest.mark.parametrize("columns", [1, 2])
def test_every_word_has_its_numbers_and_every_row_its_title(columns: int) -> None:
    rows = [influence(out=["nurse"]), influence(axis="age", method="removal"), undefined()]
    shown = texts(figure(rows, "svg", columns, origin="Model: m.", toy="A toy."))
    assert shown.count("tired") == 3 and shown.count("nurse") == 6
    assert shown.count("0.25") == 2 and shown.count("0.12 to 0.38") == 2
    assert shown.count("0.50") == 4 and shown.count("0.25 to 0.75") == 4
    assert "gender, by gradient, 10 images" in shown
    assert "age, by removal, 10 images: no word stands out from chance" in " ".join(shown)
    assert "age, by removal, 0 images: too few images" in shown
    assert f"“{PROMPT}”" in " ".join(shown) and "Model: m." in " ".join(shown)
    assert "A toy." in shown


@pytest.mark.parametrize(
    ("scale", "score", "interval"),
    [
        (1e-6, "2.5e-07", "1.2e-07 to 3.8e-07"),
        (0.01, "0.0025", "0.0013 to 0.0037"),
        (1000, "250", "125 to 375"),
    ],
)
def test_scores_of_any_size_can_be_read(scale: float, score: str, interval: str) -> None:
    shown = texts(figure([influence({"tired": 0.25 * scale, "nurse": 0.5 * scale})], "svg"))
    assert score in shown and interval in shown


def test_where_all_scores_are_zero_they_are_written() -> None:
    one = influence()
    words = tuple(
        replace(word, score=0.0, low=0.0, high=0.5, share=None) if word.rank else word
        for word in one.words
    )
    assert texts(figure([replace(one, words=words)], "svg")).count("0.00 to 0.50") == 3


def test_the_same_again_is_the_same_file() -> None:
    for kind in ("svg", "png"):
        assert figure([influence()], kind) == figure([influence()], kind)


def test_rows_are_of_one_prompt() -> None:
    with pytest.raises(ValueError, match="unpack"):
        figure([influence(), influence(prompt="a nurse")], "svg")


@pytest.mark.slow(reason="draws and measures every word")
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("prompt", [PROMPT, LONG])
def test_no_text_overlaps_another(
    columns: int, prompt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Measured on the sheet that is saved, before it is closed."""
    boxes: list[tuple[float, float, float, float]] = []

    class Measured(figure_sheet.FigureSheet):
        def save(self, kind: str, title: str, description: str) -> bytes:
            saved = super().save(kind, title, description)
            found = [*self.figure.texts, *self.figure.axes[0].texts]
            boxes.extend(text.get_window_extent().extents for text in found if text.get_text())
            wide, high = self.figure.get_size_inches() * self.figure.dpi
            assert all(x0 >= 0 and y0 >= 0 and x1 <= wide and y1 <= high
                       for x0, y0, x1, y1 in boxes)  # fmt: skip
            return saved

    monkeypatch.setattr(figure_sheet, "FigureSheet", Measured)
    figure([influence(prompt=prompt), influence(prompt=prompt, axis="age")], "svg", columns)
    assert len(boxes) > 20
    for (a0, b0, a1, b1), (c0, d0, c1, d1) in itertools.combinations(boxes, 2):
        assert min(a1, c1) - max(a0, c0) <= 1 or min(b1, d1) - max(b0, d0) <= 1


def test_rows_without_room_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_figure, "TALLEST", 1.0)
    rows = [influence(axis=f"axis {number}") for number in range(5)]
    shown = " ".join(texts(figure(rows, "svg")))
    assert "axis 0" in shown and "axis 4" not in shown
    assert re.search(r"There was no room for [34] more\.", shown)


@pytest.mark.slow(reason="a figure for every payload; page and terminal have them all as text")
def test_hostile_words_stay_text(capsys: pytest.CaptureFixture[str]) -> None:
    for text in [text for text in HOSTILE if text not in UNWRITABLE][::8]:
        one = influence()
        words = tuple(replace(word, word=text) for word in one.words)
        svg = figure([replace(one, words=words, prompt=text, axis=text)], "svg").decode()
        assert "<script" not in svg and "<img" not in svg
    assert capsys.readouterr() == ("", "")
