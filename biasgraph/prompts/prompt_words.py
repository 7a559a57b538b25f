"""The words of a prompt, which of them can carry a bias, and the prompt without one of them.

Removal (GradBias, sec. 4.2.1) leaves a word out. What would dangle then goes along ("a chef in a
kitchen" without "kitchen" is "a chef"), articles and verbs are mended, and the subject's noun,
which no prompt can do without, becomes that of its kind ("a person in a kitchen"). Rules over the
word lists, not a parser: what is not English is cut out as it stands.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from biasgraph.data.axes import Axis
from biasgraph.errors import InputError
from biasgraph.prompts import lexicon
from biasgraph.prompts.cut_prompt import cut_prompt
from biasgraph.prompts.grammar import capitalize_like, pluralize, singular_in, words
from biasgraph.prompts.kinds import (
    COUNT_TAG,
    describes,
    looks_like_adjective,
)
from biasgraph.prompts.noise import mask_noise
from biasgraph.prompts.removed_word import SINGULAR, WordRemoval
from biasgraph.prompts.subject import Subject, find_subject, strip_brackets
from biasgraph.prompts.tokens import PromptToken, tokenize
from biasgraph.prompts.vocabulary import vocabulary_of

SIGN, STOP_WORD, OF_AXIS = "punctuation", "stop word", "names the axis"
OF_KIND = "names what every subject is"

_KIND_WORDS = {
    "person": ("person", "human", "human-being", "individual", "somebody", "someone", "folk"),
    "animal": ("animal", "creature", "beast"),
    "object": ("object", "thing", "item"),
    "scene": ("scene", "place", "view"),
}
_NOUN = {"person": "person", "animal": "animal", "object": "object", "scene": "place"}


@dataclass(frozen=True)
class PromptWord:
    """A word, or a sign, of a prompt: text = prompt[start:end]."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Removal:
    """A prompt without one of its words.

    Attributes:
        text: The prompt; None where it cannot do without the word.
        note: What else was changed, or why it cannot; "" for nothing else.
    """

    text: str | None
    note: str = ""


def split_words(prompt: str) -> list[PromptWord]:
    """The words and signs of a prompt (without brackets), in their order.

    A word that stands twice is two. What speaks to a program ("<lora:x:0.8>", weights) is none.
    """
    return [
        PromptWord(token.text, token.start, token.end)
        for token in _tokens(prompt)
        if token.text == prompt[token.start : token.end]
    ]


def why_unranked(word: PromptWord, prompt: str, axis: Axis, kind: str = "person") -> str:
    """Why a word is shown but not ranked along an axis (sec. 4.2.1); "" for a content word.

    Args:
        word: Of `split_words`.
        prompt: Without brackets.
        axis: Its name, attributes, phrases and synonyms are words of it wherever they stand.
        kind: What every subject of the axis set is (`AxisSet.subject`): "person" is named too.
    """
    lower = word.text.lower().replace("\u2019", "'")
    if not any(map(str.isalnum, word.text)):
        return SIGN
    stop = lower in words("stop_words")
    spoken = vocabulary_of(axis).find_spans(prompt)
    if any(start <= word.start and word.end <= end and (not stop or end - start == len(lower))
           for start, end in spoken):  # fmt: skip
        return OF_AXIS
    if stop:
        return STOP_WORD
    forms = {lower, lexicon.singular_of(lower), singular_in("persons", lower)}
    return "" if forms.isdisjoint(_KIND_WORDS.get(kind, ())) else OF_KIND


def leave_out(
    prompt: str, word: PromptWord, subject: Subject | None = None, kind: str = "person"
) -> Removal:
    """The prompt without a word, mended.

    Args:
        prompt: Without brackets.
        word: Of `split_words`.
        subject: The prompt's, where brackets name it; found by rules otherwise.
        kind: What a subject that no list knows is taken for (`AxisSet.subject`).
    """
    tokens = _tokens(prompt)
    at = next((i for i, token in enumerate(tokens) if token.start == word.start), None)
    if at is None or not any(map(str.isalnum, tokens[at].text)):
        return Removal(None, "it is no word")
    subject = subject or _subject_of(prompt)
    if subject is not None and tokens[at].end == subject.end and not _is_long_name(subject):
        return _generalize(prompt, tokens, at, subject, kind)
    dropped, put = WordRemoval(tokens, at, subject).changes()
    left = cut_prompt(prompt, tokens, dropped, put)
    kept = [token.lower for i, token in enumerate(tokens) if i not in dropped]
    if not any(any(map(str.isalnum, one)) and one not in words("stop_words") for one in kept):
        return Removal(None, "nothing would be left of the prompt")
    notes = []
    if along := [i for i in sorted(dropped - {at} - put.keys()) if tokens[i].is_word]:
        gaps = ["" if i - 1 in along or i == along[0] else "... " for i in along]
        said = " ".join(gap + tokens[i].text for gap, i in zip(gaps, along, strict=True))
        notes.append(f"with it went '{said}'")
    notes += [f"'{said}' stands for '{tokens[i].text}'" for i, said in put.items()]
    return Removal(left, "; ".join(notes))


def _tokens(prompt: str) -> list[PromptToken]:
    """Words and signs; marks that scripts write as signs of their own belong to their word.

    A comma stands for what speaks to a program.
    """
    found: list[PromptToken] = []
    for token in tokenize(mask_noise(prompt)):
        before = found[-1] if found else None
        joined = before is not None and before.end == token.start
        mark = unicodedata.category(token.text[0])[0] == "M"
        after_mark = joined and unicodedata.category(prompt[token.start - 1])[0] == "M"
        if before is not None and joined and (mark or (after_mark and token.is_word)):
            text = before.text + token.text
            found[-1] = PromptToken(text, text.lower(), before.start, token.end)
        else:
            found.append(token)
    return found


def _subject_of(prompt: str) -> Subject | None:
    try:
        return find_subject(prompt) if strip_brackets(prompt)[0] == prompt else None
    except InputError:
        return None


def _is_long_name(subject: Subject) -> bool:
    """Whether a name of several words can lose one: "Albert Einstein"."""
    return subject.named and subject.head_start > subject.noun_start


def _generalize(
    prompt: str, tokens: Sequence[PromptToken], at: int, subject: Subject, kind: str
) -> Removal:
    """The prompt with the noun of the subject's kind in the place of its own."""
    known = {"thing": "scene" if subject.place else "object"}.get(subject.kind, subject.kind)
    noun = _NOUN[known if known in _NOUN else kind]
    head = subject.head
    counted = COUNT_TAG.fullmatch(head.lower())
    own = (counted[2] if counted else head).lower()
    singular = lexicon.singular_of(own) or own
    if noun in (own, singular, singular_in("persons", own)):
        return Removal(None, f"there is no wider noun than '{own}'")
    following = tokens[at + 1].lower if at + 1 < len(tokens) else ""
    plural = subject.plural or following in SINGULAR or _is_of_many(tokens, subject)
    said = pluralize(noun) if plural else noun
    note = f"the subject noun becomes '{said}'"
    said = head[: -len(own)] + said if counted else capitalize_like(head, said)
    if not (plural or counted) and subject.named and subject.noun_start == subject.start:
        said = ("A " if at == 0 and head[0].isupper() else "a ") + noun
    first = at
    while (
        first and tokens[first - 1].start >= subject.noun_start and _joins(tokens[first - 1].lower)
    ):
        first -= 1
    if first < at:
        note = f"with it went '{' '.join(token.text for token in tokens[first:at])}'; {note}"
    return Removal(cut_prompt(prompt, tokens, {*range(first, at)}, {at: said}), note)


def _is_of_many(tokens: Sequence[PromptToken], subject: Subject) -> bool:
    """Whether a noun with one form for both numbers stands for several: "a herd of sheep"."""
    *_, herd, of = ["", "", *(token.lower for token in tokens if token.end <= subject.start)]
    many = of == "of" and singular_in("collectives", herd) is not None
    return many and subject.noun_start == subject.start


def _joins(lower: str) -> bool:
    """Whether a word before a noun is a noun joined to it: truck driver, not social worker."""
    return lower[0].isalnum() and not describes(lower) and not looks_like_adjective(lower)
