"""What stands before a prompt's subject and speaks of the picture: "draw me", "a photo of"."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from biasgraph.prompts.grammar import is_plural, singular_in, word_rows, words
from biasgraph.prompts.kinds import (
    describes,
    determiner_number,
    ends_phrase,
    is_adjective,
    is_being,
    is_participle,
    kind_of,
)
from biasgraph.prompts.language import is_word
from biasgraph.prompts.tokens import PromptToken

MAX_WORDS = 12  # after the determiners; more are believed to be several phrases in a row
CONJUNCTIONS = ("and", "or", "&", "+", "vs", "versus")

_GREETINGS = ("hi", "hello", "hey", "please", "ok", "okay", "so", "pls", "plz")
_DEPICTING = ("of", "depicting", "showing", "featuring", "portraying", "capturing", "shows")
_DESIGNS = ("art", "artwork", "design", "illustration", "sketch", "drawing", "painting")
_PARTICLES = ("up", "down", "out")  # "close up of", "zoomed out view of"
_YEARS = ("year", "years", "y.o", "y.o.", "yo", "yr")


def is_frame(lower: str) -> bool:
    """Whether a word is a noun for the picture itself, slips of spelling included."""
    slip = len(lower) > 5 and not is_word(lower)
    near = difflib.get_close_matches(lower, words("frames"), n=1, cutoff=0.9) if slip else []
    return lower in words("frames") or bool(near)


class OpeningReader:
    """Reads a prompt's tokens from left to right; an index past the end reads as ""."""

    def __init__(self, tokens: Sequence[PromptToken]) -> None:
        self.tokens = tokens

    def word(self, index: int) -> str:
        """The word at an index in lower case."""
        return self.tokens[index].lower if 0 <= index < len(self.tokens) else ""

    def is_word(self, index: int) -> bool:
        """Whether a word stands at an index, not a sign."""
        return index < len(self.tokens) and self.tokens[index].is_word

    def skip_openings(self, index: int = 0) -> int:
        """Return the index where the subject starts, after all that speaks of the picture."""
        before = -1
        while index != before:
            before = index
            for skip in (self._signs, self._question, self._request, self._frame, self._amount):
                index = skip(index)
        return index

    def _signs(self, index: int) -> int:
        while index < len(self.tokens) and not self.is_word(index):
            index += 1
        return index

    def _question(self, index: int) -> int:
        """Skip "what does" of "what does a nurse look like", and "what" of "what a nurse does"."""
        asks = self.word(index) in ("what", "how")
        if asks and "like" in (token.lower for token in self.tokens[index:]):
            index += 2 if self.word(index + 1) in words("auxiliaries") else 1
        return index

    def _request(self, index: int) -> int:
        """Skip "this is", "draw me", "can you make" and "behind the house there is"."""
        asked = words("asking") | words("imperatives") | {",", "show"}
        while self.word(index) in _GREETINGS and self.word(index + 1) in asked | {*_GREETINGS}:
            index = self._signs(index + 1)
        for opening in word_rows("openings"):
            if tuple(self.word(index + i) for i in range(len(opening))) == opening:
                return index + len(opening)
        i = index
        while self.is_word(i) and i < index + MAX_WORDS and self.word(i) not in words("inverted"):
            i += 1
        if i == index or ends_phrase(self.word(index)) or is_participle(self.word(index)):
            if self.word(i) == "there" and self.word(i + 1) in ("is", "are", "stands", "sits"):
                return i + 2
            if i > index and self.word(i) in words("inverted"):
                return i + 1 if determiner_number(self.word(i + 1)) else index
        i = index
        while self.word(i) in words("asking"):
            i += 1
        if self.word(i) in words("imperatives"):
            after = i + 2 if self.word(i + 1) in ("me", "us", "it", "this", "them") else i + 1
            start = self._question(after)
            return start if determiner_number(self.word(start)) else index
        return i if determiner_number(self.word(i)) else index

    def _frame(self, index: int) -> int:
        """Skip "a close-up photo of", "a wide, low-angle shot of" and "an image depicting"."""
        if self.word(index) == "of" and self.is_word(index + 1):
            return index + 1  # "[photo|painting] of"
        first = self.after_determiners(index)
        for i in range(first, first + MAX_WORDS):
            word = self.word(i)
            viewed = word in ("view", "views") and self.word(i + 1) in ("over", "across")
            viewed = viewed and not (i > first and kind_of(self.word(i - 1)) == "thing")  # sea view
            if (self._is_frame(i) and self._depicts(i)) or viewed:
                return i + 2
            listing = word == "," and all(describes(self.word(j)) for j in range(first, i))
            joined = self.is_word(i) or word in ("-", "/") or listing
            ends = self.starts_or_ends(i) and not (word.isdecimal() or word in _PARTICLES)
            if not joined or (ends and i > first) or (is_being(word) and not self._is_frame(i + 1)):
                break
        return index

    def _is_frame(self, index: int) -> bool:
        """Whether a word ends the name of a kind of picture: "photo", "cross stitch"."""
        techniques = word_rows("techniques")
        named = [self.word(index - 1), self.word(index)]
        return is_frame(named[1]) or (named[1],) in techniques or tuple(named) in techniques

    def _depicts(self, index: int) -> bool:
        """Whether what a picture shows follows its name: "photo of", "concept art for"."""
        following = self.word(index + 1)
        shows = following == "with" and determiner_number(self.word(index + 2)) is not None
        shows = shows and self.word(index) in ("image", "picture", "photo", "pic", "images")
        designed = following == "for" and self.word(index) in _DESIGNS
        return following in _DEPICTING or shows or designed

    def _amount(self, index: int) -> int:
        """Skip "a multiethnic group of", "one of", "dozens of"."""
        i = index
        while determiner_number(self.word(i)) or is_adjective(self.word(i)):
            i += 1
        if i > index and self.word(i) == "of":
            return i + 1
        for j in range(i, i + 3):
            if self.word(j + 1) == "of" and self._counts(j):
                return j + 2
            if not self.is_word(j) or self.starts_or_ends(j):
                break
        return index

    def _counts(self, index: int) -> bool:
        """Whether a noun before "of" says how many there are: not "the crew of a ship"."""
        noun, following = self.word(index), self.word(index + 2)
        if noun == "family":
            return kind_of(following) == "animal"
        if singular_in("gatherings", noun):
            members = [word for word in self.later(index + 2) if is_being(word)]
            return any(is_plural(word) or kind_of(word) == "animal" for word in members)
        one = following.isdecimal() or determiner_number(following) == "s"
        return singular_in("collectives", noun) is not None and not one

    def after_determiners(self, index: int) -> int:
        """The index of the first word that is no determiner."""
        while determiner_number(self.word(index)) and self.word(index + 1) not in _YEARS:
            index += 1
        return index

    def starts_or_ends(self, index: int) -> bool:
        """Whether a word starts a noun phrase, or cannot be in one."""
        return determiner_number(self.word(index)) is not None or ends_phrase(self.word(index))

    def later(self, index: int) -> Iterator[str]:
        """The words up to the next one that cannot belong to a noun phrase."""
        while self.is_word(index) and not self.starts_or_ends(index):
            if self.word(index) in CONJUNCTIONS:
                return
            yield self.word(index)
            index += 1
