"""What captions say of classes, and what classes look like."""

from __future__ import annotations

import pytest

from biasgraph.methods.bias_wording import CaptionReader, captions_of, is_class, words_in
from biasgraph.methods.concepts import SynonymTable
from biasgraph.methods.wordnet import best_synonyms, find_wordnet

TABLE = CaptionReader(SynonymTable([["huge", "gigantic"], ["middle_aged", "midlife"]], "a table"))


def test_words() -> None:
    assert words_in("The dog's Middle-Aged, \u201cred\u201d Owner!") == (
        "the", "dog", "middle", "aged", "red", "owner",
    )  # fmt: skip
    assert words_in("--- !") == ()


@pytest.mark.parametrize(
    ("caption", "classes", "said"),
    [
        ("A picture of a doctor", ["Male", "Female"], None),
        ("A female doctor", ["Male", "Female"], "Female"),  # not the "male" in "female"
        ("A woman at work", ["Male", "Female"], "Female"),  # a word of the shipped axis
        ("Two dogs in a car", ["Dog", "Cat"], "Dog"),
        ("A carpet", ["Car", "Pet"], None),
        ("A MIDDLE-AGED man's hat", ["Young", "Middle aged", "Old"], "Middle aged"),
        ("aged middle", ["middle aged"], None),  # the words stand the other way round
        ("A gigantic cake", ["Small", "Huge"], "Huge"),
        ("A midlife crisis", ["Young", "Middle-aged"], "Middle-aged"),
        ("A short-haired dog.", ["short hair", "long hair"], None),
        ("", ["Dog"], None),
        ("A dog", [], None),
    ],
)
def test_a_caption_says_a_class_or_a_synonym(caption, classes, said) -> None:
    assert TABLE.find_class(caption, classes) == said


@pytest.mark.skipif(find_wordnet() is None, reason="needs a WordNet database")
def test_wordnet_knows_more_synonyms_and_inflections() -> None:
    reader = CaptionReader(best_synonyms())
    assert "WordNet" in reader.source
    assert reader.find_class("An automobile on a street", ["Bike", "Car"]) == "Car"
    assert reader.find_class("Physicians at work", ["Nurse", "Doctor"]) == "Doctor"
    assert reader.find_class("A train zips down the railway", ["Bike", "Car"]) is None


def test_what_is_no_class() -> None:
    assert [name for name in ("Male", "Unknown", " n/a ", "?!", "other") if is_class(name)] == [
        "Male",
        "other",
    ]


def test_sentences_for_judges_that_match_captions() -> None:
    assert captions_of("Person gender", ["Male", "Female"]) == (
        "a photo of a male person",
        "a photo of a female person",
    )
    assert captions_of("train color", ["red", "orange"]) == (
        "a photo of a red train",
        "a photo of an orange train",
    )
    assert captions_of("Gender", ["male", "non-binary"]) == (
        "a photo, Gender: male",
        "a photo, Gender: non-binary",
    )
