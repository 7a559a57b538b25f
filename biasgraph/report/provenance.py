"""How a result was made, as a page shows it: settings, models and versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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


def rows_of(values: Record) -> Rows:
    """Names and values in words."""
    return [(name.replace("_", " "), _said(value)) for name, value in values.items()]


def _said(value: object) -> str:
    if value is None or value == [] or value == "":
        return "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_said, value))
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_said(one)}" for name, one in value.items())
    return words.label(str(value), 200)
