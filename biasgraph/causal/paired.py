"""Audits whose images belong together, one of each audit: made from the same noise, for example.

What such images share is no chance between the audits, so they are drawn together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from biasgraph.causal.resampling import PSEUDO, image_counts
from biasgraph.causal.tables import Codes, Counts, Pool, tally


def paired_answers(pools: Sequence[Pool], y: int) -> list[Codes]:
    """For each prompt (images, audits): answers about y of initial images valid in every audit.

    Args:
        pools: The audits; image n of a prompt in one belongs to image n of it in every other.
        y: The variable.
    """
    codes = [
        np.stack([images.initial[:, y] for images in same], axis=1)
        for same in zip(*(pool.prompts for pool in pools), strict=True)
    ]
    return [one[(one >= 0).all(axis=1)] for one in codes]


def paired_counts(answers: Sequence[Codes], size: int) -> list[Counts]:
    """For each audit (P, k) counts of such answers about a variable with k attributes."""
    counts = [[tally(column, size).counts for column in one.T] for one in answers]
    return list(np.stack(counts, axis=1))


def paired_resamples(
    answers: Sequence[Codes], size: int, replicates: int, rng: np.random.Generator
) -> list[Counts]:
    """For each audit (replicates, P, k) counts; the same images are drawn of every audit."""
    pseudo = PSEUDO / len(answers)
    drawn = [
        image_counts(one, [size] * one.shape[1], len(one), replicates, rng, pseudo=pseudo)
        if len(one)
        else [np.zeros((replicates, size), dtype=np.int64)] * one.shape[1]
        for one in answers
    ]
    return [np.stack(of_audit, axis=1) for of_audit in zip(*drawn, strict=True)]
