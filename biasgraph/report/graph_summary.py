"""A graph told in parts: what was audited, its axes and edges, and what to keep in mind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgraph.causal.flags import CLAIMS, VERDICT_NAMES, VERDICT_WORDS
from biasgraph.data import findings as parts
from biasgraph.data.file_names import PROMPTS
from biasgraph.errors import names_in
from biasgraph.report import judge_words, prompt_tables, rounds_words, verdict_words, words
from biasgraph.report.caveats import caveats
from biasgraph.report.lead import describe_seen, explain_untested
from biasgraph.report.power_words import say_needed
from biasgraph.report.share_words import in_pictures

Record = Mapping[str, Any]


@dataclass(frozen=True)
class ReportInput:
    """What there is to tell of.

    Attributes:
        document: The document of the graph.
        pairs: Every ordered pair of axes, as `Result.pair_records` gives them.
        prompts: The documents of the graphs of several prompts.
    """

    document: Record
    pairs: Sequence[Record]
    prompts: Sequence[Record] = ()

    @property
    def graph(self) -> Record:
        """What is said of the whole graph."""
        whole: Record = self.document["graph"]
        return whole


Section = Callable[[ReportInput], Iterator[parts.ScreenPart]]


def summarize(told: ReportInput, sections: Sequence[str] = ()) -> list[parts.ScreenPart]:
    """What graph.json says, in parts.

    Args:
        told: What there is to tell of.
        sections: What to tell, of `SECTIONS`, in this order; all of them unless some are given.
    """
    found: list[parts.ScreenPart] = [parts.Banner(told.graph["toy"])]
    for name in sections or SECTIONS:
        section = [part for part in SECTIONS[name](told) if not parts.is_empty(part)]
        found += section
        if not section and 0 < len(sections) < len(SECTIONS):
            found.append(parts.Text(f"{name}: nothing to show"))
    return found


def _settings(told: ReportInput) -> Iterator[parts.ScreenPart]:
    yield parts.Facts(graph_facts(told.document))


def _axes(told: ReportInput) -> Iterator[parts.ScreenPart]:
    if told.prompts:
        yield parts.Sentences("", list(describe_seen(told.document)))
    yield axis_table(told.document["nodes"])


def _prompts(told: ReportInput) -> Iterator[parts.ScreenPart]:
    """What the prompts show one by one, and where the files of each are."""
    nodes = told.document["nodes"]
    if told.prompts and (differences := prompt_tables.differences(nodes)).rows:
        yield from (parts.Heading("Prompt by prompt"), differences)
        yield prompt_tables.most_different(nodes, told.prompts)
    yield _files_of_prompts(told.graph.get("prompts") or ())


def _findings(told: ReportInput) -> Iterator[parts.ScreenPart]:
    document, pairs, graph = told.document, told.pairs, told.graph
    links, untestable = document["links"], words.is_without_interventions(graph)
    verb = "is an edge" if len(links) == 1 else "are edges"
    edges = f"{len(links)} of {len(words.between(pairs))} pairs of axes {verb}"
    yield parts.Heading(edges) if links else parts.Text(explain_untested() if untestable else edges)
    more = None if links or untestable else say_needed(document, pairs)
    yield parts.Sentences("", [more] if more else [])
    yield parts.Sentences("", list(_in_pictures(document)))
    yield _edges(links, graph)
    yield parts.Sentences("Common shifts", list(shifts(document, pairs)))
    yield parts.Sentences("In all", list(words.in_all(graph)))
    yield parts.Sentences("Mediation", list(words.mediation(links, graph)))


def _pairs(told: ReportInput) -> Iterator[parts.ScreenPart]:
    """The pairs that are no edges, and what could not be decided."""
    others = [pair for pair in words.between(told.pairs) if not pair["edge"]]
    if not words.is_without_interventions(told.graph):
        yield parts.Heading(f"{words.count_noun(len(others), 'pair')} without an edge")
        yield _pair_table(others)
    yield rounds_words.when_decided(told.graph, told.pairs)
    undecided = verdict_words.describe_undecided(told.document, told.pairs)
    yield parts.Sentences("Undetermined", list(undecided))


def _methods(told: ReportInput) -> Iterator[parts.ScreenPart]:
    title = "Other methods (the report has more)"
    yield parts.Sentences(title, list(_findings_in_short(told.graph)))


def _images(told: ReportInput) -> Iterator[parts.ScreenPart]:
    """How many images were asked about on each axis, and what became of their answers."""
    rows: list[tuple[parts.Cell, ...]] = []
    for node in told.document["nodes"]:
        initial = node["initial"]
        counts = [initial[name] for name in ("n_total", "n_valid", "n_unknown", "n_gated")]
        rows.append((words.name(node["id"]), *counts))
    columns = ("Axis", "Initial images", "Valid answers", "Unknown", "Nobody in it")
    yield parts.Table(columns, rows, numeric=(1, 2, 3, 4))


def _caveats(told: ReportInput) -> Iterator[parts.ScreenPart]:
    said = [*caveats(told.document), *judge_words.caveats_of_graph(told.graph)]
    yield parts.Sentences("To keep in mind", said)


SECTIONS: dict[str, Section] = {
    "settings": _settings,
    "axes": _axes,
    "prompts": _prompts,
    "findings": _findings,
    "pairs": _pairs,
    "methods": _methods,
    "images": _images,
    "caveats": _caveats,
}
"""What there is to tell of a graph, by the names that `biasgraph show --section` takes."""


ALL = "all"


def sections_in(text: str) -> list[str]:
    """The sections named in "axes,pairs", each once.

    Raises:
        InputError: there is no such section, or none is named.
    """
    names = names_in(text, (*SECTIONS, ALL), option="--section", what="section")
    return [*SECTIONS] if ALL in names else names


def shifts(document: Record, pairs: Sequence[Record]) -> Iterator[str]:
    """The common shifts to tell first."""
    return (
        f"{verdict_words.finding(pair, document)} {verdict_words.evidence(pair, document)}"
        for pair in verdict_words.pick_shifts(pairs)
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
        ("Judge validated", judge_words.describe_validation(graph)),
        ("Images", words.images_words(images)),
        ("Until decided", rounds_words.describe_savings(graph)),
        ("Ideal", words.ideal_words(graph, len(nodes))),
        ("Distance", f"Wasserstein-1, {words.metric_words(nodes)}"),
        ("Edges", None if untestable else words.rule_words(graph, nodes)),
    )
    return [(title, text) for title, text in rows if text]


def axis_table(nodes: Sequence[Record]) -> parts.Table:
    """What most images show on each axis, and how far that is from the ideal."""
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


def _edges(links: Sequence[Record], graph: Record) -> parts.Table:
    """The edges, the strongest first."""
    caption = (
        "IS: what diversifying takes off (+) or adds to (-) the distance to the ideal, with "
        f"its {rounds_words.confidence(graph)} interval. V: strength of the association, 0 to 1."
    )
    if any(link["sign"] not in CLAIMS for link in links):
        caption += (
            " Undetermined: the direction in which diversifying moves the axis lies within "
            "chance. Below delta: it hardly changes the distance to the ideal."
        )
    if any(link.get("is_corrected") is not None for link in links):
        caption += " Corr.: without the judge's errors."
    if any("n_prompts" in link for link in links):
        caption += (
            " Below IS, the mean of the prompts' own IS: opposite effects cancel in the sum, not "
            "there."
        )
    return _table_of(sorted(links, key=lambda link: -abs(link["is"])), caption)


def _pair_table(pairs: Sequence[Record]) -> parts.Table:
    """Pairs that are no edges, those least alike by chance first."""
    known = sorted(pairs, key=lambda pair: (pair["p"] is None, pair["p"]))
    verdicts = dict.fromkeys(pair.get("verdict") for pair in known)
    told = [
        f"{name[0].upper()}{name[1:]}: {VERDICT_WORDS[verdict]}."
        for verdict, name in VERDICT_NAMES.items()
        if verdict in verdicts
    ]
    return _table_of(known, " ".join(told))


def _table_of(pairs: Sequence[Record], caption: str) -> parts.Table:
    rows = [
        (
            words.name(pair["source"]),
            words.name(pair["target"]),
            _verdict(pair),
            tuple(_sensitivity(pair)) or None,
            words.p_value(pair["p"]),
            None if pair["cramers_v"] is None else f"{pair['cramers_v']:.2f}",
        )
        for pair in pairs
    ]
    columns = ("Diversifying", "moves", "Verdict", "IS", "p", "V")
    return parts.Table(columns, rows, caption, numeric=(3, 4, 5))


def _verdict(pair: Record) -> str | None:
    """Its name; earlier versions wrote none."""
    if pair.get("verdict"):
        return VERDICT_NAMES[pair["verdict"]]
    if not pair["edge"]:
        return None
    return VERDICT_NAMES[pair["sign"] if pair["sign"] in CLAIMS else "edge_undetermined"]


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
    listed = words.list_first(named, "items")
    caption = words.label(part["caption"], 300).rstrip(".")
    return f"{caption}: {listed}" if caption else listed


def _files_of_prompts(prompts: Sequence[Record]) -> parts.Table:
    """One line for each prompt of a global graph."""
    rows: list[tuple[parts.Cell, ...]] = [
        (words.name(p["prompt"]), p["edges"], p["directory"].removeprefix(f"{PROMPTS}/"))
        for p in prompts
    ]
    return parts.Table(("Prompt", "Edges", f"Files in {PROMPTS}/"), rows, numeric=(1,))
