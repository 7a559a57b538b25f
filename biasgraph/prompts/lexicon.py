"""English words by WordNet: their parts of speech, and what kind of thing a noun names.

``templates/words/wordnet.tsv`` has a line for each code with its words. A code has a letter for
each part of speech, the most frequent first: v verb, j adjective, r adverb; for a noun what its
senses name: p person, a animal, c clothing, o another object (food, plant, matter), s place, g
group of people, x nothing that a picture shows by itself; n one person, l one place, m another
single thing by name. Pairs ("hot_dog") are listed where their last word alone says otherwise.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

from biasgraph.io import resources

NOUN_LETTERS = frozenset("pacosgxnlm")
_NOUN_ENDINGS = (("ves", "f"), ("s", ""), ("es", ""), ("ies", "y"), ("ves", "fe"), ("men", "man"))
_S_ENDINGS = (("ies", "y"), ("es", ""), ("s", ""))
_ED_ENDINGS = (("ied", "y"), ("ed", ""), ("d", ""))
_ING_ENDINGS = (("ing", ""), ("ing", "e"), ("ying", "ie"))


@functools.cache
def _codes() -> dict[str, str]:
    codes: dict[str, str] = {}
    for line in resources.read_text("words", "wordnet.tsv").splitlines():
        code, _, words = line.partition("\t")
        if not code.startswith(("#", "=")):
            codes |= dict.fromkeys(words.split(), code)
    return codes


@functools.cache
def _irregular() -> dict[str, str]:
    text = resources.read_text("words", "wordnet.tsv").rpartition("\n=\t")[2]
    return dict(pair.split("=") for pair in text.split())


def _lemmas(word: str, endings: tuple[tuple[str, str], ...], letters: str) -> Iterator[str]:
    """The words that a form may be of, by its ending, if they can be what `letters` say."""
    for ending, lemma_ending in endings:
        stem = word.removesuffix(ending)
        if stem == word or not stem:
            continue
        stems = [stem + lemma_ending]
        if lemma_ending == "" and re.search(r"([b-df-hj-np-tv-z])\1$", stem) and ending != "s":
            stems.append(stem[:-1])  # sitting
        yield from (lemma for lemma in stems if not {*letters}.isdisjoint(_codes().get(lemma, "")))


@functools.lru_cache(maxsize=4096)
def noun_senses(word: str) -> str:
    """The letters of what a noun (lower case, either number) names; "" where it is no noun."""
    if not word.isascii():  # crème, doppelgänger
        word = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode()
    own = "".join(letter for letter in _codes().get(word, "") if letter in NOUN_LETTERS)
    singular = None if own[:1] in [*"pacos"] else singular_of(word)
    return noun_senses(singular) if singular else own


@functools.lru_cache(maxsize=4096)
def singular_of(word: str) -> str | None:
    """The listed noun that a word is the plural of, or None."""
    irregular = _irregular().get(word, "")
    if not NOUN_LETTERS.isdisjoint(_codes().get(irregular, "")):
        return irregular
    return next(_lemmas(word, _NOUN_ENDINGS, "pacosgx"), None)


def pair_sense(first: str, last: str) -> str:
    """What two nouns name together where it is not what the last one names; else ""."""
    singular = singular_of(last) or last
    return _codes().get(f"{first}_{last}") or _codes().get(f"{first}_{singular}", "")


def is_verb(word: str) -> bool:
    """Whether a word is the base form of a verb."""
    return "v" in _codes().get(word, "")


def is_mostly(word: str, letter: str) -> bool:
    """Whether a word's most frequent part of speech is `v`, `j` or `r`."""
    return _codes().get(word, " ")[0] == letter


def may_be(word: str, letter: str) -> bool:
    """Whether a word is listed as what a letter says."""
    return letter in _codes().get(word, "")


def is_s_form(word: str) -> bool:
    """Whether a word is a verb with the ending of "he sits"."""
    return any(_lemmas(word, _S_ENDINGS, "v"))


def is_ing_form(word: str) -> bool:
    """Whether a word is a verb's present participle."""
    return any(_lemmas(word, _ING_ENDINGS, "v"))


def is_past_form(word: str) -> bool:
    """Whether a word is a verb's past form or past participle."""
    return any(_lemmas(word, _ED_ENDINGS, "v")) or is_verb(_irregular().get(word, ""))


@functools.lru_cache(maxsize=4096)
def compound(word: str) -> tuple[str, str] | None:
    """The two listed words that an unlisted one is made of (treehouse), or None."""
    halves = ((word[:i], word[i:]) for i in range(3, len(word) - 2) if len(word) > 7)
    named = NOUN_LETTERS.intersection
    return next((pair for pair in halves if all(named(noun_senses(half)) for half in pair)), None)


def is_known(word: str) -> bool:
    """Whether a word, or what it is a form of, is listed."""
    degrees = (("er", ""), ("est", ""), ("r", ""), ("st", ""), ("ier", "y"), ("iest", "y"))
    return (
        word in _codes()
        or word in _irregular()
        or singular_of(word) is not None
        or is_s_form(word)
        or is_ing_form(word)
        or is_past_form(word)
        or any(_lemmas(word, degrees, "jr"))
    )
