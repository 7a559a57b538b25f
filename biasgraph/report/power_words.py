"""How many images it would take to see a link, where none was seen."""

from __future__ import annotations

import math
from collections.abc import Sequence

from biasgraph.report.words import Record, between, counted


def needed(document: Record, pairs: Sequence[Record]) -> str | None:
    """How many images would find a link of V `min_v` in every tested pair; None without any."""
    graph = document["graph"]
    least = graph["settings"].get("min_v", 0.3)
    limits = [
        pair["detectable_v_80"]
        for pair in between(pairs)
        if pair["status"] == "ok" and pair["detectable_v_80"] is not None
    ]
    if not limits or not least:
        return None
    from biasgraph.causal.independence import images_to_detect

    link = f"a link of V = {least:g}"
    times = max(images_to_detect(least, limit) for limit in limits)
    if times <= 1:
        return (
            f"Each of {counted(len(limits), 'pair')} had a chance of at least 80 % to show {link}."
        )
    each = _images_of_each_prompt(document)
    more = f"about {times:.1f} times as many images"
    if each is not None:
        more = f"about {math.ceil(each * times):,} images of each prompt instead of {each:,}"
    return f"That is no proof of independence: to see {link} in 80 % of cases takes {more}."


def _images_of_each_prompt(document: Record) -> int | None:
    """Images of every prompt, initial or not; None where their numbers differ."""
    graph = document["graph"]
    images, prompts = graph["images"], len(graph.get("prompts") or [None])
    arms = sum(len(node["attributes"]) for node in document["nodes"])
    each, rest = divmod(images["initial"], prompts)
    return each if not rest and images["interventions"] == each * prompts * arms else None
