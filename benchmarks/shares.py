"""Shares with their 95 % intervals, and Markdown tables of them, for the measuring scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binomtest

from biasgraph.io.writing import write_atomically

RESAMPLES = 2000

Estimate = dict[str, Any]
"""``value``, ``low``, ``high`` (None where undefined) and ``n``, what it rests on."""


def wilson(hits: int, n: int) -> Estimate:
    """A share of ``n`` independent cases with its Wilson interval."""
    if n == 0:
        return {"value": None, "low": None, "high": None, "n": 0}
    interval = binomtest(int(hits), int(n)).proportion_ci(method="wilson")
    return {
        "value": float(hits / n),
        "low": float(interval.low),
        "high": float(interval.high),
        "n": int(n),
    }


def clustered(hits: Sequence[int], n: Sequence[int]) -> Estimate:
    """A share whose cases come in groups (audits, prompts): the groups are resampled.

    Where all groups agree the bootstrap has no width, and Wilson's interval stands instead.
    """
    hit, size = np.asarray(hits), np.asarray(n)
    total = wilson(int(hit.sum()), int(size.sum()))
    used = size > 0
    rates = hit[used] / size[used]
    if len(rates) < 2 or np.ptp(rates) == 0:
        return total
    rng = np.random.default_rng(0)
    weights = rng.multinomial(len(size), np.full(len(size), 1 / len(size)), size=RESAMPLES)
    drawn = (weights @ hit) / np.maximum(weights @ size, 1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {**total, "low": float(low), "high": float(high)}


def mean(values: Iterable[float | None]) -> Estimate:
    """A mean of independent values with its bootstrap interval; undefined values are left out."""
    known = np.array([value for value in values if value is not None and np.isfinite(value)])
    if not len(known):
        return {"value": None, "low": None, "high": None, "n": 0}
    rng = np.random.default_rng(0)
    drawn = rng.choice(known, size=(RESAMPLES, len(known))).mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {"value": float(known.mean()), "low": float(low), "high": float(high), "n": len(known)}


def shown(estimate: Estimate, digits: int = 3) -> str:
    """``.953 [.948, .957]``; a dash where it is undefined."""
    if estimate["value"] is None:
        return "-"
    value, low, high = (number(estimate[name], digits) for name in ("value", "low", "high"))
    return f"{value} [{low}, {high}]"


def number(value: float | None, digits: int = 3) -> str:
    """``.953``; a dash for None; small numbers with two figures: ``8.1e-05``."""
    if value is None:
        return "-"
    if 0 < abs(value) < 10**-digits:
        return f"{value:.1e}"
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def write_json(path: Path, data: Any) -> None:
    """Write a result whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_atomically(path, text.encode())


def read_json(path: Path) -> Any:
    """What `write_json` wrote; None where there is nothing yet."""
    return json.loads(path.read_text("utf-8")) if path.exists() else None
