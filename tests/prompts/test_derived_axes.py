"""Axes read off counterfactual prompts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError
from biasgraph.models.registry import load_language_model
from biasgraph.prompts.counterfactuals import joint_prompts, plan_prompts
from biasgraph.prompts.derived_axes import (
    ALPHA,
    bare_axis_name,
    derived_axes,
    find_difference,
    make_distinct,
    trim_phrase,
)
from biasgraph.runs.proposed_axes import as_yaml, conversation
from biasgraph.runs.questions import questions_about


def derived(prompt: str, **counterfactuals: list[str]) -> AxisSet:
    axes, _ = derived_axes(prompt, counterfactuals, "proposed")
    assert axes is not None
    return axes


def texts(prompt: str, axes: AxisSet) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in plan_prompts(prompt, axes).counterfactuals:
        found.setdefault(one.axis, []).append(one.text)
    return found


@pytest.mark.parametrize(
    ("prompt", "text", "phrase", "placement", "replaced"),
    [
        ("a librarian", "a female librarian", "female", "before", ""),
        ("a librarian", "an old librarian", "old", "before", ""),
        ("a librarian", "a librarian who is happy", "who is happy", "after", ""),
        ("a librarian", "a librarian with a hearing aid", "with a hearing aid", "after", ""),
        ("a librarian in Paris", "a librarian in red in Paris", "in red", "after", ""),
        ("a librarian", "a nurse", "nurse", "before", "librarian"),
        ("a male librarian", "A female librarian.", "female", "before", "male"),
        ("a photo of a dog", "a painting of a dog", "painting", "before", "photo"),
        ("a photo of a dog", "a photo of a dog", "a photo of a dog", "before", ""),
    ],
)
def test_what_a_counterfactual_says_otherwise(prompt, text, phrase, placement, replaced) -> None:
    head = len(prompt.split()) - (3 if prompt.endswith("in Paris") else 1)
    found = find_difference(prompt, text, head)
    assert (found.phrase, found.placement, found.replaced) == (phrase, placement, replaced)


def test_other_subjects_are_asked_about_as_the_set_for_them_does() -> None:
    axes = derived(
        "a chair", color=["a red chair", "a blue chair"], age=["an old chair", "a new chair"]
    )
    assert axes.subject == "object"
    assert axes.axis("color").question == "What is the main color of the object?"
    assert axes.axis("age").question == "What is age in the image?"
    cat = derived("a cat", age=["a young cat", "an old cat"])
    assert cat.axis("age").question == "What is the age of the animal?"


def test_attributes_get_phrases_where_these_say_it() -> None:
    written = {
        "Gender bias": ["a male librarian", "A female librarian."],
        "emotion": ["a librarian who is happy", "a librarian who is sad"],
    }
    axes = derived("a librarian", **written)
    assert [axis.name for axis in axes.axes] == ["gender", "emotion"]
    assert axes.axis("gender").names == ("male", "female")
    assert axes.axis("gender").question == "What is the gender of the person in the image?"
    assert axes.axis("emotion").names == ("happy", "sad")
    assert axes.prompt is None
    assert axes.alpha == ALPHA
    assert (axes.subject, axes.gate) == ("person", "Is there a person in the image (yes or no)?")
    assert texts("a librarian", axes)["gender"] == ["a male librarian", "a female librarian"]
    assert texts("two nurses", axes)["emotion"] == [
        "two nurses who are happy",
        "two nurses who are sad",
    ]


def test_attributes_get_whole_prompts_where_no_phrase_says_it(tmp_path: Path) -> None:
    axes = derived("a [librarian]", occupation=["a nurse", "a doctor"], style=["a x y", "a y x"])
    assert axes.prompt == "a librarian"
    occupation = axes.axis("occupation")
    assert occupation.names == ("nurse", "doctor", "librarian")  # the prompt's own is one of them
    plan = plan_prompts("a [librarian]", axes)
    assert texts("a librarian", axes)["occupation"] == ["a nurse", "a doctor", "a librarian"]
    assert plan.fixed["occupation"] == "librarian"
    _, (asked, _) = questions_about(axes)
    assert asked.questions[0].captions == ("a nurse", "a doctor", "a librarian")
    with pytest.raises(InputError, match="written for 'a librarian' and fits no other prompt"):
        plan_prompts("a cook", axes)
    with pytest.raises(InputError, match="'occupation' has complete prompts"):
        joint_prompts("a librarian", axes.axes)
    file = tmp_path / "axes.yaml"
    file.write_text(as_yaml(axes, ["two\nlines"]), "utf-8")
    assert load_axis_set(str(file)) == axes
    file.write_text(file.read_text().replace("prompt: a librarian\nalpha", "alpha"))
    with pytest.raises(InputError, match="needs the set's own 'prompt'"):
        load_axis_set(str(file))


def test_what_the_prompt_says_is_an_attribute_too() -> None:
    axes = derived("a young librarian", age=["an old librarian", "a middle-aged librarian"])
    assert axes.axis("age").names == ("old", "middle-aged", "young")
    plan = plan_prompts("a young librarian", axes)
    assert plan.fixed == {"age": "young"}
    assert [one.text for one in plan.counterfactuals] == [
        "an old librarian",
        "a middle-aged librarian",
        "a young librarian",
    ]
    assert axes.prompt is None
    only_one = derived("a male librarian", gender=["a female librarian"])
    assert only_one.axis("gender").names == ("female", "male")


def test_what_says_nothing_is_left_out_and_said() -> None:
    axes, notes = derived_axes(
        "a librarian",
        {
            "gender": [
                "a male librarian",
                "a female librarian",
                "A male librarian.",
                "a librarian",
            ],
            "age": ["an old librarian"],
            "style": ["a librarian", "A librarian"],
        },
        "proposed",
    )
    assert axes is not None
    assert [axis.name for axis in axes.axes] == ["gender"]
    assert notes == (
        "axis 'gender': 2 of 4 counterfactuals left out because they repeat another one or "
        "the prompt",
        "axis 'age' left out: it offers no choice",
        "axis 'style' left out: it offers no choice",
    )
    assert derived_axes("a librarian", {"age": ["an old librarian"]}, "x")[0] is None
    assert derived_axes("a librarian", {}, "x") == (None, ())


@pytest.mark.parametrize(
    ("prompt", "subject", "gate"),
    [
        ("a dog", "animal", "Is there an animal in the image (yes or no)?"),
        ("a kitchen", "scene", "Does the image show a place (yes or no)?"),
        ("a chair", "object", "Is there an object in the image (yes or no)?"),
        ("a zorgle", "object", "Is there an object in the image (yes or no)?"),
    ],
)
def test_the_gate_is_that_of_the_kind(prompt: str, subject: str, gate: str) -> None:
    noun = prompt.split()[1]
    axes = derived(prompt, age=[f"a new {noun}", f"an old {noun}"])
    assert (axes.subject, axes.gate) == (subject, gate)


def test_names() -> None:
    assert bare_axis_name("Gender_Biases") == "gender"
    assert bare_axis_name("Socio-economic status bias") == "socio-economic-status"
    assert trim_phrase("with a hearing aid") == "hearing aid"
    assert trim_phrase("the") == "the"
    assert make_distinct(["a", "A", "unknown"]) == ["a", "A (2)", "unknown (2)"]
    axes = derived(
        "a cook", **{"Age": ["a x cook", "a y cook"], "age_bias": ["a z cook", "a q cook"]}
    )
    assert [axis.name for axis in axes.axes] == ["age", "age (2)"]
    assert axes.axis("age (2)").question == axes.axis("age").question


@pytest.mark.parametrize(
    "prompt",
    [
        *("a librarian", "A photo of a happy old nurse in Paris", "two programmers"),
        *(
            "an astronaut riding a horse",
            "a male librarian",
            "a dog",
            "a kitchen",
            "a chair",
            "a philanthropist",
        ),
    ],
)
def test_the_sandboxs_counterfactuals_come_out_word_for_word(prompt: str) -> None:
    said = conversation(load_language_model("sandbox"), prompt).value.root
    axes = derived(prompt, **said)
    made = texts(prompt, axes)
    assert {name: sorted(found) for name, found in made.items()} == {
        name: sorted(found) for name, found in said.items()
    }
    assert axes.prompt is None  # every one has a phrase, so that other prompts can have it


def test_the_conversation_is_the_papers() -> None:
    exchange = conversation(load_language_model("sandbox"), "a dog")
    asked = [turn["text"] for turn in exchange.transcript if turn["role"] == "user"]
    assert asked[0].startswith("For the image generation prompt, a dog, what are some of the axes")
    assert asked[1].startswith("Generate many counterfactuals for each axis.")
    assert asked[2].startswith("Convert these to a json dictionary")
    assert len(exchange.transcript) == 6


WORDS = st.text(st.characters(codec="utf-8"), max_size=30)


@pytest.mark.slow(reason="hundreds of random prompts")
@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(
        WORDS, st.lists(st.one_of(WORDS, WORDS.map("a {} librarian".format))), max_size=4
    )
)
def test_any_words_make_axes_that_can_be_planned(counterfactuals: dict[str, list[str]]) -> None:
    axes, _ = derived_axes("a librarian", counterfactuals, "proposed")
    if axes is None:
        return
    plan = plan_prompts("a librarian", axes)
    for axis in axes.axes:
        own = [one.text for one in plan.counterfactuals if one.axis == axis.name]
        assert len({one.casefold() for one in own}) == len(own) >= 2
    questions_about(axes)
