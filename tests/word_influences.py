"""Word influences with known numbers, for the tests of what is drawn of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from biasgraph.data.word_influence import Method, WordInfluence, WordScore
from biasgraph.prompts.prompt_words import split_words

PROMPT = "a tired nurse, with a nurse"
SCORES = {"tired": 0.25, "nurse": 0.5}


def influence(
    scores: Mapping[str, float] = SCORES,
    *,
    prompt: str = PROMPT,
    axis: str = "gender",
    method: Method = "gradient",
    tied: Collection[str] = (),
    out: Collection[str] = (),
    threshold: float | None = 0.375,
) -> WordInfluence:
    """One of a prompt: words without a score are stop words; intervals are +- a half."""
    split = split_words(prompt)
    found = [scores[word.text] for word in split if word.text in scores]
    ranks = sorted(found, reverse=True)
    words = (
        WordScore(
            word=word.text, start=word.start, end=word.end,
            score=scores[word.text], low=0.5 * scores[word.text], high=1.5 * scores[word.text],
            share=scores[word.text] / sum(found), rank=1 + ranks.index(scores[word.text]),
            tied=word.text in tied, stands_out=word.text in out,
        )
        if word.text in scores
        else WordScore(word=word.text, start=word.start, end=word.end, reason="stop word")
        for word in split
    )  # fmt: skip
    return WordInfluence(
        prompt=prompt, axis=axis, method=method, words=tuple(words), threshold=threshold, images=10
    )


def undefined(reason: str = "too few images") -> WordInfluence:
    """One in which no word could be ranked."""
    words = (
        WordScore(word=word.text, start=word.start, end=word.end) for word in split_words(PROMPT)
    )
    return WordInfluence(
        prompt=PROMPT, axis="age", method="removal", words=tuple(words), threshold=None, images=0,
        reason=reason,
    )  # fmt: skip
