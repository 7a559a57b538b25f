"""Mean shares over prompts that a search found, and how far two sets of prompts are apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biasgraph.causal.intervals import Interval, wilson
from biasgraph.causal.resampling import resampled_sums

REPLICATES = 2_000
ROUNDING = 1e-9
NO_PROMPT = "no prompt has a share"


@dataclass(frozen=True)
class MeanShare:
    """A mean over prompts, or the difference of two.

    Attributes:
        value: None where it is undefined.
        low: The lower end of its 95 % interval, for other prompts found in the same way.
        high: The upper end.
        prompts: How many prompts it is of.
        reason: Why it is undefined.
    """

    value: float | None
    low: float | None
    high: float | None
    prompts: int
    reason: str = ""


def mean_share(shares: Sequence[float | None], rng: np.random.Generator) -> MeanShare:
    """The mean of shares (n,) in [0, 1], one a prompt; None is left out.

    The interval is a bootstrap over prompts. Where all are alike, that they agree does not make
    the mean certain: it is Wilson's then, of as many images as there are prompts.
    """
    values = np.array([share for share in shares if share is not None])
    if not len(values):
        return MeanShare(None, None, None, 0, NO_PROMPT)
    value, n = float(values.mean()), len(values)
    if np.ptp(values) < ROUNDING:
        low, high = wilson(value * n, n).tolist()
    else:
        sums = resampled_sums(values[:, None], n, REPLICATES, rng)
        low, high = Interval.of(value, sums[:, 0] / n).within(0.0, 1.0)
    return MeanShare(value, min(low, value), max(high, value), n)


def mean_gain(found: MeanShare, alone: MeanShare) -> MeanShare:
    """How much larger one mean is than another of other prompts.

    The interval is made of theirs (MOVER; Zou and Donner 2008).
    """
    if found.value is None or alone.value is None:
        return MeanShare(None, None, None, 0, NO_PROMPT)
    difference = found.value - alone.value
    low, high = _reach(found, alone)
    prompts = min(found.prompts, alone.prompts)
    return MeanShare(difference, difference - low, difference + high, prompts)


def _reach(one: MeanShare, other: MeanShare) -> tuple[float, float]:
    """How far an interval of one mean less the other goes down and up."""
    below, above = (
        (mean.value - mean.low, mean.high - mean.value)
        if mean.value is not None and mean.low is not None and mean.high is not None
        else (0.0, 0.0)
        for mean in (one, other)
    )
    return math.hypot(below[0], above[1]), math.hypot(below[1], above[0])
