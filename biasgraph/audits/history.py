"""The history of a prompt: what runs of it found, over dates and models.

Two runs may be held against each other on an axis where the same judge sorted images into the same
categories, and the distance is by the same metric to the same ideal. Where one of these differs
the numbers stand apart, as two settings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from biasgraph.audits.run_list import Document, Node, RunEntry

ORDERED = ("ordinal", "index", "cost")
"""Metrics that heed the order of attributes."""
FEWEST = 2
"""Runs that make a history."""


@dataclass(frozen=True)
class Point:
    """What one run says of an axis.

    Attributes:
        date: When it was built last, in ISO 8601 and UTC.
        model: The generator's spec.
        toy: Whether it or the judge are the built-in toys.
        directory: Of the run, seen from the folder that was searched.
        page: Its page there, if there is one.
        valid: How many of its initial images say something about the axis.
        w1: Their distance to the ideal; None where there are too few.
        w1_ci: The 95 % interval of that.
        shares: Of each attribute, in the order of the setting's; None without valid answers.
        shares_ci: Their 95 % intervals.
    """

    date: str
    model: str
    toy: bool
    directory: str
    page: str | None
    valid: int
    w1: float | None
    w1_ci: Sequence[float] | None
    shares: Sequence[float] | None
    shares_ci: Sequence[Sequence[float]] | None


@dataclass(frozen=True)
class Setting:
    """How an axis was judged and measured.

    Attributes:
        judge: The judge's spec, "people" for any people, or None where none is recorded.
        weights: The judge's fingerprint.
        metric: Of the distance.
        attributes: The categories; of nominal axes sorted, for there their order says nothing.
        ideal: Their shares in the ideal.
        counted: How many images those come from, if they were counted; else 0.
        cost: What it costs to move from one attribute to another, for the metric "cost".
    """

    judge: str | None
    weights: str | None
    metric: str
    attributes: tuple[str, ...]
    ideal: tuple[float, ...]
    counted: int
    cost: str


def histories(runs: Iterable[RunEntry]) -> list[dict[str, Any]]:
    """The history of every prompt that several runs are about, the one built last first.

    Runs of several prompts, and dates that nobody can read, are left out.

    Returns:
        For each the ``prompt``, how many ``runs`` and the ``axes``: by name the ``settings``, those
        with most runs first, each with its ``points`` in the order of their dates (`Setting`,
        `Point`).
    """
    by_prompt: dict[str, list[tuple[str, RunEntry, Document]]] = {}
    for run in runs:
        date = _date(run.row.date)
        if run.document is not None and run.document.graph.prompt is not None and date:
            by_prompt.setdefault(run.document.graph.prompt, []).append((date, run, run.document))
    return [
        {"prompt": prompt, "runs": len(own), "axes": _axes(sorted(own, key=lambda one: one[0]))}
        for prompt, own in by_prompt.items()
        if len(own) >= FEWEST
    ]


def _date(text: str | None) -> str | None:
    try:
        date = datetime.fromisoformat(text or "")
        date = date.replace(tzinfo=date.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return date.isoformat(timespec="seconds")


def _axes(runs: Sequence[tuple[str, RunEntry, Document]]) -> list[dict[str, Any]]:
    axes: dict[str, dict[Setting, list[Point]]] = {}
    for date, run, document in runs:
        for node in document.nodes:
            setting, order = _setting(document, node)
            points = axes.setdefault(node.id, {}).setdefault(setting, [])
            points.append(_point(date, run, node, order))
    return [
        {
            "axis": name,
            "settings": [
                {**vars(setting), "points": [vars(point) for point in points]}
                for setting, points in sorted(settings.items(), key=lambda one: -len(one[1]))
            ],
        }
        for name, settings in axes.items()
    ]


def _setting(document: Document, node: Node) -> tuple[Setting, list[int]]:
    """How a run judged and measured an axis, and the places of its attributes there."""
    graph = document.graph
    order = [*range(len(node.attributes))]
    if node.metric not in ORDERED:
        order.sort(key=lambda place: node.attributes[place])
    ideal = _reorder(node.ideal, order) or ()
    setting = Setting(
        judge="people" if graph.people else graph.vqa,
        weights=None if graph.people else graph.vqa_fingerprint,
        metric=node.metric,
        attributes=tuple(node.attributes[place] for place in order),
        ideal=tuple(round(share, 9) for share in ideal),
        counted=sum(node.reference or ()),
        cost=str(node.cost or ""),
    )
    return setting, order


def _point(date: str, run: RunEntry, node: Node, order: Sequence[int]) -> Point:
    return Point(
        date=date,
        model=str(run.row.model),
        toy=bool(run.row.toy),
        directory=run.row.directory,
        page=run.row.page,
        valid=node.initial.n_valid,
        w1=node.w1,
        w1_ci=node.w1_ci,
        shares=_reorder(node.initial.distribution, order),
        shares_ci=_reorder(node.distribution_ci, order),
    )


def _reorder(values: Sequence[Any] | None, order: Sequence[int]) -> list[Any] | None:
    """Values in another order; None where there are not as many as that has places."""
    if values is None or len(values) != len(order):
        return None
    return [values[place] for place in order]
