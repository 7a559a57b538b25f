"""A search for prompts as a figure: shares against perplexity, and words, after BGPS's fig. 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasgraph.report import search_drawing, search_words, style, words
from biasgraph.report.figure_sheet import FAINT, INK, RULE, figure_sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Record = Mapping[str, Any]
Place = tuple[float, float]

HEIGHT, LEGEND = 2.9, 0.35
"""Inches: of a row of panels, and of the legend above them."""
LOOKS = {
    "lm": (INK, "D"),
    "search": ("#0072b2", "o"),
    "lm-biased": ("#d55e00", "s"),
    "pez": ("#7a2a67", "^"),
    "curated": ("#009e73", "v"),
}
"""The colour and marker of a cell, by its method."""
KINDS = {"injected": "#0072b2", "augmented": "#009e73", "unchanged": RULE, "dampened": "#d55e00"}
"""The colour of a word, by what became of it; a deleted word has no delta."""
LEAST_ROWS = 8
"""Of words, for which there is room even where there are fewer."""
UNKNOWN = 2.0
"""How many times the largest perplexity cells stand at that have none."""


def search_figure(document: Record, kind: str) -> bytes:
    """For each target two panels: shares against perplexity, and the words of the largest lambda.

    Args:
        document: What found.json holds.
        kind: "svg" or "png".
    """
    about = words.plain(search_words.title(document))
    targets = document["targets"]
    with figure_sheet(2) as sheet:
        rows = sheet.figure.subplots(len(targets), 2, squeeze=False, width_ratios=(3, 2))
        for (left, right), target in zip(rows, targets, strict=True):
            _plane(left, document, target)
            _words(right, document, target)
        _legend(rows[0][0])
        caption = words.plain(f"{style.clip(about, 200)}. {_caption(document)}")
        sheet.set_content(HEIGHT * len(targets) + LEGEND, caption, document["toy"])
        return sheet.save(kind, about, caption)


def _caption(document: Record) -> str:
    without = [
        search_words.cell_name(one)
        for one in document["cells"]
        if one["perplexity"]["mean"] is None
    ]
    unknown = f" Hollow: perplexity unknown ({', '.join(without)})." * bool(without)
    searched = search_words.found_cells(document)
    largest = f" of {search_words.weight_words(searched[-1])}" if searched else ""
    return (
        f"Prompts by {words.name(document['lm'], 80)}. Left: mean share over prompts of the "
        "attribute among their images, against the geometric mean of perplexity; bars: 95 % "
        "intervals; dashed: the ideal; line: from the language model alone over every "
        f"λ.{unknown} Right: words of the prompts{largest} by delta, the mean share of the "
        "prompts with the word less that of those without; behind each, how many prompts have it."
    )


def _plane(axes: Axes, document: Record, target: Record) -> None:
    attribute = style.clip(target["attribute"], 30)
    axes.grid(visible=True, axis="y", color=RULE, linewidth=0.4)
    axes.set(xlabel="perplexity", ylabel=f"share of {attribute}", ylim=(0, 1), xscale="log")
    shown = [
        (cell, share)
        for cell in document["cells"]
        if (share := search_words.of_axis(cell["shares"], target["axis"])) is not None
        and share["mean"] is not None
    ]
    known = [one["perplexity"]["mean"] for one, _ in shown if one["perplexity"]["mean"] is not None]
    beyond = UNKNOWN * max(known, default=1.0)
    places = {
        one["cell"]: (one["perplexity"]["mean"] or beyond, share["mean"]) for one, share in shown
    }
    line = search_words.weighted_cells([one for one, _ in shown])
    axes.plot(*_columns([places[one["cell"]] for one in line]), color=RULE, linewidth=0.9, zorder=1)
    for cell, share in shown:
        _point(axes, cell, share, places[cell["cell"]])
    for share in [share for _, share in shown if share["ideal"] is not None][:1]:
        axes.axhline(share["ideal"], color=FAINT, linewidth=0.8, linestyle="--", zorder=1)
    marks = search_drawing.marks_by_powers(*axes.get_xlim()) if known else []
    ticks = {mark: f"{mark:,g}" for mark in marks}
    if len(known) < len(shown):
        ticks = {mark: name for mark, name in ticks.items() if mark < beyond / UNKNOWN**0.5}
        ticks[beyond] = "unknown"
    axes.set_xticks([*ticks], [*ticks.values()])
    axes.set_xticks([], minor=True)


def _point(axes: Axes, cell: Record, share: Record, place: Place) -> None:
    colour, marker = LOOKS.get(cell["method"], (INK, "x"))
    perplexity = cell["perplexity"]
    axes.errorbar(
        [place[0]],
        [place[1]],
        xerr=_ends(perplexity),
        yerr=_ends(share),
        color=colour,
        marker=marker,
        markerfacecolor="none" if perplexity["mean"] is None else colour,
        markersize=4,
        elinewidth=0.7,
        label=search_words.METHODS.get(cell["method"], "others"),
        linestyle="none",
        zorder=3,
    )
    if cell["method"] == "search":
        name = search_words.weight_words(cell)
        ground = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.4}
        drawn = axes.annotate(
            name, place, xytext=(4, 4), textcoords="offset points", fontsize="small", bbox=ground
        )
        drawn.set_zorder(4)


def _ends(known: Record) -> list[list[float]] | None:
    """An interval as matplotlib wants it: how far it reaches to both sides."""
    if None in (known["mean"], known["low"], known["high"]):
        return None
    return [[known["mean"] - known["low"]], [known["high"] - known["mean"]]]


def _columns(places: Sequence[Place]) -> tuple[list[float], list[float]]:
    return [x for x, _ in places], [y for _, y in places]


def _words(axes: Axes, document: Record, target: Record) -> None:
    searched = search_words.found_cells(document)
    rows = search_words.words_of(document, searched[-1], target["axis"]) if searched else []
    ranked = search_drawing.ranked_words(rows)
    axes.set(xlabel="delta")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.axvline(0, color=FAINT, linewidth=0.7)
    names = [f"{style.clip(one['word'], 18)} ({one['n_with']:,})" for one in ranked]
    axes.set_yticks(range(len(ranked)), names)
    axes.set_ylim(max(len(ranked), LEAST_ROWS) - 0.5, -0.5)
    for kind, colour in KINDS.items():
        own = [(place, one["delta"]) for place, one in enumerate(ranked) if one["kind"] == kind]
        if own:
            axes.barh(*_columns(own), height=0.6, color=colour, label=kind)
    if ranked:
        axes.legend(fontsize="small", loc="lower right")
    else:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no word has a delta", ha="center", transform=axes.transAxes)


def _legend(axes: Axes) -> None:
    """One entry for each method."""
    handles, labels = axes.get_legend_handles_labels()
    own = dict(zip(labels, handles, strict=True))
    if own:
        axes.figure.legend(
            [*own.values()], [*own], loc="outside upper center", ncols=5, fontsize="small"
        )
