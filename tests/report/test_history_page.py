"""The history of a prompt as drawings and words: what is joined, and what is said of the rest."""

from __future__ import annotations

import re
from typing import Any

import pytest

from biasgraph.data.origin import NO_MODEL
from biasgraph.report.history_drawing import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Span, distances
from biasgraph.report.history_page import HistoryView, history_view
from biasgraph.report.runs_page import runs_html
from tests.hostile import HOSTILE
from tests.sampled import sampled

SEVEN_THREE = "male 70\u00a0%, female 30\u00a0%"


def point(month: int, w1: float | None, model: str = "shop:v1", **fields: Any) -> dict[str, Any]:
    known = {
        "date": f"2026-{month:02}-01T00:00:00+00:00", "model": model, "toy": False,
        "directory": f"{model} {month}", "page": "report.html", "valid": 48, "w1": w1,
        "w1_ci": None if w1 is None else [w1 - 0.1, w1 + 0.1],
        "shares": None if w1 is None else [0.5 - w1, 0.5 + w1],
        "shares_ci": None if w1 is None else [[0.0, 0.2], [0.8, 1.0]],
    }  # fmt: skip
    return known | fields


def setting(*points: dict[str, Any], **fields: Any) -> dict[str, Any]:
    known = {
        "judge": "vlm:judge", "weights": None, "metric": "nominal", "cost": "", "counted": 0,
        "attributes": ("female", "male"), "ideal": (0.5, 0.5), "points": list(points),
    }  # fmt: skip
    return known | fields


def shown(*settings: dict[str, Any], axis: str = "gender") -> HistoryView:
    history = {"prompt": "a nurse", "runs": 3, "axes": [{"axis": axis, "settings": settings}]}
    return history_view(history, lambda one: f"{one['directory']}/report.html")


def places(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", path)]


def test_a_line_leads_from_run_to_run_of_each_model() -> None:
    two = shown(
        setting(point(1, 0.1), point(2, 0.3, "shop:v2"), point(5, 0.2), point(9, 0.4, "shop:v2"))
    )
    [drawn] = two.axes[0].settings
    first, second = drawn.distance.trends
    assert [len(places(trend.line)) for trend in (first, second)] == [2, 2]
    (x1, y1), (x2, y2) = places(first.line)
    assert LEFT < x1 < x2 < WIDTH - RIGHT
    assert TOP < y2 < y1 < BOTTOM  # 0.2 stands above 0.1
    assert first.look != second.look
    assert first.whiskers.count("V") == 2
    assert [(one.name, one.look) for one in two.models] == [("shop:v1", 0), ("shop:v2", 1)]


def test_models_that_are_not_recorded_are_not_taken_for_one() -> None:
    view = shown(setting(point(1, 0.1, NO_MODEL), point(5, 0.4, NO_MODEL), judge=None))
    [drawn] = view.axes[0].settings
    [trend] = drawn.distance.trends
    assert (trend.line, trend.whiskers.count("V"), view.changes) == ("", 2, [])
    assert [one.name for one in view.models] == [view.number] == ["models not recorded"]
    both = shown(setting(point(1, 0.1, NO_MODEL), point(5, 0.4)))
    assert both.number == "1 model, others not recorded"
    assert "Judge: not recorded, so perhaps not the same everywhere." in drawn.about


def test_values_stand_where_the_scale_has_them() -> None:
    points = [point(1, 0.0, w1_ci=[0.0, 0.5]), point(3, 1.0)]
    chart = distances(points, Span.of(points, ["shop:v1"]), "gender", 1.0)
    [trend] = chart.trends
    assert [y for _, y in places(trend.line)] == [BOTTOM, TOP]
    assert trend.whiskers.startswith(f"M{places(trend.line)[0][0]} {BOTTOM}V{(TOP + BOTTOM) / 2}")
    assert [tick.text for tick in chart.y] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
    assert [tick.text for tick in chart.x] == ["2026-01-01", "2026-01-30", "2026-03-01"]


def test_runs_of_one_day_show_the_time_and_of_one_moment_the_date() -> None:
    hours = [point(1, 0.1), point(1, 0.2, date="2026-01-01T12:00:00+00:00")]
    assert [tick.text for tick in Span.of(hours, []).ticks()] == [
        "01-01 00:00", "01-01 06:00", "01-01 12:00",
    ]  # fmt: skip
    assert [tick.text for tick in Span.of(hours[:1] * 2, []).ticks()] == ["2026-01-01"]
    [drawn] = shown(setting(point(1, 0.1), point(1, 0.1))).axes[0].settings
    assert drawn.distance.trends[0].marks.count("M") == 2


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"judge": "vlm:b"}, "another judge, vlm:b instead of vlm:judge."),
        ({"judge": None}, "another judge, a judge that is not recorded instead of vlm:judge."),
        ({"weights": "sha256:1"}, "other weights of the judge vlm:judge."),
        ({"attributes": ("man", "woman")}, "other categories."),
        ({"ideal": (0.3, 0.7)}, f"another ideal, {SEVEN_THREE} instead of uniform."),
        ({"metric": "values"}, "another metric."),
    ],
)  # fmt: skip
def test_other_settings_are_never_joined_and_say_why(fields: dict[str, Any], why: str) -> None:
    first = setting(point(1, 0.1), point(2, 0.2))
    [axis] = shown(first, setting(point(3, 0.4), **fields)).axes
    assert len(axis.settings) == 1
    assert len(places(axis.settings[0].distance.trends[0].line)) == 2
    [told] = axis.apart
    assert told.startswith(f"Not joined with the first: {why} ")
    assert "0.400 [0.300, 0.500] on 2026-03-01 (48 images)" in told
    [axis] = shown(first, setting(point(3, 0.4), point(4, 0.5), **fields)).axes
    assert [one.apart for one in axis.settings] == ["", f"Not joined with the first: {why}"]
    assert axis.apart == []


def test_a_change_is_told_where_intervals_do_not_meet() -> None:
    closer = shown(setting(point(1, 0.4), point(2, 0.45), point(3, 0.15))).changes
    assert len(closer) == 1
    assert "closer to its ideal" in closer[0] and "0.400 [0.300, 0.500] on 2026-01-01" in closer[0]
    assert "further from" in shown(setting(point(1, 0.1), point(2, 0.4))).changes[0]
    assert shown(setting(point(1, 0.1), point(2, 0.25))).changes == []
    assert shown(setting(point(1, 0.1), point(2, 0.4, "shop:v2"))).changes == []


def test_the_share_is_of_what_most_images_of_all_runs_show() -> None:
    [drawn] = shown(setting(point(1, 0.1), point(2, 0.3))).axes[0].settings
    assert drawn.attribute == "male"
    assert drawn.share is not None
    assert drawn.share.goal == (TOP + BOTTOM) / 2
    assert places(drawn.share.trends[0].line)[0][1] == pytest.approx(TOP + 0.4 * (BOTTOM - TOP))


def test_an_undefined_number_is_in_the_table_alone() -> None:
    some = shown(setting(point(1, 0.1), point(2, None), point(3, 0.2)))
    assert len(places(some.axes[0].settings[0].distance.trends[0].line)) == 2
    rows = some.numbers[0].rows
    assert [row.w1[:11] for row in rows] == ["0.100 [0.00", "not defined", "0.200 [0.10"]
    once = shown(setting(point(1, 0.1), point(2, None)))
    assert (once.axes, once.once) == ([], "gender")


def test_a_toy_is_called_one_wherever_its_numbers_stand() -> None:
    toys = [point(1, 0.1, toy=True), point(2, 0.4, toy=True)]
    told = shown(setting(*toys), setting(point(3, 0.2, toy=True), judge="vlm:b"))
    assert told.models[0].toy
    assert "(toy) is further" in told.changes[0]
    assert "(toy): 0.200" in told.axes[0].apart[0]
    assert told.numbers[0].rows[0].model == "shop:v1 (toy)"


def test_models_beyond_the_looks_are_in_the_table_alone() -> None:
    points = [point(month, 0.1, f"shop:v{month}") for month in range(1, 10)]
    many = shown(setting(*points))
    assert [one.look for one in many.models] == [0, 1, 2, 3, 4, 5, None, None, None]
    assert len(many.axes[0].settings[0].distance.trends) == 6
    assert len(many.numbers[0].rows) == 9


@pytest.mark.parametrize("payload", sampled(HOSTILE))
def test_hostile_text_stays_text(payload: str) -> None:
    points = [point(month, 0.2, payload, directory="a") for month in (1, 2)]
    other = setting(
        point(3, 0.2, payload, directory="a"), judge=payload, attributes=(payload, payload + "x")
    )
    axes = [{"axis": payload, "settings": [setting(*points), other]}]
    page = runs_html([], [{"prompt": payload, "runs": 3, "axes": axes}], title="x").decode()
    plain = runs_html(
        [],
        [{"prompt": "a", "runs": 3, "axes": [{"axis": "b", "settings": [setting(point(1, 0.2),
         point(2, 0.2)), setting(point(3, 0.2), judge="c", attributes=("d", "e"))]}]}],
        title="x",
    ).decode()  # fmt: skip
    for mark in ("<script", "<a ", "<svg", "<li", "<img", "<iframe"):
        assert page.count(mark) == plain.count(mark), mark
