"""What other methods found, in a sentence for each; drawn from its parts alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.report import words

Record = Mapping[str, Any]

FIRST = 3
"""How many items of a ranking are named."""


def in_short(graph: Record) -> Iterator[str]:
    """The first number or ranking of every method's findings about a graph, and its warnings."""
    for finding in (graph.get("findings") or {}).values():
        told = next((_told(part) for part in finding["show"] if part["kind"] in _TOLD), None)
        if told is not None:
            yield f"{words.label(finding['title'])}: {told}."
        for part in finding["show"]:
            if part["kind"] == "text" and part["tone"] == "warning":
                yield words.label(part["text"], 400)


def _number(part: Record) -> str:
    found = words.with_interval(part["value"], part["low"], part["high"])
    number = f"{words.label(part['label'])} {found}"
    if part["value"] is None:
        return f"{number} ({words.label(part['reason'], 300)})"
    return number if part["n"] is None else f"{number}, n = {part['n']:,}"


def _ranking(part: Record) -> str:
    items = part["items"]
    named = []
    for item in items[:FIRST]:
        found = words.with_interval(item["value"], item["low"], item["high"])
        against = "" if item["reference"] is None else f" against {item['reference']:.3f}"
        named.append(f"{words.name(item['label'])} {found}{against}")
    more = len(items) - FIRST
    listed = ", ".join(named) + (f" and {more:,} more" if more > 0 else "")
    return (
        f"{words.label(part['caption'], 300).rstrip('.')}: {listed}" if part["caption"] else listed
    )


_TOLD = {"number": _number, "ranking": _ranking}


def _told(part: Record) -> str:
    return _TOLD[part["kind"]](part)
