"""Axis sets told in parts: which there are, what one holds, what it makes of a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from biasgraph.data.findings import Heading, ScreenPart, Sentences, Table, Text
from biasgraph.report import words

if TYPE_CHECKING:
    from biasgraph.data.axes import Attribute, Axis, AxisSet
    from biasgraph.prompts.axis_check import AxisCheck


def summarize_sets(sets: Sequence[AxisSet]) -> Iterator[ScreenPart]:
    """A row for each axis set."""
    rows = [
        (
            axes.name,
            axes.subject,
            ", ".join(f"{axis.name} ({len(axis.attributes)})" for axis in axes.axes),
        )
        for axes in sets
    ]
    yield Table(("Set", "About", "Axes"), rows)
    yield Text(
        "In parentheses: the number of attributes. --axes NAME uses a set, --only some of its axes."
    )


def summarize_set(axes: AxisSet) -> Iterator[ScreenPart]:
    """What a set asks, and how its prompts say each attribute."""
    yield Heading(f"{axes.name}: about {axes.subject}s, {_size(axes)}")
    yield Text(f"Asked first: {axes.gate}")
    rows = [
        (first, attribute.name, _phrase(attribute), ", ".join(attribute.synonyms))
        for axis in axes.axes
        for first, attribute in zip(_beside(axis), axis.attributes, strict=True)
    ]
    yield Table(("Axis", "Attribute", "In a prompt", "Synonyms"), rows)
    questions = [
        f"{axis.name}: {axis.question or ' '.join(part.text for part in axis.yes_no)}"
        for axis in axes.axes
    ]
    yield Sentences("Questions", questions)


def summarize_check(check: AxisCheck) -> Iterator[ScreenPart]:
    """That a set is valid, the counterfactuals of a prompt, and what may not work as meant."""
    axes, plan = check.axes, check.plan
    yield Heading(f"{axes.name} is a valid axis set: {_size(axes)}")
    yield Text(f"Prompt: {plan.initial.text} (its subject: {plan.subject.text})")
    rows = []
    for axis in axes.axes:
        own = [prompt for prompt in plan.counterfactuals if prompt.axis == axis.name]
        rows += [
            (first, prompt.attribute, prompt.text)
            for first, prompt in zip(_beside(axis), own, strict=False)
        ]
    yield Table(("Axis", "Attribute", "Counterfactual"), rows)
    fixed = [f"The prompt itself says {name}: {said}" for name, said in plan.fixed.items()]
    yield Sentences("Neutral rewordings", [prompt.text for prompt in plan.controls])
    yield Sentences("", fixed)
    yield Sentences("Please check", [str(remark) for remark in check.remarks])


def _beside(axis: Axis) -> list[str]:
    """What stands before each attribute of an axis: its name, then nothing."""
    name = axis.name if axis.metric == "nominal" else f"{axis.name} ({axis.metric})"
    return [name, *[""] * (len(axis.attributes) - 1)]


def _phrase(attribute: Attribute) -> str:
    before = attribute.placement == "before"
    return attribute.prompt or (f"{attribute.phrase} ..." if before else f"... {attribute.phrase}")


def _size(axes: AxisSet) -> str:
    attributes = sum(len(axis.attributes) for axis in axes.axes)
    return f"{words.count_noun(len(axes.axes), 'axis', 'axes')}, {attributes} attributes"
