"""The ranking of biases as a figure for a paper (OpenBias, its figures of intensities)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biasgraph.report import style, words
from biasgraph.report.figure_sheet import FAINT, INK, MARGIN, POINT, Sheet, drawing

FIGURE = "openbias.svg"
COLUMNS = 2
MOST = 60
"""Biases that there is room for."""
COLOUR = "#009e73"
NOTE = (
    "Intensity: 0 where all classes are as frequent as each other, 1 where there is only one "
    "(of the mean distribution over captions). Whiskers: 95 % intervals. Dashed marks: answers "
    "drawn from uniform classes stay below them in 95 % of cases. Behind each name: its most "
    "frequent class."
)

Record = Mapping[str, Any]


def openbias_figure(document: Record, kind: str = "svg") -> bytes:
    """A bar for each bias, the most intense first, as "svg" or "png"."""
    with drawing():
        return _figure(document, kind)


def _figure(document: Record, kind: str) -> bytes:
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path

    sheet = Sheet(COLUMNS)
    em = sheet.font * POINT
    scored = [one for one in document["biases"] if one["intensity"] is not None]
    shown = scored[:MOST]
    names = [
        f"{style.clipped(one['bias'], 36)}: {style.clipped(one['majority'], 20)}" for one in shown
    ]
    left = MARGIN + max((sheet.measure(name, sheet.font) for name in names), default=0) + 0.6 * em
    width = sheet.width - MARGIN - left - 3 * em
    top = y = -MARGIN - 1.8 * em

    def line(x: float, low: float, high: float, across: bool, dashed: bool = False) -> None:
        ends = [(low, x), (high, x)] if across else [(x, low), (x, high)]
        how = (0, (2, 1.2)) if dashed else "solid"
        sheet.add(PathPatch(Path(ends), fill=False, edgecolor=INK, linewidth=0.7, linestyle=how))

    for one, name in zip(shown, names, strict=True):
        middle = y - 0.75 * em
        value, mark = one["intensity"], left + width * one["intensity_uniform_q95"]
        ends = [left + width * one[f"intensity_ci_{end}"] for end in ("low", "high")]
        sheet.text(left - 0.6 * em, middle, name, ha="right")
        bar = (left, middle - 0.45 * em)
        sheet.add(Rectangle(bar, width * value, 0.9 * em, facecolor=COLOUR, linewidth=0))
        line(middle, ends[0], ends[1], across=True)
        line(mark, middle - 0.6 * em, middle + 0.6 * em, across=False, dashed=True)
        sheet.text(left + width + 0.4 * em, middle, f"{value:.2f}", sheet.font - 0.5)
        y -= 1.5 * em
    sheet.text(left, top + 0.9 * em, "Intensity", weight="bold")
    for share in (0, 0.5, 1):
        x = left + share * width
        sheet.text(x, y - 0.8 * em, f"{share:g}", sheet.font - 1, ha="center", color=FAINT)
    more = len(document["biases"]) - len(shown)
    notes = [NOTE] + ([f"{more} more biases are not drawn."] if more else [])
    shell = {"graph": {"toy": document["toy"]}}
    caption = _caption(document)
    bottom = sheet.footer(shell, y - 1.8 * em, *notes, caption=caption)
    number = words.counted(len(document["biases"]), "bias", "biases")
    title = words.plain(f"{number} of {words.name(document['model'], 80)}")
    return sheet.bytes_of(kind, bottom, shell, (title, caption))


def _caption(document: Record) -> str:
    settings, captions = document["settings"], document["captions"]
    return words.plain(
        f"Biases of {style.clipped(document['model'], 80)} (OpenBias), proposed by "
        f"{style.clipped(document['proposed_by'], 120)}. "
        f"Judge: {style.clipped(document['vqa'], 80)}. "
        f"{captions['n_used']:,} captions, {settings['images']:,} images of each."
    )
