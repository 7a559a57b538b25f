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
from biasgraph.prompts.endings import EndingReader
from biasgraph.prompts.grammar import is_plural, singular_in, word_rows, words
from biasgraph.prompts.kinds import (
    describes,
    determiner_number,
    is_adjective,
    is_being,
    is_participle,
    kind_of,
    s_forms,
)
from biasgraph.prompts.openings import CONJUNCTIONS, MAX_WORDS
from biasgraph.prompts.unsure import TO_SEE, WHOSE, PictureOnly, Unsure

MAX_WORDS_UNKNOWN = 5  # where the head noun is in no list
_PLACING = ("in", "on", "at", "with", "under", "by", "near", "over")


def _owner(lower: str) -> str:
    return re.sub(r"('s|(?<=s)')$", "", lower)


def _is_clause(noun: str, lower: str) -> bool:
    """Whether a participle after a noun may be its verb: "ball crashed (right)"."""
    return is_participle(lower) and lower not in words("ing_nouns") and not describes(noun)


class NounPhraseReader(EndingReader):
    """Reads noun phrases among a prompt's tokens."""

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
        shoot = (self.word(run[-1] - 1), self.word(run[-1])) in word_rows("techniques")
        head_named = shoot or self.word(run[-1]) in words("frames") - words("style_things")
        if (cut and self.word(run[-1]) in words("styles")) or (
            head_named and not self._is_thing(run[-1])
        ):
            raise PictureOnly("it names only the picture", TO_SEE)
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
        material = self.word(index + 2)
        hangs = following == "on" and material not in ("canvas", "paper", "panel", "wood", "silk")
        hangs = hangs and word in words("hung")
        printed = word in ("logo", "icon", "poster", "flyer", "banner", "advertisement", "ad")
        return following in words("hanging") or hangs or (printed and following == "for")

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
        following = self.word(run[-1] + 1)
        named = named and (determined or bool(modifiers) or following in (*_PLACING, ","))
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
            joins = joins and not is_being(self.word(index - 1))  # husky, snow
            if run and joins and all(describes(self.word(i)) for i in run):
                index += 1
            elif run and (self.word(run[-1]), self.word(index + 1)) in word_rows("joined_pairs"):
                run += [index, index + 1]  # salt and pepper shakers
                index += 2
                if self.ends(index, self.word(index - 1)):
                    raise Unsure(f"'{self.word(index - 2)}' joins several subjects")
            elif self.ends(index, self.word(run[-1]) if run else ""):
                return run
            else:
                run.append(index)
                index += 1
        raise Unsure("too many words for one noun phrase")
