"""All pairs of axes as a heat map of IS."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biasgraph.causal.tables import Floats
from biasgraph.data.graph_document import Document
from biasgraph.report import style
from biasgraph.report.figure_sheet import INK, POINT, figure_sheet
from biasgraph.report.words import between

SMALLEST = 3.0  # points; numbers that would be smaller are left out
LARGEST_CELL = 0.6  # inches
OWN, GRID = "#dddddd", "#bbbbbb"
NOTE = (
    "Cells: IS; framed: edges; grey: Cramér's V of naming the axis's own attributes, 1 where "
    "every image obeyed."
)


def matrix_figure(
    document: Document, pairs: Sequence[style.Record], kind: str, columns: int
) -> bytes:
    """A row for each diversified axis, a column for each that may move.

    Args:
        document: The document of the graph.
        pairs: Every ordered pair of axes, as `Result.pair_records` gives them.
        kind: "svg" or "png".
        columns: 1 or 2, the width in columns of a page.
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    names = [node["id"] for node in document["nodes"]]
    number = {axis: place for place, axis in enumerate(names)}
    spread = _spread(pairs)
    notes = [NOTE, "Hatched: undefined."] if any(p["is"] is None for p in pairs) else [NOTE]
    with figure_sheet(columns) as sheet:
        axes = sheet.figure.add_subplot(aspect="equal", facecolor="white")
        cell = min(LARGEST_CELL, 0.6 * sheet.width / max(len(names), 1))
        size = min(sheet.font, cell / POINT / 3.5)
        colours = [style.SIGNS["away"].colour, "#ffffff", style.SIGNS["towards"].colour]
        ramp = LinearSegmentedColormap.from_list("IS", colours)
        image = axes.imshow(_values(number, pairs), cmap=ramp, vmin=-spread, vmax=spread)
        for pair in pairs:
            own = pair["source"] == pair["target"]
            value = pair["cramers_v"] if own else pair["is"]
            y, x = number[pair["source"]], number[pair["target"]]
            fill = OWN if own and value is not None else "none"
            look: dict[str, Any] = {"facecolor": fill, "edgecolor": GRID, "linewidth": 0.3}
            hatch = "/////" if value is None else None
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, hatch=hatch, **look))
            if pair["edge"]:
                frame: dict[str, Any] = {"fill": False, "edgecolor": "#000000", "linewidth": 1.1}
                axes.add_patch(Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, zorder=2, **frame))
            if size >= SMALLEST:
                dark = not own and value is not None and abs(value) > 0.6 * spread
                axes.text(
                    x, y, _number(value, signed=not own), fontsize=size, ha="center", va="center",
                    color="#ffffff" if dark else INK, weight="bold" if pair["edge"] else "normal",
                )  # fmt: skip
            elif "There was no room for numbers." not in notes:
                notes.append("There was no room for numbers.")
        labels = [style.clip(axis, sheet.letters) for axis in names]
        small = min(sheet.font, cell / POINT)
        axes.set_xticks(range(len(names)), labels, rotation=90, fontsize=small)
        axes.set_yticks(range(len(names)), labels, fontsize=small)
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.spines[:].set_visible(False)
        axes.xaxis.set_label_position("top")
        axes.set(xlabel="axis that moves", ylabel="diversified axis")
        key = sheet.figure.colorbar(image, ax=axes, shrink=0.8, label="IS", format="{x:+.2f}")
        key.outline.set_linewidth(0.3)
        height = len(names) * cell + 11 * sheet.em
        caption = " ".join([style.caption(document), *notes])
        sheet.set_content(height, caption, document["graph"]["toy"])
        return sheet.save(kind, style.title(document), style.caption(document))


def _values(number: Mapping[str, int], pairs: Sequence[style.Record]) -> Floats:
    """(axes, axes) IS of each pair; NaN on the diagonal and where it is undefined."""
    values = np.full((len(number), len(number)), np.nan)
    for pair in between(pairs):
        if pair["is"] is not None:
            values[number[pair["source"]], number[pair["target"]]] = pair["is"]
    return values


def _spread(pairs: Sequence[style.Record]) -> float:
    """The largest |IS| between two axes, rounded up to a tenth."""
    strengths = (abs(pair["is"]) for pair in between(pairs) if pair["is"] is not None)
    return max(math.ceil(max(strengths, default=0.0) * 10 - 1e-9), 1) / 10


def _number(value: float | None, *, signed: bool) -> str:
    """Two digits after the point and none before it, as far as there are none."""
    if value is None:
        return "n/a"
    text = f"{value:+.2f}" if signed and abs(value) >= 0.005 else f"{abs(value):.2f}"
    text = text.replace("0.", ".", 1)
    return text.replace("-", "\N{MINUS SIGN}")
