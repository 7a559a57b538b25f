"""A graph told in parts: what was audited, its axes and edges, and what to keep in mind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biasgraph.data import findings as parts
from biasgraph.data.file_names import PROMPTS
from biasgraph.report import judge_words, prompt_tables, rounds_words, verdict_words, words
from biasgraph.report.caveats import caveats
from biasgraph.report.lead import seen, untested
from biasgraph.report.power_words import needed
from biasgraph.report.share_words import in_pictures

Record = Mapping[str, Any]


def summarize_graph(
    document: Record, pairs: Sequence[Record], prompts: Sequence[Record] = ()
) -> list[parts.ScreenPart]:
    """What graph.json says, in parts; of several prompts, with a row for each at the end.

    Args:
        document: The document of the graph.
        pairs: Every ordered pair of axes, as `Result.pair_records` gives them.
        prompts: The documents of the graphs of several prompts.
    """
    graph, nodes, links = document["graph"], document["nodes"], document["links"]
    edges = f"{len(links)} of {len(words.between(pairs))} pairs of axes are edges"
    if words.is_without_interventions(graph):
        edges = untested()
    more = None if links or words.is_without_interventions(graph) else needed(document, pairs)
    return [
        parts.Banner(graph["toy"]),
        parts.Facts(graph_facts(document)),
        parts.Sentences("", list(seen(document)) if prompts else []),
        _axes(nodes),
        *_compared(nodes, prompts),
        parts.Heading(edges) if links else parts.Text(edges),
        parts.Sentences("", [more] if more else []),
        parts.Sentences("", list(_in_pictures(document))),
        _edges(links, graph),
        rounds_words.when_decided(graph, pairs),
        parts.Sentences("Common shifts", list(shifts(document, pairs))),
        parts.Sentences("In all", list(words.in_all(graph))),
        parts.Sentences("Other methods (the report has more)", list(_findings_in_short(graph))),
        parts.Sentences("Mediation", list(words.mediation(links, graph))),
        parts.Sentences("Undetermined", list(verdict_words.undetermined(document, pairs))),
        parts.Sentences(
            "To keep in mind", [*caveats(document), *judge_words.caveats_of_graph(graph)]
        ),
        _prompts(graph.get("prompts") or ()),
    ]


def shifts(document: Record, pairs: Sequence[Record]) -> Iterator[str]:
    """The common shifts to tell first."""
    return (
        f"{verdict_words.finding(pair, document)} {verdict_words.evidence(pair, document)}"
        for pair in verdict_words.told_first(pairs)
    )


def _in_pictures(document: Record) -> Iterator[str]:
    """The edges to tell first, as sentences about pictures."""
    told = (in_pictures(link, document) for link in verdict_words.strongest(document["links"]))
    return filter(None, told)


def graph_facts(document: Record) -> list[tuple[str, str]]:
    """What was audited and how: titles and their words."""
    graph, nodes = document["graph"], document["nodes"]
    images, prompt, subject = graph["images"], graph["prompt"], graph["subject"]
    untestable = words.is_without_interventions(graph)
    rows = (
        ("Prompts", words.prompts_words(graph) if prompt is None else None),
        ("Prompt", None if prompt is None else words.label(prompt)),
        ("Subject", subject and words.label(subject)),
        ("Model", words.label(graph["model"])),
        ("Judge", judge_words.judge(graph)),
        ("Judge validated", judge_words.validated_by(graph)),
        ("Images", words.images_words(images)),
        ("Until decided", rounds_words.saved(graph)),
        ("Ideal", words.ideal_words(graph, len(nodes))),
        ("Distance", f"Wasserstein-1, {words.metric_words(nodes)}"),
        ("Edges", None if untestable else words.rule_words(graph, nodes)),
    )
    return [(title, text) for title, text in rows if text]


def _axes(nodes: Sequence[Record]) -> parts.Table:
    rows = []
    for node in nodes:
        initial, null, most = node["initial"], node["w1_null"]["q95"], words.majority(node)
        distance = [words.with_ci(node["w1"], node["w1_ci"])]
        if corrected := node.get("corrected"):
            distance.append(f"{words.with_ci(corrected['w1'], corrected['w1_ci'])} corr.")
        rows.append(
            (
                words.name(node["id"]),
                most and f"{words.name(most[0])} {most[1]:.0%}",
                tuple(distance),
                None if null is None else f"to {null:.3f}",
                f"{initial['n_valid']}/{initial['n_total']}",
            )
        )
    columns = ("Axis", "Most images show", "Distance to ideal", "By chance", "Valid")
    return parts.Table(columns, rows, numeric=(2, 3, 4))


def _compared(nodes: Sequence[Record], prompts: Sequence[Record]) -> list[parts.ScreenPart]:
    """What the prompts show one by one."""
    if not prompts:
        return []
    tables = (prompt_tables.differences(nodes), prompt_tables.most_different(nodes, prompts))
    heading = "Prompt by prompt"
    return [parts.Heading(heading), *tables] if tables[0].rows else []


def _edges(links: Sequence[Record], graph: Record) -> parts.Table:
    """The edges, the strongest first."""
    caption = (
        "IS: what diversifying takes off (+) or adds to (-) the distance to the ideal, with "
        f"its {rounds_words.confidence(graph)} interval. V: strength of the association, 0 to 1."
    )
    if any(link.get("is_corrected") is not None for link in links):
        caption += " Corr.: without the judge's errors."
    if any("n_prompts" in link for link in links):
        caption += (
            " Below IS, the mean of the prompts' own IS: opposite effects cancel in the sum, not "
            "there."
        )
    rows = [
        (
            words.name(link["source"]),
            f"{words.name(link['target'])} {verdict_words.direction(link['sign'])}",
            tuple(_sensitivity(link)),
            words.p_value(link["p"]),
            None if link["cramers_v"] is None else f"{link['cramers_v']:.2f}",
        )
        for link in sorted(links, key=lambda link: -abs(link["is"]))
    ]
    return parts.Table(("Diversifying", "moves", "IS", "p", "V"), rows, caption, numeric=(2, 3, 4))


def _sensitivity(link: Record) -> Iterator[str]:
    """IS with its interval; without the judge's errors; the mean of the prompts' own."""
    for field, behind in (("is", ""), ("is_corrected", " corr.")):
        if link.get(field) is not None:
            ends = (link[f"{field}_ci_low"], link[f"{field}_ci_high"])
            yield words.with_interval(link[field], *ends, sign="+") + behind
    if "n_prompts" in link:
        mean = link["is_mean_prompt"]
        yield f"{'-' if mean is None else f'{mean:+.3f}'} mean of {link['n_mean_prompts']}"


def _findings_in_short(graph: Record) -> Iterator[str]:
    """The first number or ranking of every method's findings about a graph, and its warnings."""
    for finding in (graph.get("findings") or {}).values():
        telling = [part for part in finding["show"] if part["kind"] in ("number", "ranking")]
        for part in telling[:1]:
            told = _number(part) if part["kind"] == "number" else _ranking(part)
            yield f"{words.label(finding['title'])}: {told}."
        for part in finding["show"]:
            if part["kind"] == "text" and part["tone"] == "warning":
                yield words.label(part["text"], 400)


def _number(part: Record) -> str:
    value = words.with_interval(part["value"], part["low"], part["high"])
    number = f"{words.label(part['label'])} {value}"
    if part["value"] is None:
        return f"{number} ({words.label(part['reason'], 300)})"
    return number if part["n"] is None else f"{number}, n = {part['n']:,}"


def _ranking(part: Record) -> str:
    named = []
    for item in part["items"]:
        value = words.with_interval(item["value"], item["low"], item["high"])
        against = "" if item["reference"] is None else f" against {item['reference']:.3f}"
        named.append(f"{words.name(item['label'])} {value}{against}")
    listed = words.enumerated(named, "items")
    caption = words.label(part["caption"], 300).rstrip(".")
    return f"{caption}: {listed}" if caption else listed


def _prompts(prompts: Sequence[Record]) -> parts.Table:
    """One line for each prompt of a global graph."""
    rows: list[tuple[parts.Cell, ...]] = [
        (words.name(p["prompt"]), p["edges"], p["directory"].removeprefix(f"{PROMPTS}/"))
        for p in prompts
    ]
    return parts.Table(("Prompt", "Edges", f"Files in {PROMPTS}/"), rows, numeric=(1,))
