"""Whether arms differ in concepts, where one image may show several.

A count table takes every word for an image of its own, and so rejects far too often; permuting the
labels of whole images does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biasgraph.causal.tables import Counts, Floats

PERMUTATIONS = 1_999
FEWEST_IMAGES = 2
"""A concept of fewer images tells nothing of arms."""


@dataclass(frozen=True)
class Stratum:
    """The images of one prompt.

    Attributes:
        counts: (n, C) how often each image shows each concept.
        arms: (n,) the arm of each image, from 0.
    """

    counts: Counts
    arms: npt.NDArray[np.int64]


@dataclass(frozen=True)
class PermutationTest:
    """The result of a permutation test.

    Attributes:
        statistic: Chi-square of the table of arms and concepts, summed over strata.
        p: How often permuted images have as large a one.
        v: The mean of Cramér's V over strata.
        n: The images.
    """

    statistic: float
    p: float
    v: float
    n: int


def permutation_test(
    strata: Sequence[Stratum], rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> PermutationTest | None:
    """Test whether arms differ; images change places within their stratum only.

    None where no stratum has two arms and two concepts that at least two images share.
    """
    used = [found for found in map(_reduce, strata) if found is not None]
    if not used:
        return None
    statistics, drawn, strengths = [], np.zeros(permutations), []
    for stratum in used:
        counts = stratum.counts.astype(np.float64)
        statistic = float(_chi_square(counts, stratum.arms[None, :])[0])
        permuted = rng.permuted(np.tile(stratum.arms, (permutations, 1)), axis=1)
        drawn += _chi_square(counts, permuted)
        smaller = min(len(np.unique(stratum.arms)), counts.shape[1]) - 1
        strengths.append(min(1.0, float(np.sqrt(statistic / (counts.sum() * smaller)))))
        statistics.append(statistic)
    total = sum(statistics)
    as_large = int((drawn >= total * (1 - 1e-9)).sum())
    return PermutationTest(
        total,
        (1 + as_large) / (permutations + 1),
        float(np.mean(strengths)),
        sum(len(stratum.arms) for stratum in used),
    )


def _reduce(stratum: Stratum) -> Stratum | None:
    """The concepts that several images share, and the images of arms about which any is said."""
    shared = (stratum.counts > 0).sum(axis=0) >= FEWEST_IMAGES
    counts = stratum.counts[:, shared]
    telling = [arm for arm in np.unique(stratum.arms) if counts[stratum.arms == arm].any()]
    if counts.shape[1] < 2 or len(telling) < 2:
        return None
    kept = np.isin(stratum.arms, telling)
    places = np.searchsorted(telling, stratum.arms[kept])
    return Stratum(counts[kept], places.astype(np.int64))


def _chi_square(counts: Floats, arms: npt.NDArray[np.int64]) -> Floats:
    """(R,) the statistic for each of (R, n) ways of giving images arms."""
    columns = counts.sum(axis=0)
    columns = np.where(columns > 0, columns, 1.0)
    total = counts.sum()
    share = np.zeros(len(arms))
    for arm in range(int(arms.max()) + 1):
        cells = (arms == arm).astype(np.float64) @ counts
        rows = cells.sum(axis=1)
        share += (cells**2 / columns).sum(axis=1) / np.where(rows > 0, rows, 1.0)
    return np.asarray(total * (share - 1.0))
