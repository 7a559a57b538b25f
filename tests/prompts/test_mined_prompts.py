"""When two prompts are one, and requests that are all different."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.prompts.mined_prompts import read_unlike, same_words, unlike, words_of

LINES = st.text(
    st.characters(blacklist_categories=("C", "Zl", "Zp")), min_size=1, max_size=40
).filter(lambda text: text.strip() == text)


@pytest.mark.parametrize(
    "other",
    [
        "at night a chef",
        "A Chef at night.",
        "a chef, at night",
        '"a chef" (at night)!',
        "a chef at \uff4eight",  # a full-width letter
    ],
)
def test_prompts_of_the_same_words_are_one(other: str) -> None:
    assert same_words(other) == same_words("a chef at night")


@pytest.mark.parametrize(
    "other", ["a chef", "a chef at night at night", "the chef at night", "chefs at night", "", "!"]
)
def test_other_words_are_another_prompt(other: str) -> None:
    assert same_words(other) != same_words("a chef at night")


def test_signs_are_no_words() -> None:
    assert words_of("a chef's well-lit kitchen & 3 cats, at night!") == [
        "a", "chef's", "well-lit", "kitchen", "3", "cats", "at", "night",
    ]  # fmt: skip
    assert words_of("?! ... []") == []


@given(number=st.integers(0, 2**32), seen=st.lists(LINES, max_size=5))
def test_what_stands_behind_a_request_is_read_back(number: int, seen: list[str]) -> None:
    text = unlike("Generate 5 prompts.", number, seen)
    assert text.startswith("Generate 5 prompts.\n\nRandom seed: ")
    assert read_unlike(text) == (str(number), tuple(seen))
    assert read_unlike(f"{text}\n\nReply with JSON only:\n{{}}") == (str(number), tuple(seen))


@pytest.mark.parametrize("text", ["", "Generate 5 prompts.", "Random seeds\n\n- a chef"])
def test_other_texts_have_nothing_behind_them(text: str) -> None:
    assert read_unlike(text) == ("", ())
