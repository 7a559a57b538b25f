"""How alike two sets of images are in their concepts, and how evenly (TIBET sec. 3.4).

Frequencies are how often a concept is said per image, 0 or more. What is undefined is NaN.
"""

from __future__ import annotations

import numpy as np

from biasgraph.causal.tables import Floats


def cas(one: Floats, other: Floats) -> Floats:
    """Concept association score: sum of minima over sum of maxima of two histograms (eqs. 1-3).

    Args:
        one: (..., C) frequencies, 0 or more.
        other: The same, broadcast against `one`.

    Returns:
        (...) in [0, 1]: 1 for equal histograms, 0 for no common concept, NaN where both are empty.
    """
    shared = np.minimum(one, other).sum(axis=-1)
    largest = np.maximum(one, other).sum(axis=-1)
    return _divide(shared, largest)


def cas_normalised(one: Floats, other: Floats) -> Floats:
    """`cas` of histograms that are first made to sum to 1, as the released code does.

    NaN where either histogram is empty.
    """
    return cas(_shares(one), _shares(other))


def bav(scores: Floats) -> Floats:
    """Bias axis variance: the population variance of scores (eqs. 4-5).

    Args:
        scores: (..., K) concept association scores.

    Returns:
        (...) in [0, 1/4]; NaN where a score is, and for a single score, which has no others.
    """
    if scores.shape[-1] < 2:
        return np.full(scores.shape[:-1], np.nan)
    return np.asarray(scores.var(axis=-1))


def mad(scores: Floats) -> Floats:
    """What the released code has for BAV: the root of the mean absolute deviation.

    Args:
        scores: (..., K) concept association scores.

    Returns:
        (...) in [0, 1]: sqrt(mean |x - mean x|) of the scores divided by their sum, over the same
        for one score of 1 and else 0. NaN where a score is, where all are 0, and for a single one.
    """
    k = scores.shape[-1]
    if k < 2:
        return np.full(scores.shape[:-1], np.nan)
    shares = _shares(scores)
    deviation = np.abs(shares - shares.mean(axis=-1, keepdims=True)).mean(axis=-1)
    return np.asarray(np.sqrt(deviation / (2 * (k - 1) / k**2)))


def _shares(histogram: Floats) -> Floats:
    return _divide(histogram, histogram.sum(axis=-1, keepdims=True))


def _divide(numbers: Floats, by: Floats) -> Floats:
    """NaN where `by` is 0."""
    undefined = np.full(np.shape(numbers), np.nan)
    return np.asarray(np.divide(numbers, by, out=undefined, where=by > 0))
