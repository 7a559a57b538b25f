"""Whether a noun phrase names one person or character: such as "darth vader"."""

from __future__ import annotations

from collections.abc import Sequence

from biasgraph.prompts import lexicon
from biasgraph.prompts.grammar import words
from biasgraph.prompts.kinds import is_adjective
from biasgraph.prompts.language import is_word

_ADDRESSES = ("mr", "mrs", "ms", "miss", "sir", "dame", "dr", "st")


def is_name(phrase: Sequence[str], following: str, capitals: bool) -> bool:
    """Whether the words of a noun phrase are a name.

    Args:
        phrase: without determiners, as they were typed.
        following: the next word.
        capitals: whether a capital means something: not in titles and shouted prompts.
    """
    while len(phrase) > 1 and is_adjective(phrase[0].lower()):
        phrase = phrase[1:]
    lower = [word.lower().rstrip(".") for word in phrase]
    first, last = lower[0], lower[-1]
    if len(phrase) > 1 and phrase[-1].islower() and last in words("admirers"):
        return False  # Elvis impersonator
    pairs = zip(lower, [*lower[1:], following.lower()], strict=True)
    if any(" ".join(pair) in _famous() for pair in pairs):
        return True
    if last in _famous():
        return True
    titled = first in words("titles")
    upper = [word[:1].isupper() for word in phrase]
    names = phrase[1:] if titled else phrase
    if titled and names:
        given = first in _ADDRESSES or not words("given_names").isdisjoint(lower)
        strange = capitals and not all(_common(word) for word in lower[1:])
        return all(upper[1:]) and (given or strange)
    if first in words("given_names") and (len(lower) == 1 or not _is_kind(last) or upper[-1]):
        return not last.endswith(("'s", "s'")) and (len(lower) > 1 or upper[0])
    senses = lexicon.noun_senses(last)
    alone = len(lower) > 1 or not _common(last)  # a Barber may be a barber
    if senses[:1] == "n" and alone and (len(lower) == 1 or not is_word(lower[-2]) or all(upper)):
        return True
    if len(names) < 2 or not capitals or not all(upper):
        return False
    return not all(_common(word) for word in lower[1:])


def _famous() -> frozenset[str]:
    from biasgraph.io import resources

    return frozenset(resources.lines("words", "characters.txt"))


def _common(lower: str) -> bool:
    return bool(lexicon.noun_senses(lower).strip("nlm")) or lexicon.may_be(lower, "j")


def _is_kind(lower: str) -> bool:
    """Whether a noun is one of many, whatever name stands before it: a maria doll."""
    return lexicon.noun_senses(lower)[:1] in ("a", "o", "s", "c")
