"""The graph and the matrix as figures for a paper: SVG with text as text, PNG at 300 dpi."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from biasgraph.data.graph_document import Document
from biasgraph.report import style
from biasgraph.report.arrows import Arrow, Point, label_arrows
from biasgraph.report.circle_layout import positions
from biasgraph.report.figure_sheet import MARGIN, POINT, Sheet, drawing
from biasgraph.report.matrix_figure import matrix_figure
from biasgraph.report.tibet_figure import has_tibet, tibet_figure

ROTATED = 12  # with more axes than this, names stand along the circle's rays


def figure_files(
    document: Document, pairs: Sequence[style.Record], kind: str, columns: int
) -> dict[str, bytes]:
    """The files graph.KIND and matrix.KIND, and tibet.KIND where there are TIBET's scores.

    pairs: every ordered pair of axes, as `Result.pair_records` gives them.
    kind: "svg" or "png". columns: 1 or 2, the width in columns of a page.
    """
    with drawing():
        files = {
            f"graph.{kind}": graph_figure(document, kind, columns),
            f"matrix.{kind}": matrix_figure(document, pairs, kind, columns),
        }
        if has_tibet(document):
            files[f"tibet.{kind}"] = tibet_figure(document, kind, columns)
        return files


def graph_figure(document: Document, kind: str, columns: int) -> bytes:
    """Axes on a circle in their order, edges as arrows between them; call it in `drawing`."""
    sheet, nodes = Sheet(columns), document["nodes"]
    ring = _Ring(sheet, [node["id"] for node in nodes])
    sizes = {node["id"]: _radius(node["out_strength"], ring.largest) for node in nodes}
    scale = sheet.font / 8 * min(1.0, math.sqrt(12 / max(len(nodes), 1)))
    links = sorted(document["links"], key=lambda link: -abs(link["is"]))
    arrows = [
        Arrow.of(
            link,
            (ring.places[link["source"]], ring.places[link["target"]]),
            (sizes[link["source"]], sizes[link["target"]]),
            ring.middle,
            scale,
        )
        for link in links
    ]
    for arrow in reversed(arrows):
        arrow.draw(sheet)
    for node in nodes:
        draw_axis(sheet, ring.places[node["id"]], sizes[node["id"]], node["w1"])
    ring.write_names()
    circles = [(ring.places[axis], size) for axis, size in sizes.items()]
    written = label_arrows(sheet, arrows, circles)
    without = len(arrows) - written
    note = [f"IS is not written on {without} edges, where there was no room."] if without else []
    bottom = _legend(sheet, document, ring.bottom, scale)
    return sheet.bytes_of(kind, sheet.footer(document, bottom, *note), document)


class _Ring:
    """Where axes and their names stand on a sheet."""

    def __init__(self, sheet: Sheet, axes: Sequence[str]) -> None:
        self.sheet = sheet
        self.rotated = len(axes) > ROTATED
        self.largest = min(0.034 * sheet.width, 0.3 * sheet.width / max(len(axes), 1))
        self.names = {axis: style.clipped(axis, sheet.letters) for axis in axes}
        self.rays = positions(axes)
        widths = {axis: sheet.measure(name, sheet.font) for axis, name in self.names.items()}
        self.off = self.largest + 4 * POINT
        self.radius = self._radius(widths)
        above, below = (self._reach(widths, side) for side in (1, -1))
        self.middle = (sheet.width / 2, -MARGIN - above)
        self.bottom = self.middle[1] - below - 0.08
        self.places = {
            axis: (self.middle[0] + self.radius * x, self.middle[1] + self.radius * y)
            for axis, (x, y) in self.rays.items()
        }

    def _radius(self, widths: Mapping[str, float]) -> float:
        """As large as the sheet's width lets it be with every name beside its axis."""
        half = self.sheet.width / 2 - MARGIN
        room = [half / (1.8 if self.sheet.width > 5 else 1.3), 0.5 + 0.25 * len(self.rays)]
        for axis, (x, _) in self.rays.items():
            if self.rotated:
                room.append(half - widths[axis] - self.off)
            elif abs(x) > 0.1:
                room.append((half - widths[axis]) / abs(x) - self.off)
        return max(min(room), 0.5)

    def _reach(self, widths: Mapping[str, float], side: int) -> float:
        """Inches from the middle up (side 1) or down (-1) to the end of the farthest name."""
        far, em = self.radius + self.off, self.sheet.font * POINT
        ends = (
            side * y * (far + (widths[axis] if self.rotated else 0)) + 1.2 * em
            for axis, (_, y) in self.rays.items()
        )
        return max(0.5, *ends)

    def write_names(self) -> None:
        for axis, (x, y) in self.rays.items():
            far = self.radius + self.off
            place = (self.middle[0] + far * x, self.middle[1] + far * y)
            if self.rotated:
                angle = math.degrees(math.atan2(y, x))
                left = x < -1e-9
                self.sheet.text(
                    *place, self.names[axis], rotation=angle + 180 * left, rotation_mode="anchor",
                    ha="right" if left else "left",
                )  # fmt: skip
            else:
                beside = "left" if x > 0.1 else "right" if x < -0.1 else "center"
                level = "center" if abs(y) < 0.9 else "bottom" if y > 0 else "top"
                self.sheet.text(*place, self.names[axis], ha=beside, va=level)


def _radius(strength: float | None, largest: float) -> float:
    """Inches; its area grows with the sum of |IS| over outgoing edges, to 1."""
    return largest * (0.45 + 0.55 * math.sqrt(min(strength or 0.0, 1.0)))


def draw_axis(sheet: Sheet, place: Point, radius: float, distance: float | None) -> None:
    """A circle filled by the distance to the ideal; undefined, its rim is dashed."""
    from matplotlib.patches import Circle

    known = distance is not None
    sheet.add(
        Circle(
            place, radius, facecolor=style.fill(distance), edgecolor="#333333", linewidth=0.8,
            linestyle="solid" if known else (0, (2, 1.5)),
        )
    )  # fmt: skip


def _legend(sheet: Sheet, document: Document, top: float, scale: float) -> float:
    """What heads, dashes, widths, fills and sizes mean; returns its bottom."""
    legend, em = _Legend(sheet, top, scale), sheet.font * POINT
    for sign in style.SIGNS.values():
        legend.arrows(f"target {sign.meaning}", sign, sign.dash, (0.1,))
    grey = replace(style.SIGNS["towards"], colour="#777777")
    if any(map(style.mediated, document["links"])):
        legend.arrows(f"dashed: {style.MEDIATED}", grey, "dashed", (0.1,))
    legend.arrows("width: |IS| of 0.05 and of 0.30", grey, "solid", (0.05, 0.3))
    legend.axes("fill: distance to the ideal, 0, 0.5 and 1", [0.6 * em] * 3, (0, 0.5, 1))
    legend.axes("size: grows with |IS| of all its arrows", (0.4 * em, 0.8 * em), (0, 0))
    if any(node["w1"] is None for node in document["nodes"]):
        legend.axes("distance undefined: too few valid answers", [0.6 * em], [None])
    return legend.bottom


class _Legend:
    """Keys with words beside them, in rows."""

    def __init__(self, sheet: Sheet, top: float, scale: float) -> None:
        self.sheet, self.em, self.bottom = sheet, sheet.font * POINT, top
        self.scale = scale
        self.across = 1 if sheet.width < 5 else 2
        self.entries = 0

    def arrows(
        self, words: str, sign: style.SignStyle, dash: style.Dash, strengths: Sequence[float]
    ) -> None:
        """Arrows side by side, one for each |IS|."""
        x, y = self._entry(words)
        length = 6 * self.em / len(strengths)
        for number, strength in enumerate(strengths):
            ends = (x + number * length, y), (x + (number + 0.9) * length, y)
            Arrow(np.linspace(*ends, 31), sign, dash, self.scale * style.width(strength)).draw(
                self.sheet
            )

    def axes(self, words: str, radii: Sequence[float], distances: Sequence[float | None]) -> None:
        """Axes side by side, of these sizes and distances to the ideal."""
        x, y = self._entry(words)
        for number, (radius, distance) in enumerate(zip(radii, distances, strict=True)):
            draw_axis(self.sheet, (x + (0.75 + 2.2 * number) * self.em, y), radius, distance)

    def _entry(self, words: str) -> Point:
        column = self.entries % self.across
        if column == 0:
            self.bottom -= 1.8 * self.em
        x = MARGIN + column * (self.sheet.width - MARGIN) / self.across
        y = self.bottom + 0.9 * self.em
        self.sheet.text(x + 7 * self.em, y, words, self.sheet.font - 0.5)
        self.entries += 1
        return x, y
