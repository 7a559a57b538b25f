"""What goes with a word that is left out of a prompt, and what is mended.

A modifier goes with what joins it to another; the last noun of a phrase with what hangs on it; a
verb with its auxiliaries, and "with" stands before its object.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from biasgraph.prompts.grammar import is_plural, words
from biasgraph.prompts.kinds import (
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
from biasgraph.prompts.lexicon import noun_senses
from biasgraph.prompts.subject import Subject
from biasgraph.prompts.tokens import PromptToken

SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}
_RELATIVES = frozenset(("who", "that", "which"))
_CONJUNCTIONS = frozenset(("and", "or", "&", "+"))
_OWNERS = ("'s", "s'")
_PARTICLES = ("up", "down", "out")  # "close up of", "stepping out of"
_PLACES = frozenset(["front", "top", "middle", "center", "centre", "midst", "back", "side"])
"""In "in front of", "on top of": they belong to the preposition."""


class WordRemoval:
    """What goes with a word that is left out, and what is mended, by indices of tokens."""

    def __init__(self, tokens: Sequence[PromptToken], at: int, subject: Subject | None) -> None:
        self._tokens = tokens
        self._at = at
        self._subject = subject
        self._put: dict[int, str] = {}

    def changes(self) -> tuple[set[int], dict[int, str]]:
        """The indices that go, and what is put in the place of others."""
        return self._find_dropped(), self._put

    def _find_dropped(self) -> set[int]:
        at, word = self._at, self._word(self._at)
        gone = {at}
        if self._acts(at):
            gone |= {*self._auxiliaries(at), *range(self._before_adverbs(at) + 1, at)}
            if self._adverb(at + 1):
                gone.add(at + 1)
            elif self._follows_conjunction(at):
                gone.add(at - 1)
            elif self._begins_noun(at + 1):
                gone.discard(at)
                self._put[at] = "with"
            elif self._word(at + 1) in _CONJUNCTIONS:
                gone.add(at + 1)
        elif self._adverb(at) or ends_phrase(word):
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

    def _adverb(self, index: int) -> bool:
        word = self._word(index)
        return is_adverb(word) and not noun_senses(word)  # Italy

    def _before_adverbs(self, index: int) -> int:
        """The last index before a word that is none of its adverbs."""
        index -= 1
        while self._adverb(index) or self._word(index) in words("adverbs"):
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

    def _closes(self, index: int) -> bool:
        """Whether no noun follows directly: a sign, the end, a preposition or a determiner."""
        word = self._word(index)
        other = ends_phrase(word) or determiner_number(word) or word in _CONJUNCTIONS
        return not self._is_word(index) or bool(other) or self._adverb(index)

    def _acts(self, index: int) -> bool:
        """Whether a word is what somebody does: "a chef cooking rice", not "a smiling chef"."""
        word, before = self._word(index), self._before_adverbs(index)
        previous = self._word(before)
        if previous.endswith(_OWNERS):
            return False
        formed = is_participle(word) or word in s_forms() or word in past_forms()
        bare = is_plural(previous) and word in words("verbs")
        if not (formed or bare) or not self._is_word(index):
            return False
        if previous in words("auxiliaries") | _RELATIVES:
            return True
        if previous in _CONJUNCTIONS or previous == ",":
            return is_participle(word) and before > 0 and self._closes(index + 1)
        if not self._is_word(before) or determiner_number(previous) or ends_phrase(previous):
            return False
        if (self._subject and self._tokens[before].end == self._subject.end) or is_being(previous):
            return True
        if describes(previous):
            return False
        noun = word in words("ing_nouns") or not self._closes(index + 1)
        return is_plural(previous) or not noun

    def _begins_noun(self, index: int) -> bool:
        """Whether a noun phrase, an object, begins at an index."""
        word = self._word(index)
        if determiner_number(word):
            return True
        return self._is_word(index) and not self._closes(index) and not self._acts(index)

    def _continues(self, index: int) -> bool:
        """Whether the noun that a word describes follows."""
        following = index + 1
        if self._word(following) in (",", "and", "&"):
            alike = describes(self._word(index)) and describes(self._word(index + 2))
            return alike and not self._acts(index + 2) and self._continues(index + 2)
        auxiliary = self._word(following) in words("auxiliaries")
        return not self._closes(following) and not auxiliary and not self._acts(following)

    def _follows_conjunction(self, index: int) -> bool:
        return index > 1 and self._word(index - 1) in _CONJUNCTIONS

    def _of_modifier(self, at: int) -> set[int]:
        """The comma or "and" that joined it to another, and its own adverbs."""
        gone = {*range(self._before_adverbs(at) + 1, at)}
        first = min(gone, default=at)
        if self._word(at + 1) in (",", "and", "&"):
            gone.add(at + 1)
            return gone
        joined = self._word(first - 1) in (",", "and", "&") and describes(self._word(first - 2))
        if joined and (self._word(first - 1) != "," or self._first_modifier(first) < first):
            gone.add(first - 1)
        return gone

    def _of_noun(self, at: int) -> set[int]:
        """What hangs on the last noun of a phrase: determiners, adjectives, the preposition."""
        first = self._first_modifier(at)
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
        if self._follows_conjunction(first) and not is_plural(self._word(first - 2)):
            self._mend_verb(at + 1)
        return {*range(self._start_of_phrase(first), at + 1)} | joined

    def _modifies(self, index: int) -> bool:
        word = self._word(index)
        if word in (",", "and", "&"):
            alike = describes(self._word(index + 1)) and describes(self._word(index - 1))
            return alike and not self._acts(index - 1)
        if not self._is_word(index) or determiner_number(word) or ends_phrase(word):
            return False
        described = describes(word) or looks_like_adjective(word) or word.endswith(_OWNERS)
        return described and not self._acts(index)

    def _first_modifier(self, at: int) -> int:
        """The index of the first modifier before a word, behind commas too in "a tall, old chef".

        "Product shot, light grey" and "symmetrical, pastel pink" are two tags each.
        """
        first = at
        while self._modifies(first - 1):
            first -= 1
        if determiner_number(self._word(first - 1)):
            return first
        commas = [i + 1 for i in range(first, at) if self._word(i) == ","]
        return max(commas, default=first)

    def _start_of_phrase(self, first: int) -> int:
        """The index of what hangs on a noun phrase from `first` on: a preposition, a verb."""
        if self._follows_conjunction(first):
            if self._word(first - 1) == "and" and self._word(first - 2) == ",":
                return first - 2
            return first - 1
        start = first
        while self._is_word(start - 1) and self._is_preposition(start - 1):
            start -= 1
            if self._word(start) == "of" and self._word(start - 1) in _PARTICLES:
                break
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
        if self._subject is None and self._word(index) in SINGULAR:
            self._put[index] = SINGULAR[self._word(index)]
