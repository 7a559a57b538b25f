"""Influences of words from answers that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError
from biasgraph.methods.base import Judged
from biasgraph.methods.word_removal import (
    NO_PAIR,
    NO_WORD,
    ShortPrompts,
    influence_by_removal,
    refuse_without_words,
)

AXES = load_axis_set("occupation").only(["gender", "age"])
PROMPT = "an old chef in a kitchen"
MEN, WOMEN = ("male",) * 24, ("female",) * 24


class Said:
    """A run's media of which only the answers are wanted: all young men unless said otherwise."""

    def __init__(self, **by_text: Sequence[str]) -> None:
        self.by_text = by_text
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def judge_pairs(self, texts: Mapping[str, Sequence[str]], axes: AxisSet, count: int) -> Judged:
        self.asked += [(prompt, tuple(others)) for prompt, others in texts.items()]
        usual = {"gender": MEN[:count], "age": ("young",) * count}
        return {
            prompt: {
                text: usual | {"gender": self.by_text.get(text, usual["gender"])}
                for text in (prompt, *others)
            }
            for prompt, others in texts.items()
        }


def influences(media: Said, prompts: Sequence[str] = (PROMPT,)):
    found = influence_by_removal(
        [ShortPrompts.of(prompt, AXES) for prompt in prompts], AXES, media, 24, 0
    )
    return {(one.prompt, one.axis): one for one in found}


def test_a_word_that_changes_everything_is_named() -> None:
    media = Said(**{"an old person in a kitchen": WOMEN})
    one = influences(media)[PROMPT, "gender"]
    assert media.asked == [
        (PROMPT, ("a chef in a kitchen", "an old person in a kitchen", "an old chef"))
    ]
    by_word = {word.word: word for word in one.words if word.rank}
    assert [*by_word] == ["old", "chef", "kitchen"]
    chef = by_word["chef"]
    assert (chef.score, chef.rank, chef.share, chef.stands_out) == (2.0, 1, 1.0, True)
    assert chef.note == "the subject noun becomes 'person'" and chef.images == 24
    assert (by_word["kitchen"].score, by_word["kitchen"].stands_out) == (0.0, False)
    assert [word.word for word in one.named] == ["chef"]
    assert {word.word: word.reason for word in one.words if word.rank is None} == {
        "an": "stop word", "in": "stop word", "a": "stop word",
    }  # fmt: skip
    assert one.images == 24 and one.settings["images"] == 24 and one.reason == ""


def test_a_word_that_names_one_axis_is_ranked_on_the_others() -> None:
    age = influences(Said())[PROMPT, "age"]
    assert [word.word for word in age.ranked] == ["chef", "kitchen"]
    assert next(word for word in age.words if word.word == "old").reason == "names the axis"
    assert age.named == () and {word.share for word in age.ranked} == {None}


def test_pairs_without_an_answer_are_left_out_and_counted() -> None:
    gappy = ("gated", "unknown", "female", *MEN[3:])
    one = influences(Said(**{"an old chef": gappy}))[PROMPT, "gender"]
    kitchen = next(word for word in one.words if word.word == "kitchen")
    assert kitchen.images == 22 and kitchen.score == pytest.approx(2 / 22)
    none = influences(Said(**{"an old chef": ("gated",) * 24}))[PROMPT, "gender"]
    kitchen = next(word for word in none.words if word.word == "kitchen")
    assert (kitchen.rank, kitchen.score, kitchen.reason) == (None, None, NO_PAIR)
    assert [word.word for word in none.ranked] == ["old", "chef"]


def test_where_nothing_can_be_said_the_reason_stands() -> None:
    gated = Said(**{PROMPT: ("gated",) * 24})
    assert influences(gated)[PROMPT, "gender"].reason == NO_PAIR
    assert influences(gated)[PROMPT, "gender"].threshold is None
    only_old = influences(Said(), ["an old person"])
    assert only_old["an old person", "age"].reason == NO_WORD
    assert [word.word for word in only_old["an old person", "gender"].ranked] == ["old"]


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("a person", NO_WORD),
        ("厨房里的厨师", "nothing would be left of the prompt"),
        ("...", NO_WORD),
    ],
)
def test_a_prompt_without_words_is_refused(prompt: str, why: str) -> None:
    with pytest.raises(InputError, match=f"influence on any axis can be measured .*{why}"):
        refuse_without_words([ShortPrompts.of(prompt, AXES)])


def test_brackets_name_the_subject() -> None:
    short = ShortPrompts.of("a [blorb] in a room with a chef", AXES)
    assert short.prompt == "a blorb in a room with a chef"
    assert "a person in a room with a chef" in short.texts


def test_words_that_leave_the_same_prompt_share_its_images() -> None:
    short = ShortPrompts.of("a nurse holding a bouquet holding a bouquet", AXES)
    assert len(short.texts) == len({*short.texts}) <= len(short.removals)
