"""Words about images made until pairs were decided: when each was, and what that saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biasgraph.causal.flags import VERDICT_NAMES
from biasgraph.data import findings as parts
from biasgraph.report.words import between, count_noun

Record = Mapping[str, Any]


def looks_of(graph: Record) -> list[int]:
    """Images of each prompt at every look; empty where their number was fixed."""
    return list(graph["settings"].get("looks") or ())


def confidence(graph: Record) -> str:
    """That of the graph's intervals and bounds: they share .05 over the looks."""
    return f"{100 * (1 - 0.05 / max(1, len(looks_of(graph)))):.3g} %"


def describe_savings(graph: Record) -> str | None:
    """How many images were made, and how many fewer than in a fixed design; None without rounds.

    Nothing was saved where the images ran out: a fixed design would have found more.
    """
    rounds = graph.get("adaptive")
    if rounds is None:
        return None
    looks = looks_of(graph)
    against = ""
    if rounds["ended"] in ("decided", "max_images"):
        against = (
            f" ({rounds['images'] / rounds['fixed']:.0%} of the {rounds['fixed']:,} that a fixed "
            f"{looks[-1]} of each prompt takes, with errors as rare)"
        )
    still = len(rounds["open"])
    state = "every pair is decided" if not still else f"{count_noun(still, 'pair')} open"
    seen = f"{rounds['looks']} of {count_noun(len(looks), 'look')}"
    return f"{rounds['images']:,}{against}; {state} after {seen}"


def when_decided(graph: Record, pairs: Sequence[Record]) -> parts.Table:
    """How many pairs stopped at each look, and how many are open; a row for each verdict."""
    looks = looks_of(graph)
    found = [pair for pair in between(pairs) if pair.get("look") is not None]
    stops = [pair["look"] if pair["decided"] else 0 for pair in found]
    places = [*range(1, len(looks) + 1), *([0] if 0 in stops else [])]
    verdicts = [name for name in VERDICT_NAMES if any(p.get("verdict") == name for p in found)]
    rows: list[tuple[parts.Cell, ...]] = []
    for verdict in verdicts:
        own = [s for s, pair in zip(stops, found, strict=True) if pair.get("verdict") == verdict]
        rows.append((VERDICT_NAMES[verdict], *(own.count(place) or None for place in places)))
    if found:
        rows.append(("all pairs", *(stops.count(place) or None for place in places)))
    heads = [str(looks[place - 1]) if place else "open" for place in places]
    caption = "Pairs by the look at which they were decided, given as images of each prompt."
    numeric = tuple(range(1, len(heads) + 1))
    return parts.Table(("Decided at", *heads), rows, caption, numeric=numeric)
