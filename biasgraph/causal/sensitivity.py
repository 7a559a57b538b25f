"""Intersectional Sensitivity with its uncertainty (BiasConnect eq. 4; STATISTICS (d), (e))."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from biasgraph.causal.matching import matched_distance
from biasgraph.causal.settings import TAIL, AnalysisSettings
from biasgraph.causal.tables import Counts, Floats
from biasgraph.causal.transport import Ideal

Sign = Literal["towards", "away", "undetermined"]

UNEQUAL = 0.10  # arms whose valid answers differ by more are cut to one size


@dataclass(frozen=True)
class TargetDraws:
    """Bootstrap replicates of one target's initial images, shared by every intervention.

    counts (B, P, k), each of P prompts resampled by itself; shares: resampled ideals (B, k), or
    the ideal (k,); distances (B,) of the summed counts.
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


@dataclass(frozen=True)
class Interval:
    """95 % intervals of one number; the hull of the two is the headline."""

    percentile: tuple[float, float]
    basic: tuple[float, float]

    @classmethod
    def of(cls, estimate: float, draws: Floats) -> Interval:
        low, high = (float(q) for q in np.quantile(draws, [TAIL, 1 - TAIL]))
        return cls((low, high), (2 * estimate - high, 2 * estimate - low))

    @property
    def hull(self) -> tuple[float, float]:
        return min(self.percentile[0], self.basic[0]), max(self.percentile[1], self.basic[1])


@dataclass(frozen=True)
class Sensitivity:
    """Everything one pair says about its size and direction; `fields` has the promised names."""

    fields: dict[str, Any]
    flags: list[str] = field(default_factory=list)


def resample(
    counts: Counts, replicates: int, rng: np.random.Generator, *, smooth: bool = False
) -> Counts:
    """(replicates, J, k) multinomial resamples of J sets of answers (J, k), sizes kept.

    smooth resamples from (c + 1/k) / (n + 1), so that an attribute never seen may appear.
    """
    k = counts.shape[-1]
    n = counts.sum(axis=-1)
    more = 1 if smooth else 0
    shares = (counts + more / k) / np.maximum(n + more, 1)[:, None]
    drawn = [rng.multinomial(size, p, size=replicates) for size, p in zip(n, shares, strict=True)]
    return np.stack(drawn, axis=1)


def mixed(counts: Counts, mix: str) -> Floats:
    """D^{Bx} (..., k) of arms (..., J, k): their equal mean, or their "pooled" counts' shares."""
    if mix == "pooled":
        pooled = counts.sum(axis=-2)
        return np.asarray(pooled / pooled.sum(axis=-1, keepdims=True))
    return np.asarray((counts / counts.sum(axis=-1, keepdims=True)).mean(axis=-2))


def sensitivity(
    initial: Counts,
    arms: Counts,
    ideal: Ideal,
    draws: TargetDraws,
    settings: AnalysisSettings,
    rng: np.random.Generator,
) -> Sensitivity:
    """IS = W1(initial, ideal) - W1(intervention, ideal), matched and with intervals.

    initial: (P, k) answers about P prompts, arms: (P, J, k) answers of the intervention; a prompt
    may lack some, their sums over prompts may not. Counts are summed over prompts (supp. A.8);
    resampling and matching keep to each prompt.
    """
    before = float(ideal.distance(initial.sum(axis=0) / initial.sum()))
    after = float(ideal.distance(mixed(arms.sum(axis=0), settings.mix)))
    value = before - after
    flags: list[str] = []

    def resampled(*, smooth: bool) -> Counts:
        sets = arms.reshape(-1, arms.shape[-1])
        drawn = resample(sets, settings.bootstrap, rng, smooth=smooth)
        return drawn.reshape(-1, *arms.shape)

    def differences(start: TargetDraws, mitigated: Counts) -> Floats:
        shares = mixed(mitigated.sum(axis=1), settings.mix)
        return np.asarray(start.distances - ideal.distance(shares, start.shares))

    start, mitigated = draws, resampled(smooth=False)
    replicates = differences(start, mitigated)
    if np.ptp(replicates) < 1e-12:
        flags.append("zero_width")
        start = draws.smoothed(initial, ideal, settings.bootstrap, rng)
        mitigated = resampled(smooth=True)
        replicates = differences(start, mitigated)
    interval = Interval.of(value, replicates)
    matched = Matching.of(initial.sum(axis=1), arms.sum(axis=2))
    if matched.by_arm:
        flags.append("unequal_arms")
    if not matched.possible:
        flags.append("too_few_to_match")
    point, cloud = None, None
    if matched.possible:
        one = matched.difference(initial[None], arms[None], ideal, ideal.shares, rng)
        point = float(one[0])
        cloud = matched.difference(start.counts, mitigated, ideal, start.shares, rng)
    fields: dict[str, Any] = {
        "w1_before": before,
        "w1_after": after,
        "is": value,
        **_matched_fields(point, cloud),
        "is_ci_low": interval.hull[0],
        "is_ci_high": interval.hull[1],
        "ci_percentile_low": interval.percentile[0],
        "ci_percentile_high": interval.percentile[1],
        "ci_basic_low": interval.basic[0],
        "ci_basic_high": interval.basic[1],
    }
    fields["sign"] = sign(value, fields["sign_probability"], settings.sign)
    return Sensitivity(fields, flags)


def sign(value: float, probability: float | None, rule: str) -> Sign:
    """The direction that may be claimed: "is" takes IS at its word, "matched" wants 97.5 %."""
    if rule == "is":
        return "undetermined" if value == 0 else "towards" if value > 0 else "away"
    if probability is None or TAIL <= probability <= 1 - TAIL:
        return "undetermined"
    return "towards" if probability > 0.5 else "away"


def _matched_fields(point: float | None, cloud: Floats | None) -> dict[str, float | None]:
    if cloud is None:
        low = high = probability = None
    else:
        cloud = np.where(np.abs(cloud) < 1e-12, 0.0, cloud)  # equal sums differ by rounding
        low, high = (float(q) for q in np.quantile(cloud, [TAIL, 1 - TAIL]))
        probability = float((cloud > 0).mean() + 0.5 * (cloud == 0).mean())
    return {
        "is_matched": point,
        "is_matched_ci_low": low,
        "is_matched_ci_high": high,
        "sign_probability": probability,
    }


@dataclass(frozen=True)
class Matching:
    """How many images to keep of each prompt, so that both sides are equal within the prompt.

    initial: (P,) kept of the initial images; arms: (P, G) kept of the interventions. Arms of about
    one size are pooled (G = 1); others (by_arm) give equally many images each.
    """

    initial: Counts
    arms: Counts
    by_arm: bool

    @classmethod
    def of(cls, initial: Counts, sizes: Counts) -> Matching:
        """For (P,) initial images and (P, J) images of the interventions, by their numbers."""
        kept = np.minimum(initial, sizes.sum(axis=1))
        total = sizes.sum(axis=0)
        if total.max() - total.min() <= UNEQUAL * total.max():
            return cls(kept, kept[:, None], by_arm=False)
        count = sizes.shape[1]
        each = np.minimum(kept // count, sizes.min(axis=1))
        return cls(each * count, np.repeat(each[:, None], count, axis=1), by_arm=True)

    @property
    def possible(self) -> bool:
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
