"""Prediction against outcome: what several interventions at once came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from biasgraph.causal.greedy import Edges, Shifts, Target, interval
from biasgraph.causal.resampling import image_counts
from biasgraph.causal.sensitivity import Interval
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import Codes, Counts, Pool, tally

FEW = 8  # images of a combination: with fewer, resampling it by itself would show no spread


def compare_outcome(
    joint: Sequence[Codes],
    pool: Pool,
    chosen: Sequence[int],
    targets: Sequence[Target],
    edges: Edges,
    settings: AnalysisSettings,
) -> list[dict[str, Any]]:
    """For every target, the distribution and distance predicted and found.

    joint: (images, variables) codes, as many images for every combination of attributes; chosen:
    the indices of the variables that were set.
    `error`: predicted minus found distance, what the additive assumption costs, with interval;
    `misplaced`: the share of images that the prediction puts elsewhere (total variation).
    What rests on fewer than `min_valid` answers is None.
    """
    seen = Shifts.observed(pool, chosen, edges, settings.mix)
    drawn = Shifts.resampled(pool, chosen, edges, settings, noise=False)
    sizes = [variable.size for variable in pool.variables]
    found = _resampled(joint, sizes, settings, generator(settings.seed, pool.name, "outcome"))
    together = np.concatenate(joint)
    rows = []
    for target in targets:
        y = target.variable
        predicted = seen.predicted(chosen, y)[0]
        distance = float(target.ideal.distance(predicted))
        draws = target.ideal.distance(drawn.predicted(chosen, y))
        counts = tally(together[:, y], sizes[y])
        row: dict[str, Any] = {
            "axis": pool.variables[y].name,
            "predicted": {
                "distribution": predicted.tolist(),
                "distance": distance,
                "distance_ci": interval(distance, draws),
            },
            "found": {
                "distribution": None,
                "distance": None,
                "distance_ci": None,
                "n_total": counts.n_total,
                "n_valid": counts.n_valid,
            },
            "error": None,
            "error_ci": None,
            "misplaced": None,
        }
        if counts.n_valid >= settings.min_valid:
            value = float(target.ideal.distance(counts.shares))
            with np.errstate(invalid="ignore"):
                resampled = target.ideal.distance(found[y] / found[y].sum(axis=1, keepdims=True))
            errors = draws - resampled
            row["found"] |= {
                "distribution": counts.shares.tolist(),
                "distance": value,
                "distance_ci": interval(value, resampled),
            }
            row |= {
                "error": distance - value,
                "error_ci": list(Interval.of(distance - value, errors[np.isfinite(errors)]).hull),
                "misplaced": float(np.abs(predicted - counts.shares).sum() / 2),
            }
        rows.append(row)
    return rows


def _resampled(
    joint: Sequence[Codes], sizes: Sequence[int], settings: AnalysisSettings, rng: Generator
) -> list[Counts]:
    """Per variable, (B, k) counts over whole images, each combination resampled by itself."""
    sets = joint if min(map(len, joint)) >= FEW else [np.concatenate(joint)]
    drawn = [image_counts(codes, sizes, len(codes), settings.bootstrap, rng) for codes in sets]
    return [np.asarray(sum(counts)) for counts in zip(*drawn, strict=True)]
