"""A search as numbers to draw."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.report import search_drawing as drawing
from tests.found import Json, found_document


def plane(document: Json, axis: str = "gender") -> drawing.Tradeoff:
    chart = drawing.tradeoff(document, axis)
    assert chart is not None
    return chart


def test_points_stand_where_their_numbers_say() -> None:
    document = found_document()
    chart = plane(document)
    cells = document["cells"]
    assert [point.method for point in chart.points] == [cell["method"] for cell in cells]
    heights = [point.at[1] for point in chart.points]
    shares = [cell["shares"][0]["mean"] for cell in cells]
    bottom, top = chart.y[0].at, chart.y[-1].at
    assert heights == pytest.approx([bottom + share * (top - bottom) for share in shares], abs=0.1)
    known = [place for place, cell in enumerate(cells) if cell["perplexity"]["mean"] is not None]
    rights = [chart.points[place].at[0] for place in known]
    logs = [math.log(cells[place]["perplexity"]["mean"]) for place in known]
    slopes = [
        (b - a) / (y - x)
        for (a, b), (x, y) in zip(itertools.pairwise(rights), itertools.pairwise(logs), strict=True)
    ]
    assert slopes == pytest.approx([slopes[0]] * len(slopes), rel=0.05)
    assert chart.ideal == pytest.approx((bottom + top) / 2)


def test_intervals_reach_around_their_points() -> None:
    for point in plane(found_document()).points:
        assert point.up is not None and point.up[0] >= point.at[1] >= point.up[1]
        if point.across is not None:
            assert point.across[0] <= point.at[0] <= point.across[1]


def test_the_line_leads_over_every_lambda() -> None:
    chart = plane(found_document())
    assert chart.path == [point.at for point in chart.points[:4]]
    assert plane(found_document(methods=["lm", "curated"])).path == []


def test_cells_without_a_perplexity_stand_apart() -> None:
    chart = plane(found_document())
    [curated] = [point for point in chart.points if point.method == "curated"]
    assert chart.x[-1].text == "unknown" and curated.at[0] == chart.x[-1].at
    assert curated.across is None and "unknown (people wrote them)" in curated.about
    assert all(point.at[0] < curated.at[0] for point in chart.points if point is not curated)


def test_no_perplexity_at_all_is_one_column() -> None:
    document = found_document()
    for cell in document["cells"]:
        cell["perplexity"] |= {"mean": None, "low": None, "high": None}
    chart = plane(document)
    assert [tick.text for tick in chart.x] == ["unknown"]
    assert {point.at[0] for point in chart.points} == {chart.x[0].at}


def test_a_cell_without_a_share_is_left_out_and_none_is_no_drawing() -> None:
    document = found_document()
    assert "pez" not in [point.method for point in plane(document, "age").points]
    for cell in document["cells"]:
        cell["shares"][0] |= {"mean": None, "low": None, "high": None}
    assert drawing.tradeoff(document, "gender") is None


def boxes(chart: drawing.Tradeoff) -> list[tuple[float, float, float]]:
    """Left and right end of each name, and where it stands."""
    found = []
    for point in chart.points:
        x, y = point.name_at
        wide = drawing.LETTER * len(point.name)
        found.append((x - wide if point.ends else x, x if point.ends else x + wide, y))
    return found


def test_names_lie_inside_and_off_each_other() -> None:
    for axis in ("gender", "age"):
        own = boxes(plane(found_document(), axis))
        assert all(left >= 0 and right <= drawing.WIDTH for left, right, _ in own)
        for (a, b, y), (c, d, z) in itertools.combinations(own, 2):
            assert b <= c or d <= a or abs(y - z) >= drawing.LINE


@given(st.floats(1, 1e6), st.floats(1.0001, 1e4))
def test_marks_by_powers_are_within_and_not_few(low: float, times: float) -> None:
    marks = drawing.marks_by_powers(low, low * times)
    assert all(low <= mark <= low * times for mark in marks)
    assert marks == sorted(set(marks)) and len(marks) <= 14
    assert len(marks) >= 2 or times < 1.3**2


def test_marks_are_round_numbers_for_every_scale() -> None:
    assert drawing.marks_by_powers(1.9, 6) == [2, 3, 4, 5, 6]
    assert drawing.marks_by_powers(1.9, 21) == [2, 5, 10, 20]
    assert drawing.marks_by_powers(1.5, 700) == [10, 100]


def test_a_name_keeps_off_the_intervals_of_others() -> None:
    document = found_document(methods=["lm", "search"])
    for cell, (share, perplexity, low, high) in zip(
        document["cells"],
        [(0.6, 2.2, 2.1, 2.3), (0.79, 2.4, 2.1, 2.7), (0.82, 3.8, 2.3, 5.3), (0.2, 9.0, 8.0, 10.0)],
        strict=True,
    ):
        cell["shares"][0] |= {"mean": share, "low": share - 0.05, "high": share + 0.05}
        cell["perplexity"] |= {"mean": perplexity, "low": low, "high": high}
    chart = plane(document)
    for (left, right, y), point in zip(boxes(chart), chart.points, strict=True):
        for other in chart.points:
            assert other.across is not None
            apart = right <= other.across[0] or left >= other.across[1]
            assert other is point or apart or not y - 12 < other.at[1] < y + 2


def word(name: str, delta: float | None, n_with: int = 5, kind: str = "injected") -> Json:
    return {"word": name, "delta": delta, "n_with": n_with, "n_without": 20 - n_with, "kind": kind}


def test_words_are_ranked_by_delta_from_both_ends() -> None:
    rows = [word(f"w{place:02}", place / 40 - 0.4) for place in range(33)]
    rows += [word("gone", None, 0, "deleted"), word("once", 0.9, 1)]
    ranked = drawing.ranked_words(rows)
    assert [one["word"] for one in ranked] == [
        *(f"w{place:02}" for place in range(32, 24, -1)),
        *(f"w{place:02}" for place in range(7, -1, -1)),
    ]
    assert drawing.ranked_words([word("once", 0.9, 1)]) == [word("once", 0.9, 1)]


def test_bars_reach_from_zero_to_their_delta() -> None:
    chart = drawing.word_bars([word("up", 0.2), word("down", -0.1, kind="dampened")])
    assert chart is not None
    up, down = chart.bars
    assert up.at[0] - chart.zero == pytest.approx(2 * (chart.zero - down.at[0]), abs=0.2)
    assert [tick.text for tick in chart.y] == ["up", "down"]
    assert up.said == "+0.20 injected, 5 of 20" and down.kind == "dampened"
    assert chart.left <= down.at[0] and up.at[0] <= chart.right < chart.said_at
    assert drawing.word_bars([word("gone", None, 0, "deleted")]) is None
