"""Axis sets in the terminal: which there are, what one holds, what it makes of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from biasgraph.report.screen import plain

if TYPE_CHECKING:
    from rich.console import Console

    from biasgraph.data.axes import Axis, AxisSet
    from biasgraph.prompts.axis_check import AxisCheck


def show_sets(console: Console, sets: Sequence[AxisSet]) -> None:
    """A row for each axis set."""
    table = _table("Set", "About", "Axes")
    for axes in sets:
        names = ", ".join(f"{axis.name} ({len(axis.attributes)})" for axis in axes.axes)
        table.add_row(plain(axes.name), plain(axes.subject), plain(names))
    console.print(table)
    console.print(
        plain("In brackets: how many attributes. --axes NAME takes a set, --only some of its axes")
    )


def show_set(console: Console, axes: AxisSet) -> None:
    """What a set asks, and how its prompts say each attribute."""
    console.print(plain(f"{axes.name}: about {axes.subject}s, {_size(axes)}", "bold"))
    console.print(plain(f"First of all: {axes.gate}"))
    table = _table("Axis", "Attribute", "In a prompt", "Synonyms")
    for axis in axes.axes:
        for index, attribute in enumerate(axis.attributes):
            ellipsis = "... "
            phrase = (
                f"{attribute.phrase} ..."
                if attribute.placement == "before"
                else ellipsis + attribute.phrase
            )
            table.add_row(
                plain("" if index else _axis_name(axis)),
                plain(attribute.name),
                plain(attribute.prompt or phrase),
                plain(", ".join(attribute.synonyms)),
                end_section=index == len(axis.attributes) - 1,
            )
    console.print(table)
    for axis in axes.axes:
        asked = [axis.question] if axis.question else [part.text for part in axis.yes_no]
        console.print(plain(f"{axis.name}: {' '.join(asked)}"))


def show_check(console: Console, check: AxisCheck) -> None:
    """That a set is sound, the counterfactuals of a prompt, and what may not work as meant."""
    axes, plan = check.axes, check.plan
    console.print(plain(f"{axes.name} is a sound axis set: {_size(axes)}", "bold"))
    console.print(plain(f"Prompt: {plan.initial.text} (its subject: {plan.subject.text})"))
    table = _table("Axis", "Attribute", "Counterfactual")
    for axis in axes.axes:
        own = [one for one in plan.counterfactuals if one.axis == axis.name]
        for index, one in enumerate(own):
            table.add_row(
                plain("" if index else _axis_name(axis)),
                plain(one.attribute),
                plain(one.text),
                end_section=index == len(own) - 1,
            )
    console.print(table)
    for name, attribute in plan.fixed.items():
        console.print(plain(f"The prompt itself says {name}: {attribute}"))
    if check.remarks:
        console.print(plain("To look at", "bold"))
    for remark in check.remarks:
        console.print(plain(f"  {remark}"))


def _size(axes: AxisSet) -> str:
    attributes = sum(len(axis.attributes) for axis in axes.axes)
    plural = "axis" if len(axes.axes) == 1 else "axes"
    return f"{len(axes.axes)} {plural}, {attributes} attributes"


def _axis_name(axis: Axis) -> str:
    return axis.name if axis.metric == "nominal" else f"{axis.name} ({axis.metric})"


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
