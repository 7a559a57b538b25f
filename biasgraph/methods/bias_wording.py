"""Words of biases: what is one class, what a caption says, and what a class looks like."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from biasgraph.data.axes import Axis, load_axis_set
from biasgraph.io import resources
from biasgraph.methods.concepts import Synonyms, SynonymTable
from biasgraph.prompts.counterfactuals import describe
from biasgraph.prompts.grammar import indefinite_article

UNKNOWNS = frozenset(
    {
        *("unknown", "unspecified", "unclear", "undetermined", "unidentified", "indeterminate"),
        *("not sure", "not clear", "not visible", "cannot tell", "can't tell", "n/a", "na"),
        *("none of the above", "not applicable", "gated"),
    }
)
"""Classes that are no class: unknown is on offer beside the classes of every question.

And ``gated``, which is what an answer about a withheld image is called.
"""
YES_NO = frozenset({"yes", "no"})
LONGEST = 3
"""Words of a phrase that is looked up in a dictionary of synonyms."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def words_in(text: str) -> tuple[str, ...]:
    """The words of a text, lower case, without punctuation; a hyphen parts two words."""
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    return tuple(word.removesuffix("'s") for word in _WORD.findall(plain))


def is_class(text: str) -> bool:
    """Whether a proposed class is one: it has a word and is none of `UNKNOWNS`."""
    return bool(words_in(text)) and text.strip().casefold() not in UNKNOWNS


@dataclass(frozen=True)
class CaptionReader:
    """Finds classes and their synonyms in captions (the second stage of sec. 3.1's filter).

    A class is said where its words stand in the caption one after the other, where those of a
    synonym do that an attribute of a shipped axis set has ("female": "woman"), and where a word or
    phrase of the caption shares a sense with it. The paper takes synonyms from ConceptNet.

    Attributes:
        synonyms: Where the senses of words come from.
    """

    synonyms: Synonyms

    @property
    def source(self) -> str:
        """Where synonyms come from, for people."""
        return f"{self.synonyms.source}, and the words of the shipped axis sets"

    def find_class(self, caption: str, classes: Sequence[str]) -> str | None:
        """The first of the classes that a caption says; None where it says none."""
        words = words_in(caption)
        stems, meant = _stems(words), self._meant(words)
        return next((name for name in classes if self._is_said(name, stems, meant)), None)

    def _is_said(self, name: str, stems: str, meant: frozenset[Hashable]) -> bool:
        phrases = filter(None, [words_in(name), *_read_shipped().get(words_in(name), ())])
        if any(_stems(phrase) in stems for phrase in phrases):
            return True
        return not meant.isdisjoint(self._senses(words_in(name)))

    def _meant(self, words: Sequence[str]) -> frozenset[Hashable]:
        """The senses of all words and short phrases of a caption."""
        return frozenset(
            sense
            for size in range(1, LONGEST + 1)
            for start in range(len(words) - size + 1)
            for sense in self._senses(words[start : start + size])
        )

    def _senses(self, words: Sequence[str]) -> Iterator[Hashable]:
        for spelling in dict.fromkeys(("_".join(words), "-".join(words))):
            for table in (self.synonyms, _small_table()):
                for sense in table.senses(spelling):
                    yield table.source, sense


def captions_of(bias: str, classes: Sequence[str]) -> tuple[str, ...]:
    """For each class a sentence that is true of an image showing it, for judges that match these.

    That of the shipped axis of this name, where it has all the classes; else made from the bias's
    name: "a photo of a red train" for "train color".
    """
    for subject, axis in _shipped_axes():
        names = {words_in(name): name for name in axis.names}
        keys = [words_in(name) for name in classes]
        if words_in(axis.name)[-1:] == words_in(bias)[-1:] and names.keys() >= set(keys):
            photo = f"a photo of {indefinite_article(subject)} [{subject}]"
            return tuple(describe(axis, names[key], photo) for key in keys)
    noun = " ".join(words_in(bias)[:-1])
    if not noun:
        return tuple(f"a photo, {bias}: {name}" for name in classes)
    return tuple(f"a photo of {indefinite_article(name)} {name} {noun}" for name in classes)


def _stems(words: Sequence[str]) -> str:
    """The words without the endings of plurals, each between two blanks."""
    return f" {' '.join(map(_stem, words))} "


def _stem(word: str) -> str:
    """Without the ending of a plural: "dogs" and "dog" are one word."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


@functools.cache
def _small_table() -> SynonymTable:
    return SynonymTable.built_in()


@functools.cache
def _shipped_axes() -> tuple[tuple[str, Axis], ...]:
    """(kind of subject, axis) of all shipped sets; that about occupations comes first."""
    names = sorted(resources.names("axes", ".yaml"), key=lambda name: (name != "occupation", name))
    sets = [load_axis_set(name) for name in names]
    return tuple((axes.subject, axis) for axes in sets for axis in axes.axes)


@functools.cache
def _read_shipped() -> dict[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The words of an attribute's name -> those of its phrase and synonyms, in all shipped sets."""
    phrases_of: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
    for _, axis in _shipped_axes():
        for attribute in axis.attributes:
            phrases = [words_in(text) for text in (attribute.phrase or "", *attribute.synonyms)]
            for name in (attribute.name, attribute.phrase or ""):
                own = phrases_of.setdefault(words_in(name), {})
                own.update(dict.fromkeys(filter(None, phrases)))
    return {name: tuple(phrases) for name, phrases in phrases_of.items() if name}
