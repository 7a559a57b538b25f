"""Which audit's axes are influenced least and pull hardest (BiasConnect sec. 6.1).

The influence of an axis is the sum of |IS| over its pairs, edges or not: what amplification
(eq. 14) is for the whole graph. Axes share their images, so whole images are resampled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgraph.causal.comparing import Estimate, first_shares, growth_of
from biasgraph.causal.intervals import noise_floor
from biasgraph.causal.permuted_images import permuted_counts
from biasgraph.causal.resampling import Take, image_sizes, pool_counts
from biasgraph.causal.sensitivity import UNEQUAL
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import Counts, Floats, Pool, mix_arms
from biasgraph.causal.transport import Ideal

REPLICATES = 1000
NOISE_DRAWS = 500
SUM_FIELDS = ("value", "above_floor", "floor")

Fields = dict[str, Any]


@dataclass(frozen=True)
class Sums:
    """Sums of |IS| over incoming pairs (R, axes), outgoing pairs (R, axes) and all pairs (R,)."""

    incoming: Floats
    outgoing: Floats
    total: Floats

    @classmethod
    def of(cls, sizes: Floats) -> Sums:
        """Of |IS| (R, source, target), 0 where a pair does not count."""
        known = sizes[np.isfinite(sizes).all(axis=(1, 2))]  # a replicate may lose all answers
        return cls(known.sum(axis=1), known.sum(axis=2), known.sum(axis=(1, 2)))


@dataclass(frozen=True)
class AuditSums:
    """The sums of one audit.

    Attributes:
        point: What its images show (R = 1).
        draws: Their bootstrap replicates, as many as those of the other audits.
        floor: Replicates in which no intervention does anything.
    """

    point: Sums
    draws: Sums
    floor: Sums


@dataclass(frozen=True)
class Strengths:
    """Sums of |IS| in audits of the same prompts and axes, the first of them the baseline.

    Where an audit has over 10 % more images in some set, all are computed at the smaller numbers:
    noise alone makes a sum of |IS|, and more of it with fewer images.

    Attributes:
        pools: The images of each audit, prompts and variables in the same order.
        ideals: Of the variables.
        pairs: The (source, target) over which to sum, defined in every audit.
        settings: Of them, mix and seed count.
        replicates: Of the bootstrap.
        noise_draws: Of the floor.
    """

    pools: Sequence[Pool]
    ideals: Sequence[Ideal]
    pairs: Sequence[tuple[int, int]]
    settings: AnalysisSettings
    replicates: int = REPLICATES
    noise_draws: int = NOISE_DRAWS

    def fields(self) -> tuple[list[list[Fields]], list[Fields]]:
        """For each axis its strengths in each audit, and for each audit its amplification.

        `in` sums over an axis's incoming pairs and `out` over its outgoing ones. Each sum has
        the `floor` without any effect (mean and 95 % quantile), and shares of
        replicates: `lowest_of_runs`, in which no other audit's is lower, and `first_of_axes`, in
        which within this audit no other axis's is lower (`in`) or higher (`out`).
        All numbers are None for an axis, or all axes, without pairs.
        """
        take = self._common_sizes()
        runs = range(len(self.pools))
        points = [self._point(run, take) for run in runs]
        draws = [Sums.of(self._draw(run, "bootstrap", take)) for run in runs]
        fewest = min(len(sums.total) for sums in draws)
        audits = [
            AuditSums(
                points[run],
                Sums(*(part[:fewest] for part in vars(draws[run]).values())),
                Sums.of(self._draw(run, "noise", take)),
            )
            for run in runs
        ]
        ways = {"in": "incoming", "out": "outgoing"}
        axes = [
            [
                {"axis": axis, "run": run}
                | {name: self._strength(axis, run, audits, way) for name, way in ways.items()}
                for run in runs
            ]
            for axis in range(len(self.ideals))
        ]
        at_common_size = take is not None
        return axes, [self._amplification(run, audits, at_common_size) for run in runs]

    def _common_sizes(self) -> Take:
        """Images of each prompt that all audits have; None where they have about equally many."""
        sizes = [[image_sizes(images) for images in pool.prompts] for pool in self.pools]
        common = [
            {key: min(one.get(key, 0) for one in prompt) for one in prompt for key in one}
            for prompt in zip(*sizes, strict=True)
        ]
        for run in sizes:
            for key in {key for one in run for key in one}:
                most = sum(one.get(key, 0) for one in run)
                if most - sum(one[key] for one in common if key in one) > UNEQUAL * most:
                    return common
        return None

    def _point(self, run: int, take: Take) -> Sums:
        if take is not None:
            sums = Sums.of(self._draw(run, "subsets", take))
            return Sums(*(one.mean(axis=0, keepdims=True) for one in vars(sums).values()))
        total = self.pools[run].total
        initial = [one.counts[None] for one in total.initial]
        arms = {
            x: [total.contingency(x, y)[None] for y in range(len(self.ideals))]
            for x in self._sources
        }
        return Sums.of(self._magnitudes(initial, arms))

    def _draw(self, run: int, how: str, take: Take) -> Floats:
        """(R, axes, axes) |IS| of whole-image replicates, of subsets, or without any effect."""
        pool, sources = self.pools[run], self._sources
        rng = generator(self.settings.seed, "compare sums", how, str(run))
        if how == "noise":
            return self._magnitudes(*permuted_counts(pool, sources, self.noise_draws, rng, take))
        drawn = pool_counts(
            pool, sources, self.replicates, rng, noise=False, take=take, replace=how != "subsets"
        )
        return self._magnitudes(*drawn)

    @property
    def _sources(self) -> list[int]:
        return sorted({x for x, _ in self.pairs})

    def _magnitudes(self, initial: Sequence[Counts], arms: Mapping[int, list[Counts]]) -> Floats:
        sizes = np.zeros((len(initial[0]), len(self.ideals), len(self.ideals)))
        with np.errstate(invalid="ignore"):
            before = {
                y: self.ideals[y].distance(mix_arms(initial[y][:, None], "pooled"))
                for y in sorted({y for _, y in self.pairs})
            }
            for x, y in self.pairs:
                after = self.ideals[y].distance(mix_arms(arms[x][y], self.settings.mix))
                sizes[:, x, y] = np.abs(before[y] - after)
        return sizes

    def _strength(self, axis: int, run: int, audits: Sequence[AuditSums], which: str) -> Fields:
        end = 1 if which == "incoming" else 0
        counted = sorted({pair[end] for pair in self.pairs})
        audit = audits[run]
        if axis not in counted or not len(audit.draws.total):
            return dict.fromkeys((*SUM_FIELDS, "lowest_of_runs", "first_of_axes"))
        of_run = getattr(audit.draws, which)
        of_axis = np.stack([getattr(other.draws, which)[:, axis] for other in audits])
        towards = -1 if which == "incoming" else 1
        first_of_axes = first_shares(towards * of_run[:, counted].T)[counted.index(axis)]
        point, floor = getattr(audit.point, which), getattr(audit.floor, which)
        return {
            **_beside_floor(point[0, axis], floor[:, axis]),
            "lowest_of_runs": float(first_shares(-of_axis)[run]),
            "first_of_axes": float(first_of_axes),
        }

    def _amplification(self, run: int, audits: Sequence[AuditSums], at_common_size: bool) -> Fields:
        about = {"run": run, "pairs": len(self.pairs), "at_common_size": at_common_size}
        if not self.pairs or not len(audits[run].draws.total):
            undefined = (*SUM_FIELDS, "lowest_of_runs", "growth", "growth_ci")
            return about | dict.fromkeys(undefined)
        totals = [Estimate(float(audit.point.total[0]), audit.draws.total) for audit in audits]
        return {
            **about,
            **_beside_floor(totals[run].value, audits[run].floor.total),
            "lowest_of_runs": float(first_shares(-np.stack([one.draws for one in totals]))[run]),
            **growth_of(totals, run),
        }


def _beside_floor(value: float, draws: Floats) -> Fields:
    """A sum of |IS|; it has no interval (see `aggregate.amplification`)."""
    floor = noise_floor(draws)
    above = None if floor["mean"] is None else float(value) - floor["mean"]
    return {"value": float(value), "above_floor": above, "floor": floor}
