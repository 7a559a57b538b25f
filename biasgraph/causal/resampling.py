"""Resampling sets of answers, and whole images, so that what their axes share is kept.

Images that all gave one answer, or nearly all, would hardly vary when they are resampled as they
are, and real generators make such images. Whatever is resampled therefore has PSEUDO images more,
whose answers are any of the attributes (STATISTICS (k), 1; Agresti and Coull 1998 add as many).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from biasgraph.causal.tables import Arm, CodedImages, Codes, Counts, Floats, Pool

Take = Sequence[Mapping[Arm | None, int]] | None

PSEUDO = 2.0
BLOCK = 4_000_000  # cells of the replicates x images matrix held at once
HELD = 10_000_000  # resampled counts of many prompts held at once


def resample(
    counts: Counts,
    replicates: int,
    rng: np.random.Generator,
    pseudo: float = PSEUDO,
) -> Counts:
    """(replicates, P, ..., k) multinomial resamples of sets of answers, sizes kept.

    Args:
        counts: (P, ..., k) answers of each set, of P prompts that are summed afterwards.
        replicates: How many to draw.
        rng: To draw with.
        pseudo: How many answers more, over all prompts and evenly over attributes, the shares are
            taken from, so that attributes never seen may appear.
    """
    return _draw(counts, replicates, rng, pseudo / len(counts), np.int64)


def _draw(
    counts: Counts, replicates: int, rng: np.random.Generator, pseudo: float, dtype: npt.DTypeLike
) -> Counts:
    """As `resample`, with `pseudo` answers more in each set."""
    sets = counts.reshape(-1, counts.shape[-1])
    n = sets.sum(axis=-1)
    shares = smooth(sets, pseudo)
    drawn = np.empty((replicates, *sets.shape), dtype=dtype)
    for place, (size, p) in enumerate(zip(n, shares, strict=True)):
        drawn[:, place] = rng.multinomial(size, p, size=replicates)
    return drawn.reshape(replicates, *counts.shape)


@dataclass(frozen=True, eq=False)
class Resamples:
    """What `resample` draws of the sets of P prompts; of many prompts, it is not held together.

    Attributes:
        counts: (P, ..., k) what is resampled.
        replicates: How many are drawn, B.
        total: (B, ..., k) their sums over prompts.
    """

    counts: Counts
    replicates: int
    total: Counts
    _rng: np.random.Generator
    _held: Counts | None

    @classmethod
    def of(cls, counts: Counts, replicates: int, rng: np.random.Generator) -> Resamples:
        """Draw all of them once."""
        before = copy.deepcopy(rng)
        total = np.zeros((replicates, *counts.shape[1:]), dtype=np.int64)
        block = total[:, None]
        for block in _draw_blocks(counts, replicates, rng):
            total += block.sum(axis=1, dtype=np.int64)
        held = block if block.shape[1] == len(counts) else None
        return cls(counts, replicates, total, before, held)

    @property
    def is_held(self) -> bool:
        """Whether they are few enough to be one block."""
        return self._held is not None

    def blocks(self) -> Iterator[Counts]:
        """All of them, (B, p, ..., k) of some prompts after the others; the same each time."""
        if self._held is not None:
            return iter([self._held])
        return _draw_blocks(self.counts, self.replicates, copy.deepcopy(self._rng))

    def all(self) -> Counts:
        """(B, P, ..., k) all of them."""
        if self._held is not None:
            return self._held
        return np.concatenate(list(self.blocks()), axis=1)


def _draw_blocks(counts: Counts, replicates: int, rng: np.random.Generator) -> Iterator[Counts]:
    dtype, cells = smallest_type(counts), replicates * math.prod(counts.shape[1:])
    step = max(1, HELD // cells)
    for start in range(0, len(counts), step):
        block = counts[start : start + step]
        yield _draw(block, replicates, rng, PSEUDO / len(counts), dtype)


def smallest_type(counts: Counts) -> np.dtype[Any]:
    """A type for counts that sum to no more along the last axis than these do: often a byte."""
    return np.min_scalar_type(int(counts.sum(axis=-1).max(initial=0)))


def smooth(counts: Counts, pseudo: float = PSEUDO) -> Floats:
    """(..., k) shares of counts (..., k) with so many answers more, spread evenly."""
    n = counts.sum(axis=-1, keepdims=True)
    return np.asarray((counts + pseudo / counts.shape[-1]) / np.maximum(n + pseudo, 1))


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
    pseudo: float = PSEUDO,
) -> list[Counts]:
    """Answers of `take` images drawn with or without replacement: (replicates, k) per variable.

    With replacement, valid answers are of so many pseudo images' in their share of all.
    """
    drawn = resampled_sums(one_hot(codes, sizes), take, replicates, rng, replace=replace)
    counts = np.split(drawn.round().astype(np.int64), np.cumsum(sizes)[:-1], axis=1)
    if not replace:
        return counts
    valid = (codes >= 0).sum(axis=0)
    return [_mingle(one, pseudo / (n + pseudo), rng) for one, n in zip(counts, valid, strict=True)]


def _mingle(counts: Counts, share: float, rng: np.random.Generator) -> Counts:
    """Counts (R, k) of which this share is replaced by answers that are any of the attributes."""
    k = counts.shape[1]
    if k == 0:  # an axis for which nobody named an attribute
        return counts
    kept = rng.binomial(counts, 1 - share)
    lost = (counts - kept).sum(axis=1)
    return np.asarray(kept + rng.multinomial(lost, np.full(k, 1 / k)))


def pool_counts(
    pool: Pool,
    sources: Sequence[int],
    replicates: int,
    rng: np.random.Generator,
    *,
    noise: bool,
    take: Take = None,
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

    def draw(codes: Codes, number: int) -> list[Counts]:
        if not len(codes):
            return none
        pseudo = PSEUDO / len(pool.prompts)
        return image_counts(codes, sizes, number, replicates, rng, replace=replace, pseudo=pseudo)

    initial = none
    arms: dict[int, dict[Arm, list[Counts]]] = {x: {} for x in sources}
    for images, numbers in zip(pool.prompts, take, strict=True):
        initial = _add(initial, draw(images.initial, numbers[None]))
        for x, of_x in arms.items():
            for arm in images.arms_of(x):
                codes = images.initial if noise else images.arms[arm]
                counts = draw(codes, numbers[arm])
                of_x[arm] = _add(of_x.get(arm, none), counts)
    stacked = {
        x: [np.stack(counts, axis=1) for counts in zip(*of_x.values(), strict=True)]
        for x, of_x in arms.items()
    }
    return initial, stacked


def image_sizes(images: CodedImages) -> dict[Arm | None, int]:
    """How many images each arm of a prompt has, and under None how many initial ones."""
    return {None: len(images.initial)} | {arm: len(codes) for arm, codes in images.arms.items()}


def _add(one: Sequence[Counts], other: Sequence[Counts]) -> list[Counts]:
    return [a + b for a, b in zip(one, other, strict=True)]
