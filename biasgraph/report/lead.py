"""What a newcomer should know first: what most images show, and how many pairs are edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biasgraph.causal.flags import FLAG_WORDS
from biasgraph.report.words import (
    LISTED,
    Record,
    between,
    counted,
    is_without_interventions,
    majority,
    name,
    percent,
)


def lead(document: Record, pairs: Sequence[Record]) -> Iterator[str]:
    """What most images show, and how many pairs are edges."""
    yield from seen(document)
    yield linked(document, pairs)


def seen(document: Record) -> Iterator[str]:
    """What most images show on the axes that are clearly away from their ideal."""
    graph = document["graph"]
    far = [node for node in document["nodes"] if node["near_ideal"] is False]
    ranked = [node for node in sorted(far, key=lambda node: -node["w1"]) if majority(node)]
    shares = [majority(node) or ("", 0.0) for node in ranked]
    most = [f"{percent(share)} {name(attribute)}" for attribute, share in shares]
    count = graph["images"]["initial"]
    prompt = graph["prompt"]
    of = f"{len(graph['prompts'])} prompts" if prompt is None else f"“{name(prompt, 120)}”"
    about = f"{counted(count, 'image')} of {of}"
    if most:
        valid = [node["initial"]["n_valid"] for node in ranked[:LISTED]]
        yield f"Of {about}, the judge called {', '.join(most[:LISTED])}{_of_valid(valid, count)}."
    elif all(node["w1"] is None for node in document["nodes"]):
        yield f"The {about} are too few to say how far they are from the ideal."
    else:
        yield f"The {about} cannot be distinguished from the ideal on any axis."


def linked(document: Record, pairs: Sequence[Record]) -> str:
    """How many pairs are edges, and of how many of these the direction is known."""
    if is_without_interventions(document["graph"]):
        return untested()
    links = document["links"]
    known = [link for link in links if link["sign"] in ("towards", "away")]
    tested = sum(pair["status"] != "insufficient" for pair in between(pairs))
    if links:
        clear = {0: "none", len(links): "all"}.get(len(known), str(len(known)))
        return (
            f"Diversifying one axis changes another in {len(links)} of {tested} pairs; for {clear} "
            f"of {'these arrows' if len(links) > 1 else 'them'} it is clear whether that is "
            "towards the ideal or away from it."
        )
    if tested:
        return f"In none of {tested} pairs does diversifying one axis clearly change another."
    return "No pair of axes could be tested."


def untested() -> str:
    """Of initial images alone: why no pair is tested."""
    words = FLAG_WORDS["no_interventions"]
    return f"{words[0].upper()}{words[1:]}."


def _of_valid(valid: Sequence[int], images: int) -> str:
    """How many of the images shares are of, where some have no valid answer."""
    low, high = min(valid), max(valid)
    if low == images:
        return ""
    numbers = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f" (of those with a valid answer: {numbers})"
