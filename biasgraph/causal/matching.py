"""Expected distance to the ideal after cutting samples down to one common size.

A distance between shares leans upwards the more, the fewer images it rests on. Comparing the
initial images with all the images of an intervention is fair only at the same number of images:
the expectation over all subsets of that size removes the difference without adding noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, ndtr

from biasgraph.causal.settings import MetricName
from biasgraph.causal.tables import Counts, Floats
from biasgraph.causal.transport import Ideal

Cells = npt.NDArray[Any]
"""Counts or shares."""

NORMAL_VARIANCE = 25.0  # from here on the normal form is within 1e-4 of the exact expectation
NEGLIGIBLE = 9.0  # standard deviations around the mean, beyond which counts are not reckoned with
SUBSETS = 1000  # drawn for a cost matrix, around an estimate
SUBSETS_PER_REPLICATE = 4  # and for each of many bootstrap replicates
BLOCK = 1_000_000  # shares held at once


def matched_distance(
    counts: Counts,
    samples: Counts,
    ideal: Ideal,
    rng: np.random.Generator,
    *,
    shares: Floats | None = None,
) -> Floats:
    """Expected W1 to the ideal of the answers in a random subset of the images.

    E[W1] is a sum of E|H_i/m - u_i| over attributes (nominal, and values against a uniform ideal)
    or over cumulated attributes (ordinal, index), each exact. A cost matrix has no such sum: there
    it is a mean over subsets drawn at random.

    Args:
        counts: (B, J, k) answers of J groups of images; group totals are the same for all B.
        samples: (J,) how many images to take from each group, without replacement.
        ideal: What to measure the distance to, and by which metric.
        rng: For drawing subsets under a cost matrix.
        shares: (B, k) or (k,) ideals to use instead of the ideal's own.

    Returns:
        (B,) expected distances.
    """
    shares = np.broadcast_to(ideal.shares if shares is None else shares, counts[:, 0].shape)
    if ideal.metric == "cost":
        return _by_drawing(counts, samples, ideal, shares, rng)
    sizes = counts[0].sum(axis=-1, dtype=np.int64)
    successes, targets = (gap_terms(one, ideal.metric) for one in (counts, shares))
    gaps = np.empty_like(targets)
    for i in range(targets.shape[1]):
        gaps[:, i] = expected_gaps(successes[..., i], sizes, samples, targets[:, i])
    return _sum_gaps(gaps, ideal)


def matched_distance_in_blocks(
    read: Callable[[], Iterable[Counts]],
    sizes: Counts,
    samples: Counts,
    ideal: Ideal,
    shares: Floats,
) -> Floats:
    """`matched_distance` of so many groups that they are not held together; for no cost matrix.

    Args:
        read: Reads the groups, as (B, j, k) of some after the others, each time it is called.
        sizes: (J,) images in each group.
        samples: (J,) how many images to take from each.
        ideal: What to measure the distance to, and by which metric.
        shares: (B, k) ideals.

    Returns:
        (B,) expected distances.
    """
    targets, m = gap_terms(shares, ideal.metric), int(samples.sum())
    if (samples == sizes).all():
        taken = sum(successes.sum(axis=1) for _, successes in _each_block(read, ideal.metric))
        return _sum_gaps(np.abs(taken / m - targets), ideal)
    mean, variance = np.zeros((2, *targets.shape))
    for groups, successes in _each_block(read, ideal.metric):
        for i in range(targets.shape[1]):
            moments = _moments(successes[..., i], sizes[groups], samples[groups])
            mean[:, i], variance[:, i] = mean[:, i] + moments[0], variance[:, i] + moments[1]
    many = variance.min(axis=0) >= NORMAL_VARIANCE
    gaps = np.empty_like(mean)
    gaps[:, many] = _normal_gaps(mean[:, many], np.sqrt(variance[:, many]), m, targets[:, many])
    few = np.flatnonzero(~many).tolist()
    if not few:
        return _sum_gaps(gaps, ideal)
    blocks = [successes[..., few] for _, successes in _each_block(read, ideal.metric)]
    for i, exact in zip(few, np.moveaxis(np.concatenate(blocks, axis=1), -1, 0), strict=True):
        gaps[:, i] = expected_gaps(exact, sizes, samples, targets[:, i])
    return _sum_gaps(gaps, ideal)


def _each_block(
    read: Callable[[], Iterable[Counts]], metric: MetricName
) -> Iterator[tuple[slice, Counts]]:
    """Which groups a block has, and its `gap_terms`; a block may have none."""
    start = 0
    for counts in read():
        stop = start + counts.shape[1]
        if stop > start:
            yield slice(start, stop), gap_terms(counts, metric)
        start = stop


def _sum_gaps(gaps: Floats, ideal: Ideal) -> Floats:
    """(B,) distances of gaps (B, g); 0 where there is one attribute, and so none of them."""
    terms = np.sum(np.ascontiguousarray(gaps.T), axis=0)  # one after the other
    return np.asarray(gap_scale(ideal.metric, len(ideal.shares)) * terms)


def gap_scale(metric: MetricName, k: int) -> float:
    """What the sum of |counts / n - shares| over `gap_terms` is multiplied by to be W1."""
    scale = {"nominal": 1 / 2, "values": 1 / k, "index": 1.0, "ordinal": 1 / max(k - 1, 1)}
    return scale[metric]


def gap_terms(cells: Cells, metric: MetricName) -> Cells:
    """What W1 is a sum over, of counts or shares (..., k).

    Attributes (nominal, and values against a uniform ideal), or cumulated attributes (ordinal,
    index). A cost matrix has no such sum.
    """
    if metric in ("index", "ordinal"):
        return cells.cumsum(axis=-1, dtype=cells.dtype)[..., :-1]
    return cells


def expected_gaps(successes: Counts, sizes: Counts, samples: Counts, targets: Floats) -> Floats:
    """E|H/m - t| for H a sum of independent hypergeometric counts, m = sum of samples.

    Exact by summing the probabilities, or, where the variance is at least NORMAL_VARIANCE, by
    the normal distribution of the same mean and variance.

    Args:
        successes: (B, J) images with the attribute in each group.
        sizes: (J,) images in each group.
        samples: (J,) images taken from each.
        targets: (B,) shares t.

    Returns:
        (B,) expectations.
    """
    m = int(samples.sum())
    if (samples == sizes).all():
        return np.asarray(np.abs(successes.sum(axis=1) / m - targets))
    if successes.sum() > len(successes) * sizes.sum() / 2:  # count the rarer of with and without
        successes, targets = sizes.astype(successes.dtype) - successes, 1 - targets
    mean, variance = _moments(successes, sizes, samples)
    deviation = np.sqrt(variance)
    if deviation.min() ** 2 >= NORMAL_VARIANCE:
        return _normal_gaps(mean, deviation, m, targets)
    margin = NEGLIGIBLE * (deviation + 1)
    highest = min(m, math.ceil((mean + margin).max()))
    chosen, which = targets[:1], np.zeros(len(targets), dtype=np.intp)
    if (targets != chosen).any():  # the ideal is resampled, too
        chosen, which = np.unique(targets, return_inverse=True)
    if len(sizes) == 1:
        h = np.arange(max(0, math.floor((mean - margin).min())), highest + 1)
        found, row = _distinct(successes[:, 0])
        expected = hypergeometric(found, int(sizes[0]), m, h) @ np.abs(h[:, None] / m - chosen)
        return np.asarray(expected[row, which])
    h = np.arange(highest + 1)
    gaps = np.abs(h[:, None] / m - chosen)
    probabilities = _sum_of_hypergeometrics(successes, sizes, samples, h)
    return np.asarray(np.einsum("bh,hb->b", probabilities, gaps[:, which]))


def _normal_gaps(mean: Floats, deviation: Floats, m: int, targets: Floats) -> Floats:
    z = (mean - targets * m) / deviation
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray(deviation * (2 * density + z * (2 * ndtr(z) - 1)) / m)


def _moments(successes: Counts, sizes: Counts, samples: Counts) -> tuple[Floats, Floats]:
    """(B,) means and variances of the sum of H, in blocks of (B, J) successes."""
    spread = samples * (sizes - samples) / np.maximum(sizes - 1, 1)
    mean, variance = np.empty((2, len(successes)))
    step = max(1, BLOCK // len(sizes))
    for start in range(0, len(successes), step):
        block = slice(start, start + step)
        shares = successes[block] / sizes
        mean[block] = (shares * samples).sum(axis=1)
        variance[block] = (shares * (1 - shares) * spread).sum(axis=1)
    return mean, variance


def hypergeometric(successes: Counts, size: int, sample: int, h: Counts) -> Floats:
    """(U, H) probabilities of h (H,) successes among `sample` images out of `size`."""
    c = successes[:, None]
    possible = (h <= c) & (h <= sample) & (sample - h <= size - c)
    h = np.where(possible, h, np.maximum(0, sample - (size - c)))
    factorials = _log_factorials(size)

    def log_choose(n: Counts | int, k: Counts | int) -> Floats:
        return np.asarray(factorials[n] - factorials[k] - factorials[n - k])

    log = log_choose(c, h) + log_choose(size - c, sample - h) - log_choose(size, sample)
    return np.where(possible, np.exp(log), 0.0)


@lru_cache(maxsize=8)
def _log_factorials(largest: int) -> Floats:
    """Those of 0 ... largest."""
    return np.asarray(gammaln(np.arange(largest + 1) + 1.0))


def _distinct(counts: Counts) -> tuple[Counts, npt.NDArray[np.intp]]:
    """As `np.unique` with its inverse; counts lie close together, so that none need be sorted."""
    least = counts.min()
    seen = np.bincount(counts - least) > 0
    return np.flatnonzero(seen) + least, (np.cumsum(seen) - 1)[counts - least]


def _sum_of_hypergeometrics(successes: Counts, sizes: Counts, samples: Counts, h: Counts) -> Floats:
    """(B, H) probabilities that the counts sum to h = 0 ... H-1, by multiplying transforms."""
    product = np.ones((len(successes), len(h) // 2 + 1), dtype=complex)
    for j, (size, sample) in enumerate(zip(sizes.tolist(), samples.tolist(), strict=True)):
        found, row = _distinct(successes[:, j])
        probabilities = hypergeometric(found, size, sample, h)
        product *= np.fft.rfft(probabilities, axis=1)[row]
    return np.asarray(np.fft.irfft(product, n=len(h), axis=1))


def _by_drawing(
    counts: Counts, samples: Counts, ideal: Ideal, shares: Floats, rng: np.random.Generator
) -> Floats:
    subsets = SUBSETS if len(counts) == 1 else SUBSETS_PER_REPLICATE
    repeated = np.repeat(counts.astype(np.int64), subsets, axis=0)
    drawn = draw_subsets(repeated, samples, rng).sum(axis=1) / samples.sum()
    distances = ideal.distance(drawn, np.repeat(shares, subsets, axis=0))
    return np.asarray(distances.reshape(len(counts), subsets).mean(axis=1))


def draw_subsets(counts: Counts, samples: Counts, rng: np.random.Generator) -> Counts:
    """One random subset without replacement of every group: (B, J, k) counts for (J,) samples."""
    rest = counts.sum(axis=-1)
    wanted = np.broadcast_to(samples, rest.shape).copy()
    drawn = np.zeros_like(counts)
    for i in range(counts.shape[-1] - 1):
        rest = rest - counts[..., i]
        drawn[..., i] = rng.hypergeometric(counts[..., i], rest, wanted)
        wanted -= drawn[..., i]
    drawn[..., -1] = wanted
    return drawn
