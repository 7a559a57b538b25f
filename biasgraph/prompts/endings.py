"""Where a noun phrase ends: before a verb, a participle or an adjective that says more of it."""

from __future__ import annotations

from biasgraph.prompts import lexicon
from biasgraph.prompts.grammar import is_plural, word_rows, words
from biasgraph.prompts.kinds import (
    describes,
    determiner_number,
    ends_phrase,
    is_adjective,
    is_adverb,
    is_being,
    is_pair,
    is_participle,
    kind_of,
    looks_like_adjective,
    past_forms,
    s_forms,
)
from biasgraph.prompts.openings import CONJUNCTIONS, OpeningReader
from biasgraph.prompts.unsure import TO_SEE, Unsure

_NAMING = ("named", "called", "titled", "aged")


class EndingReader(OpeningReader):
    """Finds the word before which a noun phrase ends; the subclass reads the phrase."""

    asks_one = False
    """Whether its determiner is singular: no word in -s can be the head."""

    def ends(self, index: int, previous: str) -> bool:
        """Whether the noun phrase ends before a word; `previous` is its last word so far."""
        word = self.word(index)
        side = word in words("sides") and self.word(index + 1) == "of"  # the inside of a clock
        worn = previous.endswith("ed") or previous in words("participles")  # worn out boots
        worn = worn and word in ("out", "up", "down") and not self._is_closed(index + 1)
        inner = worn or (not previous and (word.startswith("mid-") or side or self._is_deep(index)))
        if previous and self._is_dish(index):
            return True
        alone = word == "and" and self.word(index + 1) in ("nothing", "no")
        if (word in CONJUNCTIONS and not alone) or (
            word == "plus" and self.word(index + 1)[:4] != "size"
        ):
            raise Unsure(f"'{word}' joins several subjects")
        chased = word == "being" and previous not in ("", "human")
        asked = word == "look" and self.word(index + 1) == "like"
        if not self.is_word(index) or (ends_phrase(word) and not inner) or chased or asked or alone:
            return True
        owned = word in words("owners") and kind_of(previous) not in ("person", "unknown")
        if owned and previous:
            return True  # "the first computer my dad owned"
        if previous and word in ("please", "pls", "plz", "thanks") and not self.is_word(index + 1):
            return True
        computing = self.tokens[index].text == "IT" and self.is_word(index + 1)
        if word in words("question_words") and not computing:
            raise Unsure(f"'{word}' belongs to no description")
        year = word.isdecimal() and len(word) == 4 and not self.is_word(index + 1)
        if previous and year:
            return True
        if previous and word == "half" and is_participle(self.word(index + 1)):
            return True
        if determiner_number(word) and not word.isdecimal():
            raise Unsure(f"'{word}' starts another noun phrase")
        paired = (previous, word) in word_rows("picture_things")  # dinner spread
        chess_set = paired or (word == "set" and previous and not ends_phrase(self.word(index + 1)))
        if is_participle(word) and not chess_set:
            return self._participle_ends(index, previous)
        if is_adverb(word):
            return bool(previous) and not describes(previous)
        if previous and is_pair(previous, word):  # teddy bears
            return False
        if is_being(previous):
            if self._is_activity(index, previous):
                return True
            if self._describes_behind(index) or (word in words("styles") and not is_being(word)):
                if any(is_being(later) for later in self.later(index + 1)):
                    raise Unsure(f"'{word}' may belong to '{previous}' or to what follows")
                if word in words("style_things") and not any(self.later(index + 1)):
                    raise Unsure(f"'{previous}' or '{word}' may be its subject")
                return True
            return self._is_finite_verb(index, previous)
        return bool(previous) and self._says_of_thing(index, word, previous)

    def _is_activity(self, index: int, being: str) -> bool:
        """Whether two words name what somebody does: "women arm wrestling"."""
        word, following = self.word(index), self.word(index + 1)
        noun = lexicon.noun_senses(word) and not is_being(word) and not is_adjective(word)
        doing = lexicon.is_ing_form(following) and following not in words("ing_nouns")
        sure = word in words("activities") or (is_plural(being) and word not in words("things"))
        return bool(noun and doing and sure and self._is_closed(index + 2))

    def _describes_behind(self, index: int) -> bool:
        """Whether a word after a noun is an adjective of it; not in "a horse stable"."""
        word = self.word(index)
        listed = any(word in words(name) for name in ("adjectives", "describers"))
        place = lexicon.noun_senses(word)[:1] in ("s", "l", "o", "c") and not listed
        return is_adjective(word) and not (place and self._is_closed(index + 1))

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
            return self._describes_behind(index) and lexicon.is_mostly(word, "j") and closed
        past = lexicon.is_past_form(word) or lexicon.is_s_form(word)
        return (
            past or (is_plural(noun) and lexicon.is_verb(word)) or (is_adjective(word) and closed)
        )

    def _participle_ends(self, index: int, previous: str) -> bool:
        """Whether a participle ends the phrase: "a chef cooking rice", not "a smiling chef"."""
        word, following = self.word(index), self.word(index + 1)
        low = is_adjective(following) and self._is_closed(index + 2)  # flying low over
        closed = self._is_closed(index + 1) or (low and bool(previous))
        if previous and word in words("object_ing") and not self._describes(index, previous):
            return True
        if word in words("joining") and not self._is_closed(index + 1):
            return False  # a robot themed lunchbox
        if word in words("ing_nouns"):
            acts = is_being(previous) and (closed or (self.asks_one and is_plural(following)))
            verb = acts or (determiner_number(following) is not None and previous)
            if not (verb and lexicon.is_ing_form(word)):
                return False
        if previous and word.endswith("ed") and self._is_colour(index + 1):
            return True
        if not previous or self._describes(index, previous):
            joined = self.word(index + 1) in (",", *CONJUNCTIONS)
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
        *_, last = self.later(index + 1)
        other = is_being(last) and not is_plural(last)
        fed = self.asks_one and is_plural(last)  # an old man feeding ducks
        acting = is_plural(previous) or fed or (bare and being and not other)
        compound = word in words("compound_ing") and not acting
        if compound or (is_being(previous) and not word.endswith("ing")):
            raise Unsure(f"'{word}' may belong to '{previous}' or to what follows")
        acts = lexicon.is_ing_form(word) or (word.endswith("ing") and is_being(previous))
        if acts and (being or is_plural(last) or (self.asks_one and last in words("masses"))):
            if other and not bare:
                raise Unsure(f"'{word}' may belong to '{previous}' or to '{last}'")
            return True
        noun = lexicon.noun_senses(previous)
        if not word.endswith("ing") or (looks_like_adjective(previous) and not noun):
            return False
        raise Unsure(f"'{word}' may belong to '{previous}' or to what follows")

    def _describes(self, index: int, previous: str) -> bool:
        """Whether the word before one describes a noun; not "a painting hanging"."""
        determined = determiner_number(self.word(index - 2)) is not None
        named = previous in words("ing_nouns") and determined
        return describes(previous) and not named and not (previous == "set" and not determined)

    def _is_colour(self, index: int) -> bool:
        """Whether all that follows is the name of a colour: "painted mint green"."""
        later = list(self.later(index))
        return 0 < len(later) < 4 and later[-1] in words("colours")

    def _is_closed(self, index: int) -> bool:
        """Whether no noun can follow directly: a sign, the end, a preposition, determiner ..."""
        word = self.word(index)
        return (
            not self.is_word(index)
            or self.starts_or_ends(index)
            or word in CONJUNCTIONS
            or word in words("question_words")
            or is_adverb(word)
            or (lexicon.is_mostly(word, "r") and not lexicon.noun_senses(word))
            or (is_participle(word) and word not in words("ing_nouns"))
        )

    def _is_finite_verb(self, index: int, noun: str) -> bool:
        word = self.word(index)
        if word in past_forms():
            return True
        if is_plural(noun):  # "a crowd of people watches the parade"
            one = lexicon.is_s_form(word) and determiner_number(self.word(index + 1)) is not None
            names = lexicon.noun_senses(word)[:1] in [*"paosc"]
            bare = lexicon.is_verb(word) and self.starts_or_ends(index + 1) and not names
            return word in words("verbs") or one or bare
        return word in s_forms() or (self.asks_one and lexicon.is_s_form(word))

    def _is_deep(self, index: int) -> bool:
        """Whether a preposition is an adjective where it stands: "deep sea", "back alley"."""
        noun = lexicon.noun_senses(self.word(index + 1)) and not self.starts_or_ends(index + 1)
        return self.word(index) in ("deep", "back") and bool(noun)

    def _is_dish(self, index: int) -> bool:
        """Whether a small foreign word joins what stands before it: "tacos al pastor"."""
        return self.word(index) in ("al", "de", "del", "di", "du", "au", "la") and self.is_word(
            index + 1
        )
