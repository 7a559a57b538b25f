"""Resampling whole images, so that what their axes share is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from biasgraph.causal.tables import Arm, CodedImages, Codes, Counts, Floats, Pool

BLOCK = 4_000_000  # cells of the replicates x images matrix held at once


def one_hot(codes: Codes, sizes: Sequence[int]) -> Floats:
    """(images, sum of sizes) 0/1 columns of every attribute; invalid answers are all 0."""
    columns = [codes[:, y, None] == np.arange(size) for y, size in enumerate(sizes)]
    return np.concatenate(columns, axis=1).astype(np.float64)


def resampled_sums(
    images: Floats, take: int, replicates: int, rng: np.random.Generator, *, replace: bool = True
) -> Floats:
    """(replicates, C) sums of the rows of `take` images, of (images, C), drawn at random."""
    n = len(images)
    blocks = []
    for start in range(0, replicates, max(1, BLOCK // n)):
        rows = min(max(1, BLOCK // n), replicates - start)
        if replace:
            chosen = rng.integers(0, n, (rows, take))
        else:
            chosen = rng.permuted(np.tile(np.arange(n), (rows, 1)), axis=1)[:, :take]
        chosen += n * np.arange(rows)[:, None]
        weights = np.bincount(chosen.ravel(), minlength=rows * n).reshape(rows, n)
        blocks.append(weights.astype(np.float64) @ images)
    return np.concatenate(blocks)


def image_counts(
    codes: Codes,
    sizes: Sequence[int],
    take: int,
    replicates: int,
    rng: np.random.Generator,
    *,
    replace: bool = True,
) -> list[Counts]:
    """Answers of `take` images drawn with or without replacement: (replicates, k) per variable."""
    drawn = resampled_sums(one_hot(codes, sizes), take, replicates, rng, replace=replace)
    counts = drawn.round().astype(np.int64)
    return np.split(counts, np.cumsum(sizes)[:-1], axis=1)


def pool_counts(
    pool: Pool,
    sources: Sequence[int],
    replicates: int,
    rng: np.random.Generator,
    *,
    noise: bool,
    take: Sequence[Mapping[Arm | None, int]] | None = None,
    replace: bool = True,
) -> tuple[list[Counts], dict[int, list[Counts]]]:
    """Whole-image replicates of a pool, each prompt resampled by itself and then summed.

    Args:
        pool: The images.
        sources: The variables whose arms to draw.
        replicates: How many to draw.
        rng: To draw with.
        noise: Whether to draw the arms from the initial images too, so that no intervention does
            anything.
        take: For each prompt, how many images to draw of each arm and, under None, of the initial
            images; as many as there are unless given.
        replace: Whether to draw with replacement.

    Returns:
        Per variable the counts (replicates, k) of the initial images, and by source those
        (replicates, J, k) of its arms.
    """
    sizes = [variable.size for variable in pool.variables]
    none = [np.zeros((replicates, size), dtype=np.int64) for size in sizes]

    if take is None:
        take = [image_sizes(images) for images in pool.prompts]

    def drawn(codes: Codes, number: int) -> list[Counts]:
        if not len(codes):
            return none
        return image_counts(codes, sizes, number, replicates, rng, replace=replace)

    initial = none
    arms: dict[int, dict[Arm, list[Counts]]] = {x: {} for x in sources}
    for images, numbers in zip(pool.prompts, take, strict=True):
        initial = _added(initial, drawn(images.initial, numbers[None]))
        for x, of_x in arms.items():
            for arm in images.arms_of(x):
                codes = images.initial if noise else images.arms[arm]
                counts = drawn(codes, numbers[arm])
                of_x[arm] = _added(of_x.get(arm, none), counts)
    stacked = {
        x: [np.stack(counts, axis=1) for counts in zip(*of_x.values(), strict=True)]
        for x, of_x in arms.items()
    }
    return initial, stacked


def image_sizes(images: CodedImages) -> dict[Arm | None, int]:
    """How many images each arm of a prompt has, and under None how many initial ones."""
    return {None: len(images.initial)} | {arm: len(codes) for arm, codes in images.arms.items()}


def _added(one: Sequence[Counts], other: Sequence[Counts]) -> list[Counts]:
    return [a + b for a, b in zip(one, other, strict=True)]
