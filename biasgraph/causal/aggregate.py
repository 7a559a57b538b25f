"""What a whole graph says: the strongest axes and the amplification (BiasConnect eq. 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biasgraph.causal.intervals import noise_floor
from biasgraph.causal.permuted_images import permuted_counts
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import Floats, Pool, mix_arms
from biasgraph.causal.transport import Ideal

Pair = tuple[int, int]


def strongest(ends: Sequence[tuple[str, float]]) -> dict[str, Any] | None:
    """The axis at most edges: MaxImp of the edges' sources, MaxInf of their targets.

    Ties are broken by the sum of |IS| over its edges, then by name; `tied` lists the other axes
    with as many edges. None without edges.

    Args:
        ends: Of every edge, the axis at one of its ends, and IS.
    """
    strengths: dict[str, list[float]] = {}
    for axis, value in ends:
        strengths.setdefault(axis, []).append(abs(value))
    if not strengths:
        return None
    first, *others = sorted(
        strengths, key=lambda axis: (-len(strengths[axis]), -sum(strengths[axis]), axis)
    )
    most = len(strengths[first])
    return {
        "axis": first,
        "edges": most,
        "strength": sum(strengths[first]),
        "tied": [axis for axis in others if len(strengths[axis]) == most],
    }


def amplification(
    pool: Pool,
    ideals: Sequence[Ideal],
    values: Mapping[Pair, float | None],
    settings: AnalysisSettings,
) -> dict[str, Any]:
    """The amplification: the sum of |IS| over all pairs x != y, edges or not.

    The sum and its noise floor are over the defined pairs alone, and their number stands beside
    them; without any, all are None. `noise_floor` is the mean and 95 % quantile when images change
    places at random (`permuted_counts`), so that no intervention does anything. `above_floor` is
    the sum less that mean. There is no interval: a sum of |IS| leans upwards by more than
    resamples can tell; the hull of two bootstrap intervals covered in 74 % of simulations
    (STATISTICS (k), 5).

    Args:
        pool: The images.
        ideals: Of the pool's variables.
        values: IS of every pair (x, y), None where undefined.
        settings: Of the analysis.
    """
    defined = {pair: value for pair, value in values.items() if value is not None}
    result: dict[str, Any] = {
        "value": None,
        "above_floor": None,
        "noise_floor": noise_floor(np.zeros(0)),
        "pairs": len(values),
        "pairs_defined": len(defined),
        "metrics": sorted({ideals[y].metric for _, y in values}),
    }
    if not defined:
        return result
    total = float(sum(abs(value) for value in defined.values()))
    result["value"] = total
    if settings.noise_draws:
        result["noise_floor"] = floor = noise_floor(_noise(pool, ideals, list(defined), settings))
        if floor["mean"] is not None:
            result["above_floor"] = total - floor["mean"]
    return result


def _noise(
    pool: Pool, ideals: Sequence[Ideal], pairs: Sequence[Pair], settings: AnalysisSettings
) -> Floats:
    """Totals without any effect; none where the initial images have no answer at all."""
    rng = generator(settings.seed, pool.name, "noise")
    sources = sorted({x for x, _ in pairs})
    initial, arms = permuted_counts(pool, sources, settings.noise_draws, rng)
    totals = np.zeros(settings.noise_draws)
    with np.errstate(invalid="ignore"):
        for y in sorted({y for _, y in pairs}):
            ideal = ideals[y]
            before = ideal.distance(mix_arms(initial[y][:, None], "pooled"))
            for x in (x for x, target in pairs if target == y):
                after = ideal.distance(mix_arms(arms[x][y], settings.mix))
                totals += np.abs(before - after)
    return totals[np.isfinite(totals)]
