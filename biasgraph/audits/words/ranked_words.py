"""Rankings of the words of prompts beside the truth, and how often each of them is right."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from biasgraph.causal.settings import generator
from biasgraph.causal.word_accuracy import TOPS, AccuracyRow, MeanOverPrompts, accuracy_rows
from biasgraph.data.word_accuracy_row import Counted, WordAccuracyRow
from biasgraph.data.word_influence import WordInfluence
from biasgraph.methods.word_baselines import BaselineScores, ranked_pair, shared_words
from biasgraph.prompts.prompt_words import PromptWord

Influences = Mapping[str, WordInfluence]
LEAST = (0.0, 0.2, 0.4)
"""Pairs are also looked at whose largest influence is at least this much."""
RANDOM, TREE = "random", "tree"
NOT_THERE = MeanOverPrompts(None, None, None, 0, 0, reason="it is the same ranking")


@dataclass(frozen=True)
class WordPair:
    """A prompt along one axis.

    Attributes:
        truth: By removal.
        others: By gradient, by the names of the readings.
        words: Those that the truth and every reading have a rank for.
        baselines: What others make of the words.
    """

    truth: WordInfluence
    others: Influences
    words: tuple[PromptWord, ...]
    baselines: Sequence[BaselineScores] = ()

    @property
    def largest(self) -> float:
        """The largest influence of a word that all rank."""
        starts = {word.start for word in self.words}
        return max(word.score or 0.0 for word in self.truth.ranked if word.start in starts)

    def record(self) -> dict[str, Any]:
        """The words with the truth about them and what each method gives them, in JSON types."""
        scores: dict[str, dict[int, float | None]] = {
            name: {word.start: word.score for word in one.ranked}
            for name, one in self.others.items()
        }
        starts = [word.start for word in self.words]
        for one in self.baselines:
            scores[one.name] = dict(zip(starts, one.scores, strict=True))
        return {
            "prompt": self.truth.prompt,
            "axis": self.truth.axis,
            "largest": self.largest if self.words else None,
            "threshold": self.truth.threshold,
            "reason": self.truth.reason,
            "words": [
                {
                    "word": word.word, "start": word.start, "influence": word.score,
                    "low": word.low, "high": word.high, "tied": word.tied,
                    "stands_out": word.stands_out, "images": word.images,
                    "scores": {name: own.get(word.start) for name, own in scores.items()},
                }
                for word in self.truth.ranked
            ],
        }  # fmt: skip


def ranked_words(truth: WordInfluence, others: Influences) -> WordPair:
    """One pair, not yet with baselines."""
    return WordPair(truth, others, shared_words(truth, others.values()))


def counts_of(truths: Sequence[WordInfluence], pairs: Sequence[WordPair]) -> dict[str, int]:
    """How many pairs and prompts there are, and in how many no word stands out by removal."""
    prompts = {one.prompt for one in truths}
    named = [one for one in truths if one.named]
    return {
        "prompts": len(prompts),
        "pairs": len(truths),
        "pairs_without_words": sum(not pair.words for pair in pairs),
        "pairs_with_one_word": sum(len(pair.words) == 1 for pair in pairs),
        "pairs_up_to_three_words": sum(len(pair.words) in (1, 2, 3) for pair in pairs),
        "pairs_nothing_stands_out": len(truths) - len(named),
        "prompts_nothing_stands_out": len(prompts - {one.prompt for one in named}),
    }


def accuracies(pairs: Sequence[WordPair], seed: int) -> Iterator[WordAccuracyRow]:
    """Table 3 on all pairs, and on those with an influence that is large enough."""
    for least in LEAST:
        there = [pair for pair in pairs if pair.words and pair.largest >= least]
        if not there:
            yield from _leave_undefined(pairs, least)
        for within_chance in (True, False):
            ranked = [
                ranked_pair(
                    pair.words, pair.truth, pair.others, pair.baselines,
                    within_chance=within_chance,
                )
                for pair in there
            ]  # fmt: skip
            rng = generator(seed, "words evaluate", str(least), str(within_chance))
            for row in accuracy_rows(ranked, rng, (RANDOM, TREE)):
                if not within_chance or row.ties == "any":
                    counted: Counted = "tied" if within_chance else "equal"
                    yield _row(row, least, counted if row.ties == "any" else "first")


def _leave_undefined(pairs: Sequence[WordPair], least: float) -> Iterator[WordAccuracyRow]:
    """The rows of every method where no pair has so large an influence."""
    reason = f"no pair of prompt and axis has an influence of at least {least:g}"
    none = MeanOverPrompts(None, None, None, 0, 0, reason=reason)
    ranked = [pair for pair in pairs if pair.words]
    baselines = [one.name for pair in ranked for one in pair.baselines]
    methods = dict.fromkeys([*(name for pair in ranked for name in pair.others), *baselines])
    for ties, top, method in itertools.product(get_args(Counted), TOPS, methods):
        ahead = {other: none for other in (RANDOM, TREE) if other != method}
        yield _row(AccuracyRow(method, top, "any", none, ahead), least, ties)


def _row(row: AccuracyRow, least: float, ties: Counted) -> WordAccuracyRow:
    own = row.accuracy
    random, tree = (row.ahead_of.get(name, NOT_THERE) for name in (RANDOM, TREE))
    return WordAccuracyRow(
        least=least,
        method=row.method,
        top=row.top,
        ties=ties,
        accuracy=own.value,
        low=own.low,
        high=own.high,
        pairs=own.pairs,
        prompts=own.prompts,
        interval=own.how,
        reason=own.reason,
        ahead_of_random=random.value,
        ahead_of_random_low=random.low,
        ahead_of_random_high=random.high,
        ahead_of_random_reason=random.reason,
        ahead_of_tree=tree.value,
        ahead_of_tree_low=tree.low,
        ahead_of_tree_high=tree.high,
        ahead_of_tree_reason=tree.reason,
    )
