"""The subject of a prompt: found by the shallow parser, or bracketed by the user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from biasgraph.errors import InputError
from biasgraph.io.text_files import has_half_character
from biasgraph.prompts import lexicon
from biasgraph.prompts.grammar import is_plural, singular_in, words
from biasgraph.prompts.kinds import Kind, determiner_number, is_adjective, is_place, kind_of
from biasgraph.prompts.language import is_word, other_script
from biasgraph.prompts.names import is_name
from biasgraph.prompts.noise import mask_edits, mask_noise
from biasgraph.prompts.nounphrase import NounPhraseReader
from biasgraph.prompts.tags import read_subject
from biasgraph.prompts.tokens import PromptToken, excerpt, tokenize
from biasgraph.prompts.unsure import IN_ENGLISH, TO_SEE, Unsure

MAX_PROMPT = 2_000  # characters


@dataclass(frozen=True)
class Subject:
    """A noun phrase of a prompt without brackets: text[start:end], from determiner to head noun.

    `noun_start` is where its determiners end, `head_start` where the head noun begins. `place`: the
    thing is a place or a view; `named`: the words name one person or character.
    """

    text: str
    head: str
    start: int
    end: int
    plural: bool
    noun_start: int
    head_start: int
    kind: Kind
    place: bool = False
    named: bool = False


def find_subject(text: str) -> Subject:
    """Return the subject of a prompt; its offsets are those of `strip_brackets(text)`.

    Raises:
        InputError: empty or too long, wrong brackets, or no subject that one can be sure of; the
            error then asks for brackets around it.
    """
    clean, bracket = strip_brackets(text)
    if bracket:
        return _read_brackets(clean, tokenize(clean), *bracket)
    tokens = tokenize(mask_noise(clean))
    try:
        if script := other_script(clean):
            raise Unsure(f"it is written in {script}", IN_ENGLISH)
        subject = _subject(clean, tokens, *read_subject(tokens))
        if subject.kind == "abstract" and not subject.named:
            raise Unsure(f"'{subject.head}' is nothing that a picture shows by itself", TO_SEE)
        return subject
    except Unsure as reason:
        why = excerpt(str(reason), 110)
        raise InputError(
            f"cannot tell the subject of the prompt '{excerpt(clean)}' ({why}): "
            f"{reason.advice}, as in 'a photo of a [bird photographer] in the wild'"
        ) from None


def strip_brackets(text: str) -> tuple[str, tuple[int, int] | None]:
    """Return the prompt without its brackets, and the span of the bracketed subject in it.

    Raises:
        InputError: an empty prompt, one longer than `MAX_PROMPT`, no Unicode text, or brackets
            that do not enclose exactly one subject.
    """
    if not text.strip():
        raise InputError("the prompt is empty")
    if len(text) > MAX_PROMPT:
        raise InputError(
            f"the prompt has {len(text):,} characters; at most {MAX_PROMPT:,} are allowed"
        )
    if has_half_character(text):
        raise InputError(f"the prompt '{excerpt(text)}' is not valid Unicode text")
    marked = mask_edits(text)
    if "[" not in marked and "]" not in marked:
        return text, None
    match = re.fullmatch(r"([^\[\]]*)\[([^\[\]]*)\]([^\[\]]*)", marked)
    inner = match.group(2).strip() if match else ""
    if match is None or not any(token.is_word for token in tokenize(inner)):
        raise InputError(
            f"brackets must enclose exactly one subject in the prompt '{excerpt(text)}'"
        )
    before, after = text[: match.end(1)], text[match.start(3) :]
    tag = re.search(r"(^|,)\s*$", before) and re.match(r"\s*(,|$)", after)
    if tag and re.search(r":\d*\.?\d+\)|<\w+:|\(\(", text):
        raise InputError(
            f"the brackets of '[{excerpt(inner)}]' may be a weight of Stable Diffusion: mark the "
            "subject by brackets and write such weights as (word:0.9)"
        )
    return before + inner + after, (len(before), len(before) + len(inner))


def _read_brackets(text: str, tokens: Sequence[PromptToken], start: int, end: int) -> Subject:
    """The subject within brackets, with the adjectives and determiners right before them."""
    inside = [i for i, token in enumerate(tokens) if token.start < end and token.end > start]
    first, last = inside[0], inside[-1]
    try:
        first, noun, head = NounPhraseReader(tokens[: last + 1]).noun_phrase(first)
    except Unsure:  # the user is sure: the last word in the brackets is the head
        noun, head = first, max(i for i in inside if tokens[i].is_word)
    if noun == first:
        while first and is_adjective(tokens[first - 1].lower):
            first -= 1
        noun = first
        while first and determiner_number(tokens[first - 1].lower):
            first -= 1
    return _subject(text, tokens, first, noun, head)


def _subject(text: str, tokens: Sequence[PromptToken], start: int, noun: int, head: int) -> Subject:
    first, last = tokens[start], tokens[head]
    before = tokens[head - 1].lower if head > noun else ""
    others = [token.lower for token in tokens if token != last]
    kind, place = kind_of(last.text, before, others), is_place(last.text, before, others)
    if (
        singular_in("sides", last.lower)
        and tokens[head + 1 : head + 2]
        and tokens[head + 1].lower == "of"
    ):
        kind, place = "thing", _is_of_place(tokens, head + 2)
    if kind == "unknown" and place:
        kind = "thing"
    if kind == "animal" and _has_year(tokens[start : head + 1]):
        kind = "thing"  # a 1967 Mustang
    return Subject(
        text=text[first.start : last.end],
        head=last.text,
        start=first.start,
        end=last.end,
        plural=_is_plural(last.lower, tokens[start:noun]),
        noun_start=tokens[noun].start,
        head_start=last.start,
        kind=kind,
        place=place,
        named=_is_named(tokens, start, noun, head),
    )


def _is_of_place(tokens: Sequence[PromptToken], start: int) -> bool:
    """Whether a noun phrase names a place: "mars" of "the surface of mars"."""
    try:
        _, noun, head = NounPhraseReader(tokens).noun_phrase(start)
    except Unsure:
        return False
    return is_place(tokens[head].text, tokens[head - 1].lower if head > noun else "")


def _has_year(phrase: Sequence[PromptToken]) -> bool:
    """Whether a year of make stands in a noun phrase whose noun is written as a name."""
    year = any(re.fullmatch(r"(19|20)\d\d", token.text) for token in phrase)
    return year and phrase[-1].text[0].isupper()


def _is_named(tokens: Sequence[PromptToken], start: int, noun: int, head: int) -> bool:
    following, source = [*(token.text for token in tokens[head + 1 : head + 3]), "", ""][:2]
    phrase = [token.text for token in tokens[noun : head + 1]]
    last, capitals = phrase[-1].lower(), _capitals(tokens)
    if _is_likeness(tokens, noun, head, capitals=capitals):
        return True
    if any(token.lower != "the" for token in tokens[start:noun]):  # "a Picasso" is one of several
        one = len(phrase) > 1 and (not is_word(last) or lexicon.noun_senses(last)[:1] == "n")
        return one and phrase[-1][0].isupper() and is_name(phrase, following, capitals)
    if phrase[-1][0].isupper() and capitals and singular_in("demonyms", last) is None:
        kind = kind_of(last)
        if tokens[start].text == "the" and kind in ("person", "unknown"):  # the Hulk
            return True
        work = source[:1].isupper() and lexicon.noun_senses(source.lower())[:1] != "l"
        if following == "from" and work and kind not in ("person", "animal"):  # Link from Zelda
            return True
    return is_name(phrase, following, capitals)


def _is_likeness(tokens: Sequence[PromptToken], noun: int, head: int, *, capitals: bool) -> bool:
    """Whether somebody is another one's: "the ghost of Abraham Lincoln", "Picasso's ghost"."""
    last = tokens[head].lower
    after = [token.text for token in tokens[head + 1 : head + 4]]
    owner = [token.text for token in tokens[noun:head]]
    if last in words("likenesses") and after[:1] == ["of"] and after[1:]:
        return after[1][0].isupper() and is_name(after[1:], "", capitals)
    owned = owner and owner[-1].endswith("'s") and owner[-1][0].isupper()
    if owned and kind_of(last) == "person":
        return is_name([*owner[:-1], owner[-1][:-2]], "", capitals)
    return False


def _capitals(tokens: Sequence[PromptToken]) -> bool:
    """Whether a capital tells a name: few words of the prompt have one."""
    letters = [token.text for token in tokens if token.text[0].isalpha()]
    return 2 * sum(word[0].isupper() for word in letters) <= len(letters) + 2


def _is_plural(head: str, determiners: Sequence[PromptToken]) -> bool:
    asked = [determiner_number(token.lower) for token in determiners]
    number = next((n for n in reversed(asked) if n != "-"), "-")
    return number == "p" or (number == "-" and (is_plural(head) or head in words("plural_nouns")))
