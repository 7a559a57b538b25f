"""What kinds of words there are: by the lists in ``templates/words``, by WordNet, by their form.

The lists come first: they hold what WordNet lacks, or takes for something that prompts rarely mean.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Literal

from biasgraph.prompts import lexicon
from biasgraph.prompts.grammar import singular_in, word_rows, words

Kind = Literal["person", "animal", "thing", "abstract", "unknown"]

_NOUN_LISTS: tuple[tuple[str, Kind], ...] = (
    ("persons", "person"),
    ("animals", "animal"),
    ("things", "thing"),
    ("abstract", "abstract"),
)
_BY_LETTER: dict[str, Kind] = {
    "p": "person",
    "a": "animal",
    **dict.fromkeys("cosl", "thing"),
    "x": "abstract",
}
_PERSON_ENDING = re.compile(
    r"(..(man|woman|person)|...(men|women|people)|(...[a-z]ist|ologist|...grapher|...maker|...worker"
    r"|...keeper|...driver|...teacher|...smith|....eer)s?)$"
)
_ADJECTIVE_ENDING = re.compile(r"...(ful|ous|ive|less|ish|ic|al|able|ible|ent|ant|esque|'s|s')$")
COUNT_TAG = re.compile(r"(\d+\+?)([a-z]+)")  # 1girl, 6+boys


def kind_of(noun: str, before: str = "", others: Iterable[str] = ()) -> Kind:
    """Say what a noun names.

    Args:
        noun: in either number.
        before: the word right before it: a teddy bear is no animal.
        others: further words of the prompt, which may tell a jaguar from a Jaguar.
    """
    lower, before = noun.lower(), before.lower()
    if meant := _meant(lower, before, frozenset(others)):
        return _BY_LETTER[meant]
    if before in words("materials") and kind_of(lower) in ("person", "animal"):
        return "thing"
    herd = lower in words("collectives") or lower in ("pod", "pride", "shoal", "brood", "covey")
    if herd and is_being(before) and kind_of(before) == "animal":
        return "animal"  # a wolf pack
    if tag := COUNT_TAG.fullmatch(lower):
        lower = "person" if tag[2] in ("other", "others") else tag[2]
    part = _main_part(lower)
    for name, kind in _NOUN_LISTS:
        if singular_in(name, lower) or singular_in(name, part):
            return kind
    if lower not in words("demonyms") and singular_in("demonyms", lower):
        return "person"  # Americans; the singular is an adjective as well
    senses = lexicon.noun_senses(lower) or lexicon.noun_senses(part)
    if not senses and (parts := lexicon.compound(lower)):
        return kind_of(parts[1])
    found = [_BY_LETTER[letter] for letter in senses if letter in _BY_LETTER]
    former = lower.startswith("ex-")
    if (_PERSON_ENDING.search(lower) or former) and found[:1] in ([], ["abstract"]):
        return "person"
    return next((kind for kind in found if kind != "abstract"), found[0] if found else "unknown")


def _main_part(lower: str) -> str:
    """The part of a word with hyphens that says what it is: of co-pilot, of mother-to-be."""
    first, *others = lower.split("-")
    return (
        first
        if not {*others[:1]}.isdisjoint({"to", "in", "at", "of", "on"})
        else lower.split("-")[-1]
    )


def _compound_senses(lower: str) -> str:
    """What a word made of two names: a treehouse is a house."""
    parts = lexicon.compound(lower)
    return lexicon.noun_senses(parts[1]).strip("nlm") if parts else ""


def _meant(noun: str, before: str, others: frozenset[str] = frozenset()) -> str:
    """The letter of what a noun of several meanings is, by the words around it, or ""."""
    for name in (noun, lexicon.singular_of(noun)):
        for kind, cues in _double_meanings().get(name or "", ()):
            if before in cues or not others.isdisjoint(cues):
                return kind
    listed = any(singular_in(name, noun) for name, _ in _NOUN_LISTS)
    pair = "" if listed else lexicon.pair_sense(before, noun)
    seen = lexicon.noun_senses(noun)[:1] in ("a", "o", "c") and is_adjective(before)
    return "" if pair == "p" and seen else pair  # a lone wolf may well be a wolf


@functools.cache
def _double_meanings() -> dict[str, list[tuple[str, frozenset[str]]]]:
    """By noun: the letters of what it may be, each with the words that say so."""
    meanings: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for kind, name, *cues in word_rows("double_meanings"):
        meanings.setdefault(name, []).append((kind, frozenset(cues)))
    return meanings


def is_pair(before: str, noun: str) -> bool:
    """Whether two words name one thing that is not what the second one is: teddy bear."""
    return bool(_meant(noun, before))


def singular_in_row(noun: str, name: str) -> bool:
    """Whether a noun is a listed one in either number."""
    return noun == name or lexicon.singular_of(noun) == name


def is_place(noun: str, before: str = "", others: Iterable[str] = ()) -> bool:
    """Whether a noun names a place or a view, so that prompts about it show a scene."""
    lower = noun.lower()
    if letter := _meant(lower, before.lower(), frozenset(others)):
        return letter == "s"
    if singular_in("scenes", lower):
        return True
    if before.lower() in ("mount", "lake", "cape", "mt", "fort", "loch"):
        return True
    senses = re.sub("[xnmg]", "", lexicon.noun_senses(lower) or _compound_senses(lower))
    return senses.startswith(("s", "l")) and singular_in("things", lower) is None


@functools.lru_cache(maxsize=4096)
def is_being(noun: str) -> bool:
    """Whether a word is, first of all, a noun for a person or an animal."""
    lower = noun.lower()
    if any(singular_in(name, lower) for name in ("persons", "animals")):
        return True
    other = any(singular_in(name, lower) for name in ("things", "abstract"))
    if other or lower in _no_nouns() or lexicon.is_mostly(lower, "v"):
        return False
    verbal = lexicon.is_mostly(lexicon.singular_of(lower) or "", "v")
    if verbal or lexicon.is_mostly(lower, "j"):
        return bool(_PERSON_ENDING.search(lower))
    senses = lexicon.noun_senses(lower)
    return senses[:1] in ("p", "a") or (not senses and kind_of(lower) in ("person", "animal"))


@functools.cache
def _no_nouns() -> frozenset[str]:
    names = ("adjectives", "describers", "adverbs", "demonyms", "participles", "styles", "frames")
    return frozenset().union(*map(words, names))


@functools.lru_cache(maxsize=4096)
def is_adjective(lower: str) -> bool:
    """Whether a word describes, by the lists or by WordNet; a noun for a person stays a noun."""
    listed = any(
        lower in words(name) for name in ("adjectives", "describers", "adverbs", "demonyms")
    )
    formed = lower.endswith(("ing", "ed"))
    other = lexicon.is_mostly(lower, "j") and not formed and not singular_in("things", lower)
    return (listed or other) and singular_in("persons", lower) is None


def is_participle(lower: str) -> bool:
    """Whether a word has the form of a present or past participle."""
    regular = lower.endswith("ing") or (lower.endswith("ed") and not lower.endswith("eed"))
    return (lower in words("participles") or (regular and len(lower) > 4)) and not is_being(lower)


def is_adverb(lower: str) -> bool:
    """Whether a word is an adverb in -ly."""
    return (
        lower.endswith("ly") and len(lower) > 4 and not is_adjective(lower) and not is_being(lower)
    )


def describes(lower: str) -> bool:
    """Whether a word can stand before a noun to describe it."""
    return is_adjective(lower) or is_participle(lower) or is_adverb(lower)


def looks_like_adjective(lower: str) -> bool:
    """Whether a word has an ending of adjectives, or of an owner."""
    return bool(_ADJECTIVE_ENDING.search(lower))


def ends_phrase(lower: str) -> bool:
    """Whether a word is a preposition, relative pronoun or auxiliary: none is in a noun phrase."""
    return lower in words("prepositions") or lower in words("enders") or lower.startswith("mid-")


def is_relative(lower: str) -> bool:
    """Whether a word starts a relative clause."""
    return lower in ("who", "that", "which")


def is_clause(lower: str) -> bool:
    """Whether a word after a noun starts a clause that says more of it: who, wearing, made."""
    return is_relative(lower) or is_participle(lower)


def determiner_number(lower: str) -> str | None:
    """The number a determiner or numeral asks for (s, p, - for either); None for other words."""
    if lower.isdecimal():
        return "s" if lower == "1" else "p"
    return _determiners().get(lower)


@functools.cache
def _determiners() -> dict[str, str]:
    return {word: number for word, number in word_rows("determiners")}


@functools.cache
def s_forms() -> frozenset[str]:
    """The third persons of the listed verbs: sits."""
    return frozenset(
        re.sub(r"([^aeiou])y$", r"\1ie", verb)
        + ("es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else "s")
        for row in word_rows("verbs")
        if row[0] != "~"
        for verb in row
    )


@functools.cache
def past_forms() -> frozenset[str]:
    """The irregular past forms of the listed verbs: sat."""
    return frozenset(verb for row in word_rows("verbs") if row[0] == "~" for verb in row[1:])
