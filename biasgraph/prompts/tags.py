"""The tags of a prompt, what stands between its commas, and which of them names the subject."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from biasgraph.prompts import lexicon
from biasgraph.prompts.grammar import is_plural, singular_in, word_rows, words
from biasgraph.prompts.kinds import (
    COUNT_TAG,
    describes,
    determiner_number,
    ends_phrase,
    is_being,
    is_participle,
    is_place,
    kind_of,
)
from biasgraph.prompts.language import is_foreign, is_word
from biasgraph.prompts.nounphrase import NounPhraseReader
from biasgraph.prompts.openings import is_frame
from biasgraph.prompts.tokens import PromptToken
from biasgraph.prompts.unsure import IN_ENGLISH, TO_SEE, PictureOnly, Unsure

_MEASURE = re.compile(
    r"\d+(st|nd|rd|th|s)?|\d+(\.\d+)?(mm|k|d|p|px|fps)|f/?\d.*|iso\d+|[a-z]t?\d+|\d+-?bit|up"
)
_LOCATING = ("of", "in", "on", "under", "inside", "at", "from", "over")
_NEGATIVE = ("no", "without", "not", "minus")


def segments(tokens: Sequence[PromptToken]) -> list[tuple[int, int]]:
    """The first index and the one after the last of what stands between commas and the like."""
    found, start = [], 0
    for i, token in enumerate(tokens):
        if token.text in ",;:\u2039\u203a":
            found.append((start, i))
            start = i + 1
    return [(first, end) for first, end in [*found, (start, len(tokens))] if first < end]


def read_subject(tokens: Sequence[PromptToken]) -> tuple[int, int, int]:
    """Indices of the subject's first word, the first after its determiners, and its head.

    Raises:
        Unsure: no tag names a subject, several do, or one that cannot be read.
    """
    reader = NounPhraseReader(tokens)
    spans = segments(tokens)
    said = [[token.lower for token in tokens[start:end] if token.is_word] for start, end in spans]
    if len(said) > 2 and all(len(tag) == 1 and _is_of_many(tag[0]) for tag in said):
        raise Unsure("a list joins several subjects")
    if said[:1] == [["negative", "prompt"]]:
        raise Unsure("it says only what the picture must not show", TO_SEE)
    for number, ((start, _), tag) in enumerate(zip(spans, said, strict=True)):
        later = said[number + 1 :]
        opened = reader.skip_openings(start)
        worn_out = (
            len(tag) > 2 and tag[1] in ("out", "up", "down") and tag[0].endswith(("ed", "rn", "en"))
        )
        if not tag or (opened == start and not worn_out and is_about_picture(tag)):
            if tag[-1:] in (["male"], ["female"]) and not list(count_tags(said)):
                raise Unsure(f"'{' '.join(tag)}' may be its subject")
            continue
        if _is_general(tag) and any(map(_names_being, later)):
            continue
        if is_foreign([word for word in tag if word not in words("styles")]):
            raise Unsure("it does not seem to be English", IN_ENGLISH)
        if tag[0] == "being":
            raise Unsure("it does not start with a noun")
        try:
            phrase = reader.noun_phrase(opened)
        except PictureOnly:
            if any(map(_is_subject, later)):
                continue
            raise
        if _is_mood(tokens, phrase) and any(map(_is_subject, later)):
            continue
        if _is_worn(tokens, phrase, said) or _is_held(tokens, phrase, said, number):
            continue
        if any(map(_is_feature, said[:number])) and kind_of(tokens[phrase[2]].lower) == "thing":
            break
        _refuse_unknown(tokens, phrase)
        _refuse_others(tokens, phrase, said)
        _refuse_joined(reader, phrase[0], phrase[2])
        return phrase
    if place := _opening_place(reader, spans):
        return place
    raise Unsure("it names only a style, a mood or features, and nothing that has them", TO_SEE)


def _opening_place(
    reader: NounPhraseReader, spans: Sequence[tuple[int, int]]
) -> tuple[int, int, int] | None:
    """The place that a prompt without another subject is in: "inside a crowded bazaar"."""
    for start, _ in spans[:1]:
        if reader.word(start) in ("in", "inside", "at", "on", "within"):
            phrase = reader.noun_phrase(start + 1)
            head = phrase[2]
            before = reader.word(head - 1) if head > phrase[1] else ""
            timeless = lexicon.noun_senses(reader.word(head))[:1] in ("s", "l")  # in the morning
            return phrase if timeless and is_place(reader.word(head), before) else None
    for start, end in spans[:2]:
        if all(lexicon.noun_senses(reader.word(i))[:1] == "l" for i in range(start, end)):
            return start, start, end - 1
    return None


def _describes_being(tag: Sequence[str]) -> bool:
    """Whether a tag goes on behind a being: "an athlete with intense focus"."""
    behind = next((i for i, word in enumerate(tag) if i and word in words("prepositions")), 0)
    return any(map(is_being, tag[:behind]))


def is_about_picture(tag: Sequence[str]) -> bool:
    """Whether a tag says how a picture is made, or what its subject looks like: no subject."""
    if tuple(tag) in word_rows("picture_tags"):
        return True
    first, last = tag[0], tag[-1]
    if tuple(tag[-2:]) in word_rows("picture_things"):
        return False
    technique = {(last,), tuple(tag[-2:])}.intersection(word_rows("techniques"))
    if (
        (technique and not _describes_being(tag))
        or last == "design"
        or (len(tag) == 1 and _is_movement(last))
    ):
        return True
    pictures = words("styles") | words("frames") | words("describers") | {"and", "&"}
    if all(word in pictures or _is_slip(word) for word in tag):
        return True
    half = first == "half" and len(tag) > 1 and is_participle(tag[1])  # half hidden by roots
    if (
        first in _NEGATIVE
        or half
        or all(word in pictures or _MEASURE.fullmatch(word) for word in tag)
    ):
        return True
    deep = first in ("deep", "back") and not ends_phrase((*tag, "of")[1])
    if (first in words("prepositions") and not deep) or (first == "art" and "by" in tag):
        return True
    if len(tag) > 2 and tag[-2] == "on" and last in ("canvas", "paper", "panel", "wood"):
        return first in pictures  # oil on canvas
    determined = _is_determined(tag)
    beings = any(is_being(word) or COUNT_TAG.fullmatch(word) for word in tag)
    linked = any(determiner_number(word) for word in tag[1:] if word.isalpha())
    machine = last in ("panel", "panels", "engine", "engines", "lens", "lenses") and len(tag) > 1
    if last in words("style_things") and (determined or machine) and tag[-2] not in pictures:
        return False
    plain = first in words("styles") or (not linked and words("prepositions").isdisjoint(tag))
    if plain and (last in words("styles") or is_frame(last)):
        return not beings or (last == "style" and not determined)
    if "by" in tag[1:] and tag[tag.index("by") - 1] in pictures:
        return True
    if determined or (beings and last != "style"):
        return False
    if _is_feature(tag) or (last in words("effects") and len(tag) <= 4):
        return True
    if is_participle(first) and first not in words("ing_nouns"):
        return len(tag) == 1 or tag[1] in words("prepositions")
    named = [lexicon.noun_senses(word)[:1] == "l" or word.isdecimal() for word in tag]
    return all(named) or (all(map(describes, tag)) and last not in words("ing_nouns"))


def _is_slip(word: str) -> bool:
    """Whether an unknown word is a manner of a picture, with a slip: "masterpeice"."""
    unknown = len(word) > 5 and not is_word(word)
    return unknown and bool(difflib.get_close_matches(word, words("styles"), n=1, cutoff=0.88))


def _is_movement(word: str) -> bool:
    """Whether a word is, by its ending, a manner that no list has: dreamcore, brutalism."""
    return bool(
        re.search(r"...(core|punk|wave|graphy|ism|ists?que)$", word)
    ) and not lexicon.is_known(word)


def count_tags(said: Sequence[Sequence[str]]) -> Iterator[str]:
    """The beings counted by tags such as 1girl and 2boys."""
    for tag in said:
        match = COUNT_TAG.fullmatch(tag[0]) if len(tag) == 1 else None
        if match and kind_of(tag[0]) in ("person", "animal"):
            yield tag[0]


def _is_determined(tag: Sequence[str]) -> bool:
    return bool(tag) and determiner_number(tag[0]) is not None


def _is_general(tag: Sequence[str]) -> bool:
    """Whether a tag says what kind of picture it is by what such pictures show: wildlife photo."""
    shows = len(tag) > 1 and tag[-2] in words("genres") and is_frame(tag[-1])
    return shows or tuple(tag) in word_rows("media")


def _is_subject(tag: Sequence[str]) -> bool:
    """Whether a tag names something to be seen, without doubt: "a pond", "old woman"."""
    return _is_determined(tag) or _names_being(tag)


def _names_being(tag: Sequence[str]) -> bool:
    return any(is_being(word) for word in tag)


def _is_mood(tokens: Sequence[PromptToken], phrase: tuple[int, int, int]) -> bool:
    """Whether a tag without a determiner names nothing to be seen: "bold lines"."""
    start, noun, head = phrase
    return start == noun and kind_of(tokens[head].lower) == "abstract" and head - noun < 3


def _is_worn(
    tokens: Sequence[PromptToken], phrase: tuple[int, int, int], said: Sequence[Sequence[str]]
) -> bool:
    """Whether a tag names clothes among tags of what their wearer looks like: "white shirt"."""
    start, noun, head = phrase
    worn = lexicon.noun_senses(tokens[head].lower).startswith("c")
    return start == noun and len(said) > 2 and worn and any(map(_is_feature, said))


def _is_held(
    tokens: Sequence[PromptToken],
    phrase: tuple[int, int, int],
    said: Sequence[Sequence[str]],
    number: int,
) -> bool:
    """Whether a thing's tag stands between a pose and the being that has it: "umbrella"."""
    start, noun, head = phrase
    thing = start == noun and kind_of(tokens[head].lower) == "thing"
    posed = any(tag and _is_pose(tag) for tag in said[:number])
    later = [tag for tag in said[number + 1 :] if tag and tag[0] not in _NEGATIVE]
    return thing and posed and any(is_being(tag[-1]) for tag in later)


def _is_pose(tag: Sequence[str]) -> bool:
    """Whether a tag says what somebody does: "walking away", "looking at viewer"."""
    doing = lexicon.is_ing_form(tag[0]) and tag[0] not in words("ing_nouns")
    return doing and (len(tag) == 1 or ends_phrase(tag[1]))


def _is_feature(tag: Sequence[str]) -> bool:
    """Whether a tag says what somebody looks like: "red hair"."""
    return 0 < len(tag) <= 4 and tag[-1] in words("body_parts") | words("features")


def _refuse_unknown(tokens: Sequence[PromptToken], phrase: tuple[int, int, int]) -> None:
    """Refuse a tag whose noun no list has: "wlop", "makima (...)", "arts martiaux"."""
    start, noun, head = phrase
    run = [token.lower for token in tokens[noun : head + 1]]
    if trained := words("tokens").intersection(run):
        raise Unsure(f"'{min(trained)}' may be a word that a model was taught")
    ends = head + 1 == len(tokens) or not tokens[head + 1].is_word
    known = [bool(is_word(word) or COUNT_TAG.fullmatch(word)) for word in run]
    named = tokens[noun].text.istitle() and not any(known)  # "Waluigi at a table"
    if start == noun and (named or (ends and not known[-1])):
        raise Unsure(f"no list has '{' '.join(run)}', a name perhaps")


def _refuse_others(
    tokens: Sequence[PromptToken], phrase: tuple[int, int, int], said: Sequence[Sequence[str]]
) -> None:
    """Refuse tags that name several subjects: "2boys, 1girl", "doctor, nurse, hospital"."""
    start, noun, head = phrase
    counted = list(count_tags(said))
    if len(counted) > 1:
        raise Unsure(f"'{counted[0]}' and '{counted[1]}' are several subjects")
    if start != noun or counted:
        return
    others = [
        tag[-1]
        for tag in said
        if tag
        and singular_in("persons", tag[-1])
        and not singular_in("collectives", tag[-1])
        and all(
            (describes(word) or word == "and" or singular_in("persons", word))
            and word not in _NEGATIVE
            for word in tag[:-1]
        )
    ]
    own = tokens[head].lower
    own = tokens[head].lower
    if kind_of(own) == "thing":  # engineers are small beside a spaceship
        beside = next((later for tag, later in pairwise(said) if own in tag and later), [""])
        others = [other for other in others if not is_plural(other) or other == beside[-1]]
    if others and own != others[0] and own not in others:
        raise Unsure(f"'{own}' or '{others[0]}' may be its subject")
    animals = [tag[0] for tag in said if len(tag) == 1 and kind_of(tag[0]) == "animal"]
    if own in animals and len(set(animals)) > 1:
        raise Unsure(f"'{animals[0]}' and '{animals[1]}' are several subjects")
    if len(set(others)) > 1 and own in others and len(said) > 2:
        raise Unsure(f"'{others[0]}' and '{others[1]}' are several subjects")


def _is_of_many(word: str) -> bool:
    """Whether a tag of one word is a thing among others: "pens, pencils, rulers"."""
    return is_plural(word) and kind_of(word) == "thing"


def _refuse_joined(reader: NounPhraseReader, start: int, head: int) -> None:
    """Refuse a second subject further on: "a bowl of soup and a sandwich"."""
    own, bare = reader.word(head), start == head or not determiner_number(reader.word(start))
    being, place = is_being(own), is_place(own, reader.word(head - 1) if head else "")
    linked: list[str] = []  # prepositions and participles on the way
    for i in range(head + 1, len(reader.tokens) - 1):
        word, before = reader.word(i), reader.word(i - 1)
        if ends_phrase(word) or is_participle(word):
            linked.append(word)
        number = determiner_number(reader.word(i + 1))
        counted = number and reader.word(i + 1) not in words("owners")
        listed = word == "and" and (counted or (bare and not number))
        if not listed and not (word == "," and being and counted):
            continue
        try:
            other = reader.noun_phrase(i + 1)[2]
        except Unsure:
            continue
        second, following = reader.word(other), reader.word(other + 1)
        located = len(linked) == 1 and linked[0] in _LOCATING
        if being:
            same = kind_of(second) == kind_of(own)
            joined = is_being(second) and word == "and" and (located or same)
            joined = joined and not (is_being(before) and kind_of(before) == kind_of(second))
            joined = joined or (same and is_participle(following) and word == ",")
        else:
            mixed = counted or (linked == ["of"] and not is_plural(before))
            joined = located and not place and kind_of(second) == "thing" and bool(mixed)
        if joined:
            raise Unsure(f"'{own}' and '{second}' are several subjects")
