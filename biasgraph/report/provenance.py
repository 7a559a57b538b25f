"""How a result was made, as a page shows it: settings, models and versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biasgraph.data.origin import NO_MODEL
from biasgraph.report import words

Record = Mapping[str, Any]
Rows = list[tuple[str, str]]


def provenance(document: Record, models: Sequence[str]) -> dict[str, Rows]:
    """Rows by their title: what was asked for, and what it was made with.

    Args:
        document: With ``settings``, ``seed`` and ``versions``.
        models: What it calls those whose fingerprints it has.
    """
    names = [f"{model}_fingerprint" for model in models]
    prints = {name: document[name] for name in names if document.get(name)}
    settings = {**document["settings"], "seed": document["seed"]}
    return {
        "Settings": rows_of(settings),
        "Models": rows_of(prints),
        "Versions": rows_of(document["versions"]),
    }


def graph_provenance(graph: Record) -> dict[str, list[list[str]]]:
    """The same of a graph, as lists; what is not recorded is left out."""
    groups = {
        "Made with": describe_models(graph),
        "Settings": graph["settings"],
        "Versions": graph["versions"],
    }
    return {
        title: [[name, _say(text)] for name, text in group.items() if text is not None]
        for title, group in groups.items()
    }


def describe_models(graph: Record) -> dict[str, str]:
    """The axes, models and seed of a graph, as far as they are recorded."""
    made = {
        "Axes": graph["axes"] and f"{graph['axes']['name']} ({graph['axes']['digest'][:12]})",
        "Model's fingerprint": graph.get("model_fingerprint"),
        "Judge's fingerprint": graph.get("vqa_fingerprint"),
        "Seed": graph.get("seed"),
    }
    return {name: words.label(str(text)) for name, text in made.items() if text is not None}


def rows_of(values: Record) -> Rows:
    """Names and values in words."""
    return [(name.replace("_", " "), _say(value)) for name, value in values.items()]


def _say(value: object) -> str:
    if value is None or value == [] or value == "":
        return "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_say, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_say(one)}" for name, one in value.items())
    return words.label(str(value), 200)


def describe_model(graph: Record, longest: int) -> str:
    """The model as what comes after "by"; an answers table need not name one."""
    if graph["model"] == NO_MODEL:
        return "a model that is not recorded"
    return words.label(graph["model"], longest)
