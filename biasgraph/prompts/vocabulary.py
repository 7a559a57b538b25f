"""The words of one axis, and finding them in what a prompt says of its subject."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping

from biasgraph.data.axes import Attribute, Axis
from biasgraph.prompts.grammar import pluralize, word_rows, words
from biasgraph.prompts.kinds import (
    determiner_number,
    ends_phrase,
    is_adverb,
    is_being,
    is_clause,
    is_participle,
    kind_of,
    singular_in_row,
)
from biasgraph.prompts.tokens import tokenize

_WHO = r"(?:who|that|which)"
_IS = r"(?:is|are|looks?|seems?)"
_STOPS = ".;:!?()"
_PLURAL_VERBS = {"is": "are", "was": "were", "has": "have", "does": "do"}


def agree(phrase: str, plural: bool) -> str:
    """Put a phrase behind a noun in the noun's number: "who are happy", "with hearing aids"."""
    if not plural:
        return phrase
    phrase = re.sub(r"^(who|that|which) (\w+)", lambda m: f"{m[1]} {_plural_verb(m[2])}", phrase)
    # "a hearing aid" at the end becomes "hearing aids"; "a cup of tea" stays.
    return re.sub(r" an? ((?:[\w-]+ )?)([\w-]+)$", lambda m: f" {m[1]}{pluralize(m[2])}", phrase)


def _plural_verb(verb: str) -> str:
    return _PLURAL_VERBS.get(verb, verb[:-1] if re.search(r"[^s]s$", verb) else verb)


class Vocabulary:
    """What an axis's phrases, synonyms and other words mean, and the patterns that find them.

    A *meaning* is an attribute's name, or the word itself where it means none of the attributes.
    """

    def __init__(self, axis: Axis) -> None:
        self._attributes = frozenset(axis.names)
        self._owners: dict[str, str | None] = {word.casefold(): None for word in axis.others}
        for attribute in axis.attributes:
            idle = [attribute.idle] if attribute.idle else []
            for word in (attribute.phrase, *idle, *attribute.synonyms):
                self._owners[word.casefold()] = attribute.name
        nouns = [word for word in self._owners if " " not in word and is_being(word)]
        # In an axis of what a subject does ("standing"), participles stand behind as well; in
        # others they may have an object that would be left alone ("smiling at a child").
        doing = any(map(_is_verb, axis.attributes))
        behind = [w for w in self._owners if _stands_behind(w) or (doing and is_participle(w))]
        plain = [word for word in self._owners if word not in nouns and word not in behind]
        dressed = [word for word in behind if word.split()[-1] in ("attire", "clothes", "clothing")]
        self._is_of_clothes = bool(dressed)
        self._is_of_place = len(axis.attributes) == 2 and {"indoors", "outdoors"} <= {*self._owners}
        # Each form that may stand in a prompt, with the word it is a form of.
        self._nouns = {form: word for word in nouns for form in (word, pluralize(word))}
        self._behind = {agree(word, plural): word for word in behind for plural in (False, True)}
        modifying = {form: w for form, w in self._nouns.items() if w in words("modifier_nouns")}
        self._before = {**modifying, **{word: word for word in [*plain, *behind]}}
        # "senior" says an age of a woman, not of an engineer.
        aged = [row for row in word_rows("ages") if row[0] in self._owners]
        self._heads = {word: heads for _, word, *heads in aged if word not in self._before}
        self._before |= {word: meant for meant, word, *_ in aged if word in self._heads}
        adverbs = f"(?:(?:{_any_of(words('adverbs'))}) +)*"
        short_age = r"\d+[\s-]*y\.?o\.?|" if "old" in self._owners else ""
        self._before_pattern = _pattern(
            rf"{short_age}{adverbs}(?P<measure>\d+[\s-]years?[\s-])?(?P<word>{_any_of(self._before)})"
        )
        named = {form for word in (axis.name, *axis.names) for form in (word, pluralize(word))}
        named |= {*self._nouns, *self._before, *self._behind}
        measure = rf"{short_age}(?:\d+[\s-]years?[\s-])?"
        self._spoken_pattern = _pattern(rf"{measure}(?:{_any_of(named)})")
        self._behind_pattern = _pattern(
            rf"{_WHO} {_IS} {adverbs}(?P<measure>\d+ years? )?(?P<adjective>{_any_of(plain)})"
            rf"|(?P<phrase>{_any_of(self._behind)})"
        )

    def meaning(self, noun: str) -> str | None:
        """Return what a head noun means along the axis, or None."""
        word = self._nouns.get(noun.casefold())
        if word is None and "woman" in self._owners and _stem_of_woman(noun):
            return self._owners["woman"] or "woman"
        return None if word is None else self._owners[word] or word

    def counterparts(self, noun: str) -> tuple[str | None, Mapping[str, str]]:
        """Return the noun that leaves the axis open, for one that does not.

        And the nouns of the attributes, where ``words/counterparts.txt`` has one for each. All
        are in the singular.
        """
        word = self._nouns.get(noun.casefold())
        if word is None and "woman" in self._owners and (stem := _stem_of_woman(noun)):
            pair = {self._owners.get(noun) or noun: stem + noun for noun in ("man", "woman")}
            return stem + "person", pair if self._attributes == set(pair) else {}
        for row in word_rows("counterparts"):
            carriers, neutral = row[: row.index("|")], row[-1]
            owners = [self._owners.get(carrier, carrier) for carrier in carriers]
            fits = all(carrier in self._owners for carrier in carriers)
            if word in carriers and fits and len(set(owners)) == len(owners):
                nouns = {owner: c for owner, c in zip(owners, carriers, strict=True) if owner}
                return neutral, nouns if self._attributes == set(nouns) else {}
        return None, {}

    def strip_modifiers(self, modifiers: str, head: str) -> tuple[str, str | None]:
        """Take the axis's words out of the modifiers before a head noun; return their meaning."""
        meaning: str | None = None
        at = 0
        while match := self._before_pattern.search(modifiers, at):
            word = (match["word"] or "").casefold()
            following = re.match(r"\W*([\w'-]*)", modifiers[match.end() :] + head)
            joined = following and (word, following[1].lower()) in word_rows("collocations")
            heads = self._heads.get(word, [head])
            if joined or not any(singular_in_row(head.lower(), noun.lower()) for noun in heads):
                at = match.end()
                continue
            owner = (
                None if match["measure"] or not word else self._owners[self._before[_space(word)]]
            )
            meaning = meaning or owner or match.group()
            left, right = modifiers[: match.start()].rstrip(), modifiers[match.end() :].lstrip()
            if right.startswith("and "):  # "tall, old and wise"
                left = left.removesuffix(",")
            modifiers = f"{left} {right}"
        return _tidy(modifiers), meaning

    def strip_after(self, after: str) -> tuple[str, str | None]:
        """Take the axis's phrases out of what follows the subject; return their meaning."""
        meaning: str | None = None
        while match := self._behind_pattern.search(after):
            if match.start() >= _reach(after):
                break
            owner = self._meaning_behind(match)
            meaning = meaning or owner
            after = _cut_out(after, match)
        while self._is_of_clothes and (match := _outfit(after[: _reach(after)])):
            meaning = meaning or match.group()
            after = _cut_out(after, match)
        while self._is_of_place and (match := _location(after)):
            meaning = meaning or self._owners[_setting(match["place"])]
            after = _cut_out(after, match)
        return after, meaning

    def strip_tags(self, after: str) -> tuple[str, str | None]:
        """Take out the tags behind a subject's tag that speak of the axis; return their meaning."""
        first, *tags = after.split(",")
        kept, meaning = [first], None
        for tag in tags:
            word = re.sub(r"^[\s(]+|(:\s*[\d.]+)?[\s)]*$", "", tag.casefold())
            known = next(
                (w for w in (word, f"who is {word}") if self._form(w) in self._owners), None
            )
            place = _setting(word.split()[-1]) if self._is_of_place and word else ""
            if known is None and not place:
                kept.append(tag)
            else:
                meaning = meaning or self._owners[place or self._form(known or "")] or word
        return ",".join(kept), meaning

    def find_spans(self, text: str) -> list[tuple[int, int]]:
        """Where a text names the axis: by its name, an attribute, a phrase or a synonym.

        Wherever the words stand, and whatever they say it of.
        """
        spans = [token.span() for token in re.finditer(r"\w+", text) if self.meaning(token.group())]
        for match in self._spoken_pattern.finditer(text):
            following = re.match(r"\W*([\w'-]*)", text[match.end() :].lower())
            pair = (match.group().lower(), following[1] if following else "")
            spans += [] if pair in word_rows("collocations") else [match.span()]
        return spans

    def _form(self, text: str) -> str:
        return self._behind.get(text, self._before.get(text, text))

    def _meaning_behind(self, match: re.Match[str]) -> str:
        if match["measure"]:
            return match["measure"] + match["adjective"]
        word = _space((match["adjective"] or match["phrase"]).casefold())
        word = self._behind.get(word, word)
        return self._owners[word] or word

    # Pronouns: only where the axis tells "man" from "woman"

    def pronoun_meaning(self, after: str, plural: bool) -> str | None:
        """Return what a pronoun for the subject means along the axis, or None."""
        for _, _, _, column in self._pronouns(after, plural):
            return self._owners["woman" if column else "man"]
        return None

    def set_pronouns(self, after: str, attribute: str, plural: bool) -> str:
        """Let the pronouns for the subject agree with an attribute: his, her, their."""
        column = 2
        if attribute == self._owners.get("man"):
            column = 0
        elif attribute == self._owners.get("woman"):
            column = 1
        for start, end, row, _ in reversed(list(self._pronouns(after, plural))):
            pronoun = word_rows("pronouns")[row][column]
            pronoun = pronoun.capitalize() if after[start].isupper() else pronoun
            after = after[:start] + pronoun + after[end:]
        return after

    def _pronouns(self, after: str, plural: bool) -> Iterator[tuple[int, int, int, int]]:
        """Start, end, row and column of each pronoun before any other person is named."""
        owners = {self._owners.get(noun) for noun in ("man", "woman")}
        if plural or None in owners or len(owners) < 2:
            return
        tokens = tokenize(after)
        for i, token in enumerate(tokens):
            if kind_of(token.lower) == "person":
                return
            following = tokens[i + 1] if i + 1 < len(tokens) else None
            for row, forms in enumerate(word_rows("pronouns")):
                # "her" is an object (him) unless a noun follows (his).
                owned = following is not None and _may_be_owned(following.lower)
                if token.lower == "her" and (row == 2) != owned:
                    continue
                if token.lower in forms[:2]:
                    yield token.start, token.end, row, forms.index(token.lower)
                    break


@functools.lru_cache(maxsize=256)
def vocabulary_of(axis: Axis) -> Vocabulary:
    """Return an axis's vocabulary, built once."""
    return Vocabulary(axis)


def _is_verb(attribute: Attribute) -> bool:
    """Whether an attribute's phrase is one participle behind the noun: "standing"."""
    return attribute.placement == "after" and is_participle(attribute.phrase.lower())


def _stands_behind(word: str) -> bool:
    """Whether a word or phrase stands behind a noun: "who is happy", "in a suit", "indoors"."""
    first = word.split()[0]
    if " " not in word:
        return ends_phrase(word)
    return ends_phrase(first) or is_participle(first) or is_adverb(first)


def _stem_of_woman(noun: str) -> str:
    """What stands before -woman or -women in a compound: post of postwoman."""
    match = re.fullmatch(r"(\w{2,})(?:woman|women)", noun.casefold())
    return match[1] if match else ""


def _outfit(after: str) -> re.Match[str] | None:
    """What somebody wears that settles the axis of clothes: "in a dark suit and tie"."""
    clothes = _any_of({form for word in words("outfits") for form in (word, pluralize(word))})
    piece = rf"(?:(?:an?|the|his|her|their) )?(?:[\w-]+ ){{0,3}}?(?:{clothes})"
    return _pattern(rf"(?:dressed in|wearing|in) {piece}(?:(?:,| and|, and) {piece})*").search(
        after
    )


def _location(after: str) -> re.Match[str] | None:
    """Where somebody is, if that settles whether indoors: "in a garden", "at her office"."""
    end = re.search(rf"[{_STOPS}]|(?<=.),", after)
    return _location_pattern().search(after[: end.start() if end else None])


@functools.cache
def _location_pattern() -> re.Pattern[str]:
    places = _any_of(words("indoor_places") | words("outdoor_places"))
    small = _any_of(words("prepositions") | words("enders") - {"of"})
    closing = rf"(?:{small}|\w+(?:ing|ed))(?!\w)"
    other = rf"(?!{closing}|of |and )[\w'-]+"
    return _pattern(
        rf"(?:working )?(?:in|inside|at|on|through|across) (?:{other} ){{0,3}}?(?P<place>{places})"
        rf"(?: (?:full )?of(?: {other}){{1,4}})?(?=\W*$|\W* {closing})"
    )


def _setting(place: str) -> str:
    """What a place settles: indoors, outdoors, or nothing."""
    lower = place.lower()
    inside = "indoors" if lower in words("indoor_places") else ""
    return "outdoors" if lower in words("outdoor_places") else inside


def _any_of(alternatives: Iterable[str]) -> str:
    """A pattern for any of the texts, the longest first; for none of none."""
    ordered = sorted(alternatives, key=lambda text: (-len(text), text))
    return "|".join(re.escape(text).replace(r"\ ", r"\s+") for text in ordered) or r"(?!)"


def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{expression})(?![\w-])", re.IGNORECASE)


def _space(text: str) -> str:
    return " ".join(text.split())


def _may_be_owned(lower: str) -> bool:
    return lower[0].isalnum() and not ends_phrase(lower) and lower not in ("and", "or")


def _tidy(modifiers: str) -> str:
    """Clean up spaces, and commas and "and" that join nothing any more."""
    text, before = _space(modifiers), None
    while text != before:
        before = text
        text = re.sub(r"^(?:[,&]|and\b)\s*|\s*(?:[,&]|\band)$", "", text)
        text = re.sub(r"\s*,\s*(?=,)|\band\s+(?=and\b)", "", text)
    return text + " " if text else ""


def _reach(after: str) -> int:
    """Where what is said of the subject ends: a stop, a comma, or another being."""
    tokens = tokenize(after)
    for i, token in enumerate(tokens):
        joins = token.lower == "and" and i + 1 < len(tokens)
        other = joins and determiner_number(tokens[i + 1].lower) is not None
        stop = token.text in _STOPS or (token.text == "," and i > 0)
        if stop or other or is_being(token.lower):
            return token.start
    return len(after)


def _cut_out(after: str, match: re.Match[str]) -> str:
    """Remove a phrase from what follows the subject, with the commas and the "and" it leaves."""
    left, right = after[: match.start()].rstrip(), after[match.end() :]
    if left == ",":
        left, right = "", right.removeprefix(",")
    joined = re.match(r"\s+and\s+([\w'-]+)", right)
    if joined and is_clause(joined[1].lower()):
        right = right[joined.start(1) :]
    elif joined:
        # "who is happy and calm", "in formal attire and a hat": the rest needs the beginning.
        beginning = re.match(rf"{_WHO} {_IS}|\S+", match.group(), re.IGNORECASE)
        left += f" {beginning.group() if beginning else ''}"
        right = right[joined.start(1) :]
    elif re.search(r"\band$", left):
        left = left[:-3].rstrip()
    return left + (" " if right[:1].isalnum() else "") + right
