"""A search by a language model as numbers to draw: shares against perplexity, and words by delta.

The page draws them as SVG that needs no script; the figure takes the same choice of words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgraph.report import search_words, words
from biasgraph.report.scales import BOTTOM, LEFT, RIGHT, Frame, Scale, Tick, label, ticks

Record = Mapping[str, Any]
Place = tuple[float, float]
Ends = tuple[float, float]
Box = tuple[float, float, float, float]
"""Left, right, top and bottom."""

WIDTH, HEIGHT, TOP = 640.0, 380.0, 16.0
"""Units: of shares against perplexity, and above what is drawn."""
UNKNOWN = 90.0
"""Units at the right for cells without a perplexity, as far as others have one."""
MARGIN = 1.15
"""How many times a perplexity the scale reaches beyond all."""
DECADES = 2.5
"""Powers of ten from which on a scale has numbers at these alone."""
LETTER, LINE, ASIDE, MARK = 7.4, 15.0, 10.0, 8.0
"""Units of a letter and a line of a name, about, from a point to its name, and to its edge."""
PERCENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
ROW, NAMES, SAID = 22.0, 140.0, 205.0
"""Units: of a word's row, of its name at the left, and of what is said of it at the right."""
WORDS, LEAST = 8, 2
"""Words at each end of the ranking, of those in so many prompts at least."""


@dataclass(frozen=True)
class CellPoint:
    """The prompts of a cell in the plane of perplexity and share.

    Attributes:
        method: How they were written.
        name: What stands beside the point.
        about: The same at length, with its numbers.
        at: Where it stands.
        across: The ends of its perplexity's interval, if it has one.
        up: The ends of its share's interval, if it has one.
        name_at: Where its name begins, or ends.
        ends: Whether the name ends there.
    """

    method: str
    name: str
    about: str
    at: Place
    across: Ends | None
    up: Ends | None
    name_at: Place
    ends: bool


@dataclass(frozen=True)
class Tradeoff(Frame):
    """Every cell's share of a target against its perplexity.

    Attributes:
        points: The cells that have a share.
        path: Through the language model alone and every lambda, in their order.
        ideal: Where the attribute's ideal share is.
    """

    points: Sequence[CellPoint]
    path: Sequence[Place]
    ideal: float | None


@dataclass(frozen=True)
class _Across:
    """The scale of perplexities, by powers, and a column for cells that have none."""

    low: float
    high: float
    end: float
    column: float | None

    @classmethod
    def of(cls, perplexities: Sequence[Record]) -> _Across:
        values = [
            max(one[end], 1.0)
            for one in perplexities
            for end in ("mean", "low", "high")
            if one["mean"] is not None and one[end] is not None
        ]
        if not values:
            return cls(1.0, 1.0, LEFT, (LEFT + WIDTH - RIGHT) / 2)
        without = any(one["mean"] is None for one in perplexities)
        end = WIDTH - RIGHT - (UNKNOWN if without else 0.0)
        column = end + UNKNOWN / 2 if without else None
        return cls(min(values) / MARGIN, max(values) * MARGIN, end, column)

    def __call__(self, value: float | None) -> float:
        """Where a perplexity stands, or what has none."""
        if value is None and self.column is not None:
            return self.column
        powers = math.log10(self.low), math.log10(self.high)
        return Scale(powers, (LEFT, self.end))(math.log10(max(value or 1.0, self.low)))

    def ticks(self) -> list[Tick]:
        """Perplexities, and the column of cells that have none."""
        unknown = [] if self.column is None else [Tick(self.column, "unknown")]
        marks = marks_by_powers(self.low, self.high) if self.end > LEFT else []
        return [*(Tick(self(mark), f"{mark:,g}") for mark in marks), *unknown]


def marks_by_powers(low: float, high: float) -> list[float]:
    """Powers of ten, on a short scale their double and fivefold, on a shorter one round numbers."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if math.log10(high / low) < DECADES else (1,)
    marks = [step * 10.0**power for power in powers for step in steps]
    shown = [mark for mark in marks if low <= mark <= high]
    if len(shown) > 2 or high / low >= 10:
        return shown
    return [one for one in ticks(low, high) if low <= one <= high]


def tradeoff(document: Record, axis: str) -> Tradeoff | None:
    """Every cell by its perplexity and its share of the target of an axis; None without a share.

    Args:
        document: What found.json holds.
        axis: Of one of its targets.
    """
    cells = [(one, search_words.of_axis(one["shares"], axis)) for one in document["cells"]]
    shown = [(one, share) for one, share in cells if share and share["mean"] is not None]
    if not shown:
        return None
    across = _Across.of([one["perplexity"] for one, _ in shown])
    up = Scale((0.0, 1.0), (HEIGHT - BOTTOM, TOP))
    places = {
        one["cell"]: (across(one["perplexity"]["mean"]), up(share["mean"])) for one, share in shown
    }
    ideals = [share["ideal"] for _, share in shown if share["ideal"] is not None]
    line = search_words.weighted_cells([one for one, _ in shown])
    return Tradeoff(
        WIDTH,
        HEIGHT,
        across.ticks(),
        [Tick(up(share), words.percent(share)) for share in PERCENTS],
        [*_points(shown, places, across, up)],
        [places[one["cell"]] for one in line],
        up(ideals[0]) if ideals else None,
    )


def _points(
    shown: Sequence[tuple[Record, Record]], places: Mapping[int, Place], across: _Across, up: Scale
) -> Iterator[CellPoint]:
    names = {cell["cell"]: search_words.short_name(cell) for cell, _ in shown}
    widths = {cell["cell"]: _ends(cell["perplexity"], across) for cell, _ in shown}
    heights = {cell["cell"]: _ends(share, up) for cell, share in shown}
    beside = _names_at(names, places, widths, heights)
    for cell, share in shown:
        number = cell["cell"]
        yield CellPoint(
            cell["method"],
            names[number],
            f"{search_words.cell_name(cell)}: {search_words.percent_words(share)} "
            f"{words.name(share['attribute'])}, perplexity {search_words.of_perplexity(cell)}",
            places[number],
            widths[number],
            heights[number],
            beside[number],
            beside[number][0] < places[number][0],
        )


def _ends(known: Record, scale: Callable[[float], float]) -> Ends | None:
    """Where an interval begins and ends; None where there is none."""
    if None in (known["mean"], known["low"], known["high"]):
        return None
    return scale(known["low"]), scale(known["high"])


def _names_at(
    names: Mapping[int, str],
    places: Mapping[int, Place],
    widths: Mapping[int, Ends | None],
    heights: Mapping[int, Ends | None],
) -> dict[int, Place]:
    """Where each name stands: beside its point, off others and names as far as there is room."""
    found: dict[int, Place] = {}
    taken: dict[int, list[Box]] = {}
    for cell, (x, y) in places.items():
        taken[cell] = [_box(x - MARK, x + MARK, y, MARK)]
        taken[cell] += [_box(*ends, y, 1.0) for ends in [widths[cell]] if ends]
        taken[cell] += [(x - 1.0, x + 1.0, ends[1], ends[0]) for ends in [heights[cell]] if ends]
    named: list[Box] = []
    for cell in sorted(names, key=lambda cell: places[cell][1]):
        x, y = places[cell]
        wide = LETTER * len(names[cell])
        boxes: dict[tuple[int, int], Box] = {}
        for side, below in ((1, -1), (-1, -1), (1, 1), (-1, 1)):
            left, right = sorted((x + side * ASIDE, x + side * (ASIDE + wide)))
            boxes[side, below] = _box(left, right, y + below * ASIDE, LINE / 2)
        others = [*named, *(box for other in taken if other != cell for box in taken[other])]
        spot = min(boxes, key=lambda spot: _hits(boxes[spot], others))
        named.append(boxes[spot])
        found[cell] = (round(x + spot[0] * ASIDE, 1), round(y + spot[1] * ASIDE + LINE / 3, 1))
    return found


def _box(left: float, right: float, middle: float, half: float) -> Box:
    return left, right, middle - half, middle + half


def _hits(box: Box, others: Sequence[Box]) -> int:
    """How many boxes one overlaps; leaving the drawing is worse than any."""
    left, right, top, bottom = box
    outside = left < LEFT or right > WIDTH or top < 0 or bottom > HEIGHT - BOTTOM
    return len(others) * outside + sum(
        left < other[1] and other[0] < right and top < other[3] and other[2] < bottom
        for other in others
    )


@dataclass(frozen=True)
class WordBar:
    """A word of a cell's prompts.

    Attributes:
        kind: What became of it.
        at: The end of its bar, and where its row is.
        said: What stands behind it.
    """

    kind: str
    at: Place
    said: str


@dataclass(frozen=True)
class WordBars(Frame):
    """Words by delta, the largest first.

    Attributes:
        bars: In this order, `y` has their names.
        zero: Where delta is 0.
        said_at: Where what is said of them begins.
    """

    bars: Sequence[WordBar]
    zero: float
    said_at: float

    @property
    def left(self) -> float:
        """Where the vertical axis stands."""
        return NAMES

    @property
    def right(self) -> float:
        """Where the drawing ends."""
        return self.width - SAID


def word_bars(rows: Sequence[Record]) -> WordBars | None:
    """Those with the largest delta and the smallest; None where no word has one.

    Args:
        rows: The words of a cell and axis, as found.json has them.
    """
    ranked = ranked_words(rows)
    if not ranked:
        return None
    deltas = [one["delta"] for one in ranked]
    marks = ticks(min(0.0, *deltas), max(0.0, *deltas))
    height = TOP + ROW * len(ranked) + BOTTOM
    across = Scale((marks[0], marks[-1]), (NAMES, WIDTH - SAID))
    middles = [TOP + ROW * (place + 0.5) for place in range(len(ranked))]
    bars = [
        WordBar(one["kind"], (across(one["delta"]), middle), describe_word(one))
        for one, middle in zip(ranked, middles, strict=True)
    ]
    names = [Tick(y, words.label(one["word"], 18)) for one, y in zip(ranked, middles, strict=True)]
    zero = across(0.0)
    return WordBars(WIDTH, height, label(marks, across), names, bars, zero, WIDTH - SAID + ASIDE)


def describe_word(word: Record) -> str:
    """A word's delta, its kind, and how many of the prompts have it."""
    of = word["n_with"] + word["n_without"]
    return f"{word['delta']:+.2f} {word['kind']}, {word['n_with']:,} of {of:,}"


def ranked_words(rows: Sequence[Record]) -> list[Record]:
    """The words with the largest delta and those with the smallest, the largest first.

    Of words in at least two prompts; of all, where there are none.
    """
    known = [one for one in rows if one["delta"] is not None]
    often = [one for one in known if one["n_with"] >= LEAST] or known
    own = sorted(often, key=lambda one: (-one["delta"], one["word"]))
    return own if len(own) <= 2 * WORDS else [*own[:WORDS], *own[-WORDS:]]
