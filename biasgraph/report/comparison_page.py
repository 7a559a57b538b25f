"""compare.html: runs side by side in one page that works from the disk with the network off."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from biasgraph.report import html, judge_words, style, words
from biasgraph.report.comparison_summary import (
    changed_pairs,
    describe_changes,
    describe_distributions,
    is_clear,
)
from biasgraph.report.graph_drawing import drawing

Record = Mapping[str, Any]

REPORT = "report.html"
SURE = 0.95
"""A place in a ranking that fewer resamples agree on is not told as one."""


@dataclass(frozen=True)
class RunGraph:
    """A run's own graph over the axes that are compared.

    Attributes:
        nodes: Its axes, as in graph.json.
        pairs: The records of all its pairs, edge or not.
        links: Those of its edges, with their mediation.
        directory: Where its report may stand.
    """

    nodes: Sequence[Record]
    pairs: Sequence[Record]
    links: Sequence[Record]
    directory: Path | None


def comparison_html(document: Record, graphs: Sequence[RunGraph], directory: Path) -> bytes:
    """compare.html: the runs' graphs side by side, what changed, and the rankings.

    Args:
        document: What compare.json holds.
        graphs: The graph of each run, in the document's order.
        directory: Where the page will stand, from where it links to the runs' reports.
    """
    axes = [axis["id"] for axis in document["axes"]]
    pairs = [_pairs(graph, axes) for graph in graphs]
    runs: list[dict[str, Any]] = [
        {
            "label": words.label(run["name"]),
            "href": _report(graph.directory, directory),
            "drawing": drawing(graph.nodes, of_run),
            "pairs": of_run,
        }
        for run, graph, of_run in zip(document["runs"], graphs, pairs, strict=True)
    ]
    places = runs[0]["drawing"]
    comparisons = document["comparisons"]
    changes = [_changes(comparison, axes) for comparison in comparisons]
    differences = [
        {"drawing": _difference(comparison, of_run, places)}
        for comparison, of_run in zip(comparisons, changes, strict=True)
    ]
    model = {
        "document": document,
        "axes": [{"label": words.label(axis)} for axis in axes],
        "runs": runs,
        "differences": differences,
        "changes": changes,
    }
    return html.render(
        "compare.html",
        model=model,
        scripts=("compare_tables.js", "compare.js"),
        styles=("report.css", "compare.css"),
        title=_title(document),
        toy=document["toy"],
        about_labels=judge_words.about_labels(document["runs"]),
        fact_rows=list(_facts(document)),
        lead=[_describe_changes(comparison, document) for comparison in document["comparisons"]],
        nothing=all(comparison.get("same_answers") for comparison in document["comparisons"]),
        labels=[run["label"] for run in runs],
        hrefs=[run["href"] for run in runs],
        gates=[
            {"gate": words.label(gate["gate"]), "failed": run["failed"],
             "run": words.label(run["run"]), "words": run["words"]}
            for gate in document["gates"] for run in gate["runs"]
        ],
        ranking=list(_ranking(document)),
        notes=list(words.notes(document, 2000)),
    )  # fmt: skip


def _describe_changes(comparison: Record, document: Record) -> dict[str, Any]:
    """What changed in a run: sentences about distributions, then the pairs."""
    table = changed_pairs(comparison)
    return {
        "distributions": list(describe_distributions(comparison, document)),
        "changed": {"kind": table.kind, **asdict(table)},
        "pairs": [] if comparison.get("same_answers") else list(describe_changes(comparison)),
    }


def _report(run: Path | None, directory: Path) -> str | None:
    """The address of a run's own report as seen from the page; None where there is none."""
    if run is None or not (run / REPORT).is_file():
        return None
    try:
        relative = os.path.relpath((run / REPORT).absolute(), directory.absolute())
    except ValueError:  # another drive
        return None
    return quote(Path(relative).as_posix())


def _pairs(graph: RunGraph, axes: Sequence[str]) -> list[dict[str, Any]]:
    """Every ordered pair in the order of the axes, the diagonal included."""
    records = {(pair["source"], pair["target"]): pair for pair in graph.pairs}
    mediation = {(link["source"], link["target"]): link["mediation"] for link in graph.links}
    fields = ("is", "is_ci_low", "is_ci_high", "sign", "p", "edge", "status")
    return [
        {name: records[source, target][name] for name in fields}
        | {"mediation": mediation.get((source, target), [])}
        for source in axes
        for target in axes
    ]


def _changes(comparison: Record, axes: Sequence[str]) -> dict[int, Record]:
    """The pairs of a comparison by source * axes + target."""
    place = {axis: i for i, axis in enumerate(axes)}
    return {
        place[pair["source"]] * len(axes) + place[pair["target"]]: pair
        for pair in comparison["pairs"]
    }


LOOKS = {"in both": "both", "undecided in the other": "undecided", "in neither": "undecided"}


def _difference(
    comparison: Record, changes: Mapping[int, Record], places: Record
) -> dict[str, Any]:
    """The difference view for `drawGraph`: the places of the runs' graphs, edges by class."""
    growth = comparison["distances"]
    told = ("n/d" if row["growth"] is None else _signed(row["growth"]) for row in growth)
    nodes = [
        {**node, "size": 20, "distance": 0, "detail": f"distance {what}"} | _describe_move(row)
        for node, row, what in zip(places["nodes"], growth, told, strict=True)
    ]
    edges = []
    for edge in places["edges"]:
        change = changes[edge["id"]]
        difference, kind = change["difference"], change["class"]
        changed = kind == "changed"
        look = "rose" if changed and difference > 0 else "fell" if changed else LOOKS.get(kind)
        edges.append(
            {
                **edge,
                "width": round(3 * style.width(difference), 2) if changed else 3,
                "edge": kind not in (None, "in neither"),
                "sign": look or "undecided",
                "mediated": False,
                "p": change["p_adjusted"],
                "is": difference,
            }
        )
    return {**places, "nodes": nodes, "edges": edges}


def _signed(number: float) -> str:
    return style.show_sign(number).replace("-", "\N{MINUS SIGN}")


def _describe_move(row: Record) -> dict[str, str]:
    """Where an axis went in relation to its ideal, as the page colours and says it."""
    if not is_clear(row):
        said = row["reason"] or "within chance of the baseline"
        return {"change": "chance", "says": said}
    further = row["growth"] > 0
    change = "further" if further else "closer"
    return {"change": change, "says": f"{change} {'from' if further else 'to'} its ideal"}


def _title(document: Record) -> str:
    prompts = document["prompts"]
    if document["kind"] == "global":
        return f"{len(document['runs'])} runs over {len(prompts)} prompts, compared"
    about = list(dict.fromkeys(run["prompt"] for run in document["runs"]))
    named = " and ".join(f"“{words.label(prompt, 120)}”" for prompt in about[:3])
    return f"{len(document['runs'])} runs of {named}, compared"


def _facts(document: Record) -> Iterator[tuple[str, str]]:
    runs = document["runs"]
    for title, some in (("Baseline", runs[:1]), ("Compared", runs[1:])):
        yield title, ", ".join(words.label(run["name"]) for run in some)
    yield "Judge", ", ".join(dict.fromkeys(map(judge_words.judge, runs)))
    images = dict.fromkeys(
        f"{run['images']['initial']:,} initial, {run['images']['interventions']:,} counterfactual"
        for run in runs
    )
    yield "Images", "; ".join(images)
    yield "Distance", f"Wasserstein-1, {words.plain(words.metric_words(document['axes']))}"
    resamples, level = document["settings"]["bootstrap"], document["settings"]["level"]
    yield "Change", f"bootstrap of {resamples:,}, Benjamini-Hochberg at {level:g}"


def _ranking(document: Record) -> Iterator[dict[str, Any]]:
    """For each run its least influenced and its most influential axis, and how sure that is."""
    for run in document["runs"]:
        rows = [row for row in document["strengths"] if row["run"] == run["name"]]
        first: dict[str, Any] = {"run": words.label(run["name"])}
        for end in ("in", "out"):
            known = [row for row in rows if row[end]["first_of_axes"] is not None]
            best = max(known, key=lambda row: row[end]["first_of_axes"], default=None)
            first[end] = best and {
                "axis": words.label(best["axis"]),
                "share": words.percent(best[end]["first_of_axes"]),
                "sure": best[end]["first_of_axes"] >= SURE,
                "value": words.with_ci(best[end]["value"], None),
            }
        yield first
