"""How a search changes the words of prompts, and which of them go with a bias (BGPS, sec. 4.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from biasgraph.methods.concepts import words_of

Kind = Literal["injected", "deleted", "dampened", "augmented", "unchanged"]
PromptShare = tuple[str, float | None]
"""A prompt and its share of the target attribute; None where it has none."""


@dataclass(frozen=True)
class WordShift:
    """A word of the found prompts or of the baseline's.

    Attributes:
        word: In small letters.
        found: How often it occurs in the found prompts.
        baseline: How often it occurs in the baseline's.
        kind: What became of it, by occurrences for each prompt.
        delta: delta_w: the mean share of the found prompts that have it less that of those that do
            not; -1 to 1, None where one of the two has no prompt with a share.
        n_with: Found prompts with a share that have it.
        n_without: Found prompts with a share that do not have it.
    """

    word: str
    found: int
    baseline: int
    kind: Kind
    delta: float | None
    n_with: int
    n_without: int


def word_shifts(
    found: Sequence[PromptShare], baseline: Sequence[PromptShare], opening: str = ""
) -> list[WordShift]:
    """Every word that is no stop word, those whose occurrences changed most first.

    Args:
        found: Prompts of a search.
        baseline: Prompts of the language model alone; their shares are not looked at.
        opening: The words that prompts were given to begin with; they count where they stand
            otherwise.
    """
    own = [_Prompt.of(text, share, opening) for text, share in found]
    other = [_Prompt.of(text, share, opening) for text, share in baseline]
    counts, before = (
        Counter(word for prompt in prompts for word in prompt.words) for prompts in (own, other)
    )
    shifts = [
        WordShift(
            word,
            counts[word],
            before[word],
            _kind(counts[word], before[word], len(own), len(other)),
            *_delta(own, word),
        )
        for word in counts | before
    ]
    return sorted(shifts, key=lambda one: (-_change(one, len(own), len(other)), one.word))


@dataclass(frozen=True)
class _Prompt:
    words: tuple[str, ...]
    share: float | None

    @classmethod
    def of(cls, text: str, share: float | None, opening: str) -> _Prompt:
        words, first = words_of(text), words_of(opening)
        left = words[len(first) :] if words[: len(first)] == first else words
        return cls(tuple(left), share)


def _kind(found: int, baseline: int, n_found: int, n_baseline: int) -> Kind:
    """By occurrences for each prompt, compared as whole numbers."""
    if not baseline:
        return "injected"
    if not found:
        return "deleted"
    after, before = found * n_baseline, baseline * n_found
    if after == before:
        return "unchanged"
    return "augmented" if after > before else "dampened"


def _delta(prompts: Sequence[_Prompt], word: str) -> tuple[float | None, int, int]:
    shares: dict[bool, list[float]] = {True: [], False: []}
    for prompt in prompts:
        if prompt.share is not None:
            shares[word in prompt.words].append(prompt.share)
    having, lacking = shares[True], shares[False]
    if not having or not lacking:
        return None, len(having), len(lacking)
    return fmean(having) - fmean(lacking), len(having), len(lacking)


def _change(shift: WordShift, n_found: int, n_baseline: int) -> float:
    """By how many occurrences for each prompt."""
    return abs(shift.found / max(n_found, 1) - shift.baseline / max(n_baseline, 1))
