"""The words of a prompt shaded by their influence as a figure, after GradBias's fig. 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgraph.data.word_influence import WordInfluence, WordScore
from biasgraph.errors import printable
from biasgraph.report import style, words
from biasgraph.report.figure_sheet import FAINT, INK, MARGIN, RULE, FigureSheet, figure_sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE, TITLE, CELL, APART = 1.3, 1.7, 3.9, 0.35
"""Ems: of a line of text, of a row's title, of a cell's height, and between cells."""
HEIGHTS = (0.85, 2.05, 3.15)
"""Ems from a cell's top to the middle of its word, its score and the score's interval."""
PAD = 0.35
"""Ems on both sides of a cell's text."""
MOST_DIGITS = 4
"""Behind the point; smaller scores are written with a power of ten."""
TALLEST = 40.0
"""Inches of rows; a PNG cannot have many more."""
CAPTION = (
    "Numbers: each word's influence, with its 95 % interval; the darker, the larger its share of "
    "that of all ranked words. Bold: the first; dashed: cannot be told from the first; framed "
    "thickly: stands out from chance; grey: not ranked."
)


def words_figure(
    influences: Sequence[WordInfluence],
    kind: str,
    columns: int = 2,
    *,
    origin: str = "",
    toy: str | None = None,
) -> bytes:
    """A row of words for each axis and method; long prompts go on in the next line.

    Rows that there is no room for are left out, and the caption says how many.

    Args:
        influences: Of one prompt.
        kind: "svg" or "png".
        columns: 1 or 2, the width in columns of a page.
        origin: The model, the judge and the images, in sentences.
        toy: What makes it that of a toy, if anything.

    Raises:
        ValueError: they are of no prompt, or of several.
    """
    [prompt] = {influence.prompt for influence in influences}
    about = f"Which words of “{style.clip(prompt, 120)}” carry a bias"
    with figure_sheet(columns) as sheet:
        wide = _measure(sheet)
        room = (sheet.width - 2 * MARGIN) / sheet.em
        rows = [_row(influence, wide, room) for influence in influences]
        shown = [*_fitting(rows, TALLEST / sheet.em)]
        missing = len(rows) - len(shown)
        left_out = f" There was no room for {missing} more." if missing else ""
        caption = " ".join(filter(None, (f"{about}.", origin, CAPTION + left_out)))
        height = sum(row.height for row in shown)
        sheet.set_content(height * sheet.em + MARGIN, caption, toy)
        sheet.figure.set_layout_engine("none")
        total = sheet.figure.get_size_inches()[1]
        below = total - height * sheet.em - MARGIN / 2
        share = height * sheet.em / total
        left = MARGIN / sheet.width
        axes = sheet.figure.add_axes((left, below / total, 1 - 2 * left, share))
        axes.set(xlim=(0, room), ylim=(height, 0))
        axes.set_axis_off()
        top = 0.0
        for row in shown:
            _draw(axes, row, top)
            top += row.height
        return sheet.save(kind, about, caption)


@dataclass(frozen=True)
class _Cell:
    """A word and its place in its row, in ems."""

    word: WordScore
    text: str
    numbers: tuple[str, str]
    x: float
    y: float
    width: float


@dataclass(frozen=True)
class _Row:
    title: tuple[str, ...]
    cells: tuple[_Cell, ...]
    height: float


Measure = Callable[..., float]
"""How many ems wide a text is; "small" may be said beside it."""


def _measure(sheet: FigureSheet) -> Measure:
    def wide(text: str, size: str = "medium") -> float:
        drawn = sheet.figure.text(0, 0, text, fontsize=size, weight="bold")
        found = drawn.get_window_extent().width / sheet.figure.dpi / sheet.em
        drawn.remove()
        return float(found)

    return wide


def _row(influence: WordInfluence, wide: Measure, room: float) -> _Row:
    """The cells of one axis and method, in as many lines as they need."""
    images = words.count_noun(influence.images, "image")
    title = f"{style.clip(influence.axis)}, by {influence.method}, {images}"
    if influence.reason:
        title += f": {words.clip(printable(influence.reason), 200)}"
    elif influence.threshold is not None and not influence.named:
        title += ": no word stands out from chance"
    lines = _wrap_text(title, wide, room)
    largest = max((word.score or 0.0 for word in influence.words), default=0.0)
    top, x, y = LINE * (len(lines) - 1) + TITLE, 0.0, 0.0
    cells: list[_Cell] = []
    for word in influence.words:
        text = style.clip(word.word)
        while wide(text) > room - 2 * PAD:
            text = words.clip(text, len(text) - 1)
        numbers = _numbers(word, largest)
        pad = PAD if word.rank is not None else PAD / 3
        width = max(wide(text), wide(numbers[0]), wide(numbers[1], "small")) + 2 * pad
        if x and x + width > room:
            x, y = 0.0, y + CELL + APART
        cells.append(_Cell(word, text, numbers, x, top + y, width))
        x += width + APART
    return _Row(lines, tuple(cells), top + y + CELL + 2 * APART)


def _wrap_text(text: str, wide: Measure, room: float) -> tuple[str, ...]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and wide(longer) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    return tuple(lines)


def _numbers(word: WordScore, largest: float) -> tuple[str, str]:
    """A score and its interval, to as many digits as the row's largest score needs for two."""
    if word.score is None:
        return "", ""
    digits = 1 - math.floor(math.log10(largest)) if largest > 0 else 2
    form = f".{max(digits, 0)}f" if digits <= MOST_DIGITS else ".1e"
    interval = "" if word.low is None else f"{word.low:{form}} to {word.high:{form}}"
    return f"{word.score:{form}}", interval


def _fitting(rows: Sequence[_Row], room: float) -> Iterator[_Row]:
    """The first rows, as far as they fit; at least one."""
    for place, row in enumerate(rows):
        room -= row.height
        if room < 0 and place:
            return
        yield row


def _draw(axes: Axes, row: _Row, top: float) -> None:
    for number, line in enumerate(row.title):
        axes.text(0, top + LINE * (number + 0.5), line, color=FAINT, va="center")
    for cell in row.cells:
        _draw_cell(axes, cell, top)


def _draw_cell(axes: Axes, cell: _Cell, top: float) -> None:
    from matplotlib.patches import Rectangle

    word, y, middle = cell.word, top + cell.y, cell.x + cell.width / 2
    if word.rank is None:
        axes.text(middle, y + HEIGHTS[0], cell.text, ha="center", va="center", color=FAINT)
        return
    frame: dict[str, Any] = {
        "facecolor": style.blend("#ffffff", style.FAR, word.share or 0.0),
        "edgecolor": INK if word.tied or word.stands_out else RULE,
        "linewidth": 1.4 if word.stands_out else 0.6,
        "linestyle": "--" if word.tied and word.rank != 1 else "-",
    }
    axes.add_patch(Rectangle((cell.x, y), cell.width, CELL, clip_on=False, **frame))
    looks: tuple[dict[str, Any], ...] = (
        {"weight": "bold" if word.rank == 1 else "normal"}, {}, {"fontsize": "small"},
    )  # fmt: skip
    for text, height, look in zip((cell.text, *cell.numbers), HEIGHTS, looks, strict=True):
        axes.text(middle, y + height, text, ha="center", va="center", color=INK, **look)
