"""Whether a prompt gives away what it is searched for."""

from __future__ import annotations

from biasgraph.data.axes import Axis
from biasgraph.prompts.grammar import word_rows
from biasgraph.prompts.mined_prompts import words_of
from biasgraph.prompts.vocabulary import Vocabulary, vocabulary_of


def names_axis(text: str, axis: Axis) -> bool:
    """Whether a text names an axis, one of its attributes or synonyms, or another of its words.

    Wherever the words stand, and whatever they say it of: "an old castle" names the age. Gendered
    pronouns name an axis that tells "man" from "woman".
    """
    vocabulary = vocabulary_of(axis)
    return bool(vocabulary.find_spans(text) or (_tells_sexes(vocabulary) and _has_pronoun(text)))


def _tells_sexes(vocabulary: Vocabulary) -> bool:
    sexes = {vocabulary.meaning(noun) for noun in ("man", "woman")}
    return None not in sexes and len(sexes) == 2


def _has_pronoun(text: str) -> bool:
    gendered = {form for row in word_rows("pronouns") for form in row[:2]} | {"hers"}
    return not gendered.isdisjoint(words_of(text))
