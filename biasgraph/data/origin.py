"""Who made pictures and who answered, as tables name them."""

from __future__ import annotations

from collections.abc import Iterable

NO_MODEL = "not recorded"
"""The model of a table that names none."""
OF_A_MODEL = "model:"
"""How the name of an annotator begins that is a model."""


def are_models(names: Iterable[str]) -> bool:
    """Whether every annotator is a model, as far as their names say."""
    return all(name.startswith(OF_A_MODEL) for name in names)
