"""Word influence as parts: every word in its place, with its numbers or why it has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from biasgraph.data.word_influence import WordInfluence
from biasgraph.methods.word_findings import marked_text, word_table
from tests.word_influences import PROMPT, influence, undefined


def text_of(one: WordInfluence) -> str:
    [view] = marked_text([one]).views
    return "".join(word.text + word.after for word in view.words)


@pytest.mark.parametrize("prompt", [PROMPT, "<lora:x:0.8> a nurse!", "nurse\n\tnurse", "''nurse''"])
def test_the_views_words_make_up_the_prompt(prompt: str) -> None:
    assert text_of(influence(prompt=prompt)) == prompt


def test_words_carry_share_interval_and_mark() -> None:
    [view] = marked_text([influence(tied=["nurse"], out=["nurse"])]).views
    assert view.label == "gender, by gradient"
    a, tired, nurse, comma, *_ = view.words
    assert (a.value, a.note) == (None, "stop word")
    assert (tired.value, tired.mark) == (pytest.approx(0.2), "")
    assert tired.note == "rank 3, score 0.25 [0.125, 0.375], within chance"
    assert (nurse.value, nurse.mark) == (0.4, "first")
    assert nurse.note == "rank 1, score 0.5 [0.25, 0.75], stands out from chance"
    assert comma.after == " "
    assert view.note.startswith("Stands out from chance: nurse (in 95 % of cases no score is above")
    assert "0.375 by chance; 10 images" in view.note


def test_tied_words_have_their_mark() -> None:
    [view] = marked_text([influence(tied=["tired"])]).views
    assert [word.mark for word in view.words] == ["", "tied", "first", "", "", "", "first"]
    assert view.note.startswith("No word stands out from chance")


def test_views_are_named_by_prompt_where_there_are_several() -> None:
    labels = [view.label for view in marked_text([influence(), influence(prompt="a nurse")]).views]
    assert labels == [f"{PROMPT}: gender, by gradient", "a nurse: gender, by gradient"]


def test_where_nothing_could_be_ranked_the_reason_stands() -> None:
    [view] = marked_text([undefined()]).views
    assert {word.value for word in view.words} == {None}
    assert {word.note for word in view.words} == {"too few images"}
    assert view.note == "No word is ranked: too few images."


def test_scores_of_zero_have_a_share_and_an_interval() -> None:
    [view] = marked_text([influence({"tired": 0.0, "nurse": 0.5})]).views
    assert view.words[1].value == 0.0
    assert "score 0 [0, 0]" in view.words[1].note


def test_where_all_scores_are_zero_nothing_is_shaded() -> None:
    one = influence()
    words = tuple(replace(word, score=0.0, share=None) if word.rank else word for word in one.words)
    [view] = marked_text([replace(one, words=words)]).views
    assert {word.value for word in view.words} == {None}
    assert view.words[1].note == "no word has an influence"


def test_the_table_has_every_word_by_rank() -> None:
    table = word_table([influence(tied=["tired"], out=["nurse"]), undefined()])
    assert [*table.rows] == [
        *2 * [("gender, by gradient", "nurse", "1", "0.400", "0.5 [0.25, 0.75]",
               "stands out from chance")],
        ("gender, by gradient", "tired", "3", "0.200", "0.25 [0.125, 0.375]",
         "tied with the first, within chance"),
        ("gender, by gradient", "a , with", "", "", "", "stop word"),
        ("age, by removal", "a tired nurse , with", "", "", "", "too few images"),
    ]  # fmt: skip
    named = word_table([influence(), influence(prompt="a nurse")]).rows[-1][0]
    assert named == "a nurse: gender, by gradient"
