"""The little English that counterfactual prompts need: articles, plurals, and the word lists.

Rules with lists of exceptions in ``templates/words`` instead of a library such as inflect: a/an
and the plural of a noun are two dozen lines, and the lists are needed to find the subject anyway.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from biasgraph.io import resources

_VOWEL_NAMES = frozenset("AEFHILMNORSX")  # letters whose names begin with a vowel sound
_VOWEL_NUMBERS = re.compile(r"8|1[18](\d\d)?(?!\d)")  # eight.., eleven, eighteen (hundred)
_OPENING_SIGNS = re.compile(r"^[\W_]+")


@functools.cache
def word_rows(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the lines of one list in ``templates/words``, each split into its words."""
    return tuple(tuple(line.split()) for line in resources.lines("words", f"{name}.txt"))


@functools.cache
def words(name: str) -> frozenset[str]:
    """Return the words of one list in ``templates/words``."""
    return frozenset(word for row in word_rows(name) for word in row)


def indefinite_article(following: str) -> str:
    """Return "a" or "an" by the sound of what follows: an hour, a university, an MRI technician."""
    word = (_OPENING_SIGNS.sub("", following).split() or [""])[0]
    for article, pattern in word_rows("articles"):
        stem = pattern.rstrip("*")
        # Abbreviations are listed in capitals and match only in capitals: "a SAT tutor".
        candidate = word if stem.isupper() else word.lower()
        if candidate == stem or (stem != pattern and candidate.startswith(stem)):
            return article
    if _VOWEL_NUMBERS.match(word):
        return "an"
    letters = re.match(r"[^\W\d_]*", word)
    if letters and _is_spelled_out(letters.group()):
        return "an" if word[0] in _VOWEL_NAMES else "a"
    first = unicodedata.normalize("NFKD", word[:1].lower())[:1]
    return "an" if first and first in "aeiou" else "a"


def _is_spelled_out(letters: str) -> bool:
    """Whether capitals are read letter by letter: FBI, AI, HDMI, but not NASA or LIBRARIAN."""
    short = len(letters) < 4 or (len(letters) == 4 and not re.search("[AEIOU]", letters))
    return letters.isupper() and letters.isascii() and short


# Irregular nouns that also end longer ones: policeman, salesperson, grandchild, midwife.
_COMPOUND_ENDINGS = (
    ("man", "men"),
    ("person", "people"),
    ("child", "children"),
    ("wife", "wives"),
)


@functools.cache
def _irregular_plurals() -> dict[str, str]:
    return {singular: plural for singular, plural in word_rows("irregular_plurals")}


def pluralize(noun: str) -> str:
    """Return the plural of a singular noun: nurse, policewoman, city, church, person."""
    lower, irregular = noun.lower(), _irregular_plurals()
    if lower in irregular:
        return capitalize_like(noun, irregular[lower])
    for singular, plural in _COMPOUND_ENDINGS:
        if lower.endswith(singular):
            return noun[: -len(singular)] + plural
    if re.search(r"[^aeiou]y$", lower):
        return noun[:-1] + "ies"
    return noun + ("es" if re.search(r"(s|x|z|ch|sh)$", lower) else "s")


def singular_in(name: str, noun: str) -> str | None:
    """Return the singular (lower case) of a noun that stands, in either number, in a word list."""
    lower = noun.lower()
    return lower if lower in words(name) else _singulars(name).get(lower)


@functools.cache
def _singulars(name: str) -> dict[str, str]:
    return {pluralize(word): word for word in sorted(words(name))}


def is_plural(noun: str) -> bool:
    """Whether a noun's form is plural; nouns with one form (police, sheep) count as singular."""
    lower, irregular = noun.lower(), _irregular_plurals()
    if lower in irregular or lower in words("singulars_in_s"):
        return False
    if lower in irregular.values() or lower.endswith(tuple(end for _, end in _COMPOUND_ENDINGS)):
        return True
    return bool(re.search(r"..[^siu]s$", lower))


def capitalize_like(model: str, word: str) -> str:
    """Give `word` the capitals of `model`: all, the first, or none."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
