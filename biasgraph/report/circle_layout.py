"""Where the axes stand in every picture of a graph, and how its edges bend."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.float64]

STEEPEST = 0.6
"""No edge bends further than this, in its own length."""
STEP = 0.02


def positions(axes: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Places on the unit circle, y upwards: the first axis at the top, the others clockwise.

    They hang on nothing but the axes and their order, so that two pictures of graphs over the
    same axes can be held side by side. Empty for no axes.
    """
    turns = {axis: math.tau * place / len(axes) for place, axis in enumerate(axes)}
    return {axis: (math.sin(turn), math.cos(turn)) for axis, turn in turns.items()}


def bends(axes: int, clearance: float, apart: float) -> list[float]:
    """How edges bend, by the clockwise steps from their source to their target.

    The edges of an axis leave and reach it at angles that differ by half of that between two
    chords, so that none merges with another and opposite ones stay apart; where an edge would meet
    an axis, it bends further inwards, and so do longer ones that would merge with it.

    Args:
        axes: How many there are.
        clearance: How far an edge keeps from an axis between its ends, in radii of the circle.
        apart: How far opposite edges are from each other in their middle, in radii.

    Returns:
        (axes,) The `bend` of `bezier` for each number of steps, 0 for none.
    """
    result = [0.0] * axes
    leaves = -math.inf  # the angle between the circle and the shallower edge at its ends
    for steps in range(1, axes // 2 + 1):
        chord = 2 * math.sin(math.pi * steps / axes)
        half = max(math.tan(math.pi / axes / 4) / 2, min(apart / chord, STEEPEST / 3))
        turn = math.pi * steps / axes
        beside = math.tan(max(leaves + math.pi / axes / 4 - turn, -1.0)) / 2
        shallow = min(max(-half, beside), STEEPEST)
        while shallow < STEEPEST and _nearest(axes, steps, shallow) < clearance:
            shallow += STEP
        leaves = turn + math.atan(2 * shallow)
        result[steps] = shallow + 2 * half
        if 2 * steps < axes:
            result[axes - steps] = -shallow
    return result


def bezier(start: Points, end: Points, bend: float, t: Points) -> Points:
    """(k, 2) Points of an edge at the parameters `t`, (k, 1), 0 to 1; y upwards.

    A quadratic Bezier curve whose control point lies to the right of the chord's middle, `bend`
    lengths of the chord away.
    """
    way = end - start
    control = (start + end) / 2 + bend * np.array([way[1], -way[0]])
    points: Points = (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end
    return points


def _nearest(axes: int, steps: int, bend: float) -> float:
    """How close an edge that bends inwards comes to an axis between its ends; inf without one."""
    if steps == 1:
        return math.inf
    turns = math.tau / axes * np.array([0, steps, 1, steps - 1])
    start, end, *others = np.column_stack([np.sin(turns), np.cos(turns)])
    curve = bezier(start, end, bend, np.linspace(0, 1, 61)[:, None])
    return min(float(np.hypot(*(curve - other).T).min()) for other in others)
