"""Which words matter over many prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from biasgraph.causal.word_influence import mean_share
from biasgraph.data.word_influence import WordInfluence, WordScore

Record = dict[str, Any]


def over_prompts(influences: Sequence[WordInfluence]) -> list[Record]:
    """For each word (whatever its capitals), axis and method its mean share over prompts.

    A word that stands twice in a prompt counts once, by the larger share. Empty unless there are
    several prompts; the words with the largest shares first, axis by axis.
    """
    if len({influence.prompt for influence in influences}) < 2:
        return []
    found: dict[tuple[str, str, str], dict[str, WordScore]] = {}
    for influence in influences:
        for word in influence.ranked:
            if word.share is not None:
                key = (influence.axis, influence.method, word.word.lower())
                found.setdefault(key, {}).setdefault(influence.prompt, word)
    axes = list(dict.fromkeys(influence.axis for influence in influences))
    rows = [_row(*key, list(by_prompt.values())) for key, by_prompt in found.items()]
    return sorted(
        rows, key=lambda row: (axes.index(row["axis"]), row["method"], -row["share"], row["word"])
    )


def _row(axis: str, method: str, word: str, scores: Sequence[WordScore]) -> Record:
    share, low, high = mean_share([score.share for score in scores if score.share is not None])
    return {
        "word": word,
        "axis": axis,
        "method": method,
        "share": share,
        "low": low,
        "high": high,
        "n_prompts": len(scores),
        "n_stands_out": sum(score.stands_out for score in scores),
        "reason": "" if low is not None else "an interval over prompts needs two",
    }
