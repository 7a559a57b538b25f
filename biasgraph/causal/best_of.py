"""The best of many scores: what luck makes of it, and what fresh ones say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgraph.causal.settings import TAIL
from biasgraph.causal.tables import Floats

ROUNDING = 1e-9
"""Values that differ by less differ by rounding alone."""


def expected_best(scores: Sequence[float], *, lower: bool) -> Floats:
    """The expected best of the first k of exchangeable scores, for every k.

    The exact mean over all subsets of k, drawn without replacement.

    Args:
        scores: (n,) scores.
        lower: Whether the lowest is the best, rather than the highest.

    Returns:
        (n,) of k = 1 to n; the last is the best of all.
    """
    worst_last = np.sort(np.asarray(scores, dtype=float))
    values = worst_last if lower else worst_last[::-1]
    n = len(values)
    worse = n - 1 - np.arange(n)  # how many are worse than each
    weights = np.full(n, 1 / n)  # how probably it is the best of k: C(worse, k - 1) / C(n, k)
    expected = []
    for k in range(1, n + 1):
        expected.append(float(weights @ values))
        if k < n:
            weights = weights * np.maximum(worse - k + 1, 0) / k * (k + 1) / (n - k)
    return np.array(expected)


def mean_interval(
    values: Sequence[float],
) -> tuple[float | None, float | None, float | None]:
    """The mean of independent values with Student's 95 % interval.

    No value has no mean. Fewer than two values have no interval, and neither have values that are
    all alike: that they agree does not make the mean certain.
    """
    from scipy.stats import t

    if not len(values):
        return None, None, None
    drawn = np.asarray(values, dtype=float)
    mean = float(drawn.mean())
    if len(drawn) < 2 or np.ptp(drawn) < ROUNDING:
        return mean, None, None
    half = float(t.isf(TAIL, len(drawn) - 1) * drawn.std(ddof=1) / np.sqrt(len(drawn)))
    return mean, mean - half, mean + half
