"""What a reader should keep in mind of a graph: flags, unseen words and notes, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from biasgraph.causal.flags import FLAG_WORDS
from biasgraph.errors import printable
from biasgraph.report.lead import is_hidden_by_sum
from biasgraph.report.words import (
    Record,
    arrows,
    group_records,
    is_without_interventions,
    list_names,
    name,
)


def caveats(document: Record) -> Iterator[str]:
    """Every flag of the graph, its axes and its edges once, words never seen, and notes."""
    nodes, graph = document["nodes"], document["graph"]
    # That there are no interventions is said first of all, and once.
    for flag in (flag for flag in graph["flags"] if flag != "no_interventions"):
        yield f"{FLAG_WORDS.get(flag, flag)}.".capitalize()
    axes, untested = _by_flag(nodes), is_without_interventions(graph)
    if untested:
        axes.pop("no_intervention", None)
    for flag, marked in axes.items():
        told = FLAG_WORDS.get(flag, flag)
        if flag == "near_ideal":  # the sum of prompts may be, and they themselves far from it
            marked = [node for node in marked if not is_hidden_by_sum(node)]
            told = told.partition(";")[0] if untested else told  # what is behind it is of pairs
        if marked:
            yield f"{list_names([node['id'] for node in marked])}: {told}."
    known = {(flag, node["id"]) for flag, marked in axes.items() for node in marked}
    for flag, links in _by_flag(document["links"]).items():
        news = [
            link
            for link in links
            if (flag, link["source"]) not in known and (flag, link["target"]) not in known
        ]
        if news and flag not in graph["flags"]:
            yield f"{arrows(news)}: {FLAG_WORDS.get(flag, flag)}."
    unseen = graph.get("unseen_words")
    if unseen:
        yield f"Words that the model never saw and may ignore: {', '.join(map(name, unseen))}."
    yield from (f"{printable(note)}." for note in graph["notes"])


def _by_flag(records: Iterable[Record]) -> dict[str, list[Record]]:
    return group_records((flag, record) for record in records for flag in record["flags"])
