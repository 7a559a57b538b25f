"""What each of several prompts shows on each axis, for the page: prompts by axes, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasgraph.causal.flags import STATUS_WORDS
from biasgraph.report import words
from biasgraph.report.lead import say_links
from biasgraph.report.power_words import times_as_many
from biasgraph.report.prompt_tables import compare_in_words, titles_by_axis

if TYPE_CHECKING:
    from biasgraph.data.result import Result

Record = Mapping[str, Any]

TOO_FEW = "too few images"
DIGITS = 6  # of the ends of intervals


def prompt_grid(result: Result, hrefs: Sequence[str | None]) -> dict[str, Any] | None:
    """Every prompt as a row, every axis as a cell, in the order of the documents.

    Args:
        result: Of several prompts.
        hrefs: The reports of the prompts, in their order.

    Returns:
        ``reach``, the largest distance in a cell; ``rows``, each with its label, what is said of
        its edges and its cells; ``sum``, such cells of all prompts together; ``tables``, the places
        and titles of the axes whose prompts are compared, most different first. None for one
        prompt.
    """
    if not result.prompts:
        return None
    rows = [_row(part, href) for part, href in zip(result.prompts, hrefs, strict=True)]
    known = [cell["w1"] for row in rows for cell in row["cells"] if cell["w1"] is not None]
    nodes = result.document["nodes"]
    places = {node["id"]: place for place, node in enumerate(nodes)}
    return {
        "reach": max([*known, 0.1]),
        "rows": rows,
        "sum": [_cell(node) for node in nodes],
        "ideals": [node["ideal"] for node in nodes],
        "differ": [_describe_comparison(node) for node in nodes],
        "tables": [(places[axis], title) for axis, title in titles_by_axis(nodes)],
    }


def _row(part: Result, href: str | None) -> dict[str, Any]:
    document = part.document
    edges, why = edges_words(document, part.pair_records())
    return {
        "label": words.label(document["graph"]["prompt"]),
        "href": href,
        "edges": edges,
        "why": words.plain(why),
        "cells": [_cell(node) for node in document["nodes"]],
    }


def edges_words(document: Record, pairs: Sequence[Record]) -> tuple[str, str]:
    """How many edges a prompt's graph has, in a word or two, and what is to be said of that.

    No edge is told as such only where none of V `min_v` is left open, or the images would have
    shown one.
    """
    told, verdicts = (
        say_links(document, pairs),
        [one.get("verdict") for one in words.between(pairs)],
    )
    if document["links"]:
        return words.count_noun(len(document["links"]), "edge"), told
    if shifts := verdicts.count("common_shift"):
        return words.count_noun(shifts, "common shift"), told
    if words.is_without_interventions(document["graph"]):
        return "not tested", told
    still = [
        pair
        for pair in words.between(pairs)
        if pair.get("verdict") in (None, "undecided") and "no_intervention" not in pair["flags"]
    ]
    times, few = times_as_many(document, pairs), any(one["status"] != "ok" for one in still)
    if times is None or few or (times > 1 and still):
        return f"undecidable: {TOO_FEW}", told
    return "no edge", told


def _cell(node: Record) -> dict[str, Any]:
    """What a prompt's images show on an axis; what is undefined is null with a reason in `why`.

    Pages have many: intervals are rounded to what is shown of them, and shares left to the counts.
    """
    initial, most = node["initial"], words.majority(node)
    place = None if most is None else node["attributes"].index(most[0])
    intervals = node.get("distribution_ci")
    return {
        "w1": node["w1"],
        "ci": _round(node["w1_ci"]),
        "near": node["near_ideal"],
        "counts": initial["counts"],
        "most": place,
        "most_ci": _round(intervals[place]) if intervals and place is not None else None,
        "total": initial["n_total"],
        "why": None if node["w1"] is not None else STATUS_WORDS["insufficient"],
    }


def _round(ends: Sequence[float] | None) -> list[float] | None:
    return None if ends is None else [round(end, DIGITS) for end in ends]


def _describe_comparison(node: Record) -> str:
    told = compare_in_words(node)
    if told is None:
        return "The prompts cannot be compared."
    return f"{told[0].upper()}{told[1:]}."
