"""What one axis's own images say: its distribution, and how far it lies from the ideal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from biasgraph.causal.fields import UNSET
from biasgraph.causal.intervals import ROUNDING, Interval, wilson
from biasgraph.causal.resampling import smooth
from biasgraph.causal.rows import Ends, InitialAnswers, NodeRow, NullBand, flag
from biasgraph.causal.sensitivity import TargetDraws
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import Counts, Tally, Variable
from biasgraph.causal.transport import Ideal

FEW_ANSWERS = 32
NULL_DRAWS = 10_000


def measure_node(
    name: str,
    variable: Variable,
    initial: Tally,
    ideal: Ideal,
    draws: TargetDraws | None,
    settings: AnalysisSettings,
) -> NodeRow:
    """The node of an axis, still without its place among the edges.

    Args:
        name: What its random draws are named after.
        variable: The axis.
        initial: The answers about it in the initial images, summed over prompts.
        ideal: What they are compared with.
        draws: Their bootstrap; None where there are too few valid answers.
        settings: Of the analysis.
    """
    n = initial.n_valid
    ends = wilson(initial.counts, n, settings.tail).tolist() if n else None
    row = NodeRow(
        id=variable.name,
        metric=ideal.metric,
        attributes=variable.attributes,
        initial=_describe_answers(initial),
        distribution_ci=ends and tuple(map(tuple, ends)),
        distribution_bounds=bounds(initial),
        ideal=tuple(ideal.shares.tolist()),
        status="insufficient" if draws is None else "ok",
        cost=UNSET if ideal.cost is None else tuple(map(tuple, ideal.cost.tolist())),
        reference=UNSET if ideal.reference is None else tuple(ideal.reference.tolist()),
    )
    if draws is None:
        return row
    w1 = float(ideal.distance(initial.shares))
    if n < FEW_ANSWERS:
        row = flag(row, "small_sample")
    if initial.counts.max() == n:
        row = flag(row, "single_answer")
    interval = Interval.of(w1, draws.distances, draws.errors.cases[1:], settings.tail)
    mean, q95 = null_band(name, variable, initial.counts, ideal, settings)
    # A distance is never below 0 and so leans upwards: within what chance gives images of the
    # ideal itself, it is no sign of a bias (STATISTICS (e), 1).
    near = w1 <= q95 + ROUNDING
    row = replace(
        row,
        w1=w1,
        w1_ci=interval.within(0.0, ideal.farthest),
        w1_null=NullBand(mean=mean, q95=q95),
        near_ideal=near,
    )
    return flag(row, "near_ideal") if near else row


def _describe_answers(initial: Tally) -> InitialAnswers:
    return InitialAnswers(
        counts=tuple(initial.counts.tolist()),
        distribution=tuple(initial.shares.tolist()) if initial.n_valid else None,
        n_total=initial.n_total,
        n_gated=initial.n_gated,
        n_unknown=initial.n_unknown,
        n_valid=initial.n_valid,
    )


def null_band(
    name: str, variable: Variable, counts: Counts, ideal: Ideal, settings: AnalysisSettings
) -> tuple[float, float]:
    """Mean and 95 % quantile of W1 when as many images as counts (k,) follow the ideal itself.

    An ideal that was counted is drawn as well, from what its images and these say together: if
    these follow it, both are of one distribution.
    """
    rng = generator(settings.seed, name, "null", variable.name)
    n, shares, goal = int(counts.sum()), ideal.shares, ideal.shares
    if ideal.reference is not None:
        shares, of = smooth(counts + ideal.reference), int(ideal.reference.sum())
        goal = rng.multinomial(of, shares, size=NULL_DRAWS) / of
    distances = ideal.distance(rng.multinomial(n, shares, size=NULL_DRAWS) / n, goal)
    return float(distances.mean()), float(np.quantile(distances, 0.95))


def bounds(initial: Tally) -> tuple[Ends, ...] | None:
    """Lowest and highest share of each attribute that the unknown answers could hide."""
    m = initial.n_valid + initial.n_unknown
    if m == 0:
        return None
    return tuple((c / m, (c + initial.n_unknown) / m) for c in initial.counts.tolist())
