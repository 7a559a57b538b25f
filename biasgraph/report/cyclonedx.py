"""A result as a machine-learning bill of materials: CycloneDX 1.6, with a model card.

Written by hand: cyclonedx-python-lib has no model cards (11.12). Metrics have a type, a value, a
slice and an interval, all texts; what is undefined is left out and stands among the limitations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biasgraph.io.json_files import to_json
from biasgraph.io.version import __version__
from biasgraph.report import judge_words, verdict_words, words
from biasgraph.report.build_record import BuildRecord, identity
from biasgraph.report.caveats import caveats
from biasgraph.report.graph_summary import graph_facts
from biasgraph.report.lead import lead
from biasgraph.report.provenance import describe_models

if TYPE_CHECKING:
    from biasgraph.data.result import Result

Record = Mapping[str, Any]
FILE = "bom.cdx.json"
NAME = "biasgraph"
SENSITIVITY = "Intersectional Sensitivity"
DISTANCE = "Wasserstein-1 distance to the ideal"


def bom_files(result: Result) -> dict[str, bytes]:
    """bom.cdx.json.

    Raises:
        InputError: the run's record is damaged.
    """
    record = BuildRecord.of(result)
    metadata: dict[str, Any] = {
        "tools": {"components": [{"type": "application", "name": NAME, "version": __version__}]}
    }
    if record.date is not None:
        metadata["timestamp"] = record.date.isoformat()
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{identity(result)}",
        "version": 1,
        "metadata": metadata,
        "components": [_model(result, record)],
    }
    return {FILE: to_json(document)}


def _model(result: Result, record: BuildRecord) -> dict[str, Any]:
    """The model that was audited."""
    document = result.document
    graph, pairs = document["graph"], result.pair_records()
    toy = [graph["toy"]] if graph["toy"] else []
    return {
        "type": "machine-learning-model",
        "bom-ref": "model",
        "name": graph["model"],
        "description": words.plain(" ".join([*toy, *lead(document, pairs)])),
        "modelCard": {
            "bom-ref": "model-card",
            "modelParameters": {
                "task": "text-to-image",
                "inputs": [{"format": "text"}],
                "outputs": [{"format": "image"}],
            },
            "quantitativeAnalysis": {"performanceMetrics": list(_metrics(document, pairs))},
            "considerations": {"technicalLimitations": [*toy, *_limits(document, pairs)]},
            "properties": list(_properties(document, record)),
        },
    }


def _metrics(document: Record, pairs: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Of every axis its images, shares, ideal and distance; of every edge its sensitivity."""
    for node in document["nodes"]:
        axis, initial = node["id"], node["initial"]
        intervals = node["distribution_ci"] or [None] * len(node["attributes"])
        yield _metric("initial images", initial["n_total"], axis)
        yield _metric("initial images with a valid answer", initial["n_valid"], axis)
        for place, attribute in enumerate(node["attributes"]):
            one = f"{axis} = {attribute}"
            yield _metric("ideal share", node["ideal"][place], one)
            if initial["distribution"] is not None:
                share, ends = initial["distribution"][place], intervals[place]
                yield _metric("share of initial images", share, one, ends)
        if node["w1"] is not None:
            yield _metric(DISTANCE, node["w1"], axis, node["w1_ci"])
    for link in document["links"]:
        ends = (link["is_ci_low"], link["is_ci_high"])
        yield _metric(SENSITIVITY, link["is"], f"{link['source']} → {link['target']}", ends)


def _metric(
    kind: str, value: float, part: str, ends: Sequence[float | None] | None = None
) -> dict[str, Any]:
    metric: dict[str, Any] = {"type": kind, "value": repr(value), "slice": part}
    if ends is not None and None not in ends:
        low, high = map(repr, ends)
        metric["confidenceInterval"] = {"lowerBound": low, "upperBound": high}
    return metric


def _limits(document: Record, pairs: Sequence[Record]) -> Iterator[str]:
    """What could not be determined, and what to keep in mind."""
    graph = document["graph"]
    yield from map(words.plain, verdict_words.describe_undetermined(document, pairs))
    yield from map(words.plain, caveats(dict(document)))
    yield from map(words.plain, judge_words.caveats_of_graph(graph))
    yield judge_words.about_labels([graph])


def _properties(document: Record, record: BuildRecord) -> Iterator[dict[str, str]]:
    """What was audited, how and when, as the audit card says it; every prompt in full."""
    graph = document["graph"]
    facts = {**dict(graph_facts(document)), **describe_models(graph)}
    told = {name: value for name, value in facts.items() if name not in ("Prompt", "Prompts")}
    one = graph["prompt"]
    prompts = [one] if one is not None else [each["prompt"] for each in graph["prompts"]]
    made = [("Command", record.shell)] if record.shell else []
    for name, value in [*(("Prompt", text) for text in prompts), *told.items(), *made]:
        yield {"name": f"{NAME}:{name}", "value": words.plain(value)}
