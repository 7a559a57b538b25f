"""Resampling whole images, so that what their axes share is kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgraph.causal.tables import Codes, Counts, Floats

BLOCK = 4_000_000  # cells of the replicates x images matrix held at once


def one_hot(codes: Codes, sizes: Sequence[int]) -> Floats:
    """(images, sum of sizes) 0/1 columns of every attribute; invalid answers are all 0."""
    columns = [codes[:, y, None] == np.arange(size) for y, size in enumerate(sizes)]
    return np.concatenate(columns, axis=1).astype(np.float64)


def image_counts(
    codes: Codes, sizes: Sequence[int], take: int, replicates: int, rng: np.random.Generator
) -> list[Counts]:
    """Answers of `take` images drawn with replacement: (replicates, k) counts per variable."""
    images = len(codes)
    answers = one_hot(codes, sizes)
    blocks = []
    for start in range(0, replicates, max(1, BLOCK // images)):
        rows = min(max(1, BLOCK // images), replicates - start)
        chosen = rng.integers(0, images, (rows, take)) + images * np.arange(rows)[:, None]
        weights = np.bincount(chosen.ravel(), minlength=rows * images).reshape(rows, images)
        blocks.append(weights.astype(np.float64) @ answers)
    counts = np.concatenate(blocks).round().astype(np.int64)
    return np.split(counts, np.cumsum(sizes)[:-1], axis=1)
