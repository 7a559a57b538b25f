"""Bars and rankings as a figure for a paper, whichever method they are of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgraph.data.findings import Bar
from biasgraph.data.graph_document import Document
from biasgraph.report import style
from biasgraph.report.figure_sheet import FAINT, INK, RULE, FigureSheet, figure_sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#009e73", "#e69f00")
"""Of the panels, in turn."""
ROW, FRAME = 1.5, 4.0
"""Heights of a row and of a panel's scale, in ems."""
TALLEST = 40.0
"""Inches of bars; a PNG cannot have many more."""


@dataclass(frozen=True)
class Panel:
    """Bars on one scale.

    Attributes:
        title: What they measure, in a sentence.
        groups: The bars, under the names of their groups; "" is not written.
    """

    title: str
    groups: Sequence[tuple[str, Sequence[Bar]]]


def bar_figure(
    panels: Sequence[Panel], kind: str, columns: int, title: str, caption: str, toy: str | None
) -> bytes:
    """Panels of bars below each other, with their intervals and what they are compared with.

    Groups that there is no room for are left out, and the caption says how many.

    Args:
        panels: One or two; a value that is undefined is "n/a".
        kind: "svg" or "png".
        columns: 1 or 2, the width in columns of a page.
        title: What the figure is called by those who cannot see it.
        caption: What stands below.
        toy: What makes it that of a toy, if anything.
    """
    with figure_sheet(columns) as sheet:
        fitting, missing = _fitting(panels, TALLEST / sheet.em / ROW)
        if missing:
            caption += f" There was no room for {missing} more."
        titles = [sheet.wrap(panel.title, sheet.font, share=0.75) for panel in fitting]
        heights = [
            FRAME + 1.3 * len(lines) + ROW * len(_rows(panel))
            for panel, lines in zip(fitting, titles, strict=True)
        ]
        if any(bar and bar.low is not None for panel in fitting for _, bar in _rows(panel)):
            caption += " Whiskers: 95 % intervals."
        sheet.set_content(sum(heights) * sheet.em, caption, toy)
        drawn = sheet.figure.subplots(len(panels), squeeze=False, height_ratios=heights)
        for axes, panel, lines, colour in zip(drawn.flat, fitting, titles, COLOURS, strict=False):
            _draw(axes, panel, colour, sheet)
            axes.set_title("\n".join(lines), loc="left")
        return sheet.save(kind, title, caption)


def finding_figures(document: Document, kind: str, columns: int) -> dict[str, bytes]:
    """METHOD.KIND for every method whose findings about axes show bars: these, and its ranking."""
    graph, nodes = document["graph"], document["nodes"]
    methods = dict.fromkeys(name for node in nodes for name in node["findings"])
    figures = {}
    for method in methods:
        findings = ((node["id"], node["findings"].get(method)) for node in nodes)
        shown = [(axis, _first(finding["show"], "bars")) for axis, finding in findings if finding]
        bars = [(axis, part) for axis, part in shown if part]
        if not bars or not method.isidentifier():
            continue
        about = graph["findings"].get(method, {"title": method, "about": "", "show": []})
        groups = [(style.clip(axis), _bars(part)) for axis, part in bars]
        panels = [Panel(bars[0][1]["caption"], groups)]
        if ranking := _first(about["show"], "ranking"):
            panels.append(Panel(ranking["caption"], [("", _bars(ranking))]))
        name = f"{style.clip(about['title'])} about {style.subject(document)}"
        texts = [style.clip(text, 400) for part in about["show"] for text in _words(part)]
        sentences = (f"{name}. {style.origin(document)}", style.clip(about["about"], 400))
        figures[f"{method}.{kind}"] = bar_figure(
            panels, kind, columns, name, " ".join([*sentences, *texts]), graph["toy"]
        )
    return figures


def _words(part: Mapping[str, Any]) -> Iterator[str]:
    """A paragraph, or why a number is undefined."""
    if part["kind"] == "text":
        yield part["text"]
    elif part["kind"] == "number" and part["value"] is None:
        yield f"{part['label']} is undefined: {part['reason']}."


def _first(parts: Sequence[Mapping[str, Any]], kind: str) -> Mapping[str, Any] | None:
    return next((part for part in parts if part["kind"] == kind), None)


def _bars(part: Mapping[str, Any]) -> list[Bar]:
    return [Bar(**item) for item in part["items"]]


def _fitting(panels: Sequence[Panel], room: float) -> tuple[list[Panel], int]:
    """The panels with the groups that fit into so many rows, and how many do not."""
    fitting, missing = [], 0
    for panel in panels:
        kept: list[tuple[str, Sequence[Bar]]] = []
        for group in panel.groups:
            room -= len(group[1]) + bool(group[0])
            if room >= 0 or not kept:
                kept.append(group)
        missing += len(panel.groups) - len(kept)
        fitting.append(Panel(panel.title, kept))
    return fitting, missing


def _rows(panel: Panel) -> list[tuple[str, Bar | None]]:
    """Names of groups, each above its bars."""
    rows: list[tuple[str, Bar | None]] = []
    for group, bars in panel.groups:
        rows += [(group, None)] if group else []
        rows += [(bar.label, bar) for bar in bars]
    return rows


def _draw(axes: Axes, panel: Panel, colour: str, sheet: FigureSheet) -> None:
    rows = _rows(panel)
    bars = [(place, bar) for place, (_, bar) in enumerate(rows) if bar is not None]
    ends = [(bar.value, bar.low, bar.high, bar.reference) for _, bar in bars]
    known = [end for of_bar in ends for end in of_bar if end is not None]
    least, most = min(0.0, *known, 0.0), _round_up(max(known, default=1.0))
    axes.set_xlim(least, most)
    axes.set_xticks([least, most / 2, most] if least == 0 else [least, 0, most])
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.xaxis.grid(visible=True, color=RULE, linewidth=0.4)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    letters = sheet.letters * (1 if any(bar is None for _, bar in rows) else 2)
    axes.set_yticks(range(len(rows)), [style.clip(name, letters) for name, _ in rows])
    axes.tick_params(axis="y", length=0)
    for (_, bar), label in zip(rows, axes.get_yticklabels(), strict=True):
        label.set_fontweight("normal" if bar else "bold")
    for place, bar in bars:
        number = "n/a" if bar.value is None else _number(bar.value, most)
        axes.annotate(
            number, (1, place), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", color=INK if bar.value is not None else FAINT,
        )  # fmt: skip
        if bar.value is None:
            continue
        axes.barh(place, bar.value, 0.65, color=colour, linewidth=0)
        if bar.low is not None and bar.high is not None:
            around = [[max(bar.value - bar.low, 0.0)], [max(bar.high - bar.value, 0.0)]]
            axes.errorbar(bar.value, place, xerr=around, ecolor=INK, elinewidth=0.7, capsize=1.5)
        if bar.reference is not None:
            axes.vlines(bar.reference, place - 0.4, place + 0.4, INK, (0, (2, 1.2)), linewidth=0.8)


def _round_up(largest: float) -> float:
    """The end of a scale: 1 for shares, and where bars would be too short to see, less."""
    if 0.25 < largest <= 1:
        return 1.0
    step = 100 if largest < 1 else 10
    return max(math.ceil(step * largest - 1e-9), 1) / step


def _number(value: float, most: float) -> str:
    if most >= 1:
        return f"{value:.2f}"
    return "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"
