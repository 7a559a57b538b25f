"""compare.html before any browser sees it, and a comparison in the terminal."""

from __future__ import annotations

import html
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import biasgraph
from biasgraph.audits.compare.comparison import Comparison, compare_results
from biasgraph.audits.compare.gates import Gate
from biasgraph.report import words
from biasgraph.report.comparison_page import _report
from biasgraph.report.comparison_summary import (
    describe_changes,
    describe_distributions,
    describe_gates,
    is_clear,
    summarize_comparison,
)
from tests.answer_tables import librarian_table
from tests.screens import one_line, screen_of


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
    growth = document["comparisons"][0]["amplification"]
    assert growth["growth_ci"][0] < 0 < growth["growth"]
    assert f"Amplification moved within chance: {growth['growth']:+.3f} [" in said
    lines = list(describe_gates(document))
    assert lines[0].startswith("FAILED: new-edges>0 (shop:v2: 1 new edge, more than the 0 allowed")
    assert lines[1].startswith(
        "passed: worse:age>0.5 (shop:v2: age's distance to its ideal grew by "
    )


@pytest.mark.parametrize(
    ("growth", "ends", "said"),
    [
        (0.4, [0.1, 0.7], "Amplification grew by +0.400 [+0.100, +0.700]."),
        (-0.4, [-0.7, -0.1], "Amplification fell: -0.400 [-0.700, -0.100]."),
        (0.4, [-0.1, 0.9], "Amplification moved within chance: +0.400 [-0.100, +0.900]."),
    ],
)
def test_amplification_grew_only_where_its_interval_says_so(
    growth: float, ends: list[float], said: str
) -> None:
    found = comparison().document["comparisons"][0]
    changed = found["amplification"] | {"growth": growth, "growth_ci": ends}
    assert [*describe_changes({**found, "amplification": changed})][-1] == said


@cache
def moved() -> Comparison:
    """gender alone lies further from its ideal in the second run; the rest is the same world."""
    first = librarian_table(images=60)
    second = librarian_table(model="shop:v2", images=60)
    initial = (second["role"] == "initial") & (second["target"] == "gender")
    second.loc[initial, "answer"] = "male"
    return compare_results([biasgraph.analyze(one, bootstrap=200) for one in (first, second)])


def test_changes_of_distributions_lead_in_numbers_of_the_document(tmp_path: Path) -> None:
    document = moved().document
    [found] = document["comparisons"]
    said = [words.plain(one) for one in describe_distributions(found, document)]
    gender = next(row for row in found["distances"] if row["axis"] == "gender")
    low, high = gender["growth_ci"]
    before, after = (row["w1"] for row in document["distances"] if row["axis"] == "gender")
    assert low > 0 and after - before == pytest.approx(gender["growth"])
    assert said[0] == (
        f"gender {gender['growth']:+.3f} [{low:+.3f}, {high:+.3f}] further from its ideal: "
        f"{before:.3f} before, {after:.3f} now."
    )
    within = [row["axis"] for row in found["distances"] if not is_clear(row)]
    assert said[1] == f"Within chance: {', '.join(within)}." and len(said) == 2
    page = words.plain(html.unescape(moved().page(tmp_path).decode()))
    page = re.sub("</?span[^>]*>|<wbr>", "", page)
    section = page.partition('id="found-title"')[2]
    assert -1 < section.index(said[0]) < section.index("pairs changed")
    nodes = model_of(moved().page(tmp_path).decode())["differences"][0]["drawing"]["nodes"]
    assert [node["change"] for node in nodes] == ["further", "chance", "chance"]
    shown = one_line(screen_of(summarize_comparison(document), 100))
    assert shown.index(said[0]) < shown.index("pairs changed") < shown.index("Growth from 1")


def test_a_distribution_closer_to_its_ideal_and_none_that_moved() -> None:
    baseline, run = (one["name"] for one in moved().document["runs"])
    row = {"axis": "a", "growth": -0.2, "growth_ci": [-0.3, -0.1], "reason": None}
    document = {
        "runs": [{"name": baseline}, {"name": run}],
        "distances": [
            {"axis": "a", "run": baseline, "w1": 0.5},
            {"axis": "a", "run": run, "w1": 0.3},
        ],
    }
    [told] = describe_distributions({"run": run, "distances": [row]}, document)
    assert words.plain(told) == (
        "a -0.200 [-0.300, -0.100] closer to its ideal: 0.500 before, 0.300 now."
    )
    chance = {**row, "growth_ci": [-0.3, 0.0]}
    [told] = describe_distributions({"run": run, "distances": [chance]}, document)
    assert told == (
        "No distribution is clearly closer to its ideal or further from it (1 axis within chance)."
    )
    none = {**row, "growth": None, "growth_ci": None, "reason": "too few"}
    [told] = describe_distributions({"run": run, "distances": [none]}, document)
    assert words.plain(told) == "Not comparable, a: too few."


def test_a_run_compared_with_itself_says_so_in_one_sentence(tmp_path: Path) -> None:
    result = biasgraph.analyze(librarian_table(images=40), bootstrap=100)
    found = compare_results([result, result], gates=[Gate.parse("worse:age>0.5")])
    text = screen_of(summarize_comparison(found.document), 100)
    same = "Both runs have the same answers about the same images, so nothing can have changed."
    assert same in text
    assert "Growth" not in text and "pairs changed" not in text
    assert "passed: worse:age>0.5" in text
    page = found.page(tmp_path).decode()
    assert page.count(f"<li>{same}</li>") == 1 and "pairs changed" not in page
    other = biasgraph.analyze(librarian_table(images=40, seed=9), bootstrap=100)
    [apart] = compare_results([result, other]).document["comparisons"]
    assert apart["same_answers"] is False


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
    document = comparison().document
    shown = screen_of(summarize_comparison(document), width)
    assert max(map(len, shown.splitlines())) <= width
    for title in ("shop:v1", "shop:v2", "Distance to the ideal", "Influence", "Gates", "FAILED"):
        assert title in shown
    changed = next(line for line in shown.splitlines() if line.startswith("gender") and "[" in line)
    assert changed
    [found] = document["comparisons"]
    pair = next(pair for pair in found["pairs"] if pair["class"] == "changed")
    assert f"{pair['difference']:+.3f}" in shown
    assert "To keep in mind" in shown


def test_nulls_are_shown_as_such(tmp_path: Path) -> None:
    few, other = (
        biasgraph.analyze(librarian_table(images=8, seed=seed), bootstrap=200) for seed in (0, 1)
    )
    found = compare_results([few, other], gates=[Gate.parse("amplification>0")])
    text = screen_of(summarize_comparison(found.document))
    assert "cannot be decided: none of its pairs can be compared" in one_line(text)
    assert "too few valid answers" in text
    page = found.page(tmp_path).decode()
    assert "not defined: no pair can be compared" in page
    assert {edge["edge"] for edge in model_of(page)["differences"][0]["drawing"]["edges"]} == {
        False
    }
