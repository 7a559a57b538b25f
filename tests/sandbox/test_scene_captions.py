"""The sandbox's language: what is written is read back, and the words are all known."""

from __future__ import annotations

import re

import numpy as np
import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.prompts.counterfactuals import plan_prompts
from biasgraph.sandbox.scene_captions import EMPTY_SCENES, read_scene, vocabulary
from biasgraph.sandbox.training.caption_writing import random_scene, write
from biasgraph.sandbox.training.data import NOBODY, draw_pictures
from biasgraph.sandbox.training.drawing import draw_empty, draw_person
from biasgraph.sandbox.world import AXES, OCCUPATIONS, Scene


def test_a_written_scene_is_read_back() -> None:
    rng = np.random.default_rng(3)
    for _ in range(2000):
        scene = random_scene(rng)
        caption = write(scene, rng)
        assert read_scene(caption) == scene, caption
        assert set(re.findall(r"\w+", caption)) <= vocabulary()


@pytest.mark.parametrize("occupation", OCCUPATIONS)
def test_the_shipped_counterfactuals_are_understood(occupation: str) -> None:
    article = "an" if occupation[0] in "aeiou" else "a"
    plan = plan_prompts(f"A photo of {article} {occupation}", load_axis_set("occupation"))
    assert read_scene(plan.initial.text) == Scene(occupation)
    for prompt in plan.counterfactuals:
        assert read_scene(prompt.text) == Scene(occupation, {prompt.axis: prompt.attribute}), prompt


def test_a_prompt_about_nobody_is_refused() -> None:
    with pytest.raises(InputError, match="does not know the subject"):
        read_scene("a bowl of fruit")


def test_pictures_depend_on_seed_and_place_alone() -> None:
    few, many = draw_pictures("stereotyped", 20, 7), draw_pictures("stereotyped", 40, 7)
    assert few.captions == many.captions[:20]
    assert np.array_equal(few.images, many.images[:20])
    other = draw_pictures("stereotyped", 20, 8)
    assert not np.array_equal(few.images, other.images)


def test_pictures_hold_what_their_captions_reveal() -> None:
    pictures = draw_pictures("debiased", 300, 9)
    assert (pictures.occupation == NOBODY).any()
    for i, caption in enumerate(pictures.captions):
        if pictures.occupation[i] == NOBODY:
            assert (pictures.shown[i] == NOBODY).all()
            continue
        scene = read_scene(caption)
        for j, (axis, attributes) in enumerate(AXES.items()):
            assert pictures.revealed[i, j] == (axis in scene.do)
            if axis in scene.do:
                assert attributes[pictures.shown[i, j]] == scene.do[axis]


PERSON = {axis: attributes[0] for axis, attributes in AXES.items()}


@pytest.mark.parametrize(
    ("axis", "first", "second"),
    [
        (axis, first, second)
        for axis, attributes in AXES.items()
        for first in attributes
        for second in attributes
        if first < second
    ],
)
def test_every_attribute_has_a_large_cue(axis: str, first: str, second: str) -> None:
    pictures = [
        np.asarray(draw_person({**PERSON, axis: value}, "chef", (), np.random.default_rng(1)))
        for value in (first, second)
    ]
    difference = np.abs(pictures[0].astype(int) - pictures[1]).max(axis=2)
    assert (difference > 60).sum() >= 60  # of 4,096 pixels


def test_occupations_and_empty_scenes_look_different() -> None:
    rng = np.random.default_rng
    badges = {draw_person(PERSON, job, (), rng(1)).tobytes() for job in OCCUPATIONS}
    empty = {draw_empty(what, rng(1)).tobytes() for what in EMPTY_SCENES}
    assert len(badges) == len(OCCUPATIONS)
    assert len(empty) == len(EMPTY_SCENES)
