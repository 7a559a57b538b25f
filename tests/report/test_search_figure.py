"""The figure of a search by a language model."""

from __future__ import annotations

import re

import pytest

from biasgraph.report import search_drawing
from biasgraph.report.search_figure import search_figure
from tests.found import Json, found_document
from tests.hostile import HOSTILE


def texts(figure: bytes) -> str:
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", figure.decode()))


@pytest.mark.slow(reason="a figure of its own")
def test_every_cell_axis_and_kind_is_named() -> None:
    document = found_document()
    shown = texts(search_figure(document, "svg"))
    for said in (
        "language model alone", "search", "language model told to bias", "PEZ", "given prompts",
        "λ = 10", "λ = 100", "λ = 300", "share of male", "share of old", "perplexity", "unknown",
        "delta", "injected", "dampened", "augmented", document["toy"],
    ):  # fmt: skip
        assert said in shown
    assert "mathdefault" not in shown


def test_words_are_those_of_the_largest_lambda() -> None:
    document = found_document()
    shown = texts(search_figure(document, "svg"))
    own = [one for one in document["words"] if (one["cell"], one["axis"]) == (4, "gender")]
    for one in search_drawing.ranked_words(own):
        assert f"{one['word']} ({one['n_with']})" in shown


@pytest.mark.slow(reason="two figures; those of the graph stay")
def test_the_same_again_is_the_same_file() -> None:
    for kind in ("svg", "png"):
        assert search_figure(found_document(), kind) == search_figure(found_document(), kind)


def bare() -> Json:
    document = found_document(n_prompts=1)
    for cell in document["cells"]:
        for one in (*cell["shares"], cell["perplexity"]):
            one |= {"mean": None, "low": None, "high": None}
    return document | {"words": []}


@pytest.mark.parametrize("document", [bare(), found_document(methods=["lm", "curated"])])
def test_nothing_to_draw_is_said(document: Json) -> None:
    shown = texts(search_figure(document, "svg"))
    assert "no word has a delta" in shown and "perplexity" in shown


@pytest.mark.slow(reason="a figure for every payload; page and terminal have them all as text")
def test_hostile_names_are_text() -> None:
    for text in HOSTILE[:40]:
        document = found_document(n_prompts=2) | {"model": text, "lm": text}
        for one in (*document["words"], *document["targets"]):
            one.update({"word": text} if "word" in one else {"attribute": text})
        svg = search_figure(document, "svg").decode()
        assert "<script" not in svg and "<img" not in svg
