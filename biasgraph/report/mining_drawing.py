"""The search of `mine` as numbers to draw: its population, and its best score so far.

Pages draw them as SVG that needs no script; the figure takes the same values and places.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from biasgraph.report import words
from biasgraph.report.scales import BOTTOM, LEFT, RIGHT, Frame, Scale, Tick, label, ticks

Record = Mapping[str, Any]
Place = tuple[float, float]

ORIGINS = {
    "initial": "initial prompt",
    "random": "random prompt",
    "mutation": "mutation of a selected one",
}
"""What a candidate's origin is called, in the order of a legend."""
TOP = 14.0
"""Units above what is drawn."""
WIDTH, HEIGHT, COLUMN = 1200.0, 420.0, 40.0
"""Units: at least, of the drawing, and of an iteration."""
UNSCORED = 30.0
"""Units below the scale, where candidates without a score stand."""
APART, LANE = 11.0, 9.0
"""Units: points of a column that are nearer get different lanes, which are so far apart."""
WORDS = 420.0
"""Units: the width of a point's words."""
LONGEST = 100
"""Letters of a prompt in a point's words; the table has all."""


@dataclass(frozen=True)
class Point:
    """A candidate.

    Attributes:
        number: Its own.
        at: Where it stands.
        origin: As in `ORIGINS`.
        selected: Whether it got mutations in the next iteration.
        parent: Where its parent stands, if it is drawn.
        prompt: What it asks for.
        about: Its score, origin and parent, in words.
        words_at: Where its words begin, `WORDS` wide, so that they stand below it.
    """

    number: int
    at: Place
    origin: str
    selected: bool
    parent: Place | None
    prompt: str
    about: str
    words_at: float


@dataclass(frozen=True)
class Chart(Frame):
    """The search, drawn."""

    lines: Mapping[str, Sequence[Place]] = field(default_factory=dict)
    points: Sequence[Point] = ()

    def path(self, line: str) -> str:
        """A line as SVG has it; each value holds until the next one."""
        (x, y), *others = self.lines[line]
        return f"M{x:.1f} {y:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in others)


def population(document: Record) -> Chart | None:
    """Every candidate by its iteration and score; None where none has a score.

    Args:
        document: What mined.json holds.
    """
    candidates = document["candidates"]
    scores = [one["score"] for one in candidates if one["score"] is not None]
    if not scores:
        return None
    last = max(one["iteration"] for one in candidates)
    width = max(WIDTH, LEFT + RIGHT + COLUMN * last)
    column = (width - LEFT - RIGHT) / last
    below = UNSCORED if len(scores) < len(candidates) else 0.0
    floor = HEIGHT - BOTTOM - below
    marks = ticks(min(scores), max(scores))
    scale = Scale((marks[0], marks[-1]), (floor - TOP / 2, TOP))
    middles = {number: LEFT + column * (number - 0.5) for number in range(1, last + 1)}
    heights = {
        one["number"]: floor + below if one["score"] is None else scale(one["score"])
        for one in candidates
    }
    places: dict[int, Place] = {}
    for number, middle in middles.items():
        own = [one for one in candidates if one["iteration"] == number]
        lanes = spread([heights[one["number"]] for one in own], APART)
        step = min(LANE, 0.45 * column / max([1, *map(abs, lanes)]))
        for one, lane in zip(own, lanes, strict=True):
            places[one["number"]] = (round(middle + step * lane, 1), heights[one["number"]])
    every = max(1, math.ceil(last * 22 / (width - LEFT - RIGHT)))
    best = [
        (middles[one["iteration"]], scale(one["best_score"]))
        for one in document["iterations"]
        if one["best_score"] is not None and one["iteration"] in middles
    ]
    undefined = [Tick(floor + below, "no score")] if below else []
    return Chart(
        width,
        HEIGHT,
        [Tick(x, str(number)) for number, x in middles.items() if (number - 1) % every == 0],
        [*label(marks, scale), *undefined],
        {"best": best} if best else {},
        [*_points(document, places, width)],
    )


def _points(document: Record, places: Mapping[int, Place], width: float) -> Iterable[Point]:
    """In the order in which the keyboard reaches them: column by column from the top."""
    candidates = {one["number"]: one for one in document["candidates"]}
    ranks = {one["candidate"]: one["rank"] for one in document["mined"]}
    for number in sorted(places, key=lambda number: (_column(candidates[number]), places[number])):
        one = candidates[number]
        parent = one["parent"]
        x, _ = places[number]
        yield Point(
            number,
            places[number],
            one["origin"] if one["origin"] in ORIGINS else "random",
            bool(one["selected"]),
            places.get(parent) if parent is not None else None,
            words.label(one["prompt"], LONGEST),
            _about(one, candidates.get(parent), ranks.get(number)),
            min(max(x - WORDS / 2, LEFT), width - RIGHT - WORDS),
        )


def _column(one: Record) -> int:
    return int(one["iteration"])


def _about(one: Record, parent: Record | None, rank: int | None) -> str:
    if one["score"] is None:
        said = [f"no score: {words.label(one['reason'] or 'not known why', 120)}"]
    else:
        said = [f"score {one['score']:.3f}"]
    said += [ORIGINS.get(one["origin"], "random prompt"), f"iteration {one['iteration']}"]
    if parent is not None:
        score = "no score" if parent["score"] is None else f"{parent['score']:.3f}"
        said.append(f"from “{words.name(parent['prompt'], LONGEST)}” ({score})")
    if one["selected"]:
        said.append("selected")
    if rank is not None:
        said.append(f"mined, rank {rank}")
    return "; ".join(said)


def trajectory(document: Record) -> Chart | None:
    """The best score by prompts scored, of mining and of random prompts; None without scores.

    Args:
        document: What mined.json holds.
    """
    curves = {"mining": best_so_far(document), "random": expected_best(document)}
    curves = {name: curve for name, curve in curves.items() if curve}
    if "mining" not in curves:
        return None
    values = [value for curve in curves.values() for value in curve]
    marks = ticks(min(values), max(values))
    y = Scale((marks[0], marks[-1]), (HEIGHT - BOTTOM - TOP / 2, TOP))
    most = max(map(len, curves.values()))
    x = Scale((0, most), (LEFT, WIDTH - RIGHT))
    numbers = [number for number in ticks(0, most, 8) if number <= most and number % 1 == 0]
    lines = {
        name: [(x(count), y(value)) for count, value in enumerate(curve, start=1)]
        for name, curve in curves.items()
    }
    shown = [Tick(x(number), f"{number:,.0f}") for number in numbers]
    return Chart(WIDTH, HEIGHT, shown, label(marks, y), lines)


def best_so_far(document: Record) -> list[float]:
    """The worst score for the model among the first k = 1 .. scored candidates, in their order."""
    worse = min if document["objective"]["lower_is_worse"] else max
    best: list[float] = []
    for one in sorted(document["candidates"], key=lambda one: int(one["number"])):
        if one["score"] is not None:
            best.append(worse([one["score"], *best[-1:]]))
    return best


def expected_best(document: Record) -> list[float]:
    """What the best of the first k = 1 .. random prompts is expected to be."""
    values = (document.get("random") or {}).get("expected_best") or []
    return [*itertools.takewhile(lambda value: value is not None, values)]


def spread(places: Sequence[float], apart: float) -> list[int]:
    """Lanes (0, 1, -1, 2 ...) in which no two places are nearer than `apart`.

    Args:
        places: Of points in one column.
        apart: How near two in the same lane may be.

    Returns:
        A lane for each, as near to 0 as there is room.
    """
    lanes = [0] * len(places)
    last: dict[int, float] = {}
    for index in sorted(range(len(places)), key=places.__getitem__):
        lane, turn = 0, 0
        while lane in last and places[index] - last[lane] < apart:
            turn += 1
            lane = (turn + 1) // 2 * (1 if turn % 2 else -1)
        lanes[index], last[lane] = lane, places[index]
    return lanes
