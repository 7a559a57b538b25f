"""Where the axes stand in every picture of a graph."""

from __future__ import annotations

import math
from collections.abc import Sequence


def positions(axes: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Places on the unit circle, y upwards: the first axis at the top, the others clockwise.

    They hang on nothing but the axes and their order, so that two pictures of graphs over the
    same axes can be held side by side. Empty for no axes.
    """
    turns = {axis: math.tau * place / len(axes) for place, axis in enumerate(axes)}
    return {axis: (math.sin(turn), math.cos(turn)) for axis, turn in turns.items()}
