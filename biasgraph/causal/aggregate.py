"""What a whole graph says: the strongest axes and the amplification (BiasConnect eq. 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biasgraph.causal.intervals import Interval, noise_floor
from biasgraph.causal.resampling import pool_counts
from biasgraph.causal.sensitivity import mixed
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import Floats, Pool
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

    The sum, its interval and its noise floor are over the defined pairs alone, and their number
    stands beside them; without any, all are None. `ci` is the hull of the percentile and basic
    intervals over whole-image replicates, not below 0. `noise_floor` is the mean and 95 % quantile
    when the initial images and all arms are drawn with replacement from the initial images, so that
    no intervention does anything. Both are drawn within each prompt, and then summed.

    Args:
        pool: The images.
        ideals: Of the pool's variables.
        values: IS of every pair (x, y), None where undefined.
        settings: Of the analysis.
    """
    defined = {pair: value for pair, value in values.items() if value is not None}
    result: dict[str, Any] = {
        "value": None,
        "ci": None,
        "noise_floor": noise_floor(np.zeros(0)),
        "pairs": len(values),
        "pairs_defined": len(defined),
        "metrics": sorted({ideals[y].metric for _, y in values}),
    }
    if not defined:
        return result
    total = float(sum(abs(value) for value in defined.values()))
    result["value"] = total
    if settings.amplification_replicates:
        totals = _replicated(pool, ideals, list(defined), settings, noise=False)
        if len(totals):
            result["ci"] = list(Interval.of(total, totals).distance)
    if settings.noise_draws:
        totals = _replicated(pool, ideals, list(defined), settings, noise=True)
        result["noise_floor"] = noise_floor(totals)
    return result


def _replicated(
    pool: Pool,
    ideals: Sequence[Ideal],
    pairs: Sequence[Pair],
    settings: AnalysisSettings,
    *,
    noise: bool,
) -> Floats:
    """Totals over whole-image replicates; those that lost a whole distribution are left out."""
    kind = "noise" if noise else "amplification"
    replicates = settings.noise_draws if noise else settings.amplification_replicates
    rng = generator(settings.seed, pool.name, kind)
    sources = sorted({x for x, _ in pairs})
    initial, arms = pool_counts(pool, sources, replicates, rng, noise=noise)
    totals = np.zeros(replicates)
    with np.errstate(invalid="ignore"):
        for y in sorted({y for _, y in pairs}):
            ideal = ideals[y]
            shares = ideal.shares if noise else ideal.draws(replicates, rng)
            before = ideal.distance(mixed(initial[y][:, None], "pooled"), shares)
            for x in (x for x, target in pairs if target == y):
                after = ideal.distance(mixed(arms[x][y], settings.mix), shares)
                totals += np.abs(before - after)
    return totals[np.isfinite(totals)]
