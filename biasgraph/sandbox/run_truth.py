"""What an audit of the sandbox found, beside what was planted and what its generator draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biasgraph.data.axes import load_axis_set
from biasgraph.data.result import Result
from biasgraph.errors import InputError, printable
from biasgraph.sandbox.planted_truth import Truth, metrics_of, truth
from biasgraph.sandbox.realised_truth import realised_truth
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.world import AXES, world

Record = dict[str, Any]
TOY = "planted biases of the sandbox, which describe no real model"


def compare_with_truth(result: Result) -> Record:
    """The shares and pairs of a run of the sandbox: planted, realised and found.

    Realised are those of 2,000 images a prompt, for the occupations that were measured; None for
    others. Axes of other attributes, or in another order, are left out. IS is told only where the
    run measures as the truth does: by the same metrics, against a uniform ideal.

    Raises:
        InputError: The run is none of the sandbox, or of several prompts.
    """
    graph = result.document["graph"]
    backend, _, name = str(graph.get("model", "")).partition(":")
    if backend != "sandbox" or graph["kind"] != "prompt":
        raise InputError(
            f"no truth is known of {printable(str(graph.get('model')))}: only a sandbox run of one "
            "prompt has one"
        )
    metrics = metrics_of(load_axis_set("occupation"))
    planted = truth(world(name), read_scene(graph["prompt"]), metrics)
    try:
        realised = realised_truth(graph["prompt"], graph["model"], graph["vqa"], metrics)
    except InputError:
        realised = None
    known = {"planted": planted, "realised": realised}
    axes = [
        node
        for node in result.document["nodes"]
        if node["attributes"] == list(AXES.get(node["id"], ()))
    ]
    names = {node["id"] for node in axes}
    comparable = all(
        len(set(node["ideal"])) == 1 and node["metric"] == metrics[node["id"]] for node in axes
    )
    return {
        "toy": TOY,
        "prompt": graph["prompt"],
        "world": name,
        "comparable": comparable,
        "axes": [_axis(node, known) for node in axes],
        "pairs": [
            _pair(record, known, comparable)
            for record in result.pair_records()
            if record["source"] != record["target"]
            and {record["source"], record["target"]} <= names
        ],
    }


def _axis(node: Mapping[str, Any], known: Mapping[str, Truth | None]) -> Record:
    shares = {
        name: None if exact is None else exact.initial[node["id"]].tolist()
        for name, exact in known.items()
    }
    found, intervals = node["initial"]["distribution"], node["distribution_ci"]
    return {
        "axis": node["id"],
        "attributes": list(AXES[node["id"]]),
        **shares,
        "found": found,
        "found_ci": intervals,
        "n_valid": node["initial"]["n_valid"],
    }


def _pair(record: Mapping[str, Any], known: Mapping[str, Truth | None], comparable: bool) -> Record:
    source, target = record["source"], record["target"]
    values: Record = {"source": source, "target": target, "edge": record["edge"]}
    for name, exact in known.items():
        pair = None if exact is None else exact.by_name[source, target]
        values[f"cramers_v_{name}"] = None if pair is None else pair.cramers_v
        values[f"is_{name}"] = None if pair is None or not comparable else pair.sensitivity
    values["cramers_v_found"] = record["cramers_v"]
    values["is_found"] = record["is"]
    values["is_found_ci"] = [record["is_ci_low"], record["is_ci_high"]]
    return values
