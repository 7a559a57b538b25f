"""A shallow parser for the noun phrase that a prompt is about.

It skips what speaks of the picture ("a photo of", "a group of"), reads determiners and modifiers
up to the first word that cannot belong to the noun phrase, and takes the last noun before it as the
head. The word lists are in ``templates/words``; a noun need not be in them. Where two readings stay
open it raises `Unsure`: a wrong guess would spoil every counterfactual.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from biasgraph.prompts.grammar import is_plural, singular_in, word_rows, words

MAX_WORDS = 12  # after the determiners; more are believed to be several phrases in a row
MAX_WORDS_UNKNOWN = 5  # where the head noun is in no list

Kind = Literal["person", "animal", "thing", "unknown"]

_NOUN_LISTS: tuple[tuple[str, Kind], ...] = (
    ("persons", "person"),
    ("animals", "animal"),
    ("things", "thing"),
)
_PERSON_ENDING = re.compile(
    r"(..(man|woman|person)|...(men|women|people)|(...[a-z]ist|ologist|...grapher|...maker|...worker"
    r"|...keeper|...driver|...teacher|...smith|....eer)s?)$"
)
_ADJECTIVE_ENDING = re.compile(r"...(ful|ous|ive|less|ish|ic|al|able|ible|ent|ant|esque|'s|s')$")
_DEPICTING = ("of", "depicting", "showing", "featuring", "portraying", "capturing")
_NAMING = ("named", "called", "titled", "aged")
_CONJUNCTIONS = ("and", "or", "&", "+")
_PARTICLES = ("up", "down", "out")  # "close up of", "zoomed out view of"


class Unsure(Exception):
    """Why a prompt has no subject that one can be sure of."""


@dataclass(frozen=True)
class PromptToken:
    """A word or a sign of a prompt."""

    text: str
    lower: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether it is a word, not a sign."""
        return self.text[0].isalnum() or self.text[0] == "_"


def tokenize(text: str) -> list[PromptToken]:
    """Split a text into words (with hyphens and apostrophes inside) and single signs."""
    matches = re.finditer(r"\w+(?:[-'\u2019.&/]\w+)*|[^\w\s]", text)
    return [PromptToken(m[0], m[0].lower().replace("\u2019", "'"), *m.span()) for m in matches]


def determiner_number(lower: str) -> str | None:
    """The number a determiner or numeral asks for (s, p, - for either); None for other words."""
    if lower.isdecimal():
        return "s" if lower == "1" else "p"
    return _determiners().get(lower)


@functools.cache
def _determiners() -> dict[str, str]:
    return {word: number for word, number in word_rows("determiners")}


def kind_of(noun: str) -> Kind:
    """Say whether a noun is a known person, animal or thing, by the lists or by its ending."""
    lower = noun.lower()
    part = lower.rpartition("-")[2]  # co-pilot, ex-soldier
    for name, kind in _NOUN_LISTS:
        if singular_in(name, lower) or singular_in(name, part):
            return kind
    if lower not in words("demonyms") and singular_in("demonyms", lower):
        return "person"  # Americans; the singular is an adjective as well
    return "person" if _PERSON_ENDING.search(lower) else "unknown"


def is_being(noun: str) -> bool:
    """Whether a noun is a known person or animal."""
    return kind_of(noun) in ("person", "animal")


def is_adjective(lower: str) -> bool:
    """Whether a word is listed as one that describes; a noun for a person stays a noun."""
    listed = any(
        lower in words(name) for name in ("adjectives", "describers", "adverbs", "demonyms")
    )
    return listed and singular_in("persons", lower) is None


def is_participle(lower: str) -> bool:
    """Whether a word has the form of a present or past participle."""
    regular = lower.endswith("ing") or (lower.endswith("ed") and not lower.endswith("eed"))
    return (lower in words("participles") or (regular and len(lower) > 4)) and not is_being(lower)


def is_adverb(lower: str) -> bool:
    """Whether a word is an adverb in -ly."""
    return (
        lower.endswith("ly") and len(lower) > 4 and not is_adjective(lower) and not is_being(lower)
    )


def ends_phrase(lower: str) -> bool:
    """Whether a word is a preposition, relative pronoun or auxiliary: none is in a noun phrase."""
    return lower in words("prepositions") or lower in words("enders")


def is_relative(lower: str) -> bool:
    """Whether a word starts a relative clause."""
    return lower in ("who", "that", "which")


def is_clause(lower: str) -> bool:
    """Whether a word after a noun starts a clause that says more of it: who, wearing, made."""
    return is_relative(lower) or is_participle(lower)


def _describes(lower: str) -> bool:
    return is_adjective(lower) or is_participle(lower) or is_adverb(lower)


def _owner(lower: str) -> str:
    return re.sub(r"('s|(?<=s)')$", "", lower)


def _is_clause(noun: str, lower: str) -> bool:
    """Whether a participle after a noun may be its verb: "ball crashed (right)"."""
    return is_participle(lower) and lower not in words("ing_nouns") and not _describes(noun)


class NounPhraseReader:
    """Reads a prompt's tokens from left to right; an index past the end reads as ""."""

    def __init__(self, tokens: Sequence[PromptToken]) -> None:
        self.tokens = tokens

    def word(self, index: int) -> str:
        """The word at an index in lower case."""
        return self.tokens[index].lower if index < len(self.tokens) else ""

    def is_word(self, index: int) -> bool:
        """Whether a word stands at an index, not a sign."""
        return index < len(self.tokens) and self.tokens[index].is_word

    # What comes before the subject

    def skip_openings(self) -> int:
        """Return the index where the subject starts, after all that speaks of the picture."""
        index, before = 0, -1
        while index != before:
            before = index
            for skip in (self._signs, self._segment, self._request, self._frame, self._amount):
                index = skip(index)
        return index

    def _signs(self, index: int) -> int:
        while index < len(self.tokens) and not self.is_word(index):
            index += 1
        return index

    def _segment(self, index: int) -> int:
        """Skip "digital art," and "in Paris,"."""
        end = index
        while self.is_word(end):
            end += 1
        if end == index or self.word(end) not in (",", ":", ";") or not self.is_word(end + 1):
            return index
        segment = [self.word(i) for i in range(index, end)]
        about_picture = words("styles") | words("frames") | words("describers")
        skipped = about_picture.issuperset(segment) or segment[0] in words("prepositions")
        return end + 1 if skipped else index

    def _request(self, index: int) -> int:
        """Skip "draw me" and "there is"."""
        if self.word(index) == "there" and self.word(index + 1) in ("is", "are"):
            return index + 2
        if self.word(index) in words("imperatives"):
            after = index + 2 if self.word(index + 1) in ("me", "us") else index + 1
            return after if determiner_number(self.word(after)) else index
        return index

    def _frame(self, index: int) -> int:
        """Skip "a close-up photo of" and "an image depicting"."""
        first = self._after_determiners(index)
        for i in range(first, first + MAX_WORDS):
            word = self.word(i)
            framed = word in words("frames") or (word == "up" and self.word(i - 1) == "close")
            if framed and self.word(i + 1) in _DEPICTING:
                return i + 2
            joined = self.is_word(i) or word in ("-", "/")
            ends = self._starts_or_ends(i) and word not in _PARTICLES
            if not joined or ends or is_being(word):
                break
        return index

    def _amount(self, index: int) -> int:
        """Skip "a group of", "one of", "dozens of"."""
        i = index
        while determiner_number(self.word(i)) or is_adjective(self.word(i)):
            i += 1
        if self.word(i) in words("collectives") and self.word(i + 1) == "of":
            return i + 2
        return i + 1 if i > index and self.word(i) == "of" else index

    def _after_determiners(self, index: int) -> int:
        while determiner_number(self.word(index)) and self.word(index + 1) not in ("year", "years"):
            index += 1
        return index

    def _starts_or_ends(self, index: int) -> bool:
        return determiner_number(self.word(index)) is not None or ends_phrase(self.word(index))

    # The noun phrase itself

    def noun_phrase(self, start: int) -> tuple[int, int, int]:
        """Indices of the phrase's first word, the first after the determiners, and the head.

        Raises:
            Unsure: two readings stay open, or none is left.
        """
        if self.word(start).isdecimal() and self.word(start + 1) in words("styles"):
            start += 2  # "8 k"
        noun = self._after_determiners(start)
        run = self._run(noun)
        pictured = len(run)
        while len(run) > 1 and self.word(run[-1]) in words("frames") | words("styles"):
            run.pop()
        if not run:
            raise Unsure("it does not start with a noun")
        head = self.word(run[-1])
        if kind_of(head) == "unknown":
            self._check_unknown(run, determined=noun > start, cut=len(run) < pictured)
        self._check_single(run[-1])
        asked = [determiner_number(self.word(i)) for i in range(start, noun)]
        number = next((n for n in reversed(asked) if n != "-"), "-")
        if number == "s" and is_plural(head):
            raise Unsure(f"'{head}' does not fit '{self.word(noun - 1)}'")
        if number == "p" and not is_plural(head) and kind_of(head) == "unknown":
            raise Unsure(f"'{head}' does not fit '{self.word(noun - 1)}'")
        return start, noun, run[-1]

    def _check_unknown(self, run: Sequence[int], *, determined: bool, cut: bool) -> None:
        """Refuse a head noun that is in no list where its place does not make it one."""
        *modifiers, head = [self.word(i) for i in run]
        pictures = words("frames") | words("styles")
        if _describes(head) and head not in words("ing_nouns"):
            raise Unsure(f"'{head}' is not a noun")
        if head in pictures or head.isdecimal() or head.endswith(("'s", "s'")):
            raise Unsure(f"'{head}' cannot be a subject")
        if cut or any(is_being(_owner(word)) or word in pictures for word in modifiers):
            raise Unsure(f"'{head}' may not be its noun")
        verbs = words("verbs") | _s_forms()
        if modifiers and (head in verbs or any(map(_is_clause, modifiers, modifiers[1:]))):
            raise Unsure("a verb may be among its words")
        strange = sum(kind_of(word) == "unknown" and not _describes(word) for word in modifiers)
        if len(run) > MAX_WORDS_UNKNOWN or (strange > 1 and not determined):
            raise Unsure("too many words that may be its noun")
        if not determined and self.word(run[0]) in words("verbs"):
            raise Unsure(f"it starts with the verb '{self.word(run[0])}'")

    def _check_single(self, head: int) -> None:
        """Refuse "the hands of a surgeon" and "a nurse, a doctor and a patient"."""
        if self.word(head) in words("body_parts") and self.word(head + 1) == "of":
            raise Unsure(f"'{self.word(head)}' is part of a subject")
        listed = head + 2
        while self.word(listed - 1) == "," and determiner_number(self.word(listed)):
            while self.is_word(listed) and self.word(listed) not in _CONJUNCTIONS:
                listed += 1
            if self.word(listed) in _CONJUNCTIONS or self.word(listed + 1) in _CONJUNCTIONS:
                raise Unsure("a list joins several subjects")
            listed += 1

    def _run(self, index: int) -> list[int]:
        """The indices of the modifiers and the noun from `index` on, without commas and "and"."""
        run: list[int] = []
        while len(run) <= MAX_WORDS:
            joins = self.word(index) in (",", "and", "&") and self.is_word(index + 1)
            if run and joins and all(_describes(self.word(i)) for i in run):
                index += 1
            elif self._ends(index, self.word(run[-1]) if run else ""):
                return run
            else:
                run.append(index)
                index += 1
        raise Unsure("too many words for one noun phrase")

    def _ends(self, index: int, previous: str) -> bool:
        """Whether the noun phrase ends before a word; `previous` is its last word so far."""
        word = self.word(index)
        if word in _CONJUNCTIONS:
            raise Unsure(f"'{word}' joins several subjects")
        if not self.is_word(index) or ends_phrase(word):
            return True
        if word in words("question_words"):
            raise Unsure(f"'{word}' belongs to no description")
        if determiner_number(word) and not word.isdecimal():
            raise Unsure(f"'{word}' starts another noun phrase")
        if is_participle(word):
            return self._participle_ends(index, previous)
        if is_adverb(word):
            return bool(previous) and not _describes(previous)
        if is_being(previous):
            if is_adjective(word) or (word in words("styles") and not is_being(word)):
                if any(is_being(later) for later in self._later(index + 1)):
                    raise Unsure(f"'{word}' may belong to '{previous}' or to what follows")
                return True
            return self._is_finite_verb(word, previous)
        return False

    def _participle_ends(self, index: int, previous: str) -> bool:
        """Whether a participle ends the phrase: "a chef cooking rice", not "a smiling chef"."""
        word, closed = self.word(index), self._is_closed(index + 1)
        if word in words("ing_nouns") and not (
            is_being(previous) and closed and word in _ing_forms()
        ):
            return False
        if not previous or _describes(previous):
            joined = self.word(index + 1) in (",", *_CONJUNCTIONS)
            following_participle = is_participle(self.word(index + 1))
            if closed and not joined and not following_participle and not is_adjective(word):
                raise Unsure(f"there is no noun before '{word}'")
            return False
        if closed or word in _NAMING:
            return True
        if word in words("compound_ing") or (is_being(previous) and not word.endswith("ing")):
            raise Unsure(f"'{word}' may belong to '{previous}' or to what follows")
        if is_being(previous) or word in _ing_forms():
            *_, last = self._later(index + 1)
            if is_being(last) and not is_plural(last):
                raise Unsure(f"'{word}' may belong to '{previous}' or to '{last}'")
            return True
        if not word.endswith("ing") or _ADJECTIVE_ENDING.search(previous):
            return False
        raise Unsure(f"'{word}' may belong to '{previous}' or to what follows")

    def _is_closed(self, index: int) -> bool:
        """Whether no noun can follow directly: a sign, the end, a preposition, determiner ..."""
        word = self.word(index)
        return (
            not self.is_word(index)
            or self._starts_or_ends(index)
            or word in _CONJUNCTIONS
            or word in words("question_words")
            or is_adverb(word)
            or (is_participle(word) and word not in words("ing_nouns"))
        )

    def _later(self, index: int) -> Iterator[str]:
        """The words up to the next one that cannot belong to a noun phrase."""
        while self.is_word(index) and not self._starts_or_ends(index):
            if self.word(index) in _CONJUNCTIONS:
                return
            yield self.word(index)
            index += 1

    def _is_finite_verb(self, word: str, noun: str) -> bool:
        if word in _past_forms():
            return True
        if is_plural(noun):
            return word in words("verbs")
        return word in _s_forms()


@functools.cache
def _ing_forms() -> frozenset[str]:
    """The -ing forms of the listed verbs: eating, making, sitting, lying."""
    forms = set()
    for verb in words("verbs"):
        stem = verb[:-1] if re.search(r"[^eo]e$", verb) else verb
        doubled = stem + stem[-1] if re.search(r"[^aeiou][aeiou][bdgmnprt]$", stem) else stem
        forms |= {stem + "ing", doubled + "ing", re.sub(r"ie$", "y", verb) + "ing"}
    return frozenset(forms)


@functools.cache
def _s_forms() -> frozenset[str]:
    return frozenset(
        re.sub(r"([^aeiou])y$", r"\1ie", verb)
        + ("es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else "s")
        for row in word_rows("verbs")
        if row[0] != "~"
        for verb in row
    )


@functools.cache
def _past_forms() -> frozenset[str]:
    return frozenset(verb for row in word_rows("verbs") if row[0] == "~" for verb in row[1:])
