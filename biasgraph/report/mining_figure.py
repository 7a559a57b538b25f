"""A search for prompts as a figure, after MineTheGap's fig. 8 and S3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasgraph.report import mining_drawing, style, words
from biasgraph.report.figure_sheet import FAINT, INK, RULE, figure_sheet
from biasgraph.report.mining_words import extreme, meaning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Record = Mapping[str, Any]

HEIGHT = 5.2
"""Inches of both panels, of a figure as wide as two columns."""
LOOKS = {"initial": ("#0072b2", "o"), "random": ("#d55e00", "s"), "mutation": ("#009e73", "^")}
"""The colour and marker of a candidate, by its origin."""
APART, LANE, WIDEST = 0.018, 0.01, 0.8
"""Of the scores' range: points that are nearer stand side by side; how far, of all iterations; and
how much of its iteration's room a row of them takes at most."""


def mining_figure(document: Record, kind: str, columns: int = 2) -> bytes:
    """Two panels: the population over iterations, and the best score so far against random prompts.

    Args:
        document: What mined.json holds.
        kind: "svg" or "png".
        columns: 1 or 2, the width in columns of a page.
    """
    about = f"Prompts mined for {style.clip(document['model'], 80)}"
    with figure_sheet(columns) as sheet:
        above, below = sheet.figure.subplots(2, 1, height_ratios=(3, 2))
        _population(above, document, 4.5 * columns)
        _trajectory(below, document)
        caption = words.plain(f"{about}. {_caption(document)}")
        sheet.set_content(HEIGHT * (columns + 1) / 3, caption, document["toy"])
        return sheet.save(kind, about, caption)


def _caption(document: Record) -> str:
    tried = words.count_noun(len(document["candidates"]), "prompt")
    missing = sum(one["score"] is None for one in document["candidates"])
    unscored = f" {missing:,} without a score are left out." if missing else ""
    return (
        f"Objective: {words.name(document['objective']['name'], 80)}; {meaning(document)}. "
        f"Prompts by {words.name(document['proposed_by'] or 'nobody', 80)}. Above: {tried} by "
        f"iteration; ringed: selected; lines: to their mutations.{unscored} Below: the "
        f"{extreme(document)} first score of so many prompts; random: what it is expected to be of "
        "as many of the search's random prompts, which ends where there are no more."
    )


def _population(axes: Axes, document: Record, size: float) -> None:
    from matplotlib.ticker import MaxNLocator

    _grid(axes, "iteration", "score")
    scored = [one for one in document["candidates"] if one["score"] is not None]
    places = _places(scored)
    lines = [
        (places[one["parent"]], places[one["number"]]) for one in scored if one["parent"] in places
    ]
    for start, end in lines:
        pair = list(zip(start, end, strict=True))
        axes.plot(*pair, color=RULE, linewidth=0.5, zorder=1)
    for origin, (colour, marker) in LOOKS.items():
        own = [places[one["number"]] for one in scored if one["origin"] == origin]
        if own:
            label = mining_drawing.ORIGINS[origin]
            axes.scatter(*_columns(own), s=size, color=colour, marker=marker, label=label, zorder=3)
    chosen = [places[one["number"]] for one in scored if one["selected"]]
    if chosen:
        ring: dict[str, Any] = {"facecolor": "none", "edgecolor": INK, "linewidth": 0.6}
        axes.scatter(*_columns(chosen), s=3 * size, label="selected", zorder=2, **ring)
    best = [one for one in document["iterations"] if one["best_score"] is not None]
    if best:
        steps = [one["iteration"] for one in best], [one["best_score"] for one in best]
        look: dict[str, Any] = {"color": FAINT, "linestyle": "--", "linewidth": 0.9}
        axes.step(*steps, where="post", label=f"{extreme(document)} so far", zorder=2, **look)
    if scored:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.figure.legend(
            *axes.get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize="small"
        )


def _trajectory(axes: Axes, document: Record) -> None:
    _grid(axes, "prompts scored", f"{extreme(document)} score so far")
    for curve, label, colour, dash in (
        (mining_drawing.best_so_far(document), "mining", "#0072b2", "-"),
        (mining_drawing.expected_best(document), "random prompts", "#d55e00", "--"),
    ):
        if curve:
            counts = range(1, len(curve) + 1)
            axes.step(counts, curve, where="post", color=colour, linestyle=dash, label=label)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(fontsize="small")


def _grid(axes: Axes, x: str, y: str) -> None:
    axes.grid(visible=True, axis="y", color=RULE, linewidth=0.4)
    axes.set(xlabel=x, ylabel=y)


def _places(scored: Sequence[Record]) -> dict[int, tuple[float, float]]:
    """Where candidates stand: those of like scores side by side around their iteration."""
    scores = [one["score"] for one in scored]
    apart = APART * (max(scores) - min(scores)) if scores else 0.0
    last = max((one["iteration"] for one in scored), default=0)
    places = {}
    for iteration in sorted({one["iteration"] for one in scored}):
        own = [one for one in scored if one["iteration"] == iteration]
        lanes = mining_drawing.spread([one["score"] for one in own], apart)
        step = min(LANE * last, WIDEST / 2 / max(1, *map(abs, lanes)))
        for one, lane in zip(own, lanes, strict=True):
            places[one["number"]] = (iteration + step * lane, one["score"])
    return places


def _columns(places: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
    return [x for x, _ in places], [y for _, y in places]
