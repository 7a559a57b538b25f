"""Variations of a prompt: what they say of its subject, and what a language model is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest
from pydantic import BaseModel, ValidationError

from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.methods.base import Media
from biasgraph.methods.minethegap import Score, Varying, find_missed
from biasgraph.methods.variations import conversation, propose_prompts, read_attributes, variations
from biasgraph.models.base import Message, Setting
from biasgraph.prompts.counterfactuals import Prompt
from biasgraph.prompts.mining_target import MiningTarget
from biasgraph.runs.transcripts import key_of

OCCUPATION = load_axis_set("occupation")


@dataclass
class Somebody:
    """A language model that is not asked."""

    spec: str = "s"
    fingerprint: str = "f"
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def reply(self, messages: Sequence[Message], schema: object = None) -> str:
        raise AssertionError


def other(text: str) -> Prompt:
    return Prompt(text, "other")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a photo of an old female doctor", {"gender": "female", "age": "old"}),
        ("a photo of a doctor in a white lab coat", {}),
        ("a photo of a doctor in a clinic", {"environment": "indoor"}),
        ("a photo of a doctor who is happy", {"emotion": "happy"}),
        ("an angry doctor", {}),  # a word of the axis that is none of its attributes
        ("everything, everywhere", {}),
    ],
)
def test_words_about_the_subject_are_read(text: str, expected: dict[str, str]) -> None:
    assert read_attributes(OCCUPATION, other(text), "a photo of a doctor") == expected


def test_what_the_prompt_says_itself_is_not_varied() -> None:
    assert read_attributes(OCCUPATION, other("a young woman reading"), "a woman reading") == {
        "age": "young"
    }


def test_a_combination_is_known() -> None:
    texts = variations("a nurse", OCCUPATION, ("gender", "age"))
    assert read_attributes(OCCUPATION, texts[0], "a nurse") == {"gender": "male", "age": "young"}


def test_the_meta_prompts_are_those_of_the_paper() -> None:
    messages, form = conversation("a doctor", 3)
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].text.startswith("Generate 3 diverse, short and concise variations")
    assert '"a doctor"' in messages[1].text
    with pytest.raises(ValidationError, match="at least 3 items"):
        form.model_validate({"variations": ["a", "b"]})
    with pytest.raises(ValidationError, match="twice"):
        form.model_validate({"variations": ["a", "b", "A"]})
    form.model_validate({"variations": ["a", "b", "c", "d"]})


def test_the_conversation_of_a_run_stays_what_it_was() -> None:
    """Other words would have language models asked again in every run that there is."""
    messages, form = conversation("a doctor", 3)
    asked = [[turn.role, turn.text] for turn in messages]
    assert key_of(Somebody(), asked, form.model_json_schema()) == (
        "13fe9f9a6aa6209f4a7116239bd7226f52120664f9fc2122ce0c3ef3f2df3040"
    )


def test_a_target_asks_in_its_own_words() -> None:
    target = MiningTarget.of("style")
    (system, user), form = conversation("a doctor", 3, target)
    assert system.text == target.system
    assert user.text == target.variations_of("a doctor", 3)
    assert form is conversation("a doctor", 3)[1]


def test_variations_are_asked_for_as_the_target_has_it() -> None:
    asked: list[str] = []

    class Asked:
        def propose(self, task: str, messages: Sequence[Message], form: type[BaseModel]) -> object:
            asked.append(messages[-1].text)
            return form.model_validate({"variations": ["a", "b"]})

    media = cast(Media, Asked())
    for name in ("open", "style"):
        varying = Varying(OCCUPATION, count=2, target=MiningTarget.of(name))
        assert [one.text for one in varying.texts("a [doctor]", media)] == ["a", "b"]
        assert asked[-1] == MiningTarget.of(name).variations_of("a doctor", 2)


def test_more_than_was_asked_for_is_cut() -> None:
    assert [one.text for one in propose_prompts(["a", "b", "c"], 2)] == ["a", "b"]


def test_whole_prompts_of_one_axis_are_its_variations() -> None:
    axes = AxisSet.model_validate(
        {
            "name": "x",
            "subject": "person",
            "gate": "Is there a person?",
            "prompt": "a librarian",
            "axes": [
                {
                    "name": "job",
                    "question": "Which job (nurse, cook)?",
                    "attributes": [
                        {"name": "nurse", "phrase": "nurse", "prompt": "a nurse",
                         "placement": "before"},
                        {"name": "cook", "phrase": "cook", "prompt": "a cook",
                         "placement": "before"},
                    ],
                }
            ],
        }
    )  # fmt: skip
    varying = Varying.of(axes, {})
    assert varying.vary == ("job",)
    assert [one.text for one in varying.texts("a librarian")] == ["a nurse", "a cook"]


def test_a_quarter_is_missed() -> None:
    import numpy as np

    best = np.array([0.5, 0.1, 0.4, 0.2, 0.3])
    assert find_missed(Score(1.0, best, best)) == [1, 3]
    assert find_missed(Score(1.0, best[:1], best)) == [0]
