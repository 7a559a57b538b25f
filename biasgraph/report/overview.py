"""The end of a build in the terminal: what there is to know first, in so many lines at most."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biasgraph.causal.flags import CLAIMS, FLAG_WORDS
from biasgraph.data import findings as parts
from biasgraph.report import judge_words, rounds_words, verdict_words, words
from biasgraph.report.caveats import caveats
from biasgraph.report.graph_summary import SECTIONS, ReportInput, axis_table
from biasgraph.report.lead import is_hidden_by_sum, say_links
from biasgraph.report.provenance import describe_model
from biasgraph.report.share_words import in_pictures

Record = Mapping[str, Any]

LINES = 30
"""Of a terminal that the end of a build takes at most."""

SIZES = ((10, 3), (8, 3), (8, 2), (6, 2), (8, 1), (6, 1), (4, 1), (3, 1), (4, 0), (3, 0), (0, 0))
"""Axes and findings of overviews, from the longest to the shortest."""


def overviews(
    told: ReportInput, directory: str | None, end: parts.ScreenPart | None = None
) -> Iterator[list[parts.ScreenPart]]:
    """The overview of a graph, each time with less in it, so that one fits the terminal.

    Args:
        told: What there is to tell of.
        directory: Where `biasgraph show` finds it, if it was saved.
        end: What it ends with; by default warnings and where in the terminal the rest is.
    """
    about = _about(told)
    hidden = [node for node in told.document["nodes"] if is_hidden_by_sum(node)]
    lost = [_describe_hidden(hidden)] if hidden else []
    said = [_finding(told.document, pair) for pair in _pairs_to_tell(told)]
    pairs = say_links(told.document, told.pairs)
    last = end or parts.Sentences("", [*_warnings(told), *_what_else(told, directory)])
    for axes, findings in SIZES:
        shown = said[:findings]
        yield [
            parts.Banner(told.graph["toy"]),
            parts.Text(about),
            parts.Sentences("", lost),
            *_axes(told.document["nodes"], axes),
            parts.Sentences(pairs, shown) if shown else parts.Text(pairs),
            last,
        ]


def _describe_hidden(nodes: Sequence[Record]) -> str:
    """Where prompts are further from the ideal, one by one, than their sum."""
    axes = words.list_names([node["id"] for node in nodes])
    return f"One by one, the prompts are further from the ideal than their sum shows: {axes}."


def _about(told: ReportInput) -> str:
    """What was audited and with what, in a line or two."""
    graph = told.graph
    several = words.count_noun(len(graph.get("prompts") or ()), "prompt")
    prompt = f"{several}, summed," if graph["prompt"] is None else f"“{graph['prompt']}”"
    validated = judge_words.describe_validation(graph) if graph["vqa"] else None
    trust = "" if validated is None else f" ({_describe_validation(validated)})"
    judge = f"judge: {judge_words.judge(graph, 60)}{trust}"
    images = f"{words.images_words(graph['images'])} images"
    ideal = f"ideal: {words.ideal_words(graph, len(told.document['nodes']))}"
    who = describe_model(graph, 60)
    sentence = f"{words.clip(prompt, 200)} by {who}; {judge}. {images}; {ideal}."
    saved = rounds_words.describe_savings(graph)
    return f"{sentence} Images until decided: {saved}." if saved else sentence


def _describe_validation(told: str) -> str:
    return "not validated" if told == "no" else told


def _axes(nodes: Sequence[Record], number: int) -> list[parts.ScreenPart]:
    """The axes furthest from their ideal."""
    ranked = sorted(nodes, key=lambda node: -(node["w1"] or 0.0))
    kept = {node["id"] for node in ranked[:number]}
    table = axis_table([node for node in nodes if node["id"] in kept])
    more = len(nodes) - len(kept)
    caption = f"The {number} axes furthest from their ideal; {more} more: --section axes"
    if not kept:
        return [parts.Text(f"{words.count_noun(more, 'axis', 'axes')}: --section axes")]
    return [parts.Table(table.columns, table.rows, caption if more else "", table.numeric)]


def _pairs_to_tell(told: ReportInput) -> list[Record]:
    """The edges with a direction first, then the common shifts, then the other edges."""
    return [*verdict_words.strongest(told.document["links"]),
            *verdict_words.pick_shifts(told.pairs)]  # fmt: skip


def _finding(document: Record, pair: Record) -> str:
    """A finding in a sentence, and the direction that is claimed of it."""
    told = in_pictures(pair, document)
    if told is None:
        return verdict_words.finding(pair, document)
    claimed = pair["sign"] in CLAIMS
    return f"{told[:-1]}: {verdict_words.direction(pair['sign'])}." if claimed else told


def _warnings(told: ReportInput) -> Iterator[str]:
    """What limits everything, and how much else there is to keep in mind."""
    graph = told.graph
    flags = [flag for flag in graph["flags"] if flag not in ("no_interventions", "mixed_metrics")]
    known = [f"{FLAG_WORDS.get(flag, flag)}." for flag in flags]
    unseen = graph.get("unseen_words")
    if unseen:
        known.append(f"Never seen by the model: {words.list_names(unseen, 'words')}.")
    yield from (sentence[0].upper() + sentence[1:] for sentence in known)
    more = len([*caveats(told.document), *judge_words.caveats_of_graph(graph)]) - len(known)
    if more > 0:
        yield f"{words.count_noun(more, 'thing')} more to keep in mind: --section caveats"


def _what_else(told: ReportInput, directory: str | None) -> Iterator[str]:
    """Where the rest is."""
    if directory is None:
        yield "Save it with -o DIR to see the rest with `biasgraph show DIR`."
        return
    names = [name for name in SECTIONS if name != "prompts" or told.prompts]
    command = shlex.join(["biasgraph", "show", directory, "--section", "all"])
    yield f"The rest: `{command}`, or one of {', '.join(names)}."
