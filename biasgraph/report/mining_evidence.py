"""What a mined prompt's score rests on, and the biases that mined prompts share, told in parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from biasgraph.data import findings as parts
from biasgraph.report import words

Record = Mapping[str, Any]

SHOWN_OTHERWISE = ("missed", "least_aligned", "shares")
"""Kinds of evidence that have a drawing of their own."""
LONGEST = 200


@dataclass(frozen=True)
class Category:
    """A bias category: its terms and how many mined prompts fall in it."""

    name: str
    terms: str
    count: int
    bar: parts.Bar


@dataclass(frozen=True)
class Categories:
    """All of them, or the reason why there are none."""

    rows: list[Category]
    total: int
    proposed_by: str
    reason: str


def bias_categories(document: Record) -> Categories:
    """How many mined prompts fall in each category, the most frequent first.

    Args:
        document: What mined.json holds.
    """
    found = document.get("categories") or {}
    names = [name for own in (found.get("of_prompts") or {}).values() for name in set(own)]
    total = len(document["mined"])
    rows = [
        Category(
            one["name"],
            ", ".join(words.name(term) for term in one["terms"]),
            names.count(one["name"]),
            parts.Bar(one["name"], min(1.0, names.count(one["name"]) / max(total, 1))),
        )
        for one in found.get("categories") or ()
    ]
    return Categories(
        sorted(rows, key=lambda row: -row.count),
        total,
        words.label(found.get("proposed_by") or "nobody"),
        words.label(found.get("reason") or "nobody proposed any", 300),
    )


def shares(row: Record) -> parts.Bars | None:
    """The attributes of a skewed axis, each against its ideal."""
    found = row["evidence"].get("shares")
    if not found:
        return None
    bars = [parts.Bar(one["attribute"], one["share"], reference=one.get("ideal")) for one in found]
    return parts.Bars(bars, "Shares of the fresh images; mark: the ideal.")


def other_evidence(row: Record) -> Iterator[parts.ScreenPart]:
    """Evidence that the page knows no drawing for, as tables."""
    numbers: list[list[parts.Cell]] = []
    for name, value in row["evidence"].items():
        if name in SHOWN_OTHERWISE or value in (None, [], {}):
            continue
        title = words.label(name.replace("_", " "), 80)
        if isinstance(value, list) and all(isinstance(one, Mapping) for one in value):
            columns = list(dict.fromkeys(key for one in value for key in one))
            rows = [[_cell(one.get(column)) for column in columns] for one in value]
            yield parts.Table(columns, rows, title)
        else:
            numbers.append([title, _cell(value)])
    if numbers:
        yield parts.Table(("Evidence", "Value"), numbers)


def _cell(value: object) -> parts.Cell:
    if value is None or isinstance(value, str):
        return value if value is None else words.label(value, LONGEST)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return words.label(json.dumps(value, ensure_ascii=False), LONGEST)
