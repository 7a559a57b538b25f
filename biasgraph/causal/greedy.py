"""A greedy order of interventions for several targets at once, and what they should come to.

The prediction adds the shifts that the single interventions make along the edges of the graph;
shifts without an edge are mostly noise, and adding them, too, predicts worse (docs/plan.md). It
cannot know what interventions do together: that takes images of the joint prompts
(`biasgraph.causal.outcome`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgraph.causal.intervals import Interval
from biasgraph.causal.resampling import pool_counts
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import Counts, Floats, Pool, mix_arms
from biasgraph.causal.transport import Ideal

ASSUMPTION = (
    "Predictions add the shifts that single interventions make along the graph's edges, clipped "
    "at 0 and renormalised, as if none changed what another does; without an edge nothing is "
    "expected to move, and an axis that is itself diversified keeps the distribution of its own "
    "intervention."
)
CHANCE = 0.95  # quantile of the best gain that appears with no effect anywhere


Edges = Collection[tuple[int, int]]


@dataclass(frozen=True)
class Target:
    """What a plan brings closer to its ideal.

    Attributes:
        variable: Its index.
        weight: What its distance counts in the sum.
        ideal: Its ideal.
    """

    variable: int
    weight: float
    ideal: Ideal


@dataclass(frozen=True)
class Shifts:
    """Distributions before and after each single intervention; an image set's axes belong together.

    Attributes:
        initial: By variable y (B, k) replicates, or B = 1 for what was observed.
        after: By source x and variable y, the same.
        edges: The pairs (x, y) along which shifts count.
    """

    initial: Sequence[Floats]
    after: Mapping[int, Sequence[Floats]]
    edges: Edges

    @classmethod
    def of(
        cls, initial: Sequence[Counts], arms: Mapping[int, Sequence[Counts]], edges: Edges, mix: str
    ) -> Shifts:
        """From counts: initial[y] (B, k), arms[x][y] (B, J, k)."""
        with np.errstate(invalid="ignore"):  # a set of images may have lost every valid answer
            return cls(
                [mix_arms(counts[:, None], "pooled") for counts in initial],
                {x: [mix_arms(counts, mix) for counts in of_x] for x, of_x in arms.items()},
                edges,
            )

    @classmethod
    def observe(cls, pool: Pool, sources: Sequence[int], edges: Edges, mix: str) -> Shifts:
        """What the pool's images show, for interventions on `sources`."""
        every = range(len(pool.variables))
        initial = [pool.total.initial[y].counts[None] for y in every]
        arms = {x: [pool.total.contingency(x, y)[None] for y in every] for x in sources}
        return cls.of(initial, arms, edges, mix)

    @classmethod
    def resample(
        cls,
        pool: Pool,
        sources: Sequence[int],
        edges: Edges,
        settings: AnalysisSettings,
        *,
        noise: bool,
    ) -> Shifts:
        """Whole-image replicates; with noise, of interventions that do nothing."""
        rng = generator(settings.seed, pool.name, "plan noise" if noise else "plan")
        counts = pool_counts(pool, sources, settings.bootstrap, rng, noise=noise)
        return cls.of(*counts, edges, settings.mix)

    def predict(self, chosen: Sequence[int], y: int) -> Floats:
        """(B, k) the distribution of y with all of `chosen` diversified; see `ASSUMPTION`."""
        if y in chosen:
            return self.after[y][y]
        moving = [x for x in chosen if (x, y) in self.edges]
        total = self.initial[y] + sum(self.after[x][y] - self.initial[y] for x in moving)
        clipped = np.clip(total, 0, None)
        return np.asarray(clipped / clipped.sum(axis=-1, keepdims=True))

    def badness(self, chosen: Sequence[int], targets: Sequence[Target]) -> Floats:
        """(B,) the weighted sum of the targets' predicted distances."""
        return np.asarray(
            sum(
                target.weight * target.ideal.distance(self.predict(chosen, target.variable))
                for target in targets
            )
        )


def greedy_plan(
    pool: Pool,
    targets: Sequence[Target],
    edges: Edges,
    settings: AnalysisSettings,
    steps: int | None = None,
) -> dict[str, Any]:
    """Add the intervention that lowers the weighted sum of distances most, as long as one does.

    A step must gain more than the best of as many interventions gains in 95 % of cases with no
    effect anywhere, and the interval of its gain must lie above 0.

    Args:
        pool: The images of the single interventions.
        targets: At least one.
        edges: The pairs (x, y) along which shifts count.
        settings: Of the analysis.
        steps: The most interventions; None for no limit.

    Returns:
        In plain JSON types `before`, the targets as they are (see `_state`); `steps`, each with the
        `axis` added, see `_step`, and the state it predicts; `stopped`, "nothing_left", "all_set"
        (every target is diversified itself), "steps" or "no_gain" (with `next`, the gain that was
        not enough); `left_out`, targets with too few valid answers in their own intervention.
    """
    if not targets:
        raise ValueError("a plan needs a target")
    usable = [x for x in range(len(pool.variables)) if _usable(pool, x, targets, settings)]
    seen = Shifts.observe(pool, usable, edges, settings.mix)
    drawn = Shifts.resample(pool, usable, edges, settings, noise=False)
    null = Shifts.resample(pool, usable, edges, settings, noise=True)
    names = [variable.name for variable in pool.variables]
    chosen: list[int] = []
    done: list[dict[str, Any]] = []
    stopped, refused = "nothing_left", None
    while left := [x for x in usable if x not in chosen]:
        if steps is not None and len(chosen) >= steps:
            stopped = "steps"
            break
        if all(target.variable in chosen for target in targets):
            stopped = "all_set"
            break
        step, best = _step(seen, drawn, null, chosen, left, targets)
        step = {"axis": names[best], **step}
        # The best of several gains is above 0 by chance alone: it must also exceed what the best
        # gains where no intervention does anything.
        if step["gain_ci"][0] <= 0 or step["gain"] <= step["chance"]:
            stopped, refused = "no_gain", step
            break
        chosen.append(best)
        done.append({**step, **_state(seen, drawn, chosen, targets, pool)})
    intervened = [x for x in range(len(names)) if pool.total.arms_of(x)]
    return {
        "assumption": ASSUMPTION,
        "before": _state(seen, drawn, [], targets, pool),
        "steps": done,
        "stopped": stopped,
        "next": refused,
        "left_out": [names[x] for x in intervened if x not in usable],
    }


def _usable(pool: Pool, x: int, targets: Sequence[Target], settings: AnalysisSettings) -> bool:
    """Whether x was intervened on, and has enough valid answers about itself if it is a target.

    Edges always have enough.
    """
    if not pool.total.arms_of(x):
        return False
    is_target = any(target.variable == x for target in targets)
    fewest = int(pool.total.contingency(x, x).sum(axis=1).min())
    return not is_target or fewest >= settings.min_valid


def _step(
    seen: Shifts,
    drawn: Shifts,
    null: Shifts,
    chosen: Sequence[int],
    left: Sequence[int],
    targets: Sequence[Target],
) -> tuple[dict[str, Any], int]:
    """What the best next intervention gains, and its index.

    `gain` with its interval; `chance`, what the best gains by chance; `p_best`: the share of
    replicates in which it is the best of those left.
    """
    candidates = [float(seen.badness([*chosen, x], targets)[0]) for x in left]
    place = int(np.argmin(candidates))
    gain = float(seen.badness(chosen, targets)[0]) - candidates[place]
    each = np.stack([drawn.badness([*chosen, x], targets) for x in left])
    gains = drawn.badness(chosen, targets) - each[place]
    known = np.isfinite(each).all(axis=0) & np.isfinite(gains)
    is_best = (each <= each.min(axis=0) + 1e-12)[:, known]
    low, high = Interval.of(gain, gains[known]).hull
    return {
        "gain": gain,
        "gain_ci": [low, high],
        "chance": _chance_gain(seen, null, chosen, left, targets),
        "p_best": float((is_best / is_best.sum(axis=0))[place].mean()),
    }, left[place]


def _chance_gain(
    seen: Shifts,
    null: Shifts,
    chosen: Sequence[int],
    left: Sequence[int],
    targets: Sequence[Target],
) -> float:
    """What the best of the interventions left gains by chance, were they to do nothing.

    Those chosen before keep the shifts they were seen to make.
    """
    both = Shifts(
        null.initial,
        {
            x: [
                after if x in left else seen.after[x][y] + null.initial[y] - seen.initial[y]
                for y, after in enumerate(null.after[x])
            ]
            for x in null.after
        },
        null.edges,
    )
    best = np.min([both.badness([*chosen, x], targets) for x in left], axis=0)
    gains = both.badness(chosen, targets) - best
    return float(np.quantile(gains[np.isfinite(gains)], CHANCE))


def _state(
    seen: Shifts, drawn: Shifts, chosen: Sequence[int], targets: Sequence[Target], pool: Pool
) -> dict[str, Any]:
    """What is predicted with `chosen` diversified.

    `targets`: the distribution and distance of each, with intervals; `total`: their weighted sum.
    """
    rows = []
    for target in targets:
        y = target.variable
        draws = target.ideal.distance(drawn.predict(chosen, y))
        record = distance_record(seen.predict(chosen, y)[0], target.ideal, draws)
        rows.append({"axis": pool.variables[y].name, **record})
    total = float(seen.badness(chosen, targets)[0])
    return {
        "targets": rows,
        "total": total,
        "total_ci": list(Interval.of(total, drawn.badness(chosen, targets)).distance),
    }


def distance_record(shares: Floats, ideal: Ideal, draws: Floats) -> dict[str, Any]:
    """Shares (k,) and their distance to the ideal, with its interval from replicates (B,)."""
    distance = float(ideal.distance(shares))
    return {
        "distribution": shares.tolist(),
        "distance": distance,
        "distance_ci": list(Interval.of(distance, draws).distance),
    }
