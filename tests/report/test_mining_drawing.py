"""The search of `mine` as places and lines."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.report import mining_drawing as drawing
from tests.mined import mined_document


def test_every_candidate_is_a_point_in_its_column() -> None:
    document = mined_document()
    chart = drawing.population(document)
    assert chart is not None
    by_number = {one["number"]: one for one in document["candidates"]}
    assert sorted(point.number for point in chart.points) == sorted(by_number)
    middles = {int(tick.text): tick.at for tick in chart.x}
    width = middles[2] - middles[1]
    for point in chart.points:
        one = by_number[point.number]
        x, y = point.at
        assert abs(x - middles[one["iteration"]]) < width / 2
        assert chart.left <= x <= chart.right and 0 <= y <= chart.bottom
        assert point.selected == one["selected"] and point.origin == one["origin"]
        assert (point.parent is None) == (one["parent"] is None)


def test_higher_scores_stand_higher_and_those_without_one_below_all() -> None:
    document = mined_document()
    chart = drawing.population(document)
    assert chart is not None
    heights = {point.number: point.at[1] for point in chart.points}
    scored = [one for one in document["candidates"] if one["score"] is not None]
    ordered = [heights[one["number"]] for one in sorted(scored, key=lambda one: -one["score"])]
    assert ordered == sorted(ordered)
    without = [heights[o["number"]] for o in document["candidates"] if o["score"] is None]
    assert without and set(without) == {chart.bottom} and max(ordered) < chart.bottom
    assert chart.y[-1].text == "no score"


def test_no_two_points_of_375_lie_on_each_other() -> None:
    chart = drawing.population(mined_document(unscored=False))
    assert chart is not None and len(chart.points) == 375
    for one, other in itertools.combinations(chart.points, 2):
        across, down = (abs(a - b) for a, b in zip(one.at, other.at, strict=True))
        assert max(across, down) >= 6 and across + down >= 8


def test_a_child_is_joined_to_the_place_of_its_parent() -> None:
    document = mined_document()
    chart = drawing.population(document)
    assert chart is not None
    places = {point.number: point.at for point in chart.points}
    parents = {one["number"]: one["parent"] for one in document["candidates"]}
    children = [point for point in chart.points if point.parent is not None]
    assert len(children) == 24 * 10
    for point in children:
        assert point.parent == places[parents[point.number]]


def test_a_point_says_its_score_origin_parent_and_rank() -> None:
    document = mined_document()
    chart = drawing.population(document)
    assert chart is not None
    about = {point.number: point.about for point in chart.points}
    child = next(one for one in document["candidates"] if one["origin"] == "mutation")
    parent = document["candidates"][child["parent"] - 1]
    assert f"score {child['score']:.3f}; mutation" in about[child["number"]]
    assert parent["prompt"] in about[child["number"]]
    assert "no score: fewer than 2 images" in about[12]
    assert about[document["mined"][0]["candidate"]].endswith("mined, rank 1")


@pytest.mark.parametrize(
    ("objective", "worse"), [("bias", min), ("axis:age", max), ("edge:age,gender", min)]
)
def test_the_best_so_far_is_that_of_the_worse_direction(objective: str, worse: object) -> None:
    document = mined_document(objective=objective, iterations=3)
    curve = drawing.best_so_far(document)
    scores = [one["score"] for one in document["candidates"] if one["score"] is not None]
    assert curve == [worse(scores[:k]) for k in range(1, len(scores) + 1)]  # type: ignore[operator]


def test_the_random_line_ends_with_its_prompts() -> None:
    document = mined_document()
    chart = drawing.trajectory(document)
    assert chart is not None
    assert len(chart.lines["random"]) == document["random"]["n_prompts"]
    assert chart.lines["random"][-1][0] < chart.lines["mining"][-1][0]
    document["random"] = {"n_prompts": 0, "expected_best": []}
    chart = drawing.trajectory(document)
    assert chart is not None and list(chart.lines) == ["mining"]


def test_nothing_is_drawn_without_scores() -> None:
    document = mined_document(iterations=1)
    for one in document["candidates"]:
        one["score"] = None
    assert drawing.population(document) is None
    assert drawing.trajectory(document) is None


@given(st.lists(st.floats(0, 100), max_size=40))
def test_places_in_one_lane_are_apart(places: list[float]) -> None:
    lanes = drawing.spread(places, 10)
    for lane in set(lanes):
        own = sorted(place for place, at in zip(places, lanes, strict=True) if at == lane)
        assert all(b - a >= 10 for a, b in itertools.pairwise(own))
    assert set(lanes) <= set(range(-20, 21))
