"""The figures: what they say, how large they are, and that the same graph gives the same bytes."""

from __future__ import annotations

import io
from collections import Counter
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from PIL import Image

import biasgraph
from biasgraph.report import style
from biasgraph.report.figure_sheet import DPI, WIDTHS
from biasgraph.report.figures import figure_files
from biasgraph.report.graph_figure import graph_figure
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE
from tests.report.pictured import renamed

SVG = "{http://www.w3.org/2000/svg}"

DOTS = pytest.mark.slow(reason="the same figure at 300 dpi; the vector stays")
MANY = pytest.mark.slow(reason="a larger figure on the same way; twelve axes stay")


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(model="sandbox:stereotyped"), bootstrap=100)


def texts(raw: bytes) -> list[str]:
    root = ElementTree.fromstring(raw)  # noqa: S314
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


def drawn(result: biasgraph.Result, kind: str, columns: int = 2) -> dict[str, bytes]:
    return figure_files(result.document, result.pair_records(), kind, columns)


def numbers_of(pairs: list[dict[str, Any]]) -> list[str]:
    """The number in each cell of the matrix, worked out on its own."""
    cells = []
    for pair in pairs:
        own = pair["source"] == pair["target"]
        value = pair["cramers_v"] if own else pair["is"]
        if value is None:
            cells.append("n/a")
            continue
        hundredths = f"{abs(value) + 1e-12:.2f}".removeprefix("0")
        sign = "" if own or hundredths == ".00" else "+" if value > 0 else "\u2212"
        cells.append(sign + hundredths)
    return cells


def test_the_graph_names_axes_numbers_and_what_they_come_from(result: biasgraph.Result) -> None:
    shown = texts(drawn(result, "svg")["graph.svg"])
    [link] = result.document["links"]
    assert {"gender", "age", "clothing", f"{link['is']:+.3f}"} <= {*shown}
    words = " ".join(shown)
    assert style.caption(result.document) in words
    assert result.document["graph"]["toy"] in words
    for sign in style.SIGNS.values():
        assert f"target {sign.meaning}" in words


def test_the_matrix_has_every_number(result: biasgraph.Result) -> None:
    shown = Counter(texts(drawn(result, "svg")["matrix.svg"]))
    expected = Counter(numbers_of(result.pair_records()))
    assert expected <= shown
    assert shown["gender"] == 2
    assert result.document["graph"]["toy"] in " ".join(shown)


def test_what_is_undefined_says_so() -> None:
    few = biasgraph.analyze(librarian_table(images=5), bootstrap=100)
    raw = drawn(few, "svg")
    assert texts(raw["matrix.svg"]).count("n/a") == 6
    assert b"<pattern" in raw["matrix.svg"], "undefined cells are hatched"
    assert "dashed rim: distance undefined, too few valid answers" in texts(raw["graph.svg"])


def test_signs_differ_by_more_than_colour() -> None:
    looks = {(sign.head, sign.dash) for sign in style.SIGNS.values()}
    assert len(looks) == len(style.SIGNS)


@pytest.mark.slow(reason="large pictures")
@pytest.mark.parametrize("columns", [1, 2])
def test_png_has_the_size_of_columns_at_300_dpi(result: biasgraph.Result, columns: int) -> None:
    for raw in drawn(result, "png", columns).values():
        image = Image.open(io.BytesIO(raw))
        assert image.width == pytest.approx(WIDTHS[columns] * DPI, abs=1)
        assert image.info["dpi"] == pytest.approx((DPI, DPI), abs=0.1)
        assert image.info["Software"] == "biasgraph"
        assert image.height < 1.5 * image.width
        darkest, lightest = image.convert("L").getextrema()
        assert (darkest < 60, lightest) == (True, 255)


@pytest.mark.slow(reason="every format twice")
@pytest.mark.parametrize("kind", ["svg", pytest.param("png", marks=DOTS)])
def test_the_same_graph_gives_the_same_bytes(result: biasgraph.Result, kind: str) -> None:
    first = drawn(result, kind)
    assert drawn(result, kind) == first
    with mpl.rc_context({"svg.fonttype": "path", "font.size": 30, "text.usetex": True}):
        assert drawn(result, kind) == first, "a matplotlibrc changes nothing"
    assert all(b"dc:date" not in raw for raw in first.values())


def test_matplotlib_is_left_as_it_was(result: biasgraph.Result) -> None:
    before = dict(mpl.rcParams)
    drawn(result, "svg")
    assert dict(mpl.rcParams) == before


@pytest.mark.slow(reason="a figure for every payload; page and terminal have them all as text")
def test_hostile_names_stand_there_as_text(result: biasgraph.Result) -> None:
    names = [*HOSTILE, "$x^2$", "$\\frac{a}{b", "_^{}", "\\alpha"]
    raw = graph_figure(renamed(result.document, names), "svg", 2)
    shown = {*texts(raw)}
    assert {style.clip(name, 24) for name in names} <= shown
    root = ElementTree.fromstring(raw)  # noqa: S314
    assert not [*root.iter(f"{SVG}script"), *root.iter(f"{SVG}foreignObject")]


def test_letters_that_no_font_has_are_no_error(result: biasgraph.Result) -> None:
    names = [
        "\u56fe\u4e66",
        "\U0001f469",
        "\u0645\u0643\u062a\u0628\u0629",
        "$\u56fe$",
        "\U00013000",
    ]
    document = renamed(result.document, names)
    pairs = [{**result.pair_records()[1], "source": a, "target": b} for a, b in pairwise(names)]
    assert {*figure_files(document, pairs, "png", 1)} == {"graph.png", "matrix.png"}


@pytest.mark.slow(reason="graphs of up to 30 axes")
@pytest.mark.parametrize("count", [1, 2, 12, pytest.param(30, marks=MANY)])
def test_any_number_of_axes_can_be_drawn(result: biasgraph.Result, count: int) -> None:
    document = renamed(result.document, [f"axis {number}" for number in range(count)])
    for columns in (1, 2):
        raw = figure_files(document, [], "svg", columns)
        assert texts(raw["graph.svg"]).count(f"axis {count - 1}") == 1
