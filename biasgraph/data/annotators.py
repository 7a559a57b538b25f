"""Annotators by their names: people, or models."""

from __future__ import annotations

from collections.abc import Iterable

OF_A_MODEL = "model:"
"""How the name of an annotator begins that is a model."""


def are_models(names: Iterable[str]) -> bool:
    """Whether every annotator is a model, as far as their names say."""
    return all(name.startswith(OF_A_MODEL) for name in names)
