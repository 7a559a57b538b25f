"""Looks and captions that all pictures share."""

from __future__ import annotations

import pytest

import biasgraph
from biasgraph.report import style
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE
from tests.report.pictured import renamed


def test_a_caption_says_what_the_numbers_come_from() -> None:
    document = biasgraph.analyze(librarian_table(), bootstrap=100).document
    words = style.caption(document)
    for expected in (
        *("“a librarian”", "Model: shop:v1.", "Judge: not recorded.", "Ideal: uniform."),
        *("48 initial, 336 counterfactual", "nominal", "p of at most 0.0001"),
    ):
        assert expected in words


def test_nothing_in_a_caption_hides_or_breaks_its_line() -> None:
    document = biasgraph.analyze(librarian_table(images=20), bootstrap=100).document
    for text in HOSTILE:
        hostile = renamed(document, [text, "b"])
        hostile["nodes"][1]["metric"] = "ordinal"
        for field in ("model", "vqa"):
            hostile["graph"][field] = text
        hostile["graph"]["ideal"]["source"] = text
        assert style.caption(hostile).replace("\xa0", " ").isprintable()


@pytest.mark.parametrize(
    ("distance", "colour"),
    [(None, "#ffffff"), (0, "#ffffff"), (1, "#009e73"), (3, "#009e73"), (0.5, "#80ceb9")],
)
def test_the_fill_grows_with_the_distance(distance: float | None, colour: str) -> None:
    assert style.fill(distance) == colour


def test_widths_grow_with_strength_alone_and_stay_in_bounds() -> None:
    assert style.width(0) == 0.8
    assert style.width(-0.2) == style.width(0.2) == pytest.approx(2.4)
    assert style.width(9) == 5


def test_a_missing_sign_looks_undetermined() -> None:
    assert style.sign_style({"sign": None}) == style.SIGNS["undetermined"]
    assert [style.show_sign(value) for value in (0.1234, -0.5, None)] == ["+0.123", "-0.500", "n/a"]
