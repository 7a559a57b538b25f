"""Axes of drawings: round numbers, and where values stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

TICKS = 6
LEFT, RIGHT, BOTTOM = 72.0, 14.0, 44.0
"""Units around what is drawn, for the numbers at the axes."""


@dataclass(frozen=True)
class Tick:
    """A number at an axis, and where it stands."""

    at: float
    text: str


@dataclass(frozen=True)
class Frame:
    """A drawing of `width` by `height` units with two axes, the origin at its upper left."""

    width: float
    height: float
    x: Sequence[Tick]
    y: Sequence[Tick]

    @property
    def left(self) -> float:
        """Where the vertical axis stands."""
        return LEFT

    @property
    def right(self) -> float:
        """Where the drawing ends."""
        return self.width - RIGHT

    @property
    def bottom(self) -> float:
        """Where the horizontal axis stands."""
        return self.height - BOTTOM


def ticks(low: float, high: float, most: int = TICKS) -> list[float]:
    """Round numbers, 1, 2 or 5 times a power of ten apart, that reach around `low` to `high`."""
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step for step in (1, 2, 5, 10) if step * power >= rough) * power
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


@dataclass(frozen=True)
class Scale:
    """From values to places along an axis."""

    values: tuple[float, float]
    places: tuple[float, float]

    def __call__(self, value: float) -> float:
        """Where a value stands."""
        (low, high), (start, end) = self.values, self.places
        return round(start + (value - low) / (high - low) * (end - start), 1)


def label(marks: Sequence[float], scale: Scale) -> list[Tick]:
    """Numbers at an axis, to so many digits as tell them apart."""
    step = marks[1] - marks[0]
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return [Tick(scale(mark), f"{mark:.{digits}f}") for mark in marks]
