"""compare.html before any browser sees it, and a comparison in the terminal."""

from __future__ import annotations

import html
import io
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import biasgraph
from biasgraph.audits.compare.comparison import Comparison, compare_results
from biasgraph.audits.compare.gates import Gate
from biasgraph.report.comparison_page import _report
from biasgraph.report.comparison_summary import (
    describe_changes,
    describe_gates,
    summarize_comparison,
)
from biasgraph.report.terminal import show
from tests.answer_tables import librarian_table


@cache
def comparison() -> Comparison:
    """clothing hangs on gender in the second run alone."""
    flat = librarian_table(seed=5, images=40)
    rows = (flat["target"] == "clothing") & (flat["axis"] == "gender")
    flat.loc[rows, "answer"] = "formal"
    first = biasgraph.analyze(flat, bootstrap=200)
    second = biasgraph.analyze(librarian_table(model="shop:v2", images=60), bootstrap=200)
    wanted = [Gate.parse(gate) for gate in ("new-edges>0", "worse:age>0.5")]
    return compare_results([first, second], gates=wanted)


def model_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', page, re.S)
    assert found is not None
    model: dict[str, Any] = json.loads(found[1])
    return model


def test_the_page_holds_the_document_and_asks_for_nothing(tmp_path: Path) -> None:
    page = comparison().page(tmp_path).decode()
    assert model_of(page)["document"] == json.loads(json.dumps(comparison().document))
    assert "default-src 'none'" in html.unescape(page)
    assert not re.search(r'(src|href)="(?!#|data:)', page.partition("<body>")[0])
    assert len(page) < 1_500_000


def test_the_difference_view_has_the_places_of_the_graphs(tmp_path: Path) -> None:
    model = model_of(comparison().page(tmp_path).decode())
    places = [
        [(node["x"], node["y"]) for node in one["drawing"]["nodes"]]
        for one in (*model["runs"], *model["differences"])
    ]
    assert places[0] == places[1] == places[2]
    edges = {edge["id"]: edge for edge in model["differences"][0]["drawing"]["edges"]}
    assert len(edges) == 6
    changed = edges[0 * 3 + 2]  # gender -> clothing
    assert (changed["sign"], changed["edge"]) == ("rose", True)
    assert {edge["edge"] for k, edge in edges.items() if k != 2} == {False}


def test_reports_are_linked_where_they_stand(tmp_path: Path) -> None:
    run = tmp_path / "a run & 100 %"
    run.mkdir()
    assert _report(run, tmp_path / "out") is None
    (run / "report.html").write_text("")
    assert _report(run, tmp_path / "out") == "../a%20run%20%26%20100%20%25/report.html"
    assert _report(None, tmp_path) is None


def test_sentences_about_changes() -> None:
    document = comparison().document
    said = " ".join(describe_changes(document["comparisons"][0]))
    assert said.startswith("1 of 6 pairs changed. Of the others, edges in both graphs: 0; in one")
    assert "6 pairs rest on different numbers of images" in said
    assert "Amplification grew by +" in said
    lines = list(describe_gates(document))
    assert lines[0].startswith("FAILED: new-edges>0 (shop:v2: 1 new edges, more than the 0 allowed")
    assert lines[1].startswith("passed: worse:age>0.5 (shop:v2: age grew by ")


def test_many_changes_of_one_target_are_told_together() -> None:
    pair = {"target": "age", "class": "changed", "reason": None, "at_common_size": False}
    pairs = [{**pair, "source": source} for source in "abc"]
    one = {
        "pairs": pairs,
        "classes": {"changed": 3, "in both": 0, "undecided in the other": 0, "not comparable": 0},
        "amplification": {"growth": None, "growth_ci": None},
    }
    assert "3 of the changes are of" in " ".join(describe_changes(one))
    assert "3 of the changes" not in " ".join(describe_changes({**one, "pairs": pairs[:2]}))


@pytest.mark.parametrize("width", [80, 140])
def test_the_terminal_shows_runs_distances_rankings_changes_and_gates(width: int) -> None:
    text = io.StringIO()
    document = comparison().document
    show(Console(file=text, width=width), summarize_comparison(document))
    shown = text.getvalue()
    assert max(map(len, shown.splitlines())) <= width
    for words in ("shop:v1", "shop:v2", "Distance to the ideal", "Influence", "Gates", "FAILED"):
        assert words in shown
    changed = next(line for line in shown.splitlines() if line.startswith("gender") and "[" in line)
    assert changed
    [found] = document["comparisons"]
    pair = next(pair for pair in found["pairs"] if pair["class"] == "changed")
    assert f"{pair['difference']:+.3f}" in shown
    assert "To keep in mind" in shown


def test_nulls_are_shown_as_such(tmp_path: Path) -> None:
    few = biasgraph.analyze(librarian_table(images=8), bootstrap=200)
    found = compare_results([few, few], gates=[Gate.parse("amplification>0")])
    text = io.StringIO()
    show(Console(file=text, width=80), summarize_comparison(found.document))
    assert "cannot be decided: none of its pairs can be compared" in " ".join(
        text.getvalue().split()
    )
    assert "too few valid answers" in text.getvalue()
    page = found.page(tmp_path).decode()
    assert "not defined: no pair can be compared" in page
    assert {edge["edge"] for edge in model_of(page)["differences"][0]["drawing"]["edges"]} == {
        False
    }
