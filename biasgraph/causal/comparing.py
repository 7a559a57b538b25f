"""What changed between audits of the same axes (STATISTICS (g), "Comparing graphs").

Every change is a difference of two independent audits, each resampled by itself. Where the audits
rest on different numbers of images, both are reckoned at the smaller number: a distance leans
upwards the more, the fewer images it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from biasgraph.causal.independence import adjust_p
from biasgraph.causal.intervals import ROUNDING, Interval
from biasgraph.causal.matching import matched_distance
from biasgraph.causal.paired import paired_answers, paired_counts, paired_resamples
from biasgraph.causal.resampling import resample
from biasgraph.causal.sensitivity import UNEQUAL, Matching
from biasgraph.causal.settings import FDR_LEVEL, AnalysisSettings, generator
from biasgraph.causal.tables import Counts, Floats, Pool, mix_arms
from biasgraph.causal.transport import Ideal

CLASSES = ("changed", "in both", "undecided in the other", "in neither")
"""What a comparison says of a pair: changed whether edge or not, or else where it is an edge."""

Fields = dict[str, Any]


@dataclass(frozen=True)
class Estimate:
    """A number of one audit and its bootstrap replicates (B,)."""

    value: float
    draws: Floats

    def change_to(self, other: Estimate) -> tuple[float, Interval]:
        """How much larger `other` is, and the interval of that."""
        change = other.value - self.value
        change = 0.0 if abs(change) < ROUNDING else change
        return change, Interval.of(change, other.draws - self.draws)

    def within(self, most: float) -> list[float]:
        """Its 95 % interval, for a number from 0 to `most`."""
        return list(Interval.of(self.value, self.draws).within(0.0, most))


def growth_of(estimates: Sequence[Estimate], run: int) -> Fields:
    """The growth of one audit's number since the baseline's, the first; None for the baseline."""
    if run == 0:
        return {"growth": None, "growth_ci": None}
    growth, interval = estimates[0].change_to(estimates[run])
    return {"growth": growth, "growth_ci": list(interval.hull)}


class PairEstimate(NamedTuple):
    """IS of one pair in one audit, and IS_matched, which tells whether it changed."""

    plain: Estimate
    matched: Estimate


@dataclass(frozen=True)
class Starts:
    """The initial answers about one target in one audit, shared by every intervention.

    Attributes:
        counts: (P, k) of each prompt.
        draws: (B, P, k) replicates.
    """

    counts: Counts
    draws: Counts


@dataclass(frozen=True)
class Sizes:
    """Images that all audits have.

    Attributes:
        initial: (P,) of each prompt.
        arms: (P, J) of each prompt and arm.
        cut: Whether some audit has over 10 % more in a set, so that all are cut to these sizes.
    """

    initial: Counts
    arms: Counts
    cut: bool

    @classmethod
    def common(cls, initials: Sequence[Counts], arms: Sequence[Counts]) -> Sizes:
        """Of the answers (P, k) and (P, J, k) of each audit."""
        starts = np.stack([one.sum(axis=-1) for one in initials])
        others = np.stack([one.sum(axis=-1) for one in arms])
        totals = np.concatenate([starts.sum(axis=1)[:, None], others.sum(axis=1)], axis=1)
        uneven = totals.max(axis=0) - totals.min(axis=0) > UNEQUAL * totals.max(axis=0)
        return cls(starts.min(axis=0), others.min(axis=0), cut=bool(uneven.any()))

    @property
    def per_arm(self) -> Counts:
        """(P, J) images of each arm when all arms of a prompt give equally many."""
        return np.repeat(self.arms.min(axis=1, keepdims=True), self.arms.shape[1], axis=1)

    def fields(self) -> Fields:
        """What a comparison says of them."""
        kept = self.per_arm if self.cut else self.arms
        return {
            "n_initial": int(self.initial.sum()),
            "n_interventions": int(kept.sum()),
            "at_common_size": self.cut,
        }


@dataclass(frozen=True)
class Comparing:
    """Audits of the same prompts and axes, the first of them the baseline.

    Attributes:
        pools: The images of each audit, prompts and variables in the same order.
        ideals: Of the variables.
        settings: Of them, mix, min_valid, bootstrap and seed count.
        paired: Whether image n of a prompt in one audit belongs to image n in every other.
    """

    pools: Sequence[Pool]
    ideals: Sequence[Ideal]
    settings: AnalysisSettings
    paired: bool = False

    def pairs(self, edges: Sequence[Mapping[tuple[int, int], bool]]) -> list[list[Fields]]:
        """For each audit but the baseline, the change of every ordered pair x != y.

        p is two-sided, from the bootstrap of the change of IS_matched, and adjusted by
        Benjamini-Hochberg over the pairs of one comparison. Its replicates are smoothed: an
        attribute that one audit never showed may yet be there. What cannot be compared has class
        None and a reason.

        Args:
            edges: For each audit, whether a pair (x, y) is an edge of its graph.
        """
        indices = range(len(self.ideals))
        comparisons: list[list[Fields]] = [[] for _ in self.pools[1:]]
        for y in indices:
            starts = [self._starts(run, y) for run in range(len(self.pools))]
            for x in (x for x in indices if x != y):
                for pairs, fields in zip(comparisons, self._pair(x, y, starts), strict=True):
                    pairs.append({"source": x, "target": y} | fields)
        for pairs, of_run in zip(comparisons, edges[1:], strict=True):
            _classify(pairs, edges[0], of_run)
            pairs.sort(key=lambda pair: (pair["source"], pair["target"]))
        return comparisons

    def distances(self) -> list[list[Fields]]:
        """For each axis, W1 to its ideal in every audit, and its growth from the baseline.

        probability_closest: the share of replicates in which no other audit is closer. Of paired
        audits, only images that all have a valid answer about count, and they are drawn together.
        """
        return [self._distances(y) for y in range(len(self.ideals))]

    def _distances(self, y: int) -> list[Fields]:
        initials, draw = self._initials(y)
        sizes = Sizes.common(initials, [one[:, None] for one in initials])
        fields = {"axis": y, "n": int(sizes.initial.sum()), "at_common_size": sizes.cut}
        if min(int(one.sum()) for one in initials) < self.settings.min_valid:
            none = dict.fromkeys(("w1", "w1_ci", "probability_closest", "growth", "growth_ci"))
            return [fields | none for _ in self.pools]
        estimates = []
        for run, counts in enumerate(initials):
            rng = self._rng("initial", run, y)
            draws = draw(run, rng)
            point = float(self._distance(counts[None], sizes, y, rng)[0])
            estimates.append(Estimate(point, self._distance(draws, sizes, y, rng)))
        closest = first_shares(-np.stack([estimate.draws for estimate in estimates]))
        return [
            {
                **fields,
                "w1": estimate.value,
                "w1_ci": estimate.within(self.ideals[y].farthest),
                "probability_closest": float(share),
                **growth_of(estimates, run),
            }
            for run, (estimate, share) in enumerate(zip(estimates, closest, strict=True))
        ]

    def _initials(
        self, y: int
    ) -> tuple[list[Counts], Callable[[int, np.random.Generator], Counts]]:
        """The initial answers (P, k) in each audit, and what draws (B, P, k) replicates of one."""
        replicates = self.settings.bootstrap
        if not self.paired:
            counts = [pool.initial(y) for pool in self.pools]
            return counts, lambda run, rng: resample(counts[run], replicates, rng)
        size, answers = len(self.ideals[y].shares), paired_answers(self.pools, y)
        drawn = paired_resamples(answers, size, replicates, self._rng("paired", y))
        return paired_counts(answers, size), lambda run, rng: drawn[run]

    def _distance(self, sets: Counts, sizes: Sizes, y: int, rng: np.random.Generator) -> Floats:
        """(B,) W1 to the ideal of initial images (B, P, k), at the common numbers if need be."""
        if sizes.cut:  # a distance leans upwards the more, the fewer images it rests on
            return _expect(sets, sizes.initial, self.ideals[y], rng)
        pooled = sets.sum(axis=1)
        return self.ideals[y].distance(pooled / pooled.sum(axis=-1, keepdims=True))

    def _starts(self, run: int, y: int) -> Starts:
        counts, rng = self.pools[run].initial(y), self._rng("start", run, y)
        return Starts(counts, resample(counts, self.settings.bootstrap, rng))

    def _rng(self, *names: object) -> np.random.Generator:
        return generator(self.settings.seed, "compare", *map(str, names))

    def _pair(self, x: int, y: int, starts: Sequence[Starts]) -> list[Fields]:
        """The change of one pair in each audit but the baseline, not yet classified."""
        runs = range(len(self.pools))
        initials = [one.counts for one in starts]
        arms = [pool.strata(x, y) for pool in self.pools]
        reason = self._reason(x, initials, arms)
        if reason is not None:
            return [_undefine(reason) for _ in runs[1:]]
        sizes = Sizes.common(initials, arms)
        if not Matching.of(sizes.initial, sizes.arms).possible:
            return [_undefine("too few valid answers to match sample sizes") for _ in runs[1:]]
        first, *others = (self._estimate(run, x, y, starts[run], arms[run], sizes) for run in runs)
        return [_describe_change(first, other) | sizes.fields() for other in others]

    def _reason(self, x: int, initials: Sequence[Counts], arms: Sequence[Counts]) -> str | None:
        """Why a pair cannot be compared, or None."""
        of_each = [pool.total.arms_of(x) for pool in self.pools]
        if not all(of_each):
            return "there is no intervention on the source"
        if any(one != of_each[0] for one in of_each):
            return "the interventions on the source differ"
        fewest = min(min(map(np.sum, initials)), min(one.sum(axis=(0, 2)).min() for one in arms))
        return "too few valid answers" if fewest < self.settings.min_valid else None

    def _estimate(
        self, run: int, x: int, y: int, start: Starts, arms: Counts, sizes: Sizes
    ) -> PairEstimate:
        rng = self._rng("arms", run, x, y)
        ideal = self.ideals[y]
        matching = Matching.of(sizes.initial, sizes.arms)

        def plain(starts: Counts, others: Counts) -> Floats:
            before = self._distance(starts, sizes, y, rng)
            if sizes.cut:
                groups = others.reshape(len(others), -1, others.shape[-1])
                return np.asarray(before - _expect(groups, sizes.per_arm.ravel(), ideal, rng))
            shares = mix_arms(others.sum(axis=1), self.settings.mix)
            return np.asarray(before - ideal.distance(shares))

        def match(starts: Counts, others: Counts) -> Floats:
            shares = np.broadcast_to(ideal.shares, (len(starts), len(ideal.shares)))
            return matching.difference(starts, others, ideal, shares, rng)

        drawn = start.draws, resample(arms, self.settings.bootstrap, rng)
        one = start.counts[None], arms[None]
        return PairEstimate(
            Estimate(float(plain(*one)[0]), plain(*drawn)),
            Estimate(float(match(*one)[0]), match(*drawn)),
        )


def change_p(first: Floats, second: Floats) -> float:
    """Two-sided bootstrap p of no difference, from independent replicates (B,) of either side.

    Twice the smaller share of all B x B differences that lie on either side of 0, so that B of
    2,000 resolve what Benjamini-Hochberg asks of hundreds of pairs; at least 2 / (B x B + 1).
    """
    ordered = np.sort(second)
    cells = first.size * second.size
    below = np.searchsorted(ordered, first + ROUNDING, side="right").sum()
    above = cells - np.searchsorted(ordered, first - ROUNDING, side="left").sum()
    return float(min(1.0, 2 * (min(below, above) + 1) / (cells + 1)))


def first_shares(scores: Floats) -> Floats:
    """(R,) the share of replicates in which each of R rows of (R, B) is the largest, ties split."""
    largest = scores >= scores.max(axis=0) - ROUNDING
    return np.asarray((largest / largest.sum(axis=0)).mean(axis=1))


def _expect(sets: Counts, kept: Counts, ideal: Ideal, rng: np.random.Generator) -> Floats:
    sets, kept = sets[:, kept > 0], kept[kept > 0]
    return matched_distance(sets, kept, ideal, rng)


def _describe_change(first: PairEstimate, second: PairEstimate) -> Fields:
    difference, interval = first.plain.change_to(second.plain)
    matched, matched_interval = first.matched.change_to(second.matched)
    # IS itself leans upwards near the ideal: it would seem to change wherever an audit's initial
    # images come closer to the ideal. Only the change of IS at equal sizes is tested (STATISTICS
    # (g)); no change at all is no evidence of one, whatever its replicates do.
    p = change_p(first.matched.draws, second.matched.draws) if matched else 1.0
    return {
        "is_baseline": first.plain.value,
        "is_run": second.plain.value,
        "difference": difference,
        "difference_ci": list(interval.hull),
        "difference_matched": matched,
        "difference_matched_ci": list(matched_interval.hull),
        "p": p,
        "reason": None,
    }


def _undefine(reason: str) -> Fields:
    changes = ("difference", "difference_ci", "difference_matched", "difference_matched_ci", "p")
    sizes = ("n_initial", "n_interventions", "at_common_size")
    change = dict.fromkeys(("is_baseline", "is_run", *changes))
    return {**change, "reason": reason, **dict.fromkeys(sizes)}


def _classify(
    pairs: list[Fields],
    baseline: Mapping[tuple[int, int], bool],
    run: Mapping[tuple[int, int], bool],
) -> None:
    """Adjust p over the comparable pairs and name what became of each."""
    known = [pair for pair in pairs if pair["p"] is not None]
    values = adjust_p([pair["p"] for pair in known])
    for pair in pairs:
        here = pair["source"], pair["target"]
        pair |= {"p_adjusted": None, "edge_baseline": baseline[here], "edge_run": run[here]}
        pair["class"] = None
    # Significant in one graph and not in the other is no difference: of two audits of one model at
    # 48 images about 3.6 edges stand in one only. Only the test of the change itself, adjusted
    # over all pairs, says "changed" (STATISTICS (g)).
    for pair, value in zip(known, values, strict=True):
        edges = pair["edge_baseline"] + pair["edge_run"]
        unchanged = ("in neither", "undecided in the other", "in both")[edges]
        pair["p_adjusted"] = float(value)
        pair["class"] = "changed" if value <= FDR_LEVEL else unchanged
