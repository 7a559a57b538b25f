"""The figure of a search for prompts."""

from __future__ import annotations

import re

import pytest

from biasgraph.report.mining_figure import LOOKS, mining_figure
from tests.hostile import HOSTILE
from tests.mined import Json, mined_document


def texts(figure: bytes) -> str:
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", figure.decode()))


@pytest.mark.slow(reason="a figure of its own")
@pytest.mark.parametrize("columns", [1, 2])
def test_every_origin_and_line_is_named(columns: int) -> None:
    document = mined_document()
    shown = texts(mining_figure(document, "svg", columns))
    for words in (
        "initial prompt", "random prompt", "mutation of a selected one", "selected",
        "lowest so far", "mining", "random prompts", "iteration", "prompts scored",
    ):  # fmt: skip
        assert words in shown
    assert "5 without a score" in shown and document["toy"] in shown


def test_every_scored_candidate_is_a_mark() -> None:
    document = mined_document()
    svg = mining_figure(document, "svg").decode()
    for origin, (colour, _) in LOOKS.items():
        own = [o for o in document["candidates"] if o["origin"] == origin and o["score"]]
        marks = re.findall(rf'<use [^>]*style="fill: {colour}', svg)
        assert len(marks) == len(own) + 1  # and one in the legend


@pytest.mark.slow(reason="two figures; those of the graph stay")
def test_the_same_again_is_the_same_file() -> None:
    for kind in ("svg", "png"):
        assert mining_figure(mined_document(), kind) == mining_figure(mined_document(), kind)


def without_scores() -> Json:
    document = mined_document(iterations=1, mined=0)
    for one in document["candidates"]:
        one |= {"score": None, "selected": False}
    for row in document["iterations"]:
        row |= {"best_score": None, "best_prompt": None}
    return document | {"random": {"n_prompts": 0, "expected_best": []}}


@pytest.mark.parametrize("empty", [False, True])
def test_nothing_scored_draws_no_mark(empty: bool) -> None:
    document = without_scores() | ({"candidates": [], "iterations": []} if empty else {})
    shown = texts(mining_figure(document, "svg"))
    assert "mining" not in shown and "score" in shown


@pytest.mark.slow(reason="a figure for every payload; page and terminal have them all as text")
def test_hostile_names_are_text() -> None:
    for text in HOSTILE[:40]:
        document = mined_document(iterations=2) | {"model": text, "proposed_by": text}
        svg = mining_figure(document, "svg").decode()
        assert "<script" not in svg and "<img" not in svg
