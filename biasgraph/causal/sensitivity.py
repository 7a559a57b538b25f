"""Intersectional Sensitivity with its uncertainty (BiasConnect eq. 4; STATISTICS (d), (e))."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biasgraph.causal.fields import change
from biasgraph.causal.intervals import ROUNDING, Interval
from biasgraph.causal.matching import matched_distance, matched_distance_in_blocks
from biasgraph.causal.near_ideal import Errors
from biasgraph.causal.resampling import Resamples, smallest_type, smooth
from biasgraph.causal.rows import PairRow, Sign, flag
from biasgraph.causal.settings import SHIFT_ALPHA, AnalysisSettings, SignRule
from biasgraph.causal.tables import Counts, Floats, mix_arms
from biasgraph.causal.transport import Ideal

UNEQUAL = 0.10  # arms whose valid answers differ by more are cut to one size


@dataclass(frozen=True)
class TargetDraws:
    """Bootstrap replicates of one target's initial images, shared by every intervention.

    Attributes:
        sets: Of P prompts (P, 1, k), each resampled by itself.
        shares: Resampled ideals (B, k), or the ideal (k,).
        distances: (B,) of the summed counts.
        errors: Of the distance.
    """

    sets: Resamples
    shares: Floats
    distances: Floats
    errors: Errors

    @classmethod
    def of(
        cls, initial: Counts, ideal: Ideal, replicates: int, rng: np.random.Generator
    ) -> TargetDraws:
        """Resample the (P, k) answers of P prompts."""
        sets = Resamples.of(initial[:, None], replicates, rng)
        shares = ideal.draws(replicates, rng)
        total = initial.sum(axis=0)
        n = int(total.sum())
        distances = ideal.distance(sets.total[:, 0] / n, shares)
        errors = Errors.of(distances, smooth(total), n, ideal, shares, rng)
        return cls(sets, shares, distances, errors)


def images_of_mixture(sizes: Counts | Floats, mix: str) -> float:
    """How many images alike would tell as much as the mixture of arms of these sizes (J,).

    The variance of an equal mean is the arms' mean one over J; that of the smallest weighs most.
    """
    return float(sizes.sum() if mix == "pooled" else len(sizes) ** 2 / (1 / sizes).sum())


def distances_to_ideal(
    initial: Counts | Floats, arms: Counts | Floats, ideal: Ideal, mix: str
) -> tuple[float, float]:
    """W1 to the ideal of the initial answers (P, k), and of the mixture of arms (P, J, k)."""
    before = ideal.distance(initial.sum(axis=0) / initial.sum())
    return float(before), float(ideal.distance(mix_arms(arms.sum(axis=0), mix)))


def measure_sensitivity(
    row: PairRow,
    initial: Counts,
    arms: Counts,
    ideal: Ideal,
    draws: TargetDraws,
    settings: AnalysisSettings,
    rng: np.random.Generator,
) -> PairRow:
    """The row with IS = W1(initial, ideal) - W1(intervention, ideal), matched and with intervals.

    Args:
        row: The pair, without any of this.
        initial: (P, k) answers about P prompts' initial images. Sums over prompts are measured
            (supp. A.8); resampling and matching keep to each prompt.
        arms: (P, J, k) answers of the intervention; a prompt may lack some, their sums may not.
        ideal: The target's.
        draws: The bootstrap of `initial`.
        settings: Of the analysis.
        rng: For resampling and matching.
    """
    before, after = distances_to_ideal(initial, arms, ideal, settings.mix)
    value = before - after
    flags = []
    matched = Matching.of(initial.sum(axis=1), arms.sum(axis=2))
    mitigated = Resamples.of(arms, settings.bootstrap, rng)
    distances = ideal.distance(mix_arms(mitigated.total, settings.mix), draws.shares)
    errors = _errors_of_mixture(distances, arms.sum(axis=0), ideal, draws.shares, settings, rng)
    pairs = [(one, other) for one in draws.errors.cases for other in errors.cases]
    others = [one - other for one, other in pairs[1:]]
    interval = Interval.of(value, draws.distances - distances, others, settings.tail)
    if matched.by_arm:
        flags.append("unequal_arms")
    point = low = high = probability = None
    if not matched.possible:
        flags.append("too_few_to_match")
    else:
        point = float(matched.difference(initial[None], arms[None], ideal, ideal.shares, rng)[0])
        cloud = matched.difference_of(draws.sets, mitigated, ideal, draws.shares, rng)
        low, high, probability = _describe_matched(point, cloud, settings.tail)
    return change(
        flag(row, *flags),
        w1_before=before,
        w1_after=after,
        is_=value,
        is_matched=point,
        is_matched_ci_low=low,
        is_matched_ci_high=high,
        is_ci_low=interval.hull[0],
        is_ci_high=interval.hull[1],
        ci_percentile_low=interval.percentile[0],
        ci_percentile_high=interval.percentile[1],
        ci_basic_low=interval.basic[0],
        ci_basic_high=interval.basic[1],
        sign_probability=probability,
    )


def _errors_of_mixture(
    distances: Floats,
    arms: Counts,
    ideal: Ideal,
    drawn_ideal: Floats,
    settings: AnalysisSettings,
    rng: np.random.Generator,
) -> Errors:
    """How far the distance of the mixture of arms (J, k) may be off, given its replicates (B,)."""
    sizes = arms.sum(axis=-1)
    pooled = settings.mix == "pooled"
    shares = smooth(arms.sum(axis=0)) if pooled else smooth(arms).mean(axis=0)
    images = images_of_mixture(sizes, settings.mix)
    return Errors.of(distances, shares, max(1, round(images)), ideal, drawn_ideal, rng)


def _describe_matched(point: float, draws: Floats, tail: float) -> tuple[float, float, float]:
    """The ends of the interval of replicates (B,), and the share of them above 0."""
    draws = np.where(np.abs(draws) < ROUNDING, 0.0, draws)
    low, high = Interval.of(point, draws, tail=tail).hull
    # Half of the ties: where nothing ever moves, neither direction is the likelier one.
    return low, high, float((draws > 0).mean() + 0.5 * (draws == 0).mean())


def claim_direction(row: PairRow, rule: SignRule, alpha: float = SHIFT_ALPHA) -> Sign:
    """The direction that may be claimed of a pair's sensitivity.

    "is" takes IS at its word. "matched" wants two witnesses: intervals of the matched sensitivity
    and of IS on one side of 0, and images that differ from the initial ones in a test at two-sided
    alpha. IS itself leans upwards near the ideal; the matched interval alone claimed one in up
    to a third of pairs without any effect where the initial images all show one answer, and leans
    away where few images say which of many shares a shift has moved across their ideals
    (STATISTICS (k), 1 and 2).
    """
    if rule == "is":
        return "undetermined" if not row.is_ else "towards" if row.is_ > 0 else "away"
    if row.shift_p is None or row.shift_p > alpha:
        return "undetermined"
    lows = row.is_matched_ci_low, row.is_ci_low
    highs = row.is_matched_ci_high, row.is_ci_high
    if all(low is not None and low > ROUNDING for low in lows):
        return "towards"
    away = all(high is not None and high < -ROUNDING for high in highs)
    return "away" if away else "undetermined"


def weigh_alike(sizes: Counts) -> bool:
    """Whether arms of these sizes (J,) weigh about as much together as in their equal mean."""
    return bool(sizes.max() - sizes.min() <= UNEQUAL * sizes.max())


@dataclass(frozen=True)
class Matching:
    """How many images to keep of each prompt, so that both sides are equal within the prompt.

    Attributes:
        initial: (P,) kept of the initial images.
        arms: (P, G) kept of the interventions: of all arms together (G = 1), or of each.
        by_arm: Whether each arm gives equally many images, because their sizes differ.
    """

    initial: Counts
    arms: Counts
    by_arm: bool

    @classmethod
    def of(cls, initial: Counts, sizes: Counts) -> Matching:
        """For (P,) initial images and (P, J) images of the interventions, by their numbers."""
        kept = np.minimum(initial, sizes.sum(axis=1))
        # Arms that lost answers unevenly would otherwise weigh by what is left of them, which the
        # mixture of the arms does not (STATISTICS (e), 2).
        if weigh_alike(sizes.sum(axis=0)):
            return cls(kept, kept[:, None], by_arm=False)
        count = sizes.shape[1]
        each = np.minimum(kept // count, sizes.min(axis=1))
        return cls(each * count, np.repeat(each[:, None], count, axis=1), by_arm=True)

    @property
    def possible(self) -> bool:
        """Whether any image is left on either side."""
        return bool(self.initial.any())

    def difference(
        self, initial: Counts, arms: Counts, ideal: Ideal, shares: Floats, rng: np.random.Generator
    ) -> Floats:
        """(B,) matched IS of initial (B, P, k) and arms (B, P, J, k)."""
        before, kept = _groups(initial[:, :, None], self.initial[:, None])
        distance = matched_distance(before, kept, ideal, rng, shares=shares)
        after, kept = _groups(arms, self.arms)
        return distance - matched_distance(after, kept, ideal, rng, shares=shares)

    def difference_of(
        self,
        initial: Resamples,
        arms: Resamples,
        ideal: Ideal,
        shares: Floats,
        rng: np.random.Generator,
    ) -> Floats:
        """(B,) matched IS of resamples of initial (P, 1, k) and arms (P, J, k)."""
        before = _distance_of(initial, self.initial[:, None], ideal, shares, rng)
        return before - _distance_of(arms, self.arms, ideal, shares, rng)


def _groups(sets: Counts, kept: Counts) -> tuple[Counts, Counts]:
    """The groups (B, G, k) of sets (B, P, J, k) to take images from, and how many, (G,).

    Args:
        sets: Of each prompt.
        kept: (P, 1) of all sets of a prompt together, or (P, J) of each.
    """
    if kept.shape[1] == 1:
        together = smallest_type(sets[0].sum(axis=1))
        sets = sets.sum(axis=2, keepdims=True, dtype=together)
    groups, samples = sets.reshape(len(sets), -1, sets.shape[-1]), kept.ravel()
    return groups[:, samples > 0], samples[samples > 0]


def _distance_of(
    sets: Resamples, kept: Counts, ideal: Ideal, shares: Floats, rng: np.random.Generator
) -> Floats:
    """(B,) expected distances of the images kept, (P, 1) or (P, J), of resamples of (P, J, k).

    Those of many prompts are read in blocks, but for a cost matrix, whose subsets are drawn.
    """
    if ideal.metric == "cost" or sets.is_held:
        groups, samples = _groups(sets.all(), kept)
        return matched_distance(groups, samples, ideal, rng, shares=shares)
    if kept.sum() == sets.counts.sum():  # no image is left out
        together = sets.total.sum(axis=1, keepdims=True)
        return matched_distance(together, np.array([kept.sum()]), ideal, rng, shares=shares)
    given, samples = _groups(sets.counts[None], kept)

    def read() -> Iterator[Counts]:
        start = 0
        for block in sets.blocks():
            stop = start + block.shape[1]
            yield _groups(block, kept[start:stop])[0]
            start = stop

    every = np.broadcast_to(shares, (sets.replicates, len(ideal.shares)))
    sizes = given[0].sum(axis=-1, dtype=np.int64)
    return matched_distance_in_blocks(read, sizes, samples, ideal, every)
