"""Texts to concepts: their words, where each is said, and which mean the same.

TIBET sec. 3.3 and supp. 8.3 with step 1 of Algorithm 1. Pure: where synonyms come from is behind
`Synonyms` (biasgraph.methods.wordnet has the real one).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

import numpy as np
import numpy.typing as npt

from biasgraph.causal.tables import Counts, Floats
from biasgraph.io import resources

Indices = npt.NDArray[np.int64]

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u2010": "-", "\u2011": "-"})
TABLE = "a small built-in table of synonyms"


class Synonyms(Protocol):
    """Two words are synonyms where they share a sense."""

    @property
    def source(self) -> str:
        """Where they come from, for people: "WordNet 3.0"."""

    def senses(self, word: str) -> Collection[Hashable]:
        """What a lower-case word may mean; none for one that is not known."""


class SynonymTable:
    """Groups of words that mean the same; a word may stand in several."""

    def __init__(self, groups: Iterable[Iterable[str]], source: str = TABLE) -> None:
        self.source = source
        self._senses: dict[str, set[int]] = {}
        for number, group in enumerate(groups):
            for word in group:
                self._senses.setdefault(word, set()).add(number)

    @classmethod
    def built_in(cls) -> SynonymTable:
        """The shipped table, for where there is no WordNet."""
        return cls(line.split() for line in resources.lines("concepts", "synonyms.txt"))

    def senses(self, word: str) -> Collection[int]:
        """The numbers of the groups that a word stands in."""
        return self._senses.get(word, ())


@dataclass(frozen=True)
class Mentions:
    """Which concept is said in which text.

    Attributes:
        concepts: (C,) each once.
        text: (M,) of every mention, the index of its text.
        concept: (M,) of every mention, the index of its concept.
    """

    concepts: tuple[str, ...]
    text: Indices
    concept: Indices

    @classmethod
    def of(cls, texts: Sequence[str]) -> Mentions:
        """The words of texts; concepts stand in the order of the alphabet."""
        pieces = [text.split() for text in texts]
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__  # a new piece gets the next number
        flat = map(numbers.__getitem__, chain.from_iterable(pieces))
        said = np.fromiter(flat, dtype=np.int64)
        text_of = np.repeat(np.arange(len(texts), dtype=np.int64), list(map(len, pieces)))
        words = [words_of(piece) for piece in numbers]  # no word goes over a blank
        concepts = sorted({*chain.from_iterable(words)})
        places = {word: place for place, word in enumerate(concepts)}
        in_pieces = np.array([places[word] for own in words for word in own], dtype=np.int64)
        sizes = np.array(list(map(len, words)), dtype=np.int64)
        starts, taken = sizes.cumsum() - sizes, sizes[said]
        at = np.arange(taken.sum()) - np.repeat(taken.cumsum() - taken, taken)
        concept = in_pieces[np.repeat(starts[said], taken) + at]
        return cls(tuple(concepts), np.repeat(text_of, taken), concept)

    def merge(self, synonyms: Synonyms) -> Mentions:
        """The same with synonyms as one concept."""
        counts = np.bincount(self.concept, minlength=len(self.concepts))
        homes = homes_of(self.concepts, counts, synonyms)
        kept, places = np.unique(homes, return_inverse=True)
        names = tuple(self.concepts[place] for place in kept)
        return Mentions(names, self.text, places[self.concept])

    def count(self, groups: Indices, size: int) -> Counts:
        """Count how often every concept is said in each group of texts.

        Args:
            groups: (texts,) the number of each text's group, below `size`.
            size: How many groups there are.

        Returns:
            (size, C) counts.
        """
        return tally(groups[self.text], self.concept, (size, len(self.concepts)))


def words_of(text: str) -> list[str]:
    """The words of a text in their order: lower case, no punctuation, no stop words.

    Hyphens and apostrophes within a word stay, as WordNet has them ("middle-aged"); a possessive's
    ending goes.
    """
    plain = unicodedata.normalize("NFC", text).translate(_APOSTROPHES).lower()
    stop = _stop_words()
    words = (word.removesuffix("'s") for word in _WORD.findall(plain))
    return [word for word in words if word not in stop]


def homes_of(words: Sequence[str], counts: Counts, synonyms: Synonyms) -> Indices:
    """For every word the index of the word it is merged into, its own if it stays.

    Words come by count, the largest first, then by alphabet; each goes to the first word before it
    that stayed and shares a sense with it (Algorithm 1, step 1, in an order that hangs on no
    dictionary). A word that is never said stays and takes none. A table from senses to words makes
    this as fast as there are senses.

    Args:
        words: (V,) lower-case words.
        counts: (V,) how often each is said.
        synonyms: The senses of words.

    Returns:
        (V,) indices.
    """
    senses = [synonyms.senses(word) for word in words]
    sizes = [-count for count in counts.tolist()]
    social = [place for place, own in enumerate(senses) if own and sizes[place]]
    homes = np.arange(len(words), dtype=np.int64)
    first: dict[Hashable, int] = {}  # sense -> rank of the first word with it that stayed
    order = sorted((sizes[place], words[place], place) for place in social)
    for rank, (_, _, place) in enumerate(order):
        earlier = [first[sense] for sense in senses[place] if sense in first]
        if earlier:
            homes[place] = order[min(earlier)][2]
        else:
            first.update(dict.fromkeys(senses[place], rank))
    return homes


def among(words: Iterable[str], synonyms: Synonyms) -> SynonymTable:
    """The same synonyms among these words alone, without senses that only one of them has."""
    groups: defaultdict[Hashable, list[str]] = defaultdict(list)
    for word in words:
        for sense in synonyms.senses(word):
            groups[sense].append(word)
    return SynonymTable((group for group in groups.values() if len(group) > 1), synonyms.source)


def tally(rows: Indices, columns: Indices, shape: tuple[int, int]) -> Counts:
    """Count how often each pair of row (M,) and column (M,) occurs, as an array of `shape`."""
    cells = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return cells.astype(np.int64).reshape(shape)


def top(concepts: Sequence[str], frequencies: Floats, most: int) -> list[tuple[str, float]]:
    """The most frequent concepts that occur at all, then by alphabet, with their frequencies."""
    occur = [
        (name, float(value)) for name, value in zip(concepts, frequencies, strict=True) if value > 0
    ]
    return sorted(occur, key=lambda item: (-item[1], item[0]))[:most]


@functools.cache
def _stop_words() -> frozenset[str]:
    lines = resources.lines("concepts", "stop_words.txt")
    return frozenset(word for line in lines for word in line.split())
