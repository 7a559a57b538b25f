"""What the report's page shows, as JSON: numbers as in graph.json, names safe to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from biasgraph.causal.flags import FLAG_WORDS, STATUS_WORDS, VERDICT_NAMES, VERDICT_WORDS
from biasgraph.causal.tables import mix_arms
from biasgraph.data.file_names import REPORT
from biasgraph.data.findings import Images
from biasgraph.errors import InputError
from biasgraph.io.csv_files import table_text
from biasgraph.report import judge_words, rounds_words, verdict_words, words
from biasgraph.report.caveats import caveats
from biasgraph.report.graph_summary import graph_facts
from biasgraph.report.lead import explain_untested, lead
from biasgraph.report.picture_data import LOST, describe_unlisted, picture_data
from biasgraph.report.power_words import say_needed
from biasgraph.report.provenance import graph_provenance
from biasgraph.report.thumbnails import CONTROLS, Thumbnails

if TYPE_CHECKING:
    from biasgraph.data.result import Result

Record = Mapping[str, Any]
Counts = Mapping[tuple[str, str, str], Mapping[str, int]]
"""(axis, attribute, target) -> answer -> count, summed over prompts."""


def page_data(result: Result, thumbnails: Thumbnails) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the page's scripts draw (`model`) and its template writes, in JSON types.

    The drawing of the graph and the pictures themselves are not among it.

    model["axes"] are the names to show, in the document's order, which numbers everything else:
    `pairs` holds every ordered pair at source * axes + target, `sets` the initial images and those
    of every intervention with their counts about each axis (its attributes, then unknown, then
    gated), `images` all of them, the chosen ones first (`picture_data`); sets and findings name
    them by their place in it.

    Raises:
        InputError: a table of the result lacks an axis of its graph.
    """
    document = result.document
    nodes, graph = document["nodes"], document["graph"]
    pairs, record = _all_pairs(result), graph.get("agreement")
    documents = [part.document for part in result.prompts]
    ids = thumbnails.images
    place = {image: i for i, image in enumerate(ids)}
    sets = _sets(result, thumbnails, place)
    model = {
        "document": document,
        "axes": [_axis(node) for node in nodes],
        "pairs": [_pair(pair, document) for pair in pairs],
        "sets": sets,
        "mixed": _mix_arms(sets, len(nodes), graph["settings"]["mix"]),
        **picture_data(result, thumbnails, _places(sets, nodes)),
        "model": words.label(graph["model"] or "", 200),
        "findings": {
            "graph": _prepare_findings(graph["findings"], place),
            "nodes": [_prepare_findings(node["findings"], place) for node in nodes],
        },
        "words": {
            "flags": FLAG_WORDS,
            "status": STATUS_WORDS,
            "verdicts": VERDICT_WORDS,
            "verdict_names": VERDICT_NAMES,
            "confidence": rounds_words.confidence(graph),
        },
        "agreement": record and {"summary": judge_words.summary(record)},
    }
    listed = len(model["images"])
    context = {"unlisted": describe_unlisted(result.answers, listed, several=bool(documents))}
    return model, context | _context(document, pairs, documents)


def _context(
    document: Record, pairs: Sequence[Record], prompts: Sequence[Record]
) -> dict[str, Any]:
    nodes, graph, links = document["nodes"], document["graph"], document["links"]
    in_title = ("Prompt", "Subject") if graph["subject"] == graph["prompt"] else ("Prompt",)
    index = {node["id"]: i for i, node in enumerate(nodes)}
    listed = [
        {
            "prompt": words.label(prompt["prompt"]),
            "href": f"{quote(prompt['directory'])}/{REPORT}",
        }
        for prompt in graph.get("prompts") or ()
    ]
    return {
        "title": title_of(document),
        "quoted": graph["prompt"] is not None,
        "toy": graph["toy"],
        "arrow": words.ARROW,
        "about_labels": judge_words.about_labels([graph]),
        "unseen_words": [words.label(word) for word in graph.get("unseen_words") or ()],
        "fact_rows": [row for row in graph_facts(document) if row[0] not in in_title],
        "lead": list(lead(document, pairs)),
        "strongest": [
            {
                "pair": index[link["source"]] * len(nodes) + index[link["target"]],
                "sign": link["sign"] or "undetermined",
                "text": verdict_words.finding(link, document),
                "evidence": verdict_words.evidence(link, document),
            }
            for link in [*verdict_words.strongest(links), *verdict_words.pick_shifts(pairs)]
        ],
        "in_all": list(words.in_all(graph)),
        "mediation": list(words.mediation(links, graph)),
        "undetermined": list(verdict_words.describe_undetermined(document, pairs)),
        "caveats": [*caveats(document), *judge_words.caveats_of_graph(graph)],
        "several": bool(prompts),
        "places": [prompt["href"] for prompt in listed],
        "provenance": graph_provenance(graph),
        "needed": None if links else say_needed(document, pairs),
        "untested": explain_untested() if words.is_without_interventions(graph) else None,
    }


def title_of(document: Record) -> str:
    """What the page is about, in a line."""
    graph = document["graph"]
    if graph["prompt"] is None:
        return f"{len(graph['prompts'])} prompts"
    return words.label(graph["prompt"], 300)


def _all_pairs(result: Result) -> list[dict[str, Any]]:
    """Every ordered pair in the order of the nodes, flags as a list, edges with their mediation."""
    names = [node["id"] for node in result.document["nodes"]]
    links = {(link["source"], link["target"]): link for link in result.document["links"]}
    records = {
        (table_text(pair["source"]), table_text(pair["target"])): pair
        for pair in result.pair_records()
    }
    pairs = []
    for source in names:
        for target in names:
            record = records.get((table_text(source), table_text(target)))
            if record is None:
                pair = words.arrow({"source": source, "target": target})
                raise InputError(f"pairs.csv does not fit graph.json: it lacks {pair}")
            flags = [flag for flag in record["flags"].split(";") if flag]
            link = links.get((source, target), {"mediation": []})
            pairs.append({**record, **link, "source": source, "target": target, "flags": flags})
    return pairs


def _axis(node: Record) -> dict[str, Any]:
    return {
        "label": words.label(node["id"]),
        "attributes": [words.label(attribute) for attribute in node["attributes"]],
    }


def _pair(pair: Record, document: Record) -> dict[str, Any]:
    index = {node["id"]: i for i, node in enumerate(document["nodes"])}
    shown = {
        "source": index[pair["source"]],
        "target": index[pair["target"]],
        "mediation": [
            {**check, "axis": index[check["through"]], "words": words.label(check["verdict"])}
            for check in pair["mediation"]
        ],
        "reason": None if pair["status"] == "ok" else verdict_words.reason(pair),
        "text": verdict_words.about_pair(pair, document),
        "evidence": verdict_words.evidence(pair, document)
        if verdict_words.is_found(pair) and pair["source"] != pair["target"]
        else None,
    }
    return {**pair, **shown}


def _counts(result: Result) -> Counts:
    names = ["role", "axis", "attribute", "target", "answer", "count"]
    frame = result.tables[names].fillna("")
    counts: dict[tuple[str, str, str], dict[str, int]] = {}
    for role, x, a, y, answer, count in zip(*map(frame.get, names), strict=True):
        axis, attribute = CONTROLS if role == "control" else (table_text(x), table_text(a))
        of_target = counts.setdefault((axis, attribute, table_text(y)), {})
        of_target[table_text(answer)] = of_target.get(table_text(answer), 0) + int(count)
    return counts


def _sets(result: Result, thumbnails: Thumbnails, place: Mapping[str, int]) -> list[dict[str, Any]]:
    nodes = result.document["nodes"]
    counts = _counts(result)
    known = {(axis, attribute) for axis, attribute, _ in counts}
    chosen = {
        (table_text(x), table_text(a)): images for (x, a), images in thumbnails.chosen.items()
    }
    wanted = [(-1, -1, "", "")] + [
        (x, a, table_text(node["id"]), table_text(attribute))
        for x, node in enumerate(nodes)
        for a, attribute in enumerate(node["attributes"])
    ]
    wanted.append((-2, -1, *CONTROLS))
    return [
        {
            "axis": x,
            "attribute": a,
            "counts": [
                _row(counts.get((axis, attribute, table_text(node["id"])), {}), node["attributes"])
                for node in nodes
            ],
            "images": [place[image] for image in chosen.get((axis, attribute), ())],
        }
        for x, a, axis, attribute in wanted
        if (axis, attribute) in known
    ]


def _places(sets: Sequence[Record], nodes: Sequence[Record]) -> dict[tuple[str, str], int]:
    """The place of every set by its axis and attribute, as the answers table names them."""
    found = {}
    for place, one in enumerate(sets):
        x, a = one["axis"], one["attribute"]
        asked = (nodes[x]["id"], nodes[x]["attributes"][a]) if x >= 0 else ("", "")
        found[CONTROLS if x == -2 else asked] = place
    return found


def _mix_arms(sets: Sequence[Record], axes: int, mix: str) -> list[list[list[float] | None] | None]:
    """[source][target]: shares of all arms of an axis, mixed as the analysis does.

    None where an arm has no valid answer.
    """
    mixtures: list[list[list[float] | None] | None] = []
    for x in range(axes):
        arms = [one["counts"] for one in sets if one["axis"] == x]
        counts = [np.array([arm[y][: -len(LOST)] for arm in arms]) for y in range(axes)]
        mixtures.append(
            [mix_arms(one, mix).tolist() if one.any(axis=1).all() else None for one in counts]
            if arms
            else None
        )
    return mixtures


def _row(counts: Mapping[str, int], attributes: Sequence[str]) -> list[int]:
    lost = [0 if answer in attributes else counts.get(answer, 0) for answer in LOST]
    return [*(counts.get(table_text(attribute), 0) for attribute in attributes), *lost]


def _prepare_findings(findings: Record, place: Mapping[str, int]) -> list[dict[str, Any]]:
    """The findings of all methods, with pictures by their place in `images`."""

    def place_images(part: dict[str, Any]) -> dict[str, Any]:
        if part["kind"] != Images.kind:
            return part
        items = [item | {"image": place.get(item["image"])} for item in part["items"]]
        return part | {"items": items}

    return [
        {name: finding[name] for name in ("title", "about")}
        | {"show": [place_images(part) for part in finding["show"]]}
        for finding in findings.values()
    ]
