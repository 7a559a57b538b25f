"""All pairs of axes as a heat map of IS."""

from __future__ import annotations

import math
from collections.abc import Sequence

from biasgraph.data.graph_document import Document
from biasgraph.report import style
from biasgraph.report.figure_sheet import FAINT, INK, MARGIN, POINT, Sheet

SMALLEST = 3.0  # points; numbers that would be smaller are left out
LARGEST_CELL = 0.6  # inches
STEPS = 7  # colours in the key
GREY, WHITE = "#dddddd", "#ffffff"
NOTE = (
    "Cells: IS; framed: edges; grey: Cramér's V of naming the axis's own attributes, 1 where "
    "every image obeyed."
)


def matrix_figure(
    document: Document, pairs: Sequence[style.Record], kind: str, columns: int
) -> bytes:
    """A row for each diversified axis, a column for each that may move; call it in `drawing`."""
    sheet, axes = Sheet(columns), [node["id"] for node in document["nodes"]]
    em = sheet.font * POINT
    names = [style.clipped(axis, sheet.letters) for axis in axes]
    widest = max((sheet.measure(name, sheet.font) for name in names), default=0.0)
    left, top = MARGIN + 2 * em + widest, -MARGIN - 2.2 * em - widest
    cell = min(LARGEST_CELL, (sheet.width - left - 5 * em - MARGIN) / max(len(axes), 1))
    left += (sheet.width - left - 5 * em - MARGIN - len(axes) * cell) / 2
    size, spread = min(sheet.font, cell / POINT / 3.2), _spread(pairs)
    for place, name in enumerate(names):
        middle, small = (place + 0.5) * cell, min(sheet.font, cell / POINT)
        sheet.text(left - 0.4 * em, top - middle, name, small, ha="right")
        sheet.text(
            left + middle, top + 0.4 * em, name, small, rotation=90, ha="center", va="bottom"
        )
    places = {axis: place for place, axis in enumerate(axes)}
    for pair in pairs:
        x, y = left + places[pair["target"]] * cell, top - (places[pair["source"]] + 1) * cell
        _draw_cell(sheet, (x, y), cell, pair, spread, size)
    side = len(axes) * cell
    sheet.text(
        left - widest - 1.4 * em,
        top - side / 2,
        "diversified axis",
        rotation=90,
        ha="center",
        color=FAINT,
    )
    sheet.text(left + side / 2, -MARGIN - 0.6 * em, "axis that moves", ha="center", color=FAINT)
    _draw_key(sheet, left + side + em, top, spread)
    notes = [NOTE]
    if any(pair["is"] is None for pair in pairs):
        notes.append("Hatched: undefined.")
    if size < SMALLEST:
        notes.append("There was no room for numbers.")
    bottom = top - max(side, (1.6 * STEPS + 1.5) * em) - em
    return sheet.bytes_of(kind, sheet.footer(document, bottom, *notes), document)


def _spread(pairs: Sequence[style.Record]) -> float:
    """The largest |IS| between two axes, rounded up to a tenth."""
    found = (
        abs(pair["is"])
        for pair in pairs
        if pair["source"] != pair["target"] and pair["is"] is not None
    )
    return max(math.ceil(max(found, default=0.0) * 10 - 1e-9), 1) / 10


def _draw_cell(
    sheet: Sheet,
    corner: tuple[float, float],
    cell: float,
    pair: style.Record,
    spread: float,
    size: float,
) -> None:
    from matplotlib.patches import Rectangle

    own = pair["source"] == pair["target"]
    value = pair["cramers_v"] if own else pair["is"]
    colour = WHITE if value is None else GREY if own else _colour(value / spread)
    sheet.add(
        Rectangle(
            corner, cell, cell, facecolor=colour, edgecolor="#bbbbbb", linewidth=0.3,
            hatch="/////" if value is None else None,
        )
    )  # fmt: skip
    if pair["edge"]:
        inset = 0.9 * POINT
        x, y = (place + inset for place in corner)
        inner = cell - 2 * inset
        sheet.add(
            Rectangle(
                (x, y), inner, inner, fill=False, edgecolor="#000000", linewidth=1.1,
                joinstyle="miter",
            )
        )  # fmt: skip
    if size >= SMALLEST:
        sheet.text(
            corner[0] + cell / 2, corner[1] + cell / 2, _number(value, signed=not own), size,
            ha="center", color=_ink(colour), weight="bold" if pair["edge"] else "normal",
        )  # fmt: skip


def _draw_key(sheet: Sheet, x: float, top: float, spread: float) -> None:
    from matplotlib.patches import Rectangle

    em = sheet.font * POINT
    sheet.text(x, top - 0.6 * em, "IS")
    for step in range(STEPS):
        value = spread * (1 - 2 * step / (STEPS - 1))
        y = top - (1.5 + 1.6 * (step + 1)) * em
        colour = _colour(value / spread)
        sheet.add(
            Rectangle(
                (x, y), 1.4 * em, 1.6 * em, facecolor=colour, edgecolor="#bbbbbb", linewidth=0.4
            )
        )
        sheet.text(x + 1.9 * em, y + 0.8 * em, _number(value, signed=True), sheet.font - 0.5)


def _colour(share: float) -> str:
    """From the colour of "away" at -1 over white at 0 to the colour of "towards" at 1."""
    end = style.SIGNS["towards" if share > 0 else "away"].colour
    return style.blend(WHITE, end, abs(share))


def _number(value: float | None, *, signed: bool) -> str:
    """Two digits after the point and none before it, as far as there are none."""
    if value is None:
        return "n/a"
    text = f"{value:+.2f}" if signed and abs(value) >= 0.005 else f"{abs(value):.2f}"
    text = text.replace("0.", ".", 1)
    return text.replace("-", "\N{MINUS SIGN}")


def _ink(colour: str) -> str:
    """Black or white, whichever is easier to read on `colour`."""
    red, green, blue = style.channels(colour)
    return INK if 0.3 * red + 0.59 * green + 0.11 * blue > 140 else WHITE
