"""What a reader should keep in mind of a graph: flags, unseen words and notes, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from biasgraph.causal.flags import FLAG_WORDS
from biasgraph.errors import printable
from biasgraph.report.words import (
    Record,
    arrows,
    grouped,
    is_without_interventions,
    name,
    named,
)


def caveats(document: Record) -> Iterator[str]:
    """Every flag of the graph, its axes and its edges once, words never seen, and notes."""
    nodes, graph = document["nodes"], document["graph"]
    # That there are no interventions is said first of all, and once.
    for flag in (flag for flag in graph["flags"] if flag != "no_interventions"):
        yield f"{FLAG_WORDS.get(flag, flag)}.".capitalize()
    axes = _by_flag(nodes)
    if is_without_interventions(graph):
        axes.pop("no_intervention", None)
    for flag, marked in axes.items():
        yield f"{named([node['id'] for node in marked])}: {FLAG_WORDS.get(flag, flag)}."
    known = {(flag, node["id"]) for flag, marked in axes.items() for node in marked}
    for flag, links in _by_flag(document["links"]).items():
        news = [
            link
            for link in links
            if (flag, link["source"]) not in known and (flag, link["target"]) not in known
        ]
        if news:
            yield f"{arrows(news)}: {FLAG_WORDS.get(flag, flag)}."
    unseen = graph.get("unseen_words")
    if unseen:
        yield f"Words that the model never saw and may ignore: {', '.join(map(name, unseen))}."
    yield from (f"{printable(note)}." for note in graph["notes"])


def _by_flag(records: Iterable[Record]) -> dict[str, list[Record]]:
    return grouped((flag, record) for record in records for flag in record["flags"])
