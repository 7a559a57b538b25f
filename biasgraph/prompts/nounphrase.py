"""A shallow parser for the noun phrase that a prompt is about.

It skips what speaks of the picture ("a photo of", "a group of"), reads determiners and modifiers
up to the first word that cannot belong to the noun phrase, and takes the last noun before it as the
head. The word lists are in ``templates/words``; a noun need not be in them. Where two readings stay
open it raises `Unsure`: a wrong guess would spoil every counterfactual.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from biasgraph.prompts import lexicon
from biasgraph.prompts.grammar import is_plural, singular_in, word_rows, words
from biasgraph.prompts.kinds import (
    describes,
    determiner_number,
    ends_phrase,
    is_adjective,
    is_adverb,
    is_being,
    is_participle,
    kind_of,
    looks_like_adjective,
    past_forms,
    s_forms,
)
from biasgraph.prompts.language import is_word
from biasgraph.prompts.tokens import PromptToken

MAX_WORDS = 12  # after the determiners; more are believed to be several phrases in a row
MAX_WORDS_UNKNOWN = 5  # where the head noun is in no list

_DEPICTING = ("of", "depicting", "showing", "featuring", "portraying", "capturing", "shows")
_NAMING = ("named", "called", "titled", "aged")
_CONJUNCTIONS = ("and", "or", "&", "+", "vs", "versus")
_PARTICLES = ("up", "down", "out")  # "close up of", "zoomed out view of"
_YEARS = ("year", "years", "y.o", "y.o.", "yo", "yr")


def is_frame(lower: str) -> bool:
    """Whether a word is a noun for the picture itself, slips of spelling included."""
    slip = len(lower) > 5 and not is_word(lower)
    near = difflib.get_close_matches(lower, words("frames"), n=1, cutoff=0.9) if slip else []
    return lower in words("frames") or bool(near)


TO_SEE = "name a person, an animal, a thing or a place, or put it in brackets"
WHOSE = "name whose it is, or put it in brackets"
IN_ENGLISH = "write it in English, or put its subject in brackets"


class Unsure(Exception):
    """Why a prompt has no subject that one can be sure of, and what to do."""

    def __init__(self, reason: str, advice: str = "put it in brackets") -> None:
        super().__init__(reason)
        self.advice = advice


def _owner(lower: str) -> str:
    return re.sub(r"('s|(?<=s)')$", "", lower)


def _is_clause(noun: str, lower: str) -> bool:
    """Whether a participle after a noun may be its verb: "ball crashed (right)"."""
    return is_participle(lower) and lower not in words("ing_nouns") and not describes(noun)


class NounPhraseReader:
    """Reads a prompt's tokens from left to right; an index past the end reads as ""."""

    def __init__(self, tokens: Sequence[PromptToken]) -> None:
        self.tokens = tokens
        self.asks_one = False  # a singular determiner: no word in -s can be the head

    def word(self, index: int) -> str:
        """The word at an index in lower case."""
        return self.tokens[index].lower if index < len(self.tokens) else ""

    def is_word(self, index: int) -> bool:
        """Whether a word stands at an index, not a sign."""
        return index < len(self.tokens) and self.tokens[index].is_word

    # What comes before the subject

    def skip_openings(self, index: int = 0) -> int:
        """Return the index where the subject starts, after all that speaks of the picture."""
        before = -1
        while index != before:
            before = index
            for skip in (self._signs, self._request, self._frame, self._amount):
                index = skip(index)
        return index

    def _signs(self, index: int) -> int:
        while index < len(self.tokens) and not self.is_word(index):
            index += 1
        return index

    def _request(self, index: int) -> int:
        """Skip "this is", "draw me", "can you make" and "behind the house there is"."""
        for opening in word_rows("openings"):
            if tuple(self.word(index + i) for i in range(len(opening))) == opening:
                return index + len(opening)
        i = index
        while self.is_word(i) and i < index + MAX_WORDS and self.word(i) not in words("inverted"):
            i += 1
        if i == index or ends_phrase(self.word(index)):
            if self.word(i) == "there" and self.word(i + 1) in ("is", "are", "stands", "sits"):
                return i + 2
            if i > index and self.word(i) in words("inverted"):
                return i + 1 if determiner_number(self.word(i + 1)) else index
        i = index
        while self.word(i) in words("asking"):
            i += 1
        if self.word(i) in words("imperatives"):
            after = i + 2 if self.word(i + 1) in ("me", "us") else i + 1
            return after if determiner_number(self.word(after)) else index
        return i if determiner_number(self.word(i)) else index

    def _frame(self, index: int) -> int:
        """Skip "a close-up photo of", "a wide, low-angle shot of" and "an image depicting"."""
        first = self._after_determiners(index)
        for i in range(first, first + MAX_WORDS):
            word = self.word(i)
            framed = is_frame(word) or (word == "up" and self.word(i - 1) == "close")
            viewed = word in ("view", "views") and self.word(i + 1) in ("over", "from", "across")
            viewed = viewed and not (i > first and kind_of(self.word(i - 1)) == "thing")  # sea view
            if (framed and self.word(i + 1) in _DEPICTING) or viewed:
                return i + 2
            listing = word == "," and all(describes(self.word(j)) for j in range(first, i))
            joined = self.is_word(i) or word in ("-", "/") or listing
            ends = self._starts_or_ends(i) and word not in _PARTICLES and i > first
            if not joined or ends or is_being(word):
                break
        return index

    def _amount(self, index: int) -> int:
        """Skip "a multiethnic group of", "one of", "dozens of"."""
        i = index
        while determiner_number(self.word(i)) or is_adjective(self.word(i)):
            i += 1
        if i > index and self.word(i) == "of":
            return i + 1
        for j in range(i, i + 3):
            herd = self.word(j) == "family" and kind_of(self.word(j + 2)) == "animal"
            if (singular_in("collectives", self.word(j)) or herd) and self.word(j + 1) == "of":
                return j + 2
            if not self.is_word(j) or self._starts_or_ends(j):
                break
        return index

    def _after_determiners(self, index: int) -> int:
        while determiner_number(self.word(index)) and self.word(index + 1) not in _YEARS:
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
        asked = [determiner_number(self.word(i)) for i in range(start, noun)]
        number = next((n for n in reversed(asked) if n != "-"), "-")
        self.asks_one = number == "s"
        run = self._run(noun)
        pictured = len(run)
        while len(run) > 1 and self._is_of_picture(self.word(run[-1]), self.word(run[-2])):
            run.pop()
        if not run:
            raise Unsure("it does not start with a noun")
        cut = [self.word(i) for i in range(run[-1] + 1, run[0] + pictured)]
        if not words("abstract").isdisjoint(cut):
            raise Unsure(f"'{cut[-1]}' is nothing that a picture shows by itself", TO_SEE)
        named = words("frames") - words("style_things")
        if (cut and self.word(run[-1]) in words("styles")) or self.word(run[-1]) in named:
            raise Unsure("it names only the picture", TO_SEE)
        head = self.word(run[-1])
        if kind_of(head) == "unknown":
            self._check_unknown(run, determined=noun > start, cut=len(run) < pictured)
        self._check_known(run, determined=noun > start)
        self._check_single(run[-1])
        owned = any(_owner(self.word(i)) != self.word(i) for i in run)  # a soldier's boots
        if number == "s" and is_plural(head) and not owned:
            raise Unsure(f"'{head}' does not fit '{self.word(noun - 1)}'")
        if number == "p" and not is_plural(head) and kind_of(head) == "unknown":
            raise Unsure(f"'{head}' does not fit '{self.word(noun - 1)}'")
        return start, noun, run[-1]

    def _is_of_picture(self, last: str, before: str) -> bool:
        """Whether the last of some nouns is the picture's: "cat portrait", not "traffic light"."""
        if last in words("style_things") and before not in words("styles") | words("frames"):
            return is_being(before)  # a street light
        if last in words("frames"):
            return True
        described = is_adjective(before) and before not in words("styles")
        alone = described or kind_of(before) == "abstract" or before.endswith(("'s", "s'"))
        return last in words("styles") and not alone

    def _check_known(self, run: Sequence[int], *, determined: bool) -> None:
        """Refuse what WordNet lists as a noun, but what hardly is one where it stands."""
        *modifiers, head = [self.word(i) for i in run]
        if is_being(head):
            return
        if is_adjective(head):
            raise Unsure(f"'{head}' is not a noun")
        first = modifiers[0] if modifiers else ""
        listed = is_adjective(first) or singular_in("things", first) or is_being(first)
        if lexicon.is_mostly(first, "v") and not listed and not determined:
            raise Unsure(f"it starts with the verb '{modifiers[0]}'")
        beings = [i for i, word in enumerate(modifiers) if singular_in("persons", word)]
        if beings and len(modifiers) - beings[0] > 1 + any(map(describes, modifiers[beings[0] :])):
            raise Unsure(f"'{modifiers[beings[0]]}' or '{head}' may be its subject")

    def _check_unknown(self, run: Sequence[int], *, determined: bool, cut: bool) -> None:
        """Refuse a head noun that is in no list where its place does not make it one."""
        *modifiers, head = [self.word(i) for i in run]
        pictures = words("frames") | words("styles")
        if len(head) == 1 or (describes(head) and head not in words("ing_nouns")):
            raise Unsure(f"'{head}' is not a noun")
        if head in pictures or head.isdecimal() or head.endswith(("'s", "s'")):
            raise Unsure(f"'{head}' cannot be a subject")
        odd = [word for word in modifiers if word in pictures and not is_adjective(word)]
        herd = head in words("collectives")
        if cut or odd or (not herd and any(is_being(_owner(word)) for word in modifiers)):
            raise Unsure(f"'{head}' may not be its noun")
        verbs = words("verbs") | s_forms()
        if modifiers and (head in verbs or any(map(_is_clause, modifiers, modifiers[1:]))):
            raise Unsure("a verb may be among its words")
        strange = sum(kind_of(word) == "unknown" and not describes(word) for word in modifiers)
        if len(run) > MAX_WORDS_UNKNOWN or (strange > 1 and not determined):
            raise Unsure("too many words that may be its noun")
        if not determined and self.word(run[0]) in words("verbs"):
            raise Unsure(f"it starts with the verb '{self.word(run[0])}'")

    def _check_single(self, head: int) -> None:
        """Refuse "the hands of a surgeon" and "a nurse, a doctor and a patient"."""
        before = self.word(head - 1) if head > 0 else ""  # a treasure chest is no part of anybody
        owned = kind_of(before) not in ("thing", "abstract") or describes(before)
        if self.word(head) == "model" and self.word(head + 1) == "of":
            raise Unsure("'model' may be a thing or a person")
        if self.word(head) in words("body_parts") and owned:
            raise Unsure(f"'{self.word(head)}' is only a part of somebody", WHOSE)
        listed = head + 2
        being = is_being(self.word(head))
        while self.word(listed - 1) == "," and self.is_word(listed):
            start = listed
            while self.is_word(listed) and self.word(listed) not in _CONJUNCTIONS:
                listed += 1
            alike = being and is_being(self.word(listed - 1)) and listed - start < 3
            joins = self.word(listed) in _CONJUNCTIONS or self.word(listed + 1) in _CONJUNCTIONS
            if joins and (determiner_number(self.word(start)) or alike):
                raise Unsure("a list joins several subjects")
            listed += 1

    def _run(self, index: int) -> list[int]:
        """The indices of the modifiers and the noun from `index` on, without commas and "and"."""
        run: list[int] = []
        while len(run) <= MAX_WORDS:
            joins = self.word(index) in (",", "and", "&") and self.is_word(index + 1)
            if run and joins and all(describes(self.word(i)) for i in run):
                index += 1
            elif run and (self.word(run[-1]), self.word(index + 1)) in word_rows("joined_pairs"):
                run += [index, index + 1]  # salt and pepper shakers
                index += 2
                if self._ends(index, self.word(index - 1)):
                    raise Unsure(f"'{self.word(index - 2)}' joins several subjects")
            elif self._ends(index, self.word(run[-1]) if run else ""):
                return run
            else:
                run.append(index)
                index += 1
        raise Unsure("too many words for one noun phrase")

    def _ends(self, index: int, previous: str) -> bool:
        """Whether the noun phrase ends before a word; `previous` is its last word so far."""
        word = self.word(index)
        if word in _CONJUNCTIONS or (word == "plus" and self.word(index + 1)[:4] != "size"):
            raise Unsure(f"'{word}' joins several subjects")
        chased = word == "being" and previous not in ("", "human")
        if not self.is_word(index) or ends_phrase(word) or chased:
            return True
        if word in words("question_words"):
            raise Unsure(f"'{word}' belongs to no description")
        if determiner_number(word) and not word.isdecimal():
            if word in words("owners") and kind_of(previous) not in ("person", "unknown"):
                return True  # "the first computer my dad owned"
            raise Unsure(f"'{word}' starts another noun phrase")
        chess_set = word == "set" and previous and not ends_phrase(self.word(index + 1))
        if is_participle(word) and not chess_set:
            return self._participle_ends(index, previous)
        if is_adverb(word):
            return bool(previous) and not describes(previous)
        if is_being(previous):
            if is_adjective(word) or (word in words("styles") and not is_being(word)):
                if any(is_being(later) for later in self._later(index + 1)):
                    raise Unsure(f"'{word}' may belong to '{previous}' or to what follows")
                if word in words("style_things") and not any(self._later(index + 1)):
                    raise Unsure(f"'{previous}' or '{word}' may be its subject")
                return True
            return self._is_finite_verb(word, previous)
        return bool(previous) and self._says_of_thing(index, word, previous)

    def _says_of_thing(self, index: int, word: str, noun: str) -> bool:
        """Whether a word after a thing says something of it: "a bus drives", "a house full of"."""
        closed = self._is_closed(index + 1)
        if kind_of(noun) not in ("thing", "person", "animal") or describes(noun):
            return False
        if lexicon.noun_senses(word):
            singular = lexicon.singular_of(word)
            if is_plural(noun):
                return lexicon.is_mostly(word, "v") and closed
            if singular and lexicon.is_s_form(word):
                return self.asks_one or (closed and lexicon.is_mostly(singular, "v"))
            return is_adjective(word) and lexicon.is_mostly(word, "j") and closed
        past = lexicon.is_past_form(word) or lexicon.is_s_form(word)
        return (
            past or (is_plural(noun) and lexicon.is_verb(word)) or (is_adjective(word) and closed)
        )

    def _participle_ends(self, index: int, previous: str) -> bool:
        """Whether a participle ends the phrase: "a chef cooking rice", not "a smiling chef"."""
        word, closed = self.word(index), self._is_closed(index + 1)
        if word in words("ing_nouns") and not (
            is_being(previous) and closed and lexicon.is_ing_form(word)
        ):
            return False
        if not previous or describes(previous):
            joined = self.word(index + 1) in (",", *_CONJUNCTIONS)
            following_participle = is_participle(self.word(index + 1))
            if closed and not joined and not following_participle and not is_adjective(word):
                raise Unsure(f"there is no noun before '{word}'")
            return False
        bare = not any(determiner_number(self.word(i)) for i in range(index))
        being = is_being(previous) or kind_of(previous) == "unknown"
        if bare and not being and not is_plural(previous) and not self.is_word(index + 1):
            raise Unsure(f"'{previous} {word}' may be one notion", TO_SEE)  # cloud computing
        if closed or word in _NAMING:
            return True
        *_, last = self._later(index + 1)
        other = is_being(last) and not is_plural(last)
        fed = self.asks_one and is_plural(last)  # an old man feeding ducks
        acting = is_plural(previous) or fed or (bare and being and not other)
        compound = word in words("compound_ing") and not acting
        if compound or (is_being(previous) and not word.endswith("ing")):
            raise Unsure(f"'{word}' may belong to '{previous}' or to what follows")
        if lexicon.is_ing_form(word) and (being or is_plural(last)):
            if other and not bare:
                raise Unsure(f"'{word}' may belong to '{previous}' or to '{last}'")
            return True
        noun = lexicon.noun_senses(previous)
        if not word.endswith("ing") or (looks_like_adjective(previous) and not noun):
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
        if word in past_forms():
            return True
        if is_plural(noun):
            return word in words("verbs")
        return word in s_forms() or (self.asks_one and lexicon.is_s_form(word))
