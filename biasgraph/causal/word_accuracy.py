"""How often a ranking of words begins with the word that matters most (GradBias, table 3).

Words are units: a phrase whose words are left out together is one. Of a ranking only its order
counts; units with the same score stand in it in any order, each as likely as the others, so that
every number below is an expectation and a ranking of equal scores is the random one, exactly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from biasgraph.causal.intervals import ROUNDING, Interval, wilson
from biasgraph.causal.resampling import resampled_sums
from biasgraph.causal.tables import Floats

TOPS = (1, 2, 3)
REPLICATES = 2_000
MORE_UNITS = {1: 2, 2: 4, 3: 4}
"""How many units a prompt needs: of three, most rankings have the right one among two or three."""
FEW_UNITS = "no prompt ranks at least {} words of which some are not first in truth"

Ties = Literal["any", "first"]
"""What is a hit where several units are first in truth: any of them, as in the paper; or one alone,
each that has the largest score as likely to be the one as the others."""


@dataclass(frozen=True)
class MeanOverPrompts:
    """A mean over (prompt, axis) pairs.

    Attributes:
        value: None where it is undefined.
        low: The lower end of its 95 % interval, for new prompts.
        high: The upper end.
        pairs: How many pairs it is of.
        prompts: And how many prompts, which are what is resampled.
        how: "wilson" where every pair is a hit or none, and each prompt has one pair or all pairs
            are alike; "bootstrap" over prompts otherwise; "" where there is no interval.
        reason: Why it, or its interval, is undefined.
    """

    value: float | None
    low: float | None
    high: float | None
    pairs: int
    prompts: int
    how: Literal["wilson", "bootstrap", ""] = ""
    reason: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class RankedPair:
    """The units of one prompt along one axis, as the truth and as methods score them.

    Attributes:
        prompt: Pairs of the same prompt are resampled together.
        truth: (n,) finite scores.
        predicted: (n,) finite scores by method; a method may be missing.
        tied: (n,) whether a unit is to count as first with that of the largest score, such as one
            whose interval cannot be told from its; left out: only units with the same score are.
    """

    prompt: Hashable
    truth: Floats
    predicted: Mapping[str, Floats]
    tied: Sequence[bool] = ()


@dataclass(frozen=True)
class AccuracyRow:
    """How often one method's first k units have the truth's first.

    Attributes:
        method: Its name.
        top: k.
        ties: What counted where several are first in truth.
        accuracy: The share of pairs.
        ahead_of: By the name of another method, how much more often than it on the same pairs.
    """

    method: str
    top: int
    ties: Ties
    accuracy: MeanOverPrompts
    ahead_of: Mapping[str, MeanOverPrompts]


def accuracy_rows(
    pairs: Sequence[RankedPair],
    rng: np.random.Generator,
    references: Sequence[str] = ("random", "tree"),
) -> list[AccuracyRow]:
    """GradBias, table 3, for every method, k and way to count ties.

    Args:
        pairs: What is ranked.
        rng: To draw with.
        references: Methods that every other one is held against, where they are there.
    """
    methods = list(dict.fromkeys(name for pair in pairs for name in pair.predicted))
    prompts = [pair.prompt for pair in pairs]
    rows = []
    for ties, k in itertools.product(get_args(Ties), TOPS):
        hits = {name: _hits(pairs, name, k, ties) for name in methods}
        for name in methods:
            ahead = {
                other: mean_difference(hits[name], hits[other], prompts, rng)
                for other in references
                if other in hits and other != name
            }
            mean = mean_hits(hits[name], prompts, rng, k)
            rows.append(AccuracyRow(name, k, ties, mean, ahead))
    return rows


def _hits(pairs: Sequence[RankedPair], method: str, k: int, ties: Ties) -> Floats:
    return np.array([
        top_hit(
            pair.predicted[method],
            first_units(pair.truth, pair.tied if ties == "any" else ()), k, ties,
        )
        if method in pair.predicted else math.nan
        for pair in pairs
    ])  # fmt: skip


def first_units(scores: Floats, tied: Sequence[bool] = ()) -> np.ndarray:
    """(n,) which units of a truth (n,) are first: those with the largest score, and those tied."""
    first = np.asarray(scores >= scores.max() - ROUNDING)
    return first | np.array(tied, dtype=np.bool_) if len(tied) else first


def top_hit(predicted: Floats, first: np.ndarray, k: int, ties: Ties = "any") -> float:
    """The probability, 0 to 1, that the truth's first unit is among the first k of a ranking.

    Args:
        predicted: (n,) finite scores, the larger the earlier.
        first: (n,) bool, the units that are first in truth; at least one.
        k: At least 1.
        ties: What counts where several are first in truth.

    Returns:
        NaN where the prompt has too few units for k (`MORE_UNITS`), and where all of them are
        first, as where no word has an influence: whatever is ranked first would be right.
    """
    n = len(predicted)
    if n < MORE_UNITS.get(k, k + 1) or first.all():
        return math.nan
    border = np.sort(predicted)[::-1][k - 1]
    before = predicted > border + ROUNDING
    level = np.abs(predicted - border) <= ROUNDING
    places, candidates = k - int(before.sum()), int(level.sum())
    if ties == "first":
        share = places / candidates
        return float((before[first].sum() + share * level[first].sum()) / first.sum())
    if (before & first).any():
        return 1.0
    right = int((level & first).sum())
    return 1.0 - math.comb(candidates - right, places) / math.comb(candidates, places)


def mean_hits(
    hits: Floats, prompts: Sequence[Hashable], rng: np.random.Generator, k: int = 1
) -> MeanOverPrompts:
    """The top-k accuracy of a method.

    Args:
        hits: (P,) of `top_hit`; NaN are left out.
        prompts: (P,) the prompt of each: those of one prompt are resampled together.
        rng: To draw with.
        k: What they are of, for the reason where all are undefined.
    """
    kept = np.isfinite(hits)
    values, groups = hits[kept], _groups(prompts, kept)
    if not len(values):
        reason = FEW_UNITS.format(MORE_UNITS.get(k, k + 1))
        return MeanOverPrompts(None, None, None, 0, 0, reason=reason)
    value, count = float(values.mean()), int(groups.max()) + 1
    whole = bool(np.isin(values, (0.0, 1.0)).all())
    if whole and (count == len(values) or np.ptp(values) == 0):
        low, high = wilson(value * count, count).tolist()
        ends = min(low, value), max(high, value)  # as far as rounding goes
        return MeanOverPrompts(value, *ends, len(values), count, "wilson")
    return _bootstrap(values, groups, rng, 0.0)


def mean_difference(
    hits: Floats, others: Floats, prompts: Sequence[Hashable], rng: np.random.Generator
) -> MeanOverPrompts:
    """How much more often one method is right than another, on the same pairs.

    Args:
        hits: (P,) of `top_hit`, of the one method.
        others: (P,) of the other; a pair that is NaN in either is left out.
        prompts: (P,) the prompt of each.
        rng: To draw with.
    """
    kept = np.isfinite(hits) & np.isfinite(others)
    values, groups = (hits - others)[kept], _groups(prompts, kept)
    if not len(values):
        reason = "no prompt has both"
        return MeanOverPrompts(None, None, None, 0, 0, reason=reason)
    return _bootstrap(values, groups, rng, -1.0)


def _groups(prompts: Sequence[Hashable], kept: np.ndarray) -> np.ndarray:
    """A number for each prompt of what is kept, from 0 on."""
    places: dict[Hashable, int] = {}
    shown = (prompt for prompt, keep in zip(prompts, kept, strict=True) if keep)
    return np.array([places.setdefault(prompt, len(places)) for prompt in shown], dtype=np.int64)


def _bootstrap(
    values: Floats, groups: np.ndarray, rng: np.random.Generator, least: float
) -> MeanOverPrompts:
    """The mean of values (P,) from `least` to 1, whole prompts resampled."""
    columns = np.stack([np.bincount(groups, values), 1.0 * np.bincount(groups)], axis=1)
    value, count = float(values.mean()), len(columns)
    if count < 2 or np.ptp(columns[:, 0] / columns[:, 1]) <= ROUNDING:
        reason = "there is one prompt" if count < 2 else "it is the same for every prompt"
        return MeanOverPrompts(value, None, None, len(values), count, reason=reason)
    sums = resampled_sums(columns, count, REPLICATES, rng)
    low, high = Interval.of(value, sums[:, 0] / sums[:, 1]).within(least, 1.0)
    return MeanOverPrompts(value, low, high, len(values), count, "bootstrap")
