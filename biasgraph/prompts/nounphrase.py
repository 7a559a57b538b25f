"""A shallow parser for the noun phrase that a prompt is about.

It skips what speaks of the picture ("a photo of", "a group of"), reads determiners and modifiers
up to the first word that cannot belong to the noun phrase, and takes the last noun before it as the
head. The word lists are in ``templates/words``; a noun need not be in them. Where two readings stay
open it raises `Unsure`: a wrong guess would spoil every counterfactual.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from biasgraph.prompts import lexicon
from biasgraph.prompts.grammar import is_plural, singular_in, word_rows, words
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
from biasgraph.prompts.openings import CONJUNCTIONS, MAX_WORDS, OpeningReader
from biasgraph.prompts.tokens import PromptToken

MAX_WORDS_UNKNOWN = 5  # where the head noun is in no list

_PLACING = ("in", "on", "at", "with", "under", "by", "near", "over")
_NAMING = ("named", "called", "titled", "aged")


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


class NounPhraseReader(OpeningReader):
    """Reads noun phrases among a prompt's tokens."""

    def __init__(self, tokens: Sequence[PromptToken]) -> None:
        super().__init__(tokens)
        self.asks_one = False  # a singular determiner: no word in -s can be the head

    def noun_phrase(self, start: int) -> tuple[int, int, int]:
        """Indices of the phrase's first word, the first after the determiners, and the head.

        Raises:
            Unsure: two readings stay open, or none is left.
        """
        if self.word(start).isdecimal() and self.word(start + 1) in words("styles"):
            start += 2  # "8 k"
        noun = self.after_determiners(start)
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
        head_named = self.word(run[-1]) in words("frames") - words("style_things")
        if (cut and self.word(run[-1]) in words("styles")) or (
            head_named and not self._is_thing(run[-1])
        ):
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

    def _is_thing(self, index: int) -> bool:
        """Whether a picture is itself what is shown: "a painting hanging on a wall"."""
        word, following = self.word(index), self.word(index + 1)
        printed = word in ("logo", "icon", "poster", "flyer", "banner", "advertisement", "ad")
        return following in words("hanging") or (printed and following == "for")

    def _is_of_picture(self, last: str, before: str) -> bool:
        """Whether the last of some nouns is the picture's: "cat portrait", not "traffic light"."""
        if (before, last) in word_rows("picture_things"):
            return False
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
        listed = any(head in words(name) for name in ("adjectives", "describers", "demonyms"))
        named = not listed and lexicon.noun_senses(head)[:1] in [*"paos"]  # a cardinal, a salt flat
        named = named and (determined or bool(modifiers) or self.word(run[-1] + 1) in _PLACING)
        if is_adjective(head) and not named:
            raise Unsure(f"'{head}' is not a noun")
        first = modifiers[0] if modifiers else ""
        listed = is_adjective(first) or is_being(first) or bool(singular_in("things", first))
        joined = len(modifiers) > 1  # cast iron skillet
        joined = joined or lexicon.noun_senses(first)[:1] in ("o", "s", "a", "p")  # desert highway
        if lexicon.is_mostly(first, "v") and not (listed or joined or determined):
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
        if (
            (head in pictures and not self._is_thing(run[-1]))
            or head.isdecimal()
            or head.endswith(("'s", "s'"))
        ):
            raise Unsure(f"'{head}' cannot be a subject")
        odd = [word for word in modifiers if word in pictures and not is_adjective(word)]
        herd = head in words("collectives") | words("gatherings")
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
        others = [token.lower for token in self.tokens if token.is_word]
        leads = kind_of(self.word(head), before, others) == "person"  # the head of a company
        if self.word(head) in words("body_parts") and owned and not (leads or self._is_side(head)):
            raise Unsure(f"'{self.word(head)}' is only a part of somebody", WHOSE)
        listed = head + 2
        being = is_being(self.word(head))
        while self.word(listed - 1) == "," and self.is_word(listed):
            start = listed
            while self.is_word(listed) and self.word(listed) not in CONJUNCTIONS:
                listed += 1
            alike = being and is_being(self.word(listed - 1)) and listed - start < 3
            joins = self.word(listed) in CONJUNCTIONS or self.word(listed + 1) in CONJUNCTIONS
            if joins and (determiner_number(self.word(start)) or alike):
                raise Unsure("a list joins several subjects")
            listed += 1

    def _is_side(self, index: int) -> bool:
        """Whether a noun is a side of a thing: "the back of a bus"."""
        of_thing = [kind_of(word) for word in self.later(self.after_determiners(index + 2))][-1:]
        side = self.word(index) in words("sides") and self.word(index + 1) == "of"
        return side and of_thing == ["thing"]

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
        side = word in words("sides") and self.word(index + 1) == "of"  # the inside of a clock
        inner = not previous and (word.startswith("mid-") or side or self._is_deep(index))
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
        if word in words("question_words"):
            raise Unsure(f"'{word}' belongs to no description")
        if previous and word == "half" and is_participle(self.word(index + 1)):
            return True
        if determiner_number(word) and not word.isdecimal():
            raise Unsure(f"'{word}' starts another noun phrase")
        chess_set = word == "set" and previous and not ends_phrase(self.word(index + 1))
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

    def _is_deep(self, index: int) -> bool:
        """Whether a preposition is an adjective where it stands: "deep sea", "back alley"."""
        noun = lexicon.noun_senses(self.word(index + 1)) and not self.starts_or_ends(index + 1)
        return self.word(index) in ("deep", "back") and bool(noun)

    def _is_dish(self, index: int) -> bool:
        """Whether a small foreign word joins what stands before it: "tacos al pastor"."""
        return self.word(index) in ("al", "de", "del", "di", "du", "au", "la") and self.is_word(
            index + 1
        )

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
        place = lexicon.noun_senses(word)[:1] in ("s", "l") and not listed
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
        closed = self._is_closed(index + 1) or (low and word.endswith("ing") and bool(previous))
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
