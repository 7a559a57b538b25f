"""Which words of a prompt carry an axis's bias, by leaving them out (GradBias sec. 4.2.1).

prompt -> its words -> the prompt without each of them -> images from the prompt's own seeds ->
answers -> influences. What the paper takes for the truth about its gradients; it needs as many
images again as the prompt has, for every word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biasgraph.causal.settings import generator
from biasgraph.causal.tables import UNKNOWN, Codes
from biasgraph.causal.word_influence import (
    REPLICATES,
    PairedAnswers,
    RankedWord,
    rank_removals,
)
from biasgraph.data.axes import Axis, AxisSet
from biasgraph.data.word_influence import WordInfluence, WordScore
from biasgraph.errors import InputError
from biasgraph.methods.base import Media
from biasgraph.prompts.prompt_words import (
    PromptWord,
    Removal,
    leave_out,
    split_words,
    why_unranked,
)
from biasgraph.prompts.subject import find_subject, strip_brackets
from biasgraph.prompts.tokens import excerpt

IMAGES = 48
"""Of the prompt, and of the prompt without each word, where nobody asks for another number."""
NO_PAIR = "no pair of images has an answer on both sides"
NO_WORD = "no word of the prompt is ranked along this axis"


@dataclass(frozen=True)
class ShortPrompts:
    """A prompt and what it says without each of its words.

    Attributes:
        prompt: Without brackets.
        words: All words and signs.
        reasons: Axis -> why each word is not ranked along it; "" for a content word.
        removals: Word -> the prompt without it, for words that are ranked along any axis.
    """

    prompt: str
    words: tuple[PromptWord, ...]
    reasons: Mapping[str, tuple[str, ...]]
    removals: Mapping[PromptWord, Removal]

    @classmethod
    def of(cls, typed: str, axes: AxisSet) -> ShortPrompts:
        """Read a prompt; brackets name its subject. Raises InputError for wrong brackets."""
        prompt = strip_brackets(typed)[0]
        words, kind = tuple(split_words(prompt)), axes.subject
        reasons = {
            axis.name: tuple(why_unranked(word, prompt, axis, kind) for word in words)
            for axis in axes.axes
        }
        subject = find_subject(typed) if prompt != typed else None
        content = [
            word
            for i, word in enumerate(words)
            if any(not of_axis[i] for of_axis in reasons.values())
        ]
        removals = {word: leave_out(prompt, word, subject, kind) for word in content}
        return cls(prompt, words, reasons, removals)

    @property
    def texts(self) -> tuple[str, ...]:
        """What images are made of beside the prompt, each text once."""
        left = (removal.text for removal in self.removals.values())
        return tuple(dict.fromkeys(text for text in left if text is not None))

    def why_not(self, axis: str) -> str:
        """Why no word is ranked along an axis; "" where one is."""
        content = [
            word for word, why in zip(self.words, self.reasons[axis], strict=True) if not why
        ]
        if any(self.removals[word].text is not None for word in content):
            return ""
        return self.removals[content[0]].note if content else NO_WORD

    def words_to_rank(self, axis: str) -> list[PromptWord]:
        """The words that are left out to see what they do to an axis."""
        return [
            word
            for word, why in zip(self.words, self.reasons[axis], strict=True)
            if not why and self.removals[word].text is not None
        ]


def refuse_without_words(prompts: Sequence[ShortPrompts]) -> None:
    """Raise InputError where no word of any prompt can be left out along any axis."""
    if any(one.texts for one in prompts):
        return
    first = prompts[0]
    why = next(map(first.why_not, first.reasons))
    names = list(first.reasons)
    which = f"axis '{names[0]}'" if len(names) == 1 else "any axis"
    raise InputError(
        f"the prompt '{excerpt(first.prompt)}' has no word whose influence on {which} can be "
        f"measured by leaving it out: {why}"
    )


def influence_by_removal(
    prompts: Sequence[ShortPrompts], axes: AxisSet, media: Media, images: int, seed: int
) -> list[WordInfluence]:
    """The influence of each prompt's words on each axis, prompt by prompt.

    Args:
        prompts: Each with its words.
        axes: The axes, with the set's gate question.
        media: Makes the images and has them judged.
        images: Of the prompt, and of the prompt without each word.
        seed: Of the bootstrap and the null.

    Raises:
        InputError: Nobody can be asked, or the generator takes no such prompt.
        ModelError: A model failed.
        Interrupted: The user stopped it.
    """
    said = media.judge_pairs({one.prompt: one.texts for one in prompts}, axes, images)
    return [
        _influence(one, axis, said[one.prompt], images, seed)
        for one in prompts
        for axis in axes.axes
    ]


def _influence(
    short: ShortPrompts,
    axis: Axis,
    said: Mapping[str, Mapping[str, Sequence[str]]],
    images: int,
    seed: int,
) -> WordInfluence:
    left_out = short.words_to_rank(axis.name)
    full = _codes(said[short.prompt][axis.name], axis)
    columns = [_codes(said[str(short.removals[word].text)][axis.name], axis) for word in left_out]
    ranked: dict[PromptWord, tuple[RankedWord, int]] = {}
    threshold = None
    if columns:
        answers = PairedAnswers(full, np.stack(columns, axis=1), len(axis.names))
        kept = [place for place, pairs in enumerate(answers.pairs) if pairs]
        if kept:
            answers = answers.only(kept)
            rng = generator(seed, short.prompt, axis.name, "word removal")
            ranking = rank_removals(answers, rng)
            threshold = ranking.threshold
            found = zip(ranking.words, answers.pairs, strict=True)
            ranked = dict(zip((left_out[place] for place in kept), found, strict=True))
    words = [
        _score(short, word, why, ranked.get(word))
        for word, why in zip(short.words, short.reasons[axis.name], strict=True)
    ]
    return WordInfluence(
        prompt=short.prompt,
        axis=axis.name,
        method="removal",
        words=tuple(words),
        threshold=threshold,
        images=images,
        settings={"images": images, "replicates": REPLICATES, "seed": seed},
        reason="" if ranked else short.why_not(axis.name) or NO_PAIR,
    )


def _score(
    short: ShortPrompts, word: PromptWord, why: str, ranked: tuple[RankedWord, int] | None
) -> WordScore:
    place = (word.text, word.start, word.end)
    if ranked is not None:
        score, pairs = ranked
        note = short.removals[word].note
        return WordScore.from_ranked(score, *place, images=pairs, note=note)
    if not why:
        removal = short.removals[word]
        why = NO_PAIR if removal.text else f"it cannot be left out: {removal.note}"
    return WordScore(word=word.text, start=word.start, end=word.end, reason=why)


def _codes(answers: Sequence[str], axis: Axis) -> Codes:
    """(n,) the places of answers among the attributes; `UNKNOWN` for any other."""
    places = {name: place for place, name in enumerate(axis.names)}
    return np.array([places.get(answer, UNKNOWN) for answer in answers], dtype=np.int16)
