"""What screens say of a search for prompts, in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from biasgraph.report import words

Record = Mapping[str, Any]

STOPPED = {
    "iterations": "all iterations were done",
    "max_images": "the image limit was reached",
    "prompts": "no new prompts were left",
}


def meaning(document: Record) -> str:
    """Which scores are worse, in words."""
    objective = document["objective"]
    lower = bool(objective["lower_is_worse"])
    score = f"the {'lower' if lower else 'higher'} the score"
    kind, _, axes = str(objective["name"]).partition(":")
    x, _, y = axes.partition(",")
    if (kind, lower) == ("bias", True):
        return f"{score}, the fewer of the prompt's meanings the images span"
    if (kind, lower) == ("axis", False):
        return f"{score}, the further {words.name(x)} is from its ideal"
    if (kind, lower) == ("edge", True):
        moved = f"diversifying {words.name(x)} moves {words.name(y)} away from its ideal"
        return f"{score}, the more {moved}"
    return f"{score}, the worse"


def extreme(document: Record) -> str:
    """What the search looks for: the "lowest" score or the "highest"."""
    return "lowest" if document["objective"]["lower_is_worse"] else "highest"


def lead(document: Record) -> Iterator[str]:
    """How much was searched, and the worst prompt when it was scored again."""
    counts, tried = document["n_images"], len(document["candidates"])
    iterations = words.count_noun(len(document["iterations"]), "iteration")
    yield (
        f"The search scored {words.count_noun(tried, 'prompt')} in {iterations} with "
        f"{words.count_noun(counts['search'], 'image')}; it ended because "
        f"{STOPPED.get(document['stopped'], words.label(document['stopped'], 80))}."
    )
    worst = next((row for row in document["mined"] if row["score"] is not None), None)
    if worst is None:
        yield "No prompt has a score on fresh images."
        return
    score = words.with_interval(worst["score"], worst["low"], worst["high"])
    interval = "" if worst["low"] is None else " (95 % interval)"
    yield (
        f"Scored again on {words.count_noun(worst['n_images'], 'fresh image')}, the worst is "
        f"“{words.name(worst['prompt'], 160)}”: {score}{interval}; {meaning(document)}."
    )


def title(document: Record) -> str:
    """What the search was about."""
    return f"Prompts mined for {words.name(document['model'], 80)}"


def facts(document: Record) -> Iterator[tuple[str, str]]:
    """What was mined with what, for the head of a page."""
    objective, counts = document["objective"], document["n_images"]
    yield "Model", words.name(document["model"], 200)
    for field, title in (("vqa", "Judge"), ("embedder", "Embedder")):
        if document.get(field):
            yield title, words.name(document[field], 200)
    yield (
        "Objective",
        f"{words.name(objective['name'], 80)}: {words.label(objective['about'], 300)}",
    )
    yield "Prompts by", words.name(document["proposed_by"] or "nobody", 200)
    yield (
        "Images",
        f"{counts['search']:,} of the search, {counts['fresh']:,} fresh, "
        f"{counts['variations']:,} of missed variations",
    )
