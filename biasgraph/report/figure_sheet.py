"""A sheet of paper for figures: a matplotlib figure as wide as a journal's columns.

Nothing of matplotlib's global state is used or left changed, and the same drawing gives the same
bytes.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

WIDTHS = {1: 3.5, 2: 7.2}
"""Inches of one and of two columns of a journal's page."""
FONT_SIZES = {1: 6.0, 2: 8.0}
DPI = 300
MARGIN = 0.08
"""Inches."""
POINT = 1 / 72
FONTS = ("Noto Sans CJK SC", "Noto Sans Arabic", "Noto Sans Symbols2", "Noto Emoji", "Unifont")
"""Where installed, they stand in for letters that matplotlib's own font lacks."""
_SILENT = r"Glyph \d+ .*missing from font|Matplotlib currently does not support"
INK, FAINT, RULE = "#222222", "#666666", "#bbbbbb"


@contextmanager
def figure_sheet(columns: int) -> Iterator[FigureSheet]:
    """Where a figure is drawn and saved: our settings, whatever the user's matplotlibrc says.

    Args:
        columns: 1 or 2, the width in columns of a page.
    """
    import matplotlib.style
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    ours: dict[str, Any] = {
        "font.family": ["DejaVu Sans", *(font for font in FONTS if font in installed)],
        "font.size": FONT_SIZES[columns],
        "text.color": INK,
        "text.parse_math": False,  # a dollar sign in a name is a dollar sign
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": RULE,
        "axes.labelcolor": FAINT,
        "axes.labelsize": "medium",
        "axes.titlesize": "medium",
        "xtick.color": FAINT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "legend.frameon": False,
        "legend.fontsize": "medium",
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "biasgraph",
        "hatch.linewidth": 0.4,
        "hatch.color": RULE,
    }
    with warnings.catch_warnings(), matplotlib.style.context(["default", ours]):
        warnings.filterwarnings("ignore", _SILENT)  # a letter no font has is drawn as a box
        yield FigureSheet(columns)


class FigureSheet:
    """A figure of so many columns' width, with words below it.

    Attributes:
        em: The size of the font in inches.
        letters: How many letters of a name there is room for.
        figure: What is drawn on; its layout makes room for names and legends.
    """

    def __init__(self, columns: int) -> None:
        from matplotlib.figure import Figure

        self.width, self.font = WIDTHS[columns], FONT_SIZES[columns]
        self.em = self.font * POINT
        self.letters = 8 + 8 * columns
        self.figure = Figure(figsize=(self.width, self.width), dpi=DPI, layout="constrained")

    def set_content(self, height: float, caption: str, toy: str | None) -> None:
        """Fix the height of what is drawn, in inches, and what stands below it.

        Args:
            height: Of the drawing with its legend.
            caption: What it shows, in sentences.
            toy: The warning that these are results of a toy, if they are.
        """
        size = self.font - 1
        lines = [(line, FAINT) for line in self.wrap(caption, size)]
        lines += [(line, INK) for line in self.wrap(toy, size)] if toy else []
        footer = 1.3 * size * POINT * len(lines) + MARGIN
        total = height + footer
        self.figure.set_size_inches(self.width, total)
        for number, (line, colour) in enumerate(lines):
            y = footer - 1.3 * size * POINT * (number + 0.5)
            self.figure.text(
                MARGIN / self.width, y / total, line,
                fontsize=size, color=colour, va="center", in_layout=False,
            )  # fmt: skip
        edges = (MARGIN / self.width, footer / total)
        self.figure.get_layout_engine().set(  # type: ignore[union-attr, call-arg]
            rect=(*edges, 1 - 2 * edges[0], (height - MARGIN) / total)
        )

    def wrap(self, words: str, size: float, share: float = 1.0) -> list[str]:
        """`words` in lines of at most this share of the sheet's width."""
        drawn = self.figure.text(0, 0, words, fontsize=size)
        wide = drawn.get_window_extent().width / self.figure.dpi
        drawn.remove()
        room = 0.97 * share * (self.width - 2 * MARGIN)
        return textwrap.wrap(words, int(len(words) * room / max(wide, room / 200)))

    def _settle(self) -> None:
        """Lay out several axes once, to a millionth: the solver's last bits differ each time."""
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")
        for axes in self.figure.axes:
            left, bottom, width, height = (round(v, 6) for v in axes.get_position().bounds)
            axes.set_position((left, bottom, width, height))

    def save(self, kind: str, title: str, description: str) -> bytes:
        """The sheet without a date.

        Args:
            kind: "svg" or "png".
            title: What it shows, for those who do not see it.
            description: The same at length.
        """
        about = {"Title": title, "Description": description}
        ours = (
            {"Date": None, "Creator": "biasgraph"} if kind == "svg" else {"Software": "biasgraph"}
        )
        self._settle()
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format=kind, dpi=DPI, metadata=about | ours)
        return buffer.getvalue()
