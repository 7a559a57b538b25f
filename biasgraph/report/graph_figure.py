"""The graph as a figure for a paper: axes on a circle, edges as arrows between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.data.graph_document import Document
from biasgraph.report import style, words
from biasgraph.report.circle_layout import Points, bends, bezier, positions
from biasgraph.report.figure_sheet import FigureSheet, figure_sheet

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

Point = tuple[float, float]
ROTATED = 12  # with more axes than this, names stand along the circle's rays
GAP = 1.5  # points between an arrow and an axis
CLEARANCE, APART = 3, 12  # points: an edge from an axis that it passes, and from the opposite edge
ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)  # where on an edge its number may stand
HEADS = {
    "triangle": "-|>,head_length=1,head_width=0.45",
    "bar": "|-|,widthA=0,widthB=0.7",
    "vee": "->,head_length=0.9,head_width=0.45",
}
DASHES: Mapping[str, Any] = {"solid": "-", "dashed": (0, (4.0, 2.0)), "dotted": (0, (1.0, 1.6))}
RIM = "#333333"
GREY = "#777777"


def graph_figure(document: Document, kind: str, columns: int) -> bytes:
    """Axes in their order, arrows with their IS, and what their looks mean.

    Args:
        document: The document of the graph.
        kind: "svg" or "png".
        columns: 1 or 2, the width in columns of a page.
    """
    with graph_sheet(document, columns) as sheet:
        return sheet.save(kind, style.title(document), style.caption(document))


@contextmanager
def graph_sheet(document: Document, columns: int) -> Iterator[FigureSheet]:
    """The sheet that the graph is drawn on, to be saved or shown; see `graph_figure`."""
    with figure_sheet(columns) as sheet:
        unwritten = _draw(document, sheet, columns, "")
        if not unwritten:
            yield sheet
            return
    with figure_sheet(columns) as sheet:
        note = f" IS is not written on {unwritten} edges, where there was no room."
        _draw(document, sheet, columns, note)
        yield sheet


def alternative_text(document: Document) -> str:
    """What the figure shows, for those who do not see it."""
    axes, edges = len(document["nodes"]), words.count_noun(len(document["links"]), "edge")
    return f"The graph: {axes} axes, {edges}."


def _draw(document: Document, sheet: FigureSheet, columns: int, note: str) -> int:
    """The graph with a note below it; how many edges have no room for their number."""
    nodes = document["nodes"]
    entries = _legend(document, sheet)
    heights = [
        (0.62 if columns == 2 and len(nodes) <= ROTATED else 0.9) * sheet.width,
        1.7 * sheet.em * math.ceil(len(entries) / columns),
    ]
    sheet.set_content(sum(heights), style.caption(document) + note, document["graph"]["toy"])
    axes, key = sheet.figure.subplots(2, height_ratios=heights)
    axes.set(aspect="equal", xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
    places = positions([node["id"] for node in nodes])
    largest = min(2.4 * sheet.font, 22 * sheet.font / max(len(nodes), 1))
    sizes = {node["id"]: _radius(node["out_strength"], largest) for node in nodes}
    for node in nodes:
        _draw_axis(axes, places[node["id"]], sizes[node["id"]], node["w1"])
    _write_names(axes, places, largest, sheet)
    key.legend(
        entries.values(), entries.keys(), loc="upper left", ncols=columns, mode="expand",
        handlelength=6, borderaxespad=0, handler_map=_handlers(),
    )  # fmt: skip
    for part in (axes, key):
        part.set_axis_off()
    sheet.figure.draw_without_rendering()  # everything takes its place
    sheet.figure.set_layout_engine("none")
    return _draw_edges(axes, document, places, sizes, sheet)


def _radius(strength: float | None, largest: float) -> float:
    """Points; its area grows with the sum of |IS| over outgoing edges, to 1."""
    return largest / 2 * (0.45 + 0.55 * math.sqrt(min(strength or 0.0, 1.0)))


def _draw_axis(axes: Axes, place: Point, radius: float, distance: float | None) -> None:
    """A circle filled by the distance to the ideal; undefined, its rim is dashed."""
    axes.scatter(
        *place, s=(2 * radius) ** 2, c=style.fill(distance), edgecolors=RIM, linewidths=0.8,
        linestyles="solid" if distance is not None else [(0, (2, 1.5))], zorder=3, clip_on=False,
    )  # fmt: skip


def _write_names(
    axes: Axes, places: Mapping[str, Point], largest: float, sheet: FigureSheet
) -> None:
    off = largest / 2 + 4
    for axis, (x, y) in places.items():
        left = x < -1e-9
        how: dict[str, Any] = {"va": "center", "ha": "right" if left else "left"}
        if len(places) > ROTATED:
            angle = math.degrees(math.atan2(y, x)) + 180 * left
            how |= {"rotation": angle, "rotation_mode": "anchor"}
        elif abs(x) < 0.1:
            how = {"ha": "center", "va": "bottom" if y > 0 else "top"}
        axes.annotate(
            style.clip(axis, sheet.letters), (x, y), xytext=(off * x, off * y),
            textcoords="offset points", **how,
        )  # fmt: skip


def _draw_edges(
    axes: Axes,
    document: Document,
    places: Mapping[str, Point],
    sizes: Mapping[str, float],
    sheet: FigureSheet,
) -> int:
    """Arrows, the strongest above the others, and IS on those that have room; how many have none.

    Numbers cover no axis, no head and no other number; the strongest edges come first.
    """
    to_pixels, pixels = axes.transData, sheet.figure.dpi / 72
    point = pixels / (to_pixels.transform((1, 0)) - to_pixels.transform((0, 0)))[0]
    taken = [_square(to_pixels.transform(places[axis]), sizes[axis] * pixels) for axis in places]
    crowding, order_of = _crowding(sheet, len(places)), {axis: i for i, axis in enumerate(places)}
    clearance = (max(sizes.values(), default=0) + CLEARANCE) * point
    bend = bends(len(places), clearance, APART * crowding * point)
    links = sorted(document["links"], key=lambda link: -abs(link["is"]))
    curves = []
    for order, link in enumerate(links):
        ends = link["source"], link["target"]
        radii = [(sizes[axis] + GAP) * point for axis in ends]
        steps = (order_of[ends[1]] - order_of[ends[0]]) % len(places)
        curve = _curve([np.array(places[axis]) for axis in ends], bend[steps], radii)
        width = crowding * style.width(link["is"])
        for artist in _arrow(curve, style.sign_style(link), style.dash(link), width, point):
            artist.set_zorder(2 - order / len(links))
            axes.add_artist(artist)
        curves.append(curve)
        taken.append(_square(to_pixels.transform(curve[-1]), 4 * pixels))
    unwritten = 0
    for link, curve in zip(links, curves, strict=True):
        number = style.show_sign(link["is"]).replace("-", "\N{MINUS SIGN}")
        text = axes.text(
            0, 0, number, fontsize=sheet.font - 1, ha="center", va="center", zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
        )  # fmt: skip
        for share in ALONG:
            text.set_position(curve[round(share * (len(curve) - 1))])
            box = text.get_window_extent()
            if not box.count_overlaps(taken):
                taken.append(box)
                break
        else:
            text.remove()
            unwritten += 1
    return unwritten


def _crowding(sheet: FigureSheet, axes: int) -> float:
    """How wide arrows are, to 1: less on small sheets and between many axes."""
    return sheet.font / 8 * min(1.0, math.sqrt(12 / max(axes, 1)))


def _square(centre: Points, half: float) -> Bbox:
    from matplotlib.transforms import Bbox

    return Bbox([centre - half, centre + half])


def _curve(ends: Sequence[Points], bend: float, radii: Sequence[float]) -> Points:
    """(k, 2) An edge between two axes, without what they cover."""
    start, end = ends
    curve = bezier(start, end, bend, np.linspace(0, 1, 301)[:, None])
    free = np.hypot(*(curve - start).T) > radii[0]
    free &= np.hypot(*(curve - end).T) > radii[1]
    return curve[free] if free.sum() > 1 else curve[[0, -1]]


def _arrow(
    curve: Points, sign: style.SignStyle, dash: style.Dash, width: float, point: float
) -> list[Artist]:
    """A line along a curve and its head.

    Args:
        curve: (k, 2) in any unit.
        sign: The look of its head.
        dash: The look of its line; the head is solid.
        width: Points.
        point: How long a point is in the curve's unit.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyArrowPatch

    long = 3 + 2 * width
    far = np.flatnonzero(np.hypot(*(curve - curve[-1]).T) > long * point)
    base = int(far[-1]) if len(far) else 0
    line = curve[: base + 1] if sign.head == "triangle" else curve
    colour = sign.colour
    return [
        Line2D(*line.T, color=colour, lw=width, ls=DASHES[dash], solid_capstyle="butt"),
        FancyArrowPatch(
            curve[base], curve[-1], arrowstyle=HEADS[sign.head], color=colour, shrinkA=0, shrinkB=0,
            mutation_scale=long, lw=max(0.6, 0.6 * width), joinstyle="miter", capstyle="butt",
        ),
    ]  # fmt: skip


# The legend


@dataclass(frozen=True)
class _Arrows:
    """Arrows side by side, one for each |IS|."""

    sign: style.SignStyle
    dash: style.Dash
    widths: Sequence[float]


def _legend(document: Document, sheet: FigureSheet) -> dict[str, Any]:
    """What heads, dashes, widths, fills and sizes mean."""
    from matplotlib.lines import Line2D

    def circle(size: float, distance: float | None) -> Line2D:
        return Line2D(
            [], [], ls="", marker="o", markersize=size * sheet.font, markeredgecolor=RIM,
            markerfacecolor=style.fill(distance), markeredgewidth=0.8,
        )  # fmt: skip

    def arrows(sign: style.SignStyle, dash: style.Dash, *strengths: float) -> _Arrows:
        crowding = _crowding(sheet, len(document["nodes"]))
        return _Arrows(sign, dash, [crowding * style.width(strength) for strength in strengths])

    grey = style.SignStyle("", GREY, "triangle", "solid")
    entries: dict[str, Any] = {
        f"target {sign.meaning}": arrows(sign, sign.dash, 0.1) for sign in style.SIGNS.values()
    }
    if any(map(style.is_mediated, document["links"])):
        entries[f"dashed: {style.MEDIATED}"] = arrows(grey, "dashed", 0.1)
    entries["width: |IS| of 0.05 and of 0.30"] = arrows(grey, "solid", 0.05, 0.3)
    fills = tuple(circle(1.2, distance) for distance in (0, 0.5, 1))
    entries["fill: distance to the ideal, 0, 0.5 and 1"] = fills
    entries["size: grows with |IS| of all its arrows"] = (circle(0.8, 0), circle(1.6, 0))
    if any(node["w1"] is None for node in document["nodes"]):
        entries["dashed rim: distance undefined, too few valid answers"] = circle(1.2, None)
    return entries


def _handlers() -> dict[Any, Any]:
    """What draws the entries of the legend."""
    from matplotlib.legend_handler import HandlerBase, HandlerTuple

    class ArrowHandler(HandlerBase):
        def create_artists(self, legend, arrows, left, down, width, height, size, trans):  # type: ignore[no-untyped-def]
            each = width / len(arrows.widths)
            artists = []
            for number, wide in enumerate(arrows.widths):
                x = np.linspace(number * each, (number + 0.9) * each, 101) - left
                curve = np.column_stack([x, np.full(101, height / 2 - down)])
                artists += _arrow(curve, arrows.sign, arrows.dash, wide, 1)
            for artist in artists:
                artist.set_transform(trans)
            return artists

    return {_Arrows: ArrowHandler(), tuple: HandlerTuple(ndivide=None)}
