"""A sheet of paper for figures: matplotlib with inches as its coordinates.

Nothing of matplotlib's global state is used or left changed, and the same drawing gives the same
bytes. x grows to the right from 0; y is 0 at the top and falls, so that a figure can grow
downwards until `bytes_of` cuts it where its content ends.
"""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from biasgraph.data.graph_document import Document
from biasgraph.report import style

if TYPE_CHECKING:
    from matplotlib.patches import Patch

WIDTHS = {1: 3.5, 2: 7.2}
"""Inches of one and of two columns of a journal's page."""
FONT_SIZES = {1: 6.0, 2: 8.0}
DPI = 300
MARGIN = 0.08
POINT = 1 / 72
FONTS = ("Noto Sans CJK SC", "Noto Sans Arabic", "Noto Sans Symbols2", "Noto Emoji", "Unifont")
"""Where installed, they stand in for letters that matplotlib's own font lacks."""
_SILENT = r"Glyph \d+ .*missing from font|Matplotlib currently does not support"
INK, FAINT = "#222222", "#666666"


@contextmanager
def drawing() -> Iterator[None]:
    """Where sheets are made and saved: our settings, whatever the user's matplotlibrc says."""
    import matplotlib.style
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    ours: dict[str, Any] = {
        "font.family": ["DejaVu Sans", *(font for font in FONTS if font in installed)],
        "text.parse_math": False,  # a dollar sign in a name is a dollar sign
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "biasgraph",
        "hatch.linewidth": 0.4,
    }
    with warnings.catch_warnings(), matplotlib.style.context(["default", ours]):
        warnings.filterwarnings("ignore", _SILENT)  # a letter no font has is drawn as a box
        yield


class Sheet:
    """A figure of so many columns' width."""

    def __init__(self, columns: int) -> None:
        from matplotlib.figure import Figure

        self.width, self.font = WIDTHS[columns], FONT_SIZES[columns]
        self.letters = 8 + 8 * columns  # of an axis's name
        self.figure = Figure(figsize=(self.width, self.width), dpi=DPI)
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()

    def measure(self, text: str, size: float) -> float:
        """The inches that `text` is wide."""
        drawn = self.figure.text(0, 0, text, fontsize=size)
        width = drawn.get_window_extent().width / self.figure.dpi
        drawn.remove()
        return float(width)

    def text(self, x: float, y: float, text: str, size: float | None = None, **how: Any) -> None:
        """Text at a place; in the middle of its height unless `how` says otherwise."""
        how = {"va": "center", "color": INK, **how}
        self.axes.text(x, y, text, fontsize=size or self.font, **how)

    def add(self, patch: Patch) -> None:
        """A shape, in inches."""
        self.axes.add_patch(patch)

    def footer(
        self, document: Document, top: float, *notes: str, caption: str | None = None
    ) -> float:
        """The caption, the graph's or another, with `notes` behind it; returns its bottom.

        Of a toy, the warning stands below.
        """
        size = self.font - 1
        y = top
        toy = document["graph"]["toy"]
        text = " ".join([caption or style.caption(document), *notes])
        for words, colour in ((text, FAINT), (toy, INK)):
            for line in self._wrapped(words, size) if words else ():
                y -= 1.3 * size * POINT
                self.text(MARGIN, y, line, size, color=colour)
            y -= 0.3 * size * POINT
        return y

    def _wrapped(self, words: str, size: float) -> list[str]:
        letters = len(words) * (self.width - 2 * MARGIN) / self.measure(words, size)
        return textwrap.wrap(words, int(0.97 * letters))

    def bytes_of(
        self, kind: str, bottom: float, document: Document, words: tuple[str, str] | None = None
    ) -> bytes:
        """The sheet down to `bottom` as "svg" or "png", without a date.

        words: its title and description for those who do not see it; the graph's where none are
        given.
        """
        height = MARGIN - bottom
        self.figure.set_size_inches(self.width, height)
        self.axes.set_xlim(0, self.width)
        self.axes.set_ylim(-height, 0)
        title, description = words or (style.title(document), style.caption(document))
        about = {"Title": title, "Description": description}
        ours = (
            {"Date": None, "Creator": "biasgraph"} if kind == "svg" else {"Software": "biasgraph"}
        )
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format=kind, dpi=DPI, metadata=about | ours)
        return buffer.getvalue()
