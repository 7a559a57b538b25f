"""Places of the axes in pictures."""

from __future__ import annotations

import math

import pytest

from biasgraph.report.circle_layout import positions
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
