"""The graph as graph.js gets it."""

from __future__ import annotations

import copy
import math

import pytest

import biasgraph
from biasgraph.causal.mediation import CONSISTENT
from biasgraph.report.graph_drawing import LARGEST, SMALLEST, drawing, node_size
from tests.answer_tables import librarian_table


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(), bootstrap=100)


def pairs_of(result: biasgraph.Result) -> list[dict[str, object]]:
    return [pair | {"mediation": []} for pair in result.pair_records()]


def test_axes_stand_on_a_circle_wherever_they_are_drawn(result: biasgraph.Result) -> None:
    nodes = drawing(result.document["nodes"], pairs_of(result))["nodes"]
    assert [node["label"] for node in nodes] == ["gender", "age", "clothing"]
    assert (nodes[0]["x"], nodes[0]["y"]) == (0, -260)
    assert {round(math.hypot(node["x"], node["y"]), -1) for node in nodes} == {260}
    other = biasgraph.analyze(librarian_table(seed=1), bootstrap=100)
    again = drawing(other.document["nodes"], pairs_of(other))["nodes"]
    place = [(node["x"], node["y"]) for node in nodes]
    assert [(node["x"], node["y"]) for node in again] == place


def test_every_pair_is_there_and_carries_its_numbers(result: biasgraph.Result) -> None:
    records = pairs_of(result)
    edges = drawing(result.document["nodes"], records)["edges"]
    assert len(edges) == 6
    for edge in edges:
        record = records[edge["id"]]
        assert divmod(edge["id"], 3) == (edge["from"], edge["to"])
        for name in ("is", "p", "edge"):
            assert edge[name] == record[name]
    widths = {abs(edge["is"]): edge["width"] for edge in edges}
    assert [widths[value] for value in sorted(widths)] == sorted(widths.values())


def test_mediation_and_the_majority_are_told(result: biasgraph.Result) -> None:
    records = copy.deepcopy(pairs_of(result))
    records[1]["mediation"] = [{"through": "age", "verdict": CONSISTENT.format(z="age")}]
    records[2]["mediation"] = [{"through": "age", "verdict": "undetermined"}]
    drawn = drawing(result.document["nodes"], records)
    assert [edge["mediated"] for edge in drawn["edges"]] == [
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert "male" in drawn["nodes"][0]["detail"]


def test_an_axis_without_answers_can_be_drawn() -> None:
    few = biasgraph.analyze(librarian_table(images=2), bootstrap=100)
    node = drawing(few.document["nodes"], pairs_of(few))["nodes"][0]
    assert node["distance"] is None


def test_one_axis_stands_in_the_middle() -> None:
    table = librarian_table(axes={"gender": ("male", "female")})
    one = biasgraph.analyze(table, bootstrap=100)
    [node] = drawing(one.document["nodes"], pairs_of(one))["nodes"]
    assert (node["x"], node["y"]) == (0, 0)


@pytest.mark.slow(reason="routes the edges of 30 axes; eight axes stay")
def test_between_many_axes_all_is_smaller_and_no_edge_meets_an_axis() -> None:
    axes = {f"axis {number}": ("low", "high") for number in range(30)}
    many = biasgraph.analyze(librarian_table(images=4, axes=axes), bootstrap=100)
    drawn = drawing(many.document["nodes"], pairs_of(many))
    sizes = [node["size"] for node in drawn["nodes"]]
    assert 2 * max(sizes) < math.tau * 260 / 30
    points = {node["id"]: complex(node["x"], node["y"]) for node in drawn["nodes"]}
    for edge in drawn["edges"]:
        start, end = points[edge["from"]], points[edge["to"]]
        bend = drawn["bends"][(edge["to"] - edge["from"]) % 30]
        middle = (start + end) / 2 + bend * 1j * (end - start)
        for i in range(1, 40):
            t = i / 40
            point = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
            others = set(points) - {edge["from"], edge["to"]}
            assert all(
                abs(point - points[other]) > drawn["nodes"][other]["size"] for other in others
            )


def test_the_area_of_an_axis_grows_with_its_strength() -> None:
    assert node_size(0) == SMALLEST
    grown = [node_size(strength) ** 2 - SMALLEST**2 for strength in (0.1, 0.2, 0.4)]
    assert grown == pytest.approx([grown[0], 2 * grown[0], 4 * grown[0]])
    assert node_size(100) == LARGEST


def test_a_label_of_nothing_is_no_number() -> None:
    table = librarian_table(axes={"\u200b": ("a", "b"), "0": ("c", "d")})
    result = biasgraph.analyze(table, bootstrap=100)
    nodes = drawing(result.document["nodes"], pairs_of(result))["nodes"]
    assert [node["label"] for node in nodes] == ["\\u200b", "0"]
