"""What every screen says of a comparison, in the same words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.report import words

Record = Mapping[str, Any]

TOGETHER = 3  # changed pairs with one target, from which on a sentence says what they share


def summary(comparison: Record) -> Iterator[str]:
    """What changed between the baseline and one run, and what cannot be said."""
    classes = comparison["classes"]
    total = sum(classes.values()) - classes["not comparable"]
    yield (
        f"{classes['changed']} of {total} pairs changed. Of the others, edges in both graphs: "
        f"{classes['in both']}; in one of them alone, which is no evidence of a change: "
        f"{classes['undecided in the other']}."
    )
    targets = Counter(p["target"] for p in comparison["pairs"] if p["class"] == "changed")
    for target, number in targets.items():
        if number >= TOGETHER:
            yield (
                f"{number} of the changes are of {words.name(target)}: they share its initial "
                "images, so that one lucky or unlucky draw of those would move them all."
            )
    undecided = [p for p in comparison["pairs"] if p["class"] == "undecided in the other"]
    for end, what in (("edge_run", "here"), ("edge_baseline", "in the baseline")):
        pairs = [pair for pair in undecided if pair[end]]
        if pairs:
            yield f"Edges {what} only, undecided in the other: {words.arrows(pairs)}."
    reasons: dict[str, list[Record]] = {}
    for pair in comparison["pairs"]:
        if pair["reason"] is not None:
            reasons.setdefault(pair["reason"], []).append(pair)
    for reason, pairs in reasons.items():
        yield f"Not comparable, {words.arrows(pairs)}: {reason}."
    cut = [pair for pair in comparison["pairs"] if pair["at_common_size"]]
    if cut:
        yield (
            f"{len(cut)} pairs rest on different numbers of images and are compared at the smaller "
            "one; their IS are not those of the runs' own reports."
        )
    growth = comparison["amplification"]
    if growth["growth"] is not None:
        low, high = growth["growth_ci"]
        grown = words.with_interval(growth["growth"], low, high, "+")
        yield f"Amplification grew by {grown}."


def gates(document: Record) -> Iterator[str]:
    """The verdict of each gate about each run."""
    for gate in document["gates"]:
        for run in gate["runs"]:
            verdict = "FAILED" if run["failed"] else "passed"
            yield f"{verdict}: {gate['gate']} ({run['run']}: {run['words']})"
