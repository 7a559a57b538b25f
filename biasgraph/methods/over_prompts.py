"""Which words matter over many prompts."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from biasgraph.causal.word_influence import mean_over_prompts
from biasgraph.data.word_influence import WordInfluence, WordScore

Record = dict[str, Any]


def over_prompts(influences: Sequence[WordInfluence]) -> list[Record]:
    """For each word (whatever its capitals), axis and method its mean share and score over prompts.

    A word that stands twice in a prompt counts once, by the larger score. A prompt in which nothing
    changed has scores of 0 and no shares. Empty unless there are several prompts; axis by axis the
    words with the largest shares first, then those with the largest scores.
    """
    if len({influence.prompt for influence in influences}) < 2:
        return []
    found: dict[tuple[str, str, str], dict[str, WordScore]] = {}
    for influence in influences:
        for word in influence.ranked:
            key = (influence.axis, influence.method, word.word.lower())
            found.setdefault(key, {}).setdefault(influence.prompt, word)
    axes = list(dict.fromkeys(influence.axis for influence in influences))
    rows = [_row(*key, list(by_prompt.values())) for key, by_prompt in found.items()]
    return sorted(
        rows,
        key=lambda row: (
            axes.index(row["axis"]),
            row["method"],
            -(row["share"] or 0.0),
            -row["score"],
            row["word"],
        ),
    )


def _row(axis: str, method: str, word: str, scores: Sequence[WordScore]) -> Record:
    shares = [one.share for one in scores if one.share is not None]
    share, low, high = mean_over_prompts(shares, 1.0)
    values = [one.score for one in scores if one.score is not None]
    score, score_low, score_high = mean_over_prompts(values, inf)
    reason = "" if low is not None else "an interval over prompts needs two"
    return {
        "word": word,
        "axis": axis,
        "method": method,
        "share": share,
        "low": low,
        "high": high,
        "score": score,
        "score_low": score_low,
        "score_high": score_high,
        "n_prompts": len(scores),
        "n_stands_out": sum(one.stands_out for one in scores),
        "reason": reason if shares else "in no prompt did any answer change",
    }
