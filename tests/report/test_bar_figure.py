"""The figure of a method's bars, TIBET's: what it says, and that it holds any names, numbers."""

from __future__ import annotations

import io
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image

import biasgraph
from biasgraph.data.findings import Bar, Bars, Finding
from biasgraph.methods import tibet
from biasgraph.methods.base import MethodInput
from biasgraph.report import style
from biasgraph.report.bar_figure import finding_figures
from biasgraph.report.figure_sheet import DPI, WIDTHS
from biasgraph.report.figures import figure_files
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE

SVG = "{http://www.w3.org/2000/svg}"
WIDER = pytest.mark.slow(reason="the same names with more room; the narrow figure stays")


def scored(**table: Any) -> dict[str, Any]:
    """A graph's document with TIBET's findings on it."""
    result = biasgraph.analyze(librarian_table(model="sandbox:stereotyped", **table), bootstrap=100)
    annotation = tibet.annotate(MethodInput(result.document, result.tables, result.answers))
    nodes = [
        {**node, "findings": {"tibet": annotation.nodes[node["id"]].to_json()}}
        for node in result.document["nodes"]
    ]
    graph = {**result.document["graph"], "findings": {"tibet": annotation.graph.to_json()}}
    return {**result.document, "nodes": nodes, "graph": graph}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return scored()


def drawn(document: dict[str, Any], kind: str = "svg", columns: int = 2) -> bytes:
    return finding_figures(document, kind, columns)[f"tibet.{kind}"]


def texts(raw: bytes) -> list[str]:
    root = ElementTree.fromstring(raw)  # noqa: S314
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


@pytest.mark.slow(reason="two figures more")
def test_it_stands_beside_the_graph_where_there_are_scores(document) -> None:
    files = figure_files(document, [], "svg", 1)
    assert [*files] == ["graph.svg", "matrix.svg", "tibet.svg"]
    plain = {**document, "nodes": [{**node, "findings": {}} for node in document["nodes"]]}
    assert [*figure_files(plain, [], "svg", 1)] == ["graph.svg", "matrix.svg"]


def test_it_names_axes_counterfactuals_numbers_and_where_they_come_from(document) -> None:
    shown = texts(drawn(document))
    for node in document["nodes"]:
        found = node["findings"]["tibet"]
        assert {node["id"], *node["attributes"]} <= {*shown}
        assert {f"{score:.2f}" for score in found["cas"]} <= {*shown}
        number = "<0.001" if found["bav"] < 0.0005 else f"{found['bav']:.3f}"
        assert number in shown
    assert any(text.startswith("CAS of every counterfactual") for text in shown)
    assert any(text.startswith("BAV of every axis") for text in shown)
    assert {"0.0", "0.5", "1.0"} <= {*shown}
    words = " ".join(shown)
    assert "a librarian" in words
    assert "closed vocabulary" in words
    assert document["graph"]["toy"] in words
    assert style.origin(document) in words


def test_bars_are_as_long_as_their_numbers(document) -> None:
    root = ElementTree.fromstring(drawn(document))  # noqa: S314
    scores = [score for node in document["nodes"] for score in node["findings"]["tibet"]["cas"]]
    widths = []
    for path in root.iter(f"{SVG}path"):
        if "fill: #009e73" in (path.get("style") or ""):
            x = [float(part) for part in path.get("d", "").replace("M", "L").split() if "." in part]
            widths.append(max(x[::2]) - min(x[::2]))
    scale = widths[0] / scores[0]
    assert [width / scale for width in widths] == pytest.approx(scores, abs=1e-3)


@pytest.mark.slow(reason="large pictures")
@pytest.mark.parametrize("columns", [1, 2])
def test_png_has_the_size_of_columns(document, columns: int) -> None:
    image = Image.open(io.BytesIO(drawn(document, "png", columns)))
    assert image.width == pytest.approx(WIDTHS[columns] * DPI, abs=1)
    darkest, lightest = image.convert("L").getextrema()
    assert (darkest < 60, lightest) == (True, 255)


@pytest.mark.slow(reason="every format twice")
@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_scores_give_the_same_bytes(document, kind: str) -> None:
    assert drawn(document, kind) == drawn(document, kind)


def test_what_is_undefined_says_so() -> None:
    shown = texts(drawn(scored(images=5)))
    assert shown.count("n/a") == 7
    assert "BAV is undefined: no axis has one." in " ".join(shown)


@pytest.mark.slow(reason="a figure for every payload")
@pytest.mark.parametrize("columns", [1, pytest.param(2, marks=WIDER)])
def test_hostile_names_stand_there_as_text(document, columns: int) -> None:
    names = [*HOSTILE, "$x^2$", "\u4e2d\u6587" * 30]
    first = document["nodes"][0]
    bars = Bars([Bar(name, 0.5, 0.25, 0.75, 0.6) for name in names], HOSTILE[0])
    finding = Finding(HOSTILE[0], HOSTILE[0], [bars]).to_json()
    node = {**first, "id": HOSTILE[0], "findings": {"tibet": finding}}
    shown = {*texts(drawn({**document, "nodes": [node]}, columns=columns))}
    longest = 8 + 8 * columns
    assert {style.clip(name, longest) for name in names} <= shown


@pytest.mark.slow(reason="a figure of 100 axes")
def test_a_graph_too_tall_for_a_sheet_loses_axes_and_says_so(document) -> None:
    first = document["nodes"][0]
    raw = drawn({**document, "nodes": [{**first, "id": f"axis {n}"} for n in range(120)]})
    shown = texts(raw)
    kept = [text for text in shown if text.startswith("axis ")]
    assert 0 < len(kept) < 120
    assert f"no room for {120 - len(kept)} more" in " ".join(shown)
    height = float(ElementTree.fromstring(raw).get("height", "").removesuffix("pt"))  # noqa: S314
    assert 40 < height / 72 < 45
