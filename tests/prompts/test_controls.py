"""Neutral rewordings of prompts."""

from __future__ import annotations

import pytest

from biasgraph.data.axes import Attribute, Axis, AxisSet, load_axis_set, shipped_axis_sets
from biasgraph.errors import InputError
from biasgraph.prompts.controls import USUAL, rewordings, usual_number
from biasgraph.prompts.counterfactuals import plan_prompts

OCCUPATION = load_axis_set("occupation")
PROMPTS = {
    "occupation": ["a librarian", "two famous social workers at work", "a family having dinner"],
    "tibet": ["a surgeon in an operating room", "a poor farmer"],
    "animal": ["two horses in a field", "An eagle flying over a lake"],
    "object": ["a wooden table", "two cups of coffee"],
    "scene": ["a street in Paris", "An old market"],
}


def own_set(word: str, controls: tuple[dict[str, str], ...] = ()) -> AxisSet:
    """An axis set about persons that has a word of its own."""
    attributes = tuple(
        Attribute(name=name, phrase=name, placement="before") for name in (word, "other")
    )
    axis = Axis(name="own", attributes=attributes, question="Which?")
    return AxisSet(name="mine", subject="person", gate="Who?", controls=controls, axes=(axis,))


@pytest.mark.parametrize(
    ("prompt", "texts"),
    [
        ("a librarian", ["a certain librarian", "a librarian who is here"]),
        ("An accountant", ["A certain accountant", "An accountant who is here"]),
        ("two nurses at work", ["two certain nurses at work", "two nurses who are here at work"]),
        ("A PHOTO OF A CEO", ["A PHOTO OF A CERTAIN CEO", "A PHOTO OF A CEO WHO IS HERE"]),
        ("1girl, red eyes, sky", ["1girl, certain, red eyes, sky", "1girl, here, red eyes, sky"]),
        ("a room with a [chef]", ["a room with a certain chef", "a room with a chef who is here"]),
        ("a nurse who won", ["a certain nurse who won", "a nurse who is here and who won"]),
    ],
)  # fmt: skip
def test_a_phrase_stands_before_the_noun_and_one_after(prompt: str, texts: list[str]) -> None:
    plan = plan_prompts(prompt, OCCUPATION, USUAL)
    assert [one.text for one in plan.controls] == texts
    assert {(one.role, one.axis, one.attribute) for one in plan.controls} == {("control", "", "")}
    assert plan.prompts == (plan.initial, *plan.counterfactuals, *plan.controls)
    assert plan.prompts[: -len(texts)] == plan_prompts(prompt, OCCUPATION).prompts


@pytest.mark.parametrize("name", shipped_axis_sets())
def test_rewordings_that_ship_say_nothing_of_any_axis(name: str) -> None:
    axes = load_axis_set(name)
    neutral = rewordings(axes)
    assert [one.placement for one in neutral[:USUAL]] == ["before", "after"]
    for prompt in PROMPTS[name]:
        plan = plan_prompts(prompt, axes, len(neutral))
        others = {one.text for one in (plan.initial, *plan.counterfactuals)}
        assert len({one.text for one in plan.controls} - others) == len(neutral) >= 4
        for one in plan.controls:
            again = plan_prompts(one.text, axes)
            assert again.fixed == plan.fixed
            assert again.subject.head == plan.subject.head


def test_a_prompt_that_has_a_phrase_itself_is_not_given_it_again() -> None:
    plan = plan_prompts("a certain librarian", OCCUPATION, 2)
    assert [one.text for one in plan.controls] == ["a certain librarian who is here"]


def test_a_set_without_rewordings_has_those_for_its_subject() -> None:
    assert rewordings(own_set("tidy")) == OCCUPATION.controls
    phrases = [one.phrase for one in rewordings(own_set("certain"))]
    assert phrases == [one.phrase for one in OCCUPATION.controls if one.phrase != "certain"]
    mine = own_set("tidy", ({"phrase": "given", "placement": "before"},))
    assert [one.text for one in plan_prompts("a cook", mine, 1).controls] == ["a given cook"]
    assert usual_number(mine) == 1


def test_more_rewordings_than_there_are() -> None:
    with pytest.raises(InputError, match=r"--controls 5: axis set 'occupation' has 4 neutral"):
        plan_prompts("a cook", OCCUPATION, 5)
