"""How much each word of a prompt matters: ranks, ties, and what appears where no word does.

By removal (GradBias sec. 4.2.1) the influence of a word is the sum over attributes of |share with
the full prompt - share without the word|, in [0, 2]. Image i of the full prompt and image i without
the word come from one seed and are resampled, and exchanged, together. Such a sum is above 0 by
chance alone, so a word is said to matter only where its score is beyond that of exchanged answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from biasgraph.causal.intervals import ROUNDING, Interval
from biasgraph.causal.resampling import image_counts, resampled_sums
from biasgraph.causal.settings import TAIL
from biasgraph.causal.tables import Codes, Floats

REPLICATES = 2_000
MOST = 2.0
"""The influence of a word without which every answer is another one."""
LEVEL = 0.95


@dataclass(frozen=True)
class RankedWord:
    """A word among others.

    Attributes:
        score: Its influence.
        low: The lower end of the 95 % bootstrap interval.
        high: The upper end.
        share: Of the sum of all words' scores; None where that is 0.
        rank: 1 for the largest score; equal scores have one rank.
        tied: Whether the bootstrap cannot tell it from the first; the first itself is not tied.
        stands_out: Whether its score is above the threshold.
    """

    score: float
    low: float
    high: float
    share: float | None
    rank: int
    tied: bool
    stands_out: bool


@dataclass(frozen=True)
class Ranking:
    """Words ranked by their scores.

    Attributes:
        words: As they were given.
        threshold: The 95 % quantile of the largest score of words that do not matter.
    """

    words: tuple[RankedWord, ...]
    threshold: float


@dataclass(frozen=True)
class PairedAnswers:
    """The answers about one axis with the full prompt and without each of W words.

    Attributes:
        full: (n,) attribute index of image i of the full prompt; negative where there is none.
        without: (n, W) the same of image i, from the same seed, without each word.
        size: The number k of attributes.
    """

    full: Codes
    without: Codes
    size: int

    @property
    def valid(self) -> np.ndarray:
        """(n, W) whether both answers of a pair are there."""
        return np.asarray((self.full[:, None] >= 0) & (self.without >= 0))

    @property
    def pairs(self) -> list[int]:
        """The pairs behind each word's score."""
        return [int(count) for count in self.valid.sum(axis=0)]

    def only(self, words: Sequence[int]) -> PairedAnswers:
        """The same of some of the words."""
        return PairedAnswers(self.full, self.without[:, list(words)], self.size)

    def changes(self) -> Floats:
        """(n, W, k) what each pair adds to the change of each count: -1, 0 or 1."""
        attributes = np.arange(self.size)
        full = (self.full[:, None, None] == attributes).astype(np.float64)
        change = full - (self.without[:, :, None] == attributes)
        return np.asarray(change * self.valid[:, :, None])


def removal_influence(answers: PairedAnswers) -> Floats:
    """(W,) influences in [0, 2] of words that have at least one pair of answers each."""
    return np.asarray(np.abs(answers.changes().sum(axis=0)).sum(axis=-1) / answers.pairs)


def rank_removals(
    answers: PairedAnswers, rng: np.random.Generator, replicates: int = REPLICATES
) -> Ranking:
    """Rank words by removal.

    Args:
        answers: At least one word; every word has at least one pair of answers.
        rng: To draw with.
        replicates: Of the bootstrap, and of the null.
    """
    n, words = answers.without.shape
    k = answers.size
    valid = answers.valid
    with_word = np.where(valid, answers.full[:, None], -1)
    codes = np.concatenate([with_word, np.where(valid, answers.without, -1)], axis=1)
    drawn = image_counts(codes.astype(np.int16), [k] * (2 * words), n, replicates, rng)
    shares = [counts / np.maximum(counts.sum(axis=1, keepdims=True), 1) for counts in drawn]
    draws = np.stack(
        [np.abs(shares[w] - shares[words + w]).sum(axis=1) for w in range(words)], axis=1
    )
    changes = answers.changes().reshape(n, -1)
    swapped = rng.choice([-1.0, 1.0], size=(replicates, n)) @ changes
    null = np.abs(swapped).reshape(replicates, words, k).sum(axis=-1) / answers.pairs
    scores = removal_influence(answers)
    return rank_words(scores, draws, null, errors=null, most=MOST)


def mean_draws(images: Floats, rng: np.random.Generator, replicates: int = REPLICATES) -> Floats:
    """(replicates, W) bootstrap means over images of scores (n, W)."""
    return resampled_sums(images, len(images), replicates, rng) / len(images)


def rank_words(
    scores: Floats,
    draws: Floats,
    null: Floats,
    *,
    errors: Floats | None = None,
    most: float = np.inf,
) -> Ranking:
    """Rank words by scores that cannot be below 0.

    Args:
        scores: (W,) W at least 1.
        draws: (B, W) bootstrap replicates; all words of one replicate have the same images.
        null: (M, W) the words' scores in draws in which no word matters: once a word stands out,
            the others are held against the largest of the others (Westfall and Young's step-down);
            or (M,) the largest of all alone.
        errors: (M, W) errors that scores near 0 have, where the bootstrap draws too few of them.
        most: The largest score there can be.
    """
    threshold = _threshold(scores, null)
    first = int(np.argmax(scores))
    total = float(scores.sum())
    words = []
    for word, score in enumerate(scores.tolist()):
        others = () if errors is None else (errors[:, word],)
        low, high = Interval.of(score, draws[:, word], others).within(0.0, most)
        behind = float(scores[first]) - score
        least, _ = Interval.of(behind, draws[:, first] - draws[:, word]).hull
        words.append(
            RankedWord(
                score=score,
                low=min(low, score),
                high=max(high, score),
                share=score / total if total > 0 else None,
                rank=1 + int((scores > score + ROUNDING).sum()),
                tied=word != first and least <= 0,
                stands_out=score > threshold + ROUNDING,
            )
        )
    return Ranking(tuple(words), threshold)


def _threshold(scores: Floats, null: Floats) -> float:
    """The 95 % quantile of the largest null score of the words that do not stand out.

    Where all stand out, of those that were the last to do so.
    """
    left = np.ones(len(scores), dtype=bool)
    while True:
        largest = null if null.ndim == 1 else null[:, left].max(axis=1)
        threshold = float(np.quantile(largest, LEVEL, method="higher"))
        within = left & (scores <= threshold + ROUNDING)
        if null.ndim == 1 or not within.any() or (within == left).all():
            return threshold
        left = within


def mean_over_prompts(
    values: Sequence[float], most: float
) -> tuple[float | None, float | None, float | None]:
    """The mean of a word's scores or shares over prompts, with Student's 95 % interval.

    One prompt has no interval, none has no mean.

    Args:
        values: One of each prompt.
        most: The largest there can be; the interval is cut to [0, most].
    """
    if not values:
        return None, None, None
    n, mean = len(values), float(np.mean(values))
    if n < 2:
        return mean, None, None
    half = float(stdtrit(n - 1, 1 - TAIL) * np.std(values, ddof=1) / np.sqrt(n))
    return mean, max(0.0, mean - half), min(most, mean + half)
