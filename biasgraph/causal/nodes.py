"""What one axis's own images say: its distribution, and how far it lies from the ideal."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from biasgraph.causal.sensitivity import Interval, TargetDraws
from biasgraph.causal.settings import TAIL, AnalysisSettings, generator
from biasgraph.causal.tables import Floats, Tally, Variable
from biasgraph.causal.transport import Ideal

FEW_ANSWERS = 32
NULL_DRAWS = 10_000


def node(
    name: str,
    variable: Variable,
    initial: Tally,
    ideal: Ideal,
    draws: TargetDraws | None,
    settings: AnalysisSettings,
) -> dict[str, Any]:
    """The fields of a node that need no edges.

    name: what its random draws are named after; initial: the answers, summed over prompts;
    draws: their bootstrap, None where there are too few valid answers.
    """
    has_answers = initial.n_valid > 0
    result: dict[str, Any] = {
        "id": variable.name,
        "metric": ideal.metric,
        "attributes": list(variable.attributes),
        "initial": {
            "counts": initial.counts.tolist(),
            "distribution": initial.shares.tolist() if has_answers else None,
            "n_total": initial.n_total,
            "n_gated": initial.n_gated,
            "n_unknown": initial.n_unknown,
            "n_valid": initial.n_valid,
        },
        "distribution_ci": wilson(initial).tolist() if has_answers else None,
        "distribution_bounds": bounds(initial),
        "ideal": ideal.shares.tolist(),
        "w1": None,
        "w1_ci": None,
        "w1_null": {"mean": None, "q95": None},
        "near_ideal": None,
        "status": "insufficient",
        "flags": [],
        "findings": {},
    }
    if ideal.cost is not None:
        result["cost"] = ideal.cost.tolist()
    if ideal.reference is not None:
        result["reference"] = ideal.reference.tolist()
    if draws is not None:
        result["status"] = "ok"
        _measure(result, name, variable, initial, ideal, draws, settings)
    return result


def _measure(
    result: dict[str, Any],
    name: str,
    variable: Variable,
    initial: Tally,
    ideal: Ideal,
    draws: TargetDraws,
    settings: AnalysisSettings,
) -> None:
    w1 = float(ideal.distance(initial.shares))
    distances = draws.distances
    if initial.n_valid < FEW_ANSWERS:
        result["flags"].append("small_sample")
    if np.ptp(distances) < 1e-12:
        result["flags"].append("zero_width")
        rng = generator(settings.seed, name, "smooth", variable.name)
        smoothed = draws.smoothed(initial.counts[None], ideal, settings.bootstrap, rng)
        distances = smoothed.distances
    low, high = Interval.of(w1, distances).hull
    mean, q95 = null_band(name, variable, initial.n_valid, ideal, settings)
    near = w1 <= q95 + 1e-12
    if near:
        result["flags"].append("near_ideal")
    result |= {
        "w1": w1,
        "w1_ci": [max(0.0, low), high],
        "w1_null": {"mean": mean, "q95": q95},
        "near_ideal": near,
    }


def null_band(
    name: str, variable: Variable, n: int, ideal: Ideal, settings: AnalysisSettings
) -> tuple[float, float]:
    """Mean and 95 % quantile of W1 when n images are drawn from the ideal itself."""
    rng = generator(settings.seed, name, "null", variable.name)
    drawn = rng.multinomial(n, ideal.shares, size=NULL_DRAWS) / n
    distances = ideal.distance(drawn, ideal.draws(NULL_DRAWS, rng))
    return float(distances.mean()), float(np.quantile(distances, 0.95))


def wilson(initial: Tally) -> Floats:
    """(k, 2) Wilson 95 % intervals of the shares, each for itself, not all at once."""
    n, p = initial.n_valid, initial.shares
    z = float(ndtri(1 - TAIL))
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return np.clip(np.stack([centre - half, centre + half], axis=1), 0.0, 1.0)


def bounds(initial: Tally) -> list[list[float]] | None:
    """(k, 2) lowest and highest shares that the unknown answers could hide."""
    m = initial.n_valid + initial.n_unknown
    if m == 0:
        return None
    return [[c / m, (c + initial.n_unknown) / m] for c in initial.counts.tolist()]
