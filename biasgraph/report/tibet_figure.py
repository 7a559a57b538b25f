"""TIBET's scores as a figure: CAS of every counterfactual by axis, and BAV (fig. 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from biasgraph.data.graph_document import Document
from biasgraph.report import style
from biasgraph.report.figure_sheet import FAINT, INK, MARGIN, POINT, Sheet

METHOD = "tibet"
CAS_COLOUR, BAV_COLOUR, MARK = "#009e73", "#e69f00", INK
ROW, GAP = 1.5, 0.8  # heights of a counterfactual and between axes, in ems
NUMBER = 2.6  # width of a number, in ems
BOLD = 1.15  # how much wider bold letters are
TALLEST = 40.0  # inches of bars; a PNG cannot have many more
NOTE = (
    "CAS (concept association score): how alike the images of the prompt and of a counterfactual "
    "are in their concepts; 1: alike, 0: nothing in common. BAV (bias axis variance): the variance "
    "of CAS within an axis. Whiskers: 95 % intervals. Dashed marks: where nothing differs but by "
    "chance, CAS is higher and BAV lower in 95 % of cases."
)


@dataclass(frozen=True)
class _Panel:
    """A scale from 0 to `most`, drawn from `left` over `width` inches."""

    sheet: Sheet
    left: float
    width: float
    most: float
    colour: str

    def bar(
        self,
        middle: float,
        height: float,
        value: float | None,
        interval: Sequence[float] | None,
        mark: float | None,
    ) -> None:
        """One value at a height, with its interval, the mark of chance, and its number."""
        from matplotlib.patches import Rectangle

        beside = self.left + self.width + 0.4 * self.sheet.font * POINT
        if value is None:
            self.sheet.text(beside, middle, "n/a", self.sheet.font - 0.5, color=FAINT)
            return
        bottom = middle - height / 2
        self.sheet.add(
            Rectangle(
                (self.left, bottom), self._long(value), height, facecolor=self.colour, linewidth=0
            )
        )
        if interval is not None:
            low, high = (self.left + self._long(end) for end in interval)
            self._line((low, middle), (high, middle), 0.7)
            for x in (low, high):
                self._line((x, middle - 0.2 * height), (x, middle + 0.2 * height), 0.7)
        if mark is not None:
            x, beyond = self.left + self._long(mark), 0.18 * height
            self._line((x, bottom - beyond), (x, bottom + height + beyond), 0.8, (0, (2, 1.2)))
        self.sheet.text(beside, middle, self._number(value), self.sheet.font - 0.5)

    def frame(self, title: str, top: float, bottom: float) -> None:
        """Its title, and lines at 0, the half and the whole."""
        em = self.sheet.font * POINT
        self.sheet.text(self.left, top + 0.9 * em, title, weight="bold")
        for share in (0, 0.5, 1):
            x = self.left + share * self.width
            self._line((x, top), (x, bottom), 0.4, colour="#bbbbbb", below=True)
            text = f"{share * self.most:.3f}".rstrip("0").rstrip(".")
            self.sheet.text(
                x, bottom - 0.8 * em, text, self.sheet.font - 1, ha="center", color=FAINT
            )

    def _number(self, value: float) -> str:
        if self.most == 1:
            return f"{value:.2f}"
        return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"

    def _long(self, value: float) -> float:
        return self.width * min(max(value / self.most, 0.0), 1.0)

    def _line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        width: float,
        dash: Any = "solid",
        *,
        colour: str = MARK,
        below: bool = False,
    ) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        self.sheet.add(
            PathPatch(
                Path([start, end]), fill=False, edgecolor=colour, linewidth=width, linestyle=dash,
                zorder=0.5 if below else 2,
            )
        )  # fmt: skip


def has_tibet(document: Document) -> bool:
    """Whether the axes of a graph have TIBET's scores."""
    return any(METHOD in node["findings"] for node in document["nodes"])


def tibet_figure(document: Document, kind: str, columns: int) -> bytes:
    """A bar for every counterfactual, grouped by axis, and one for each axis's variance.

    The document `has_tibet`; call it in `drawing`.
    """
    sheet = Sheet(columns)
    nodes, missing = _fitting(document, sheet)
    em = sheet.font * POINT
    axes, labels, left = _labels(sheet, nodes)
    room = sheet.width - MARGIN - left - 2 * (NUMBER + 0.8) * em
    cas = _Panel(sheet, left, 0.64 * room, 1.0, CAS_COLOUR)
    right = left + 0.64 * room + (NUMBER + 0.8) * em
    bav = _Panel(sheet, right, 0.36 * room, _largest(nodes), BAV_COLOUR)
    top = y = -MARGIN - 1.8 * em
    for node, axis, names in zip(nodes, axes, labels, strict=True):
        found = node["findings"][METHOD]
        height = max(len(names), 1) * ROW * em
        middle = y - GAP / 2 * em - height / 2
        sheet.text(MARGIN, middle, axis, weight="bold")
        for place, name in enumerate(names):
            row = middle + height / 2 - (place + 0.5) * ROW * em
            sheet.text(left - 0.6 * em, row, name, ha="right")
            cas.bar(
                row, 0.9 * em, found["cas"][place], found["cas_ci"][place],
                found["cas_null_q05"][place],
            )  # fmt: skip
        ends = (found["bav_ci_low"], found["bav_ci_high"])
        interval = None if None in ends else ends
        bav.bar(middle, 1.3 * em, found["bav"], interval, found["bav_null_q95"])
        y -= height + GAP * em
    cas.frame("CAS", top, y)
    bav.frame("BAV", top, y)
    text = f"CAS and BAV (TIBET) of {_images(document)}. {style.origin(document)}"
    notes = [NOTE, *_vocabulary(document)]
    if missing:
        notes.append(f"There was no room for {missing} more axes.")
    bottom = sheet.footer(document, y - 1.8 * em, *notes, caption=text)
    return sheet.bytes_of(kind, bottom, document)


def _fitting(document: Document, sheet: Sheet) -> tuple[list[Any], int]:
    """The axes with scores that fit on a sheet of the largest height, and how many do not."""
    nodes = [node for node in document["nodes"] if METHOD in node["findings"]]
    kept: list[Any] = []
    room = TALLEST / (sheet.font * POINT)
    for node in nodes:
        room -= max(len(node["attributes"]), 1) * ROW + GAP
        if kept and room < 0:
            break
        kept.append(node)
    return kept, len(nodes) - len(kept)


def _labels(
    sheet: Sheet, nodes: Sequence[style.Record]
) -> tuple[list[str], list[list[str]], float]:
    """The axes' and attributes' names, cut so that bars have room, and where bars begin."""
    em = sheet.font * POINT
    for letters in (sheet.letters, sheet.letters // 2, sheet.letters // 4):
        axes = [style.clipped(node["id"], letters) for node in nodes]
        names = [[style.clipped(name, letters) for name in node["attributes"]] for node in nodes]
        first = BOLD * max(sheet.measure(name, sheet.font) for name in axes) + em
        second = max((sheet.measure(one, sheet.font) for of in names for one in of), default=0)
        left = MARGIN + first + second + 0.6 * em
        if left < 0.55 * sheet.width:
            break
    return axes, names, left


def _largest(nodes: Sequence[style.Record]) -> float:
    """The end of BAV's scale: the largest bar or whisker, rounded up to a hundredth."""
    found = [node["findings"][METHOD] for node in nodes]
    ends = [one[name] or 0.0 for one in found for name in ("bav", "bav_ci_high", "bav_null_q95")]
    return max(math.ceil(100 * max(ends, default=0) - 1e-9), 1) / 100


def _images(document: Document) -> str:
    graph = document["graph"]
    if graph["prompt"] is not None:
        return f"“{style.clipped(graph['prompt'], 120)}”"
    return f"{len(graph['prompts'])} prompts, means over prompts"


def _vocabulary(document: Document) -> list[str]:
    """Where the concepts come from."""
    found = document["graph"]["findings"].get(METHOD, {"show": []})
    return [style.clipped(part["text"], 400) for part in found["show"] if part["kind"] == "text"]
