"""How stable a graph is as a figure, after BiasConnect's fig. 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasgraph.report import style
from biasgraph.report.figure_sheet import FAINT, RULE, figure_sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Record = Mapping[str, Any]

HEIGHT = 4.6
"""Inches of the four panels."""
APART = 0.008
"""Of the largest x, between the whiskers of two kinds."""
LOOKS = {
    "nested": ("a part and the whole run", "#e69f00", "o", "--"),
    "independent": ("two audits without a shared image", "#0072b2", "s", "-"),
    "fresh": ("the run's images and new ones", "#009e73", "^", "-"),
    "another": ("another attribute", "#d55e00", "o", "-"),
    "unknown": ("unknown", "#5f5f5f", "s", "--"),
}
"""Of each kind of audit or error: what it is, and the colour, marker and dash of its line."""
CAPTION = (
    "Left: edges that only one of two audits has; right: sum of |dIS| over the sum of |IS|, and "
    "the slope of IS on the run's. Points: means over {draws} draws; whiskers: their middle 95 %."
)


def robustness_figure(document: Record, kind: str, columns: int = 2) -> bytes:
    """Four panels: fewer images above, more wrong answers below.

    Args:
        document: What robustness.json holds.
        kind: "svg" or "png".
        columns: 1 or 2, the width in columns of a page.
    """
    graph = document["graph"]
    about = f"Robustness of the graph of {style.subject(document)}"
    caption = f"{about}. {style.origin(document)} {CAPTION.format(draws=document['draws'])}"
    with figure_sheet(columns) as sheet:
        (edges, change), (errors, slope) = sheet.figure.subplots(2, 2)
        for axes, field, label in (
            (edges, "changed", "edges that differ"), (change, "is_change", "change of IS"),
        ):  # fmt: skip
            _lines(axes, document["images"], "images", field, ("nested", "independent", "fresh"))
            axes.set(xlabel="images of each prompt", ylabel=label)
        for axes, field, label in (
            (errors, "changed", "edges that differ"), (slope, "slope", "slope of IS"),
        ):  # fmt: skip
            _lines(axes, document["errors"], "rate", field, ("another", "unknown"))
            axes.xaxis.set_major_formatter("{x:.0%}")
            axes.set(xlabel="answers that go wrong", ylabel=label)
        _draw_expected(slope, document["errors"])
        for axes in (edges, change, errors):
            axes.set_ylim(bottom=0)
        for axes in (change, slope):
            if axes.get_legend_handles_labels()[1]:
                axes.legend(fontsize="small")
        sheet.set_content(HEIGHT * columns / 2, caption, graph["toy"])
        return sheet.save(kind, about, caption)


def _lines(axes: Axes, rows: Sequence[Record], x: str, field: str, kinds: Sequence[str]) -> None:
    axes.grid(visible=True, axis="y", color=RULE, linewidth=0.4)
    axes.set_xticks(sorted({row[x] for row in rows}))
    apart = APART * max((row[x] for row in rows), default=0)
    for place, kind in enumerate(kinds):
        shown = [row for row in rows if row["kind"] == kind and row[field]["mean"] is not None]
        if not shown:
            continue
        label, colour, marker, dash = LOOKS[kind]
        means = [row[field]["mean"] for row in shown]
        around = [[_reach(row[field], end) for row in shown] for end in ("low", "high")]
        axes.errorbar(
            [row[x] + apart * place for row in shown], means, yerr=around,
            label=label, color=colour, marker=marker, markersize=3, linestyle=dash, linewidth=1,
            elinewidth=0.6, capsize=1.5,
        )  # fmt: skip


def _reach(spread: Record, end: str) -> float:
    """From a mean to an end of its middle 95 %; a mean of skewed draws may lie beyond it."""
    if spread[end] is None:
        return 0.0
    distance = spread["high"] - spread["mean"] if end == "high" else spread["mean"] - spread["low"]
    return max(float(distance), 0.0)


def _draw_expected(axes: Axes, errors: Sequence[Record]) -> None:
    """What errors to another attribute are expected to leave of IS."""
    rows = [row for row in errors if row["kind"] == "another"]
    known = [row for row in rows if row["slope_expected"] is not None]
    if known:
        points = [row["rate"] for row in known], [row["slope_expected"] for row in known]
        axes.plot(*points, color=FAINT, linestyle=":", linewidth=1, label="expected")
