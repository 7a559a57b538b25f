"""Parameters of which `make test` takes a sample and `make test-all` takes each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

SLOW = pytest.mark.slow(reason="many of one kind; a sample of them stays")


def sampled(values: Iterable[Any], every: int = 8) -> list[Any]:
    """Parameters: the first of so many values, and the others marked as slow."""
    return [
        value if place % every == 0 else pytest.param(*_parts(value), marks=SLOW)
        for place, value in enumerate(values)
    ]


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
