"""The history of prompts as a page tells it: drawings, what clearly changed, and all numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgraph.data.origin import NO_MODEL
from biasgraph.report import words
from biasgraph.report.history_drawing import Chart, Span, distances, shares

Record = Mapping[str, Any]

UNKNOWN_MODELS = "models not recorded"
FEWEST = 2
"""Runs that measured an axis, for a drawing of it."""
SHARES = 4
"""Attributes of an ideal that a caption names."""


@dataclass(frozen=True)
class SettingView:
    """One way in which an axis was judged and measured, drawn.

    Attributes:
        about: The judge, the metric and the ideal.
        apart: Why it is not joined with the first; empty for that.
        attribute: What most images show, over all its runs.
        distance: W1 over dates.
        share: That attribute's share over dates; None where no run has a valid answer.
    """

    about: str
    apart: str
    attribute: str
    distance: Chart
    share: Chart | None


@dataclass(frozen=True)
class AxisView:
    """An axis, the settings that are drawn, and the runs of those that are not, in sentences."""

    name: str
    settings: Sequence[SettingView]
    apart: Sequence[str]


@dataclass(frozen=True)
class Model:
    """A model, its look (None: it is in the table alone), and whether it is a built-in toy."""

    name: str
    look: int | None
    toy: bool


@dataclass(frozen=True)
class Number:
    """What one run says of an axis, in a row of the table."""

    run: str
    href: str | None
    model: str
    date: str
    w1: str
    share: str
    valid: int


@dataclass(frozen=True)
class Numbers:
    """Those of an axis in one setting; attribute: whose share they tell."""

    axis: str
    about: str
    attribute: str
    rows: Sequence[Number]


@dataclass(frozen=True)
class HistoryView:
    """The history of one prompt.

    Attributes:
        prompt: What it asks for.
        runs: How many there are.
        models: Whose runs they are.
        number: How many models those are, in words.
        changes: What clearly changed, in sentences.
        axes: Those that several runs measured.
        once: Those that one run measured, or none, in words.
        numbers: All of them.
    """

    prompt: str
    runs: int
    models: Sequence[Model]
    number: str
    changes: Sequence[str]
    axes: Sequence[AxisView]
    once: str
    numbers: Sequence[Numbers]


def history_view(history: Record, address: Callable[[Record], str | None]) -> HistoryView:
    """A history as a page shows it.

    Args:
        history: One of `biasgraph.audits.history.histories`.
        address: Of a point's page.
    """
    settings = [setting for axis in history["axes"] for setting in axis["settings"]]
    points = [point for setting in settings for point in setting["points"]]
    models = list(dict.fromkeys(point["model"] for point in points))
    span = Span.of(points, models)
    most: dict[str, float] = {}
    for setting in settings:  # axes of the same metric have the same scale
        ends = [point["w1_ci"][1] for point in setting["points"] if point["w1_ci"]]
        most[setting["metric"]] = max([most.get(setting["metric"], 0.2), *ends])
    drawn = [axis for axis in history["axes"] if _count_runs(axis) >= FEWEST]
    once = [words.label(axis["axis"], 40) for axis in history["axes"] if axis not in drawn]
    toys = {point["model"] for point in points if point["toy"]}
    return HistoryView(
        prompt=words.label(history["prompt"]),
        runs=history["runs"],
        models=[Model(_name_model(one), span.looks.get(one), one in toys) for one in models],
        number=_count_models(models),
        changes=[change for axis in history["axes"] for change in _changes(axis, models)],
        axes=[_axis(axis, span, most) for axis in drawn],
        once=", ".join(once),
        numbers=[
            _numbers(axis["axis"], setting, address)
            for axis in history["axes"]
            for setting in axis["settings"]
        ],
    )


def _count_runs(axis: Record) -> int:
    """How many runs measured it."""
    points = (point for setting in axis["settings"] for point in setting["points"])
    return sum(point["w1"] is not None for point in points)


def _axis(axis: Record, span: Span, most: Mapping[str, float]) -> AxisView:
    """The first setting and every other that joins two runs is drawn; the rest is told."""
    first, *others = (_setting(axis, setting, span, most) for setting in axis["settings"])
    told = []
    for setting, shown in zip(axis["settings"][1:], others, strict=True):
        if not _is_joined(shown):
            runs = "; ".join(
                f"{_name_model(one['model'], words.name)}{_toy(one)}: {_describe_point(one)}"
                for one in setting["points"]
            )
            told.append(f"{shown.apart} {runs}.")
    drawn = [first, *(shown for shown in others if _is_joined(shown))]
    return AxisView(words.label(axis["axis"]), drawn, told)


def _is_joined(setting: SettingView) -> bool:
    """Whether a line joins two of its points."""
    return any(trend.line for trend in setting.distance.trends)


def _setting(axis: Record, setting: Record, span: Span, most: Mapping[str, float]) -> SettingView:
    first, points, named = axis["settings"][0], setting["points"], words.label(axis["axis"])
    attribute = _most_common(setting)
    about = words.label(setting["attributes"][attribute], 40)
    name, reach = f"{named}: distance to its ideal over dates", most[setting["metric"]]
    share = None
    if any(point["shares"] for point in points):
        goal = setting["ideal"][attribute] if setting["ideal"] else 0.0
        share = shares(points, span, f"{named}: share of {about} over dates", attribute, goal)
    return SettingView(
        about=_about(setting),
        apart="" if setting is first else _apart(setting, first),
        attribute=about,
        distance=distances(points, span, name, reach),
        share=share,
    )


def _most_common(setting: Record) -> int:
    """The place of the attribute that most images show, over all runs of a setting."""
    known = [point["shares"] for point in setting["points"] if point["shares"]]
    places = range(len(setting["attributes"]))
    return max(places, key=lambda place: sum(of_run[place] for of_run in known), default=0)


def _judge(setting: Record) -> str:
    judge = setting["judge"]
    return "a judge that is not recorded" if judge is None else words.label(judge, 60)


def _ideal(setting: Record) -> str:
    """The ideal's shares, the largest first."""
    named = sorted(
        zip(setting["attributes"], setting["ideal"], strict=False), key=lambda one: -one[1]
    )
    if len({round(share, 6) for _, share in named}) == 1:
        return "uniform"
    told = [f"{words.label(name, 30)} {words.percent(share)}" for name, share in named[:SHARES]]
    return ", ".join(told) + (" …" if len(named) > SHARES else "")


def _about(setting: Record) -> str:
    counted = f", counted in {setting['counted']:,} images" if setting["counted"] else ""
    metric = f"Metric: {setting['metric']}."
    unknown = "not recorded, so perhaps not the same everywhere"
    judge = unknown if setting["judge"] is None else _judge(setting)
    return f"Judge: {judge}. Ideal: {_ideal(setting)}{counted}. {metric}"


def _apart(setting: Record, first: Record) -> str:
    """Why the numbers of two settings are not joined."""
    why = []
    if setting["judge"] != first["judge"]:
        why.append(f"another judge, {_judge(setting)} instead of {_judge(first)}")
    elif setting["weights"] != first["weights"]:
        why.append(f"other weights of the judge {_judge(setting)}")
    if setting["attributes"] != first["attributes"]:
        why.append("other categories")
    elif (setting["ideal"], setting["counted"]) != (first["ideal"], first["counted"]):
        why.append(f"another ideal, {_ideal(setting)} instead of {_ideal(first)}")
    if (setting["metric"], setting["cost"]) != (first["metric"], first["cost"]):
        why.append("another metric")
    return f"Not joined with the first: {'; '.join(why)}."


def _changes(axis: Record, models: Sequence[str]) -> Iterator[str]:
    """What a model's last run says otherwise than its first, in the same setting."""
    for setting in axis["settings"]:
        for model in (one for one in models if one != NO_MODEL):
            own = [one for one in setting["points"] if one["model"] == model and one["w1_ci"]]
            if len(own) < 2:
                continue
            first, last = own[0], own[-1]
            further = last["w1_ci"][0] > first["w1_ci"][1]
            if further or last["w1_ci"][1] < first["w1_ci"][0]:
                yield (
                    f"{words.name(axis['axis'])} of {words.name(model)}{_toy(last)} is "
                    f"{'further from' if further else 'closer to'} its ideal than it was: "
                    f"{_describe_point(first)}, {_describe_point(last)}."
                )


def _describe_point(point: Record) -> str:
    interval = "not defined" if point["w1"] is None else words.with_ci(point["w1"], point["w1_ci"])
    return f"{interval} on {point['date'][:10]} ({words.count_noun(point['valid'], 'image')})"


def _numbers(axis: str, setting: Record, address: Callable[[Record], str | None]) -> Numbers:
    most = _most_common(setting)
    return Numbers(
        axis=words.label(axis, 60),
        about=_about(setting),
        attribute=words.label(setting["attributes"][most], 40),
        rows=[
            Number(
                run=words.label(point["directory"], 120),
                href=address(point),
                model=words.label(point["model"]) + _toy(point),
                date=point["date"][:10],
                w1="not defined: too few valid answers"
                if point["w1"] is None
                else words.with_ci(point["w1"], point["w1_ci"]),
                share=_share(point, most),
                valid=point["valid"],
            )
            for point in setting["points"]
        ],
    )


def _name_model(model: str, show: Callable[[str], str] = words.label) -> str:
    return UNKNOWN_MODELS if model == NO_MODEL else show(model)


def _count_models(models: Sequence[str]) -> str:
    known = [model for model in models if model != NO_MODEL]
    if len(known) == len(models):
        return words.count_noun(len(known), "model")
    return (
        f"{words.count_noun(len(known), 'model')}, others not recorded" if known else UNKNOWN_MODELS
    )


def _toy(point: Record) -> str:
    return " (toy)" if point["toy"] else ""


def _share(point: Record, place: int) -> str:
    if point["shares"] is None:
        return ""
    share = point["shares"][place]
    if point["shares_ci"] is None:
        return words.percent(share)
    return words.with_ends(share, *point["shares_ci"][place])
