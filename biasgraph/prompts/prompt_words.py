"""The words of a prompt, which of them can carry a bias, and the prompt without one of them.

Removal (GradBias, sec. 4.2.1) leaves a word out. What would dangle then goes along ("a chef in a
kitchen" without "kitchen" is "a chef"), articles and verbs are mended, and the subject's noun,
which no prompt can do without, becomes that of its kind ("a person in a kitchen"). Rules over the
word lists, not a parser: what is not English is cut out as it stands.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biasgraph.data.axes import Axis
from biasgraph.errors import InputError
from biasgraph.prompts import lexicon
from biasgraph.prompts.cut_prompt import cut_prompt
from biasgraph.prompts.grammar import capitalized_like, is_plural, pluralize, singular_in, words
from biasgraph.prompts.kinds import (
    COUNT_TAG,
    describes,
    determiner_number,
    ends_phrase,
    is_adverb,
    is_being,
    is_participle,
    looks_like_adjective,
    past_forms,
    s_forms,
)
from biasgraph.prompts.noise import mask_noise
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
_RELATIVES = frozenset(("who", "that", "which"))
_CONJUNCTIONS = frozenset(("and", "or", "&", "+"))
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}
_PLACES = frozenset(["front", "top", "middle", "center", "centre", "midst", "back", "side"])
"""In "in front of", "on top of": they belong to the preposition."""


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
    return [PromptWord(token.text, token.start, token.end) for token in _tokens(prompt)]


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
    spoken = vocabulary_of(axis).spoken(prompt)
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
        return _generalized(prompt, tokens, at, subject, kind)
    cut = _Cut(tokens, at, subject)
    dropped, put = cut.dropped(), cut.put
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
    """Words and signs; marks that scripts write as signs of their own belong to their word."""
    found: list[PromptToken] = []
    for token in tokenize(mask_noise(prompt)):
        if token.text != prompt[token.start : token.end]:
            continue  # blanked out
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


def _generalized(
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
    plural = subject.plural or (following in _SINGULAR and own != "i")
    said = pluralize(noun) if plural else noun
    note = f"the subject noun becomes '{said}'"
    said = head[: -len(own)] + said if counted else capitalized_like(head, said)
    if not (plural or counted) and subject.named and subject.noun_start == subject.start:
        said = f"a {said}"
    first = at
    while (
        first and tokens[first - 1].start >= subject.noun_start and _joins(tokens[first - 1].lower)
    ):
        first -= 1
    if first < at:
        note = f"with it went '{' '.join(token.text for token in tokens[first:at])}'; {note}"
    return Removal(cut_prompt(prompt, tokens, {*range(first, at)}, {at: said}), note)


def _joins(lower: str) -> bool:
    """Whether a word before a noun is a noun joined to it: truck driver, not social worker."""
    return lower[0].isalnum() and not describes(lower) and not looks_like_adjective(lower)


class _Cut:
    """What goes with a word that is left out, and what is mended, by indices of tokens."""

    def __init__(self, tokens: Sequence[PromptToken], at: int, subject: Subject | None) -> None:
        self._tokens = tokens
        self._at = at
        self._subject = subject
        self.put: dict[int, str] = {}

    def dropped(self) -> set[int]:
        """The indices that go; `put` is filled beside."""
        at, word = self._at, self._word(self._at)
        gone = {at}
        if self._acts(at):
            gone |= {*self._auxiliaries(at)}
            if self._joined_before(at):
                gone.add(at - 1)
            elif self._begins_noun(at + 1):
                gone.discard(at)
                self.put[at] = "with"
            elif self._word(at + 1) in _CONJUNCTIONS:
                gone.add(at + 1)
        elif (is_adverb(word) or ends_phrase(word)) and not self._continues(at):
            pass
        elif self._continues(at):
            gone |= self._of_modifier(at)
        elif describes(word) and self._word(self._before_adverbs(at)) in words("auxiliaries"):
            gone |= {*self._auxiliaries(at)}
        else:
            gone |= self._of_noun(at)
        return gone

    def _word(self, index: int) -> str:
        return self._tokens[index].lower if 0 <= index < len(self._tokens) else ""

    def _is_word(self, index: int) -> bool:
        return 0 <= index < len(self._tokens) and self._tokens[index].is_word

    def _before_adverbs(self, index: int) -> int:
        """The last index before a word that is none of its adverbs."""
        index -= 1
        while is_adverb(self._word(index)) or self._word(index) in ("very", "so", "quite", "too"):
            index -= 1
        return index

    def _auxiliaries(self, at: int) -> Iterator[int]:
        """What stands before a verb or an adjective that says something: "who is very"."""
        index = self._before_adverbs(at)
        if self._word(index) not in words("auxiliaries") | _RELATIVES:
            return
        yield from range(index + 1, at)
        while self._word(index) in words("auxiliaries") | _RELATIVES:
            yield index
            index -= 1

    def _closed(self, index: int) -> bool:
        """Whether no noun follows directly: a sign, the end, a preposition or a determiner."""
        word = self._word(index)
        other = ends_phrase(word) or determiner_number(word) or word in _CONJUNCTIONS
        return not self._is_word(index) or bool(other) or is_adverb(word)

    def _acts(self, index: int) -> bool:
        """Whether a word is what somebody does: "a chef cooking rice", not "a smiling chef"."""
        word, before = self._word(index), self._before_adverbs(index)
        previous = self._word(before)
        formed = is_participle(word) or word in s_forms() or word in past_forms()
        bare = is_plural(previous) and word in words("verbs")
        if not (formed or bare) or not self._is_word(index):
            return False
        if previous in words("auxiliaries") | _RELATIVES:
            return True
        if previous in _CONJUNCTIONS or previous == ",":
            return is_participle(word) and before > 0 and self._closed(index + 1)
        if not self._is_word(before) or determiner_number(previous) or ends_phrase(previous):
            return False
        if (self._subject and self._tokens[before].end == self._subject.end) or is_being(previous):
            return True
        return (
            not describes(previous) and self._closed(index + 1) and word not in words("ing_nouns")
        )

    def _begins_noun(self, index: int) -> bool:
        """Whether a noun phrase, an object, begins at an index."""
        word = self._word(index)
        if determiner_number(word):
            return True
        return self._is_word(index) and not self._closed(index) and not self._acts(index)

    def _continues(self, index: int) -> bool:
        """Whether the noun that a word describes follows."""
        following = index + 1
        if self._word(following) in (",", "and", "&"):
            alike = describes(self._word(index)) and describes(self._word(index + 2))
            return alike and not self._acts(index + 2) and self._continues(index + 2)
        auxiliary = self._word(following) in words("auxiliaries")
        return not self._closed(following) and not auxiliary and not self._acts(following)

    def _joined_before(self, index: int) -> bool:
        return index > 1 and self._word(index - 1) in _CONJUNCTIONS

    def _of_modifier(self, at: int) -> set[int]:
        """The comma or "and" that joined it to another, and its own adverbs."""
        gone = {*range(self._before_adverbs(at) + 1, at)} if describes(self._word(at)) else set()
        first = min(gone, default=at)
        if self._word(at + 1) in (",", "and", "&"):
            gone.add(at + 1)
        elif self._word(first - 1) in (",", "and", "&") and describes(self._word(first - 2)):
            gone.add(first - 1)
        return gone

    def _of_noun(self, at: int) -> set[int]:
        """What hangs on the last noun of a phrase: determiners, adjectives, the preposition."""
        first = at
        while self._modifies(first - 1):
            first -= 1
        previous = self._word(first - 1)
        compound = not determiner_number(previous) and not ends_phrase(previous)
        compound = compound and previous not in words("stop_words") and not self._acts(first - 1)
        if compound and self._is_word(first - 1):
            return {*range(first, at)}  # "a kitchen table" leaves a kitchen
        while determiner_number(self._word(first - 1)):
            first -= 1
        if self._word(at + 1) == "of" and self._begins_noun(at + 2):
            return {*range(first, at + 2)}  # "a stack of books" leaves books
        following = self._word(at + 1)
        if following in _CONJUNCTIONS and self._begins_noun(at + 2):
            self._mend_number(at + 2)
            return {*range(first, at + 2)}
        joined = {at + 1} if following in _CONJUNCTIONS else set()
        if self._joined_before(first) and not is_plural(self._word(first - 2)):
            self._mend_verb(at + 1)
        return {*range(self._start_of_phrase(first), at + 1)} | joined

    def _modifies(self, index: int) -> bool:
        word = self._word(index)
        if not self._is_word(index) or determiner_number(word) or ends_phrase(word):
            joins = word in (",", "and", "&") and describes(self._word(index + 1))
            return joins and describes(self._word(index - 1)) and not self._acts(index - 1)
        owner = word.endswith(("'s", "s'"))
        described = describes(word) or looks_like_adjective(word)
        return owner or (described and not self._acts(index))

    def _start_of_phrase(self, first: int) -> int:
        """The index of what hangs on a noun phrase from `first` on: a preposition, a verb."""
        if self._joined_before(first):
            if self._word(first - 1) == "and" and self._word(first - 2) == ",":
                return first - 2
            return first - 1
        start = first
        while self._is_word(start - 1) and self._is_preposition(start - 1):
            start -= 1
        if self._word(start) == "of" and self._word(start - 1) in _PLACES:
            start -= 1
            while determiner_number(self._word(start - 1)) or self._is_preposition(start - 1):
                start -= 1
        if (
            start == first
            and self._word(first - 1) in words("object_verbs")
            and self._acts(first - 1)
        ):
            start = min(self._auxiliaries(first - 1), default=first - 1)
        return start

    def _is_preposition(self, index: int) -> bool:
        word = self._word(index)
        return word in words("prepositions") and word in words("stop_words")

    def _mend_number(self, start: int) -> None:
        """Let the verb behind the one noun that is left of two agree with it."""
        index = start
        while self._is_word(index) and not ends_phrase(self._word(index)):
            index += 1
        if not is_plural(self._word(index - 1)):
            self._mend_verb(index)

    def _mend_verb(self, index: int) -> None:
        """Put a verb in the singular, unless it belongs to a subject that is there still."""
        if self._subject is None and self._word(index) in _SINGULAR:
            self.put[index] = _SINGULAR[self._word(index)]
