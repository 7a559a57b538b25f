"""Intersectional Sensitivity with its uncertainty (BiasConnect eq. 4; STATISTICS (d), (e))."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from biasgraph.causal.intervals import ROUNDING, Interval, is_flat
from biasgraph.causal.matching import matched_distance
from biasgraph.causal.rows import PairRow, Sign, flag
from biasgraph.causal.settings import TAIL, AnalysisSettings
from biasgraph.causal.tables import Counts, Floats
from biasgraph.causal.transport import Ideal

UNEQUAL = 0.10  # arms whose valid answers differ by more are cut to one size


@dataclass(frozen=True)
class TargetDraws:
    """Bootstrap replicates of one target's initial images, shared by every intervention.

    Attributes:
        counts: (B, P, k), each of P prompts resampled by itself.
        shares: Resampled ideals (B, k), or the ideal (k,).
        distances: (B,) of the summed counts.
    """

    counts: Counts
    shares: Floats
    distances: Floats

    @classmethod
    def of(
        cls, initial: Counts, ideal: Ideal, replicates: int, rng: np.random.Generator
    ) -> TargetDraws:
        """Resample the (P, k) answers of P prompts."""
        counts = resample(initial, replicates, rng)
        return cls._of(counts, ideal, ideal.draws(replicates, rng))

    @classmethod
    def _of(cls, counts: Counts, ideal: Ideal, shares: Floats) -> TargetDraws:
        pooled = counts.sum(axis=1)
        return cls(counts, shares, ideal.distance(pooled / pooled[0].sum(), shares))

    def smoothed(
        self, initial: Counts, ideal: Ideal, replicates: int, rng: np.random.Generator
    ) -> TargetDraws:
        """The same with attributes that were never seen; see `resample`."""
        return self._of(resample(initial, replicates, rng, smooth=True), ideal, self.shares)

    def sensitivities(self, mitigated: Counts, ideal: Ideal, mix: str) -> Floats:
        """(B,) IS to replicates (B, P, J, k) of an intervention's answers."""
        shares = mixed(mitigated.sum(axis=1), mix)
        return np.asarray(self.distances - ideal.distance(shares, self.shares))


def resample(
    counts: Counts, replicates: int, rng: np.random.Generator, *, smooth: bool = False
) -> Counts:
    """(replicates, ..., k) multinomial resamples of sets of answers, sizes kept.

    Args:
        counts: (..., k) answers of each set.
        replicates: How many to draw.
        rng: To draw with.
        smooth: Whether to draw from (c + 1/k) / (n + 1), so that unseen attributes may appear.
    """
    k = counts.shape[-1]
    sets = counts.reshape(-1, k)
    n = sets.sum(axis=-1)
    more = 1 if smooth else 0
    shares = (sets + more / k) / np.maximum(n + more, 1)[:, None]
    drawn = [rng.multinomial(size, p, size=replicates) for size, p in zip(n, shares, strict=True)]
    return np.stack(drawn, axis=1).reshape(replicates, *counts.shape)


def mixed(counts: Counts, mix: str) -> Floats:
    """D^{Bx} (..., k) of arms (..., J, k): their equal mean, or their "pooled" counts' shares."""
    if mix == "pooled":
        pooled = counts.sum(axis=-2)
        return np.asarray(pooled / pooled.sum(axis=-1, keepdims=True))
    return np.asarray((counts / counts.sum(axis=-1, keepdims=True)).mean(axis=-2))


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
    before = float(ideal.distance(initial.sum(axis=0) / initial.sum()))
    after = float(ideal.distance(mixed(arms.sum(axis=0), settings.mix)))
    value = before - after
    flags = []
    start, mitigated = draws, resample(arms, settings.bootstrap, rng)
    replicates = start.sensitivities(mitigated, ideal, settings.mix)
    if is_flat(replicates):
        flags.append("zero_width")
        start = draws.smoothed(initial, ideal, settings.bootstrap, rng)
        mitigated = resample(arms, settings.bootstrap, rng, smooth=True)
        replicates = start.sensitivities(mitigated, ideal, settings.mix)
    interval = Interval.of(value, replicates)
    matched = Matching.of(initial.sum(axis=1), arms.sum(axis=2))
    if matched.by_arm:
        flags.append("unequal_arms")
    point = low = high = probability = None
    if not matched.possible:
        flags.append("too_few_to_match")
    else:
        point = float(matched.difference(initial[None], arms[None], ideal, ideal.shares, rng)[0])
        cloud = matched.difference(start.counts, mitigated, ideal, start.shares, rng)
        low, high, probability = _describe_matched(cloud)
    return replace(
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
        sign=decide_sign(value, probability, settings.sign),
        sign_probability=probability,
    )


def _describe_matched(draws: Floats) -> tuple[float, float, float]:
    """The ends of the interval of replicates (B,), and the share of them above 0."""
    draws = np.where(np.abs(draws) < ROUNDING, 0.0, draws)
    low, high = np.quantile(draws, [TAIL, 1 - TAIL]).tolist()
    # Half of the ties: where nothing ever moves, neither direction is the likelier one.
    return low, high, float((draws > 0).mean() + 0.5 * (draws == 0).mean())


def decide_sign(value: float, probability: float | None, rule: str) -> Sign:
    """The direction that may be claimed: "is" takes IS at its word, "matched" wants 97.5 %."""
    if rule == "is":
        return "undetermined" if value == 0 else "towards" if value > 0 else "away"
    # Not the interval of IS decides: the initial images are fewer than those of all arms, so IS
    # leans upwards near the ideal, and its percentile interval claimed a direction without any
    # effect in up to 48 % of simulations, the matched one in .1 to 6.2 % (STATISTICS (e), 4).
    if probability is None or TAIL <= probability <= 1 - TAIL:
        return "undetermined"
    return "towards" if probability > 0.5 else "away"


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
        total = sizes.sum(axis=0)
        # Arms that lost answers unevenly would otherwise weigh by what is left of them, which the
        # mixture of the arms does not (STATISTICS (e), 2).
        if total.max() - total.min() <= UNEQUAL * total.max():
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
        if not self.by_arm:
            arms = arms.sum(axis=2, keepdims=True)
        before = self._distance(initial, self.initial, ideal, shares, rng)
        groups = arms.reshape(len(arms), -1, arms.shape[-1])
        return np.asarray(before - self._distance(groups, self.arms.ravel(), ideal, shares, rng))

    @staticmethod
    def _distance(
        groups: Counts, kept: Counts, ideal: Ideal, shares: Floats, rng: np.random.Generator
    ) -> Floats:
        groups, kept = groups[:, kept > 0], kept[kept > 0]
        return matched_distance(groups, kept, ideal, rng, shares=shares)
