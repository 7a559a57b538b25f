"""The words of prompts, which of them are ranked, and prompts without one of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgraph.data.axes import load_axis_set
from biasgraph.prompts.prompt_words import (
    OF_AXIS,
    OF_KIND,
    SIGN,
    STOP_WORD,
    PromptWord,
    Removal,
    leave_out,
    split_words,
    why_unranked,
)
from biasgraph.prompts.subject import find_subject, strip_brackets
from biasgraph.sandbox.world import CONTEXTS, OCCUPATIONS

OCCUPATION = load_axis_set("occupation")
FRAGMENTS = (
    *("a", "an", "the", "old", "tall", "chef", "nurse", "kitchen", "in", "with", "of", "and", ","),
    *(".", "who", "is", "are", "cooking", "holding", "rice", "very", "two", "his", "Paris", "'s"),
    *("-", "(x:1.2)", "in front", "books", "person"),
)


def without(prompt: str, text: str, nth: int = 0) -> Removal:
    """The prompt without the nth of its words that read so."""
    return leave_out(prompt, [word for word in split_words(prompt) if word.text == text][nth])


def reasons(prompt: str, axis: str, kind: str = "person") -> dict[str, str]:
    """Words and signs -> why they are not ranked."""
    words = split_words(prompt)
    return {w.text: why_unranked(w, prompt, OCCUPATION.axis(axis), kind) for w in words}


def test_words_stand_where_they_say() -> None:
    prompt = "An 8-year-old chef's kitchen, a café (old:1.2) \u2019til 5 p.m. <lora:x:0.8>"
    words = split_words(prompt)
    assert all(prompt[word.start : word.end] == word.text for word in words)
    texts = [word.text for word in words]
    assert "8-year-old" in texts and "chef's" in texts and "café" in texts and "," in texts
    assert not {"lora", "1.2", "0.8"} & {*texts}


def test_a_word_that_stands_twice_is_two() -> None:
    prompt = "a chef and a chef"
    assert [word.start for word in split_words(prompt) if word.text == "chef"] == [2, 13]
    assert without("a red car on a red road", "red", 1).text == "a red car on a road"
    assert without("a red car on a red road", "red", 0).text == "a car on a red road"


def test_marks_of_other_scripts_belong_to_their_word() -> None:
    assert [word.text for word in split_words("हिन्दी में चित्र")] == ["हिन्दी", "में", "चित्र"]
    assert [word.text for word in split_words("厨房里的厨师")] == ["厨房里的厨师"]


@pytest.mark.parametrize(
    ("prompt", "axis", "expected"),
    [
        ("a woman in a kitchen", "gender", {"woman": OF_AXIS, "kitchen": "", "a": STOP_WORD}),
        ("a woman in a kitchen", "age", {"woman": "", "in": STOP_WORD}),
        ("two policewomen and her dog", "gender", {"policewomen": OF_AXIS, "her": STOP_WORD}),
        ("a postwoman", "gender", {"postwoman": OF_AXIS}),
        ("an old chef, cooking", "age", {"old": OF_AXIS, "chef": "", ",": SIGN, "cooking": ""}),
        ("an 8-year-old chef", "age", {"8-year-old": OF_AXIS}),
        ("a middle aged chef", "age", {"middle": OF_AXIS, "aged": OF_AXIS}),
        ("the gender of a chef", "gender", {"gender": OF_AXIS, "of": STOP_WORD}),
        ("a person cooking", "gender", {"person": OF_KIND, "cooking": ""}),
        ("two people and a human", "gender", {"people": OF_KIND, "human": OF_KIND}),
        ("a chef in formal attire", "clothing", {"formal": OF_AXIS, "attire": OF_AXIS}),
        ("a chef in formal attire", "gender", {"formal": "", "attire": "", "in": STOP_WORD}),
        ("a nurse who is happy", "emotion", {"happy": OF_AXIS, "who": STOP_WORD}),
        ("a guard outdoors", "gender", {"outdoors": ""}),
        ("a guard outdoors", "environment", {"outdoors": OF_AXIS}),
    ],
)  # fmt: skip
def test_words_are_ranked_or_not_for_a_reason(
    prompt: str, axis: str, expected: dict[str, str]
) -> None:
    assert reasons(prompt, axis) | expected == reasons(prompt, axis)


def test_what_every_subject_is_depends_on_the_axis_set() -> None:
    assert reasons("a person with an animal", "gender")["animal"] == ""
    assert reasons("a person with an animal", "gender", "animal") == {
        "a": STOP_WORD, "person": "", "with": STOP_WORD, "an": STOP_WORD, "animal": OF_KIND,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "word", "text"),
    [
        # modifiers
        ("an old chef", "old", "a chef"),
        ("An old chef", "old", "A chef"),
        ("Old chef in a kitchen", "Old", "Chef in a kitchen"),
        ("A PHOTO OF AN OLD CHEF", "OLD", "A PHOTO OF A CHEF"),
        ("a tall, old chef", "tall", "an old chef"),
        ("a tall, old and wise chef", "old", "a tall, wise chef"),
        ("a very old chef", "old", "a chef"),
        ("a chef in a very busy kitchen", "busy", "a chef in a kitchen"),
        ("a chef in a hotel kitchen", "hotel", "a chef in a kitchen"),
        ("two chefs", "two", "chefs"),
        ("a black and white photo of an old train", "photo", "an old train"),
        ("a slightly blurry photo of a cat", "blurry", "a photo of a cat"),
        # prepositional phrases
        ("men in uniforms playing trumpets", "uniforms", "men playing trumpets"),
        ("a chef in a kitchen", "kitchen", "a chef"),
        ("a chef in a kitchen with a knife", "kitchen", "a chef with a knife"),
        ("a chef in a busy city.", "city", "a chef."),
        ("a chef in the hotel kitchen", "kitchen", "a chef in the hotel"),
        ("a librarian with a stack of books", "stack", "a librarian with books"),
        ("a librarian with a stack of books", "books", "a librarian with a stack"),
        ("a nurse with intense focus", "focus", "a nurse"),
        ("a man in front of a house", "house", "a man"),
        ("a man next to a car, smiling", "car", "a man, smiling"),
        ("a photo of an old chef", "photo", "an old chef"),
        ("a shop in Italy", "Italy", "a shop"),
        # lists
        ("a man with a book and a pen", "pen", "a man with a book"),
        ("a man with a book and an apple", "book", "a man with an apple"),
        ("a man in a park and smiling", "park", "a man smiling"),
        ("a nurse and a doctor are talking", "doctor", "a nurse is talking"),
        ("a nurse and a doctor are talking", "nurse", "a doctor is talking"),
        # verbs
        ("a chef cooking rice in a kitchen", "rice", "a chef cooking in a kitchen"),
        ("a chef cooking rice", "cooking", "a chef with rice"),
        ("a chef working at night", "working", "a chef at night"),
        ("a chef is cooking.", "cooking", "a chef."),
        ("a nurse holding a bouquet", "bouquet", "a nurse"),
        ("a nurse holding a bouquet", "holding", "a nurse with a bouquet"),
        ("a chef who is happy in a kitchen", "happy", "a chef in a kitchen"),
        ("a chef singing and dancing", "dancing", "a chef singing"),
        ("a chef singing and dancing", "singing", "a chef dancing"),
        ("a chef carefully cooking rice", "cooking", "a chef with rice"),
        ("A jury listening closely", "listening", "A jury"),
        # the subject
        ("a chef in a kitchen", "chef", "a person in a kitchen"),
        ("an archer", "archer", "a person"),
        ("Archer in a park", "Archer", "Person in a park"),
        ("two nurses at work", "nurses", "two people at work"),
        ("A PHOTO OF AN ARCHER", "ARCHER", "A PHOTO OF A PERSON"),
        ("an eagle over a lake", "eagle", "an animal over a lake"),
        ("a wooden table", "table", "a wooden object"),
        ("1girl, red eyes", "1girl", "1person, red eyes"),
        ("Albert Einstein in a lab", "Albert", "Einstein in a lab"),
        ("chef", "chef", "person"),
        ("A herd of sheep on a road", "sheep", "A herd of animals on a road"),
        ("Elsa from Frozen", "Elsa", "A person from Frozen"),
        ("a close up of an old woman's face", "woman's", "a close up of an old face"),
        ("a close up of an old woman's face", "face", "a close up"),
        # tags, weights
        ("a chef with wrench (copy space)", "wrench", "a chef (copy space)"),
        ("a ship, aurora overhead, long exposure", "overhead", "a ship, aurora, long exposure"),
        ("a chef <lora:x:0.8> in a kitchen", "kitchen", "a chef <lora:x:0.8>"),
        ("a cat, symmetrical, pastel pink", "pink", "a cat, symmetrical"),
        ("a cat, best quality, highly detailed, 8k", "detailed", "a cat, best quality, 8k"),
        ("a cat, product shot, light grey, rain", "light", "a cat, product shot, grey, rain"),
        ("a dog BREAK an old cat", "old", "a dog BREAK a cat"),
        ("1girl, red eyes, forest", "eyes", "1girl, forest"),
        ("1girl, red eyes, forest", "forest", "1girl, red eyes"),
        ("a chef, (old:1.2), kitchen", "old", "a chef, kitchen"),
    ],
)  # fmt: skip
def test_a_word_is_left_out_and_the_prompt_mended(prompt: str, word: str, text: str) -> None:
    assert without(prompt, word).text == text


def test_what_else_changed_is_noted() -> None:
    assert without("an old chef", "old").note == ""
    assert without("an old chef", "chef").note == "the subject noun becomes 'person'"
    assert without("a chef in a kitchen", "kitchen").note == "with it went 'in a'"
    assert without("a nurse with a cup of tea", "cup").note == "with it went 'a ... of'"
    assert without("a chef cooking rice", "cooking").note == "'with' stands for 'cooking'"


@pytest.mark.parametrize(
    ("prompt", "word", "why"),
    [
        ("a person in a kitchen", "person", "there is no wider noun than 'person'"),
        ("厨房里的厨师", "厨房里的厨师", "nothing would be left of the prompt"),
        ("the", "the", "nothing would be left of the prompt"),
        ("a chef, smiling", ",", "it is no word"),
    ],
)
def test_a_word_that_a_prompt_needs_stays(prompt: str, word: str, why: str) -> None:
    assert without(prompt, word) == Removal(None, why)


def test_brackets_name_the_subject() -> None:
    typed = "a [blorb] in a room with a chef"
    clean, _ = strip_brackets(typed)
    word = next(word for word in split_words(clean) if word.text == "blorb")
    subject = find_subject(typed)
    assert leave_out(clean, word, subject).text == "a person in a room with a chef"
    assert leave_out(clean, word, subject, "animal").text == "an animal in a room with a chef"


def test_the_sandbox_knows_every_phrase_without_one_of_its_words() -> None:
    """What is left of a phrase is the whole phrase less a word, or nothing of it."""
    for phrase in CONTEXTS:
        prompt = f"a nurse {phrase}"
        for word in split_words(prompt):
            if why_unranked(word, prompt, OCCUPATION.axis("gender")) == "":
                left = leave_out(prompt, word).text
                assert left and word.text not in left.split(), (prompt, word)
                assert left.split()[-1] not in ("a", "the", "in", "with", "of", "on", "at"), left


@pytest.mark.parametrize("occupation", OCCUPATIONS)
def test_every_occupation_becomes_a_person(occupation: str) -> None:
    article = "an" if occupation[0] in "aeiou" else "a"
    prompt = f"{article} {occupation} in a kitchen"
    removal = leave_out(prompt, split_words(prompt)[len(occupation.split())])
    if occupation.endswith("person"):
        assert removal.text is None
    else:
        assert removal.text in (
            "a person in a kitchen",
            "a social person in a kitchen",
            "an elementary person in a kitchen",
        )


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(FRAGMENTS),
            max_size=12,
        ).map(" ".join),
    )
)
def test_no_prompt_breaks_it_and_none_is_left_empty(prompt: str) -> None:
    for word in split_words(prompt):
        assert prompt[word.start : word.end] == word.text
        why_unranked(word, prompt, OCCUPATION.axis("age"))
        removal = leave_out(prompt, word)
        if removal.text is None:
            assert removal.note
        else:
            assert any(map(str.isalnum, removal.text)) and removal.text.strip() == removal.text
    assert leave_out(prompt, PromptWord("none", 999, 1003)).text is None
