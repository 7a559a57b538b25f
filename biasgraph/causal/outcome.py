"""Prediction against outcome: what several interventions at once came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator

from biasgraph.causal.greedy import Edges, Shifts, Target, distance_record
from biasgraph.causal.intervals import Interval
from biasgraph.causal.resampling import image_counts
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

    `error`: predicted minus found distance, what the additive assumption costs, with interval;
    `misplaced`: the share of images that the prediction puts elsewhere (total variation).
    What rests on fewer than `min_valid` answers is None.

    Args:
        joint: (images, variables) codes, as many images for every combination of attributes.
        pool: The images of the single interventions.
        chosen: The indices of the variables that were set.
        targets: Whose distributions to compare.
        edges: Along which the prediction adds shifts.
        settings: Of the analysis.
    """
    seen = Shifts.observe(pool, chosen, edges, settings.mix)
    drawn = Shifts.resample(pool, chosen, edges, settings, noise=False)
    sizes = [variable.size for variable in pool.variables]
    rng = generator(settings.seed, pool.name, "outcome")
    resampled = _resample_joint(joint, sizes, settings, rng)
    together = np.concatenate(joint)
    rows = []
    for target in targets:
        y, ideal = target.variable, target.ideal
        counts = tally(together[:, y], sizes[y])
        shares = seen.predict(chosen, y)[0]
        draws = ideal.distance(drawn.predict(chosen, y))
        predicted = distance_record(shares, ideal, draws)
        found = dict.fromkeys(predicted)
        row: dict[str, Any] = {"axis": pool.variables[y].name, "predicted": predicted}
        errors: dict[str, Any] = dict.fromkeys(("error", "error_ci", "misplaced"))
        if counts.n_valid >= settings.min_valid:
            with np.errstate(invalid="ignore"):
                images = resampled[y] / resampled[y].sum(axis=1, keepdims=True)
            own_draws = ideal.distance(images)
            found = distance_record(counts.shares, ideal, own_draws)
            error = predicted["distance"] - found["distance"]
            errors = {
                "error": error,
                "error_ci": list(Interval.of(error, draws - own_draws).hull),
                "misplaced": float(np.abs(shares - counts.shares).sum() / 2),
            }
        row["found"] = {**found, "n_total": counts.n_total, "n_valid": counts.n_valid}
        rows.append(row | errors)
    return rows


def _resample_joint(
    joint: Sequence[Codes], sizes: Sequence[int], settings: AnalysisSettings, rng: Generator
) -> list[Counts]:
    """Per variable, (B, k) counts over whole images, each combination resampled by itself."""
    sets = joint if min(map(len, joint)) >= FEW else [np.concatenate(joint)]
    drawn = [image_counts(codes, sizes, len(codes), settings.bootstrap, rng) for codes in sets]
    return [np.asarray(sum(counts)) for counts in zip(*drawn, strict=True)]
