"""Edges of a figure as curved arrows, with room found for their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biasgraph.report import style
from biasgraph.report.figure_sheet import INK, POINT, Sheet

Point = tuple[float, float]
Points = npt.NDArray[np.float64]
Box = tuple[float, float, float, float]
"""Left, bottom, right, top."""

SHALLOW, DEEP = 0.04, 0.14
"""How far an edge bends towards the circle's middle, in its length: opposite edges differ."""
GAP = 0.02  # inches between an arrow and an axis
ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)  # where on an edge its number may stand
_PATTERNS = {"dashed": (0, (4.0, 2.0)), "dotted": (0, (1.0, 1.6))}


@dataclass(frozen=True)
class Arrow:
    """A curve from one axis's rim to another's, and how it looks.

    points: (k, 2) inches, the last one the tip. width: points.
    """

    points: Points
    sign: style.SignStyle
    dash: style.Dash
    width: float
    text: str = ""

    @classmethod
    def of(
        cls,
        link: style.Record,
        ends: tuple[Point, Point],
        radii: tuple[float, float],
        middle: Point,
        scale: float,
    ) -> Arrow:
        """The arrow of an edge between axes with these centres and radii on a circle.

        scale: how wide it is in a crowded figure, to 1.
        """
        points = _outside(_curve(*ends, middle), ends, radii)
        text = style.signed(link["is"]).replace("-", "\N{MINUS SIGN}")
        sign = style.sign_style(link)
        return cls(points, sign, style.dash(link), scale * style.width(link["is"]), text)

    def draw(self, sheet: Sheet) -> None:
        """The line up to its head, and the head."""
        from matplotlib.patches import PathPatch, Polygon
        from matplotlib.path import Path

        length = (3.0 + 2.0 * self.width) * POINT
        line, base, tip = self._cut(length)
        across = np.array([-(tip - base)[1], (tip - base)[0]]) * 0.42
        head, end = {
            "triangle": ([base + across, tip, base - across], base),
            "vee": ([base + across, tip, base - across], tip + 0.4 * (base - tip)),
            "bar": ([tip + 1.4 * across, tip - 1.4 * across], tip),
        }[self.sign.head]
        colour, filled = self.sign.colour, self.sign.head == "triangle"
        sheet.add(
            PathPatch(
                Path(np.vstack([line, end])), fill=False, edgecolor=colour, linewidth=self.width,
                linestyle=_PATTERNS.get(self.dash, "solid"), capstyle="butt",
            )
        )  # fmt: skip
        sheet.add(
            Polygon(
                head, closed=filled, fill=filled, facecolor=colour, edgecolor=colour,
                linewidth=max(0.6, (0.8 if self.sign.head == "bar" else 0.5) * self.width),
                joinstyle="miter",
            )
        )  # fmt: skip

    def _cut(self, length: float) -> tuple[Points, Points, Points]:
        """The line without its last `length` inches; where these begin; the tip."""
        tip = self.points[-1]
        far = np.hypot(*(self.points - tip).T) > length
        last = int(np.flatnonzero(far)[-1]) if far.any() else 0
        back = self.points[last] - tip
        return self.points[: last + 1], tip + back / np.hypot(*back) * length, tip


def label_arrows(
    sheet: Sheet, arrows: Iterable[Arrow], circles: Iterable[tuple[Point, float]]
) -> int:
    """Write the number of each arrow where there is room, the first ones first; returns how many.

    circles: centres and radii of the axes; nothing covers them or an arrow's head.
    """
    arrows = list(arrows)
    heads = ((arrow.points[-1], 4 * POINT) for arrow in arrows)
    taken = [(x - r, y - r, x + r, y + r) for (x, y), r in (*circles, *heads)]
    size, written = sheet.font - 1, 0
    for arrow in arrows:
        width, height = sheet.measure(arrow.text, size) + 2 * POINT, 1.25 * size * POINT
        for x, y in _spots(arrow.points):
            box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            if not any(_overlap(box, other) for other in taken):
                taken.append(box)
                white = {"facecolor": "white", "edgecolor": "none", "pad": 0.4}
                sheet.text(x, y, arrow.text, size, ha="center", bbox=white, color=INK)
                written += 1
                break
    return written


def _curve(start: Point, end: Point, middle: Point) -> Points:
    """A quadratic Bezier curve that bends inwards, where it meets no other axis.

    Through the middle, it bends to its right.
    """
    first, last = np.array(start), np.array(end)
    way, inwards = last - first, np.array(middle) - first
    right = np.array([way[1], -way[0]])
    side = (right @ inwards) / (way @ way)
    bend = (DEEP + SHALLOW) / 2 if abs(side) < 1e-6 else DEEP if side > 0 else -SHALLOW
    t = np.linspace(0, 1, 301)[:, None]
    bow = (first + last) / 2 + 2 * bend * right
    curve: Points = (1 - t) ** 2 * first + 2 * t * (1 - t) * bow + t**2 * last
    return curve


def _outside(points: Points, ends: Sequence[Point], radii: Sequence[float]) -> Points:
    """The part of a curve that leaves the circles at its ends free; at least two points."""
    free = np.ones(len(points), dtype=bool)
    for centre, radius in zip(ends, radii, strict=True):
        free &= np.hypot(*(points - centre).T) > radius + GAP
    return points[free] if free.sum() >= 2 else points[[0, -1]]


def _spots(points: Points) -> Iterator[Point]:
    for share in ALONG:
        x, y = points[round(share * (len(points) - 1))]
        yield float(x), float(y)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
