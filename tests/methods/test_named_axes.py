"""Which prompts name an axis."""

from __future__ import annotations

import itertools

import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.methods.named_axes import names_axis
from biasgraph.sandbox.world import CONTEXTS, OCCUPATIONS

AXES = load_axis_set("occupation")


def test_no_plain_prompt_of_the_sandbox_names_an_axis() -> None:
    for who, context in itertools.product((*OCCUPATIONS, "person"), ("", *CONTEXTS)):
        prompt = f"A photo of a person working as a {who} {context}"
        assert [axis.name for axis in AXES.axes if names_axis(prompt, axis)] == [], prompt


@pytest.mark.parametrize(
    ("prompt", "axes"),
    [
        ("a male librarian", ["gender"]),
        ("a person with her toolbox", ["gender"]),
        ("a librarian and HIS books", ["gender"]),
        ("a doctor who teaches herself", ["gender"]),
        ("the fault was hers", ["gender"]),
        ("a businesswoman", ["gender"]),
        ("two elderly nurses", ["age"]),
        ("a boy", ["gender", "age"]),
        ("people of any gender", ["gender"]),
        ("a man in formal attire", ["gender", "clothing"]),
        ("a person and their dog", []),
        ("a manager at a mansion", []),
        ("", []),
    ],
)
def test_words_of_an_axis_name_it(prompt: str, axes: list[str]) -> None:
    assert [axis.name for axis in AXES.axes if names_axis(prompt, axis)] == axes


def test_pronouns_name_no_axis_that_does_not_tell_the_sexes() -> None:
    animals = load_axis_set("animal")
    assert not any(names_axis("a dog and her ball", axis) for axis in animals.axes)
