"""Which words of a prompt carry an axis's bias, by gradients (GradBias sec. 3.4).

images of the prompt -> the steps that made them, run again with gradients -> scores of tokens ->
scores of words -> ranks.  A word's score is the mean over its tokens, summed over the text
encoders that read it, and the mean over images.  A gradient is local and has no scale of its own,
so a word is said to stand out only against the same loss with an answer drawn evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from biasgraph.causal.settings import generator
from biasgraph.causal.tables import Floats
from biasgraph.causal.word_influence import REPLICATES, RankedWord, mean_draws, rank_words
from biasgraph.data.axes import Axis, AxisSet
from biasgraph.data.word_influence import WordInfluence, WordScore
from biasgraph.methods.base import Media
from biasgraph.methods.word_removal import NO_WORD, ShortPrompts
from biasgraph.models.token_scores import LIKELIEST, RANDOM, RELEASED, TokenScores
from biasgraph.prompts.prompt_words import PromptWord

IMAGES = 10
"""Of each prompt, where nobody asks for another number; the paper's."""
Reading = Literal["l1", "l2", "input-times-gradient", "released"]
Join = Literal["mean", "sum"]
NO_IMAGE = "all images were withheld"
NOT_READ = "no text encoder reads it"


@dataclass(frozen=True)
class GradientSettings:
    """How gradients are taken.

    Attributes:
        every: Examine every N-th step.
        score: How a token's gradient becomes a number (`models.token_scores.SCORES`).
        join: How the tokens of a word are joined: "mean", or "sum", which favours long words.
    """

    every: int = 1
    score: Reading = "l1"
    join: Join = "mean"


def influence_by_gradient(
    prompts: Sequence[ShortPrompts],
    axes: AxisSet,
    media: Media,
    images: int,
    seed: int,
    how: GradientSettings | None = None,
) -> list[WordInfluence]:
    """The influence of each prompt's words on each axis, prompt by prompt.

    Args:
        prompts: Each with its words.
        axes: The axes.
        media: Follows the images' steps.
        images: Of each prompt.
        seed: Of the bootstrap and the null.
        how: How gradients are taken.

    Raises:
        InputError: A model gives no gradients.
        ModelError: A model failed.
        Interrupted: The user stopped it.
    """
    how = how or GradientSettings()
    wanted = [one.prompt for one in prompts]
    released = how.score == RELEASED
    scored = media.token_scores(wanted, axes, images, every=how.every, released=released)
    return [
        _influence(one, axis, [own[axis.name] for own in scored[one.prompt]], seed, how)
        for one in prompts
        for axis in axes.axes
    ]


def _influence(
    short: ShortPrompts,
    axis: Axis,
    images: Sequence[Mapping[str, TokenScores]],
    seed: int,
    how: GradientSettings,
) -> WordInfluence:
    content = [
        word for word, why in zip(short.words, short.reasons[axis.name], strict=True) if not why
    ]
    reason = "" if content else NO_WORD
    ranked: dict[PromptWord, RankedWord] = {}
    threshold = None
    if content and not images:
        reason = NO_IMAGE
    elif content:
        own, drawn = (
            np.stack([word_scores(one[kind], content, how) for one in images])
            for kind in (LIKELIEST, RANDOM)
        )
        read = [place for place in range(len(content)) if not np.isnan(own[:, place]).any()]
        if read:
            rng = generator(seed, short.prompt, axis.name, "word gradients")
            own, drawn = own[:, read], drawn[:, read]
            null = mean_draws(drawn, rng).max(axis=1)
            ranking = rank_words(own.mean(axis=0), mean_draws(own, rng), null)
            threshold = ranking.threshold
            ranked = dict(zip((content[place] for place in read), ranking.words, strict=True))
        reason = "" if ranked else NOT_READ
    words = [
        _score(word, why, ranked.get(word), len(images))
        for word, why in zip(short.words, short.reasons[axis.name], strict=True)
    ]
    return WordInfluence(
        prompt=short.prompt,
        axis=axis.name,
        method="gradient",
        words=tuple(words),
        threshold=threshold,
        images=len(images),
        settings={
            "every": how.every, "score": how.score, "join": how.join,
            "replicates": REPLICATES, "seed": seed,
        },
        reason=reason,
    )  # fmt: skip


def word_scores(scores: TokenScores, words: Sequence[PromptWord], how: GradientSettings) -> Floats:
    """(W,) a score for each word: of its tokens, summed over text encoders; NaN without a token."""
    totals = np.full(len(words), np.nan)
    for name, values in scores.scores[how.score].items():
        for place, word in enumerate(words):
            own = [
                value
                for (start, end), value in zip(scores.spans[name], values, strict=True)
                if word.start <= start < word.end or start < word.end <= end
            ]
            if own:
                joined = sum(own) / (len(own) if how.join == "mean" else 1)
                totals[place] = joined + (0 if np.isnan(totals[place]) else totals[place])
    return totals


def _score(word: PromptWord, why: str, ranked: RankedWord | None, images: int) -> WordScore:
    place = (word.text, word.start, word.end)
    if ranked is not None:
        return WordScore.from_ranked(ranked, *place, images=images)
    return WordScore(word=word.text, start=word.start, end=word.end, reason=why or NOT_READ)
