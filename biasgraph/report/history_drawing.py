"""The history of a prompt as drawings: distances and shares over dates, a line for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from biasgraph.data.origin import NO_MODEL
from biasgraph.report.scales import Scale, Tick, label, ticks

Record = Mapping[str, Any]

WIDTH, HEIGHT = 360.0, 176.0
LEFT, RIGHT, TOP, BOTTOM = 42.0, 16.0, 10.0, 150.0
"""Units: of a drawing, and where what it draws begins and ends."""
DATES = 3
"""Dates at a horizontal axis."""
DAY = 86_400.0
APART = 4.0
"""Units between points of two models of the same date."""
MARKS = (
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
    "m-3.2-3.2h6.4v6.4h-6.4z",
    "m0-4.4l4.2 7.4h-8.4z",
    "m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",
    "m0 4.4l4.2-7.4h-8.4z",
    "m-4-1.3h2.7v-2.7h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7z",
)
"""Shapes of the points, a model's each: circle, square, triangle, diamond, triangle, cross."""


@dataclass(frozen=True)
class Trend:
    """A model's line.

    Attributes:
        look: The place of its colour, dash and shape; as in `MARKS`.
        line: SVG path from point to point; empty with one point, or no record of the model.
        whiskers: SVG path of the intervals.
        marks: SVG path of the points.
    """

    look: int
    line: str
    whiskers: str
    marks: str


@dataclass(frozen=True)
class Chart:
    """Values over dates.

    Attributes:
        name: What it shows, for those who cannot see it.
        x: Dates.
        y: Values.
        goal: Where the ideal stands; None where it is the lower end.
        trends: A line for each model.
    """

    name: str
    x: Sequence[Tick]
    y: Sequence[Tick]
    goal: float | None
    trends: Sequence[Trend]


@dataclass(frozen=True)
class Span:
    """The dates that the drawings of a prompt have in common, and its models' looks."""

    first: float
    last: float
    looks: Mapping[str, int]

    @classmethod
    def of(cls, points: Sequence[Record], models: Sequence[str]) -> Span:
        """That of all runs of a prompt; models beyond the looks that there are have none."""
        times = [moment(point["date"]) for point in points]
        looks = {model: look for look, model in enumerate(models[: len(MARKS)])}
        return cls(min(times), max(times), looks)

    def ticks(self) -> list[Tick]:
        """Dates from the first to the last; times of day where they are within two days."""
        form = "%Y-%m-%d" if self.last - self.first > 2 * DAY else "%m-%d %H:%M"
        if self.last == self.first:
            return [Tick(self.scale(self.first), _format_time(self.first, "%Y-%m-%d"))]
        step = (self.last - self.first) / (DATES - 1)
        times = [self.first + step * number for number in range(DATES)]
        return [Tick(self.scale(time), _format_time(time, form)) for time in times]

    def scale(self, time: float) -> float:
        """Where a moment stands."""
        inner = (LEFT + 20, WIDTH - RIGHT - 20)
        if self.last == self.first:
            return sum(inner) / 2
        return Scale((self.first, self.last), inner)(time)


def moment(date: str) -> float:
    """Seconds since 1970 of a date in ISO 8601."""
    return datetime.fromisoformat(date).timestamp()


def _format_time(time: float, form: str) -> str:
    return datetime.fromtimestamp(time, UTC).strftime(form)


def distances(points: Sequence[Record], span: Span, name: str, most: float) -> Chart:
    """W1 over dates.

    Args:
        points: Of one setting.
        span: Of the prompt.
        name: As `Chart` has it.
        most: What the vertical axis has to reach.
    """
    marks = ticks(0.0, most, 5)
    scale = Scale((marks[0], marks[-1]), (BOTTOM, TOP))
    rows = [
        (point, point["w1"], point["w1_ci"] or [point["w1"]] * 2)
        for point in points
        if point["w1"] is not None
    ]
    return Chart(name, span.ticks(), label(marks, scale), None, _trends(rows, span, scale))


def shares(points: Sequence[Record], span: Span, name: str, attribute: int, goal: float) -> Chart:
    """The share of an attribute over dates.

    Args:
        points: Of one setting.
        span: Of the prompt.
        name: As `Chart` has it.
        attribute: Its place in the setting.
        goal: Its share in the ideal.
    """
    scale = Scale((0.0, 1.0), (BOTTOM, TOP))
    rows = []
    for point in points:
        if point["shares"] is not None:
            share = point["shares"][attribute]
            ends = point["shares_ci"][attribute] if point["shares_ci"] else [share, share]
            rows.append((point, share, ends))
    y = [Tick(scale(share), f"{share:.0%}") for share in (0, 0.5, 1)]
    return Chart(name, span.ticks(), y, scale(goal), _trends(rows, span, scale))


def _trends(
    rows: Sequence[tuple[Record, float, Sequence[float]]], span: Span, scale: Scale
) -> list[Trend]:
    """A line through the points of each model; those that are not recorded may be several."""
    trends = []
    for model, look in span.looks.items():
        aside = APART * (look - (len(span.looks) - 1) / 2)
        places = [
            (round(span.scale(moment(point["date"])) + aside, 1), scale(value), *map(scale, ends))
            for point, value, ends in rows
            if point["model"] == model
        ]
        if places:
            path = "L".join(f"{x} {y}" for x, y, *_ in places)
            trends.append(
                Trend(
                    look,
                    f"M{path}" if len(places) > 1 and model != NO_MODEL else "",
                    "".join(f"M{x} {low}V{high}" for x, _, low, high in places),
                    "".join(f"M{x} {y}{MARKS[look]}" for x, y, *_ in places),
                )
            )
    return trends
