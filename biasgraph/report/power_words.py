"""How many images it would take to see a link, where none was seen."""

from __future__ import annotations

import math
from collections.abc import Sequence

from biasgraph.report.words import Record, between, count_noun, min_v


def say_needed(document: Record, pairs: Sequence[Record]) -> str | None:
    """How many images would find a link of V `min_v` in every tested pair; None without any."""
    times = times_as_many(document, pairs)
    if times is None:
        return None
    link = f"a link of V = {min_v(document['graph']):g}"
    if times <= 1:
        tested = count_noun(len(_limits(pairs)), "pair")
        return f"Each of {tested} had a chance of at least 80 % to show {link}."
    each = _images_of_each_prompt(document)
    more = f"about {times:.1f} times as many images"
    if each is not None:
        more = f"about {math.ceil(each * times):,} images of each prompt instead of {each:,}"
    return f"That is no proof of independence: to see {link} in 80 % of cases takes {more}."


def times_as_many(document: Record, pairs: Sequence[Record]) -> float | None:
    """How many times as many images would find such a link; None without any tested pair."""
    least, limits = min_v(document["graph"]), _limits(pairs)
    if not limits or not least:
        return None
    from biasgraph.causal.independence import images_to_detect

    return max(images_to_detect(least, limit) for limit in limits)


def _limits(pairs: Sequence[Record]) -> list[float]:
    return [
        pair["detectable_v_80"]
        for pair in between(pairs)
        if pair["status"] == "ok" and pair["detectable_v_80"] is not None
    ]


def _images_of_each_prompt(document: Record) -> int | None:
    """Images of every prompt, initial or not; None where their numbers differ."""
    graph = document["graph"]
    images, prompts = graph["images"], len(graph.get("prompts") or [None])
    arms = sum(len(node["attributes"]) for node in document["nodes"])
    each, rest = divmod(images["initial"], prompts)
    return each if not rest and images["interventions"] == each * prompts * arms else None
