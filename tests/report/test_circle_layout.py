"""Places of the axes in pictures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from biasgraph.report.circle_layout import bends, bezier, positions
from tests.hostile import HOSTILE


def test_axes_go_round_clockwise_from_the_top() -> None:
    places = positions(["north", "east", "south", "west"])
    assert list(places) == ["north", "east", "south", "west"]
    for axis, place in {"north": (0, 1), "east": (1, 0), "south": (0, -1), "west": (-1, 0)}.items():
        assert places[axis] == pytest.approx(place, abs=1e-12)


def test_every_axis_has_its_own_place_on_the_circle() -> None:
    places = positions(HOSTILE)
    assert len({(round(x, 6), round(y, 6)) for x, y in places.values()}) == len(HOSTILE)
    assert all(math.hypot(*place) == pytest.approx(1) for place in places.values())
    assert places == positions(HOSTILE)


def test_no_axes_and_one() -> None:
    assert positions([]) == {}
    assert positions(["gender"]) == {"gender": (0, 1)}


def curves(axes: int, bend: list[float]) -> dict[tuple[int, int], np.ndarray]:
    """(101, 2) Every edge between so many axes."""
    places = [np.array(place) for place in positions([str(axis) for axis in range(axes)]).values()]
    t = np.linspace(0, 1, 101)[:, None]
    return {
        (x, y): bezier(places[x], places[y], bend[(y - x) % axes], t)
        for x in range(axes)
        for y in range(axes)
        if x != y
    }


@pytest.mark.parametrize("axes", [3, 8, 14, 30])
def test_edges_meet_no_axis_between_their_ends(axes: int) -> None:
    clearance = 0.4 / axes
    places = [np.array(one) for one in positions([str(axis) for axis in range(axes)]).values()]
    for (x, y), curve in curves(axes, bends(axes, clearance, 0.02)).items():
        for other in set(range(axes)) - {x, y}:
            assert np.hypot(*(curve - places[other]).T).min() >= clearance - 1e-3


@pytest.mark.parametrize("axes", [2, 3, 8, 14, 30])
def test_opposite_edges_stay_apart(axes: int) -> None:
    found = curves(axes, bends(axes, 0.4 / axes, 0.6 / axes))
    for (x, y), curve in found.items():
        assert np.hypot(*(curve[50] - found[y, x][50])) >= 0.6 / axes - 1e-9


def test_edges_leave_an_axis_at_angles_of_their_own() -> None:
    """All ends of edges at the first of eight axes, in degrees: no two are near each other."""
    found = curves(8, bends(8, 0.1, 0.02))
    out = [curve[:2] for (x, _), curve in found.items() if x == 0]
    ends = [*out, *(curve[:-3:-1] for (_, y), curve in found.items() if y == 0)]
    angles = sorted(math.degrees(math.atan2(*(near - here))) % 360 for here, near in ends)
    gaps = [(b - a) % 360 for a, b in zip(angles, [*angles[1:], angles[0]], strict=True)]
    assert len(gaps) == 14 and min(gaps) > 8


def test_no_edges_to_bend() -> None:
    assert bends(0, 0.1, 0.1) == []
    assert bends(1, 0.1, 0.1) == [0]
