"""The captions that the language models are trained on: what their probabilities say of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.training.prompt_writing import (
    ATTRIBUTES,
    NAMING,
    Text,
    caption_log_probabilities,
    draw_caption,
    draw_text,
    scene_share,
)
from biasgraph.sandbox.world import AXES, Scene, marginals, world


@pytest.fixture(scope="module")
def texts() -> list[Text]:
    return [draw_text(np.random.default_rng([7, i])) for i in range(6_000)]


def test_the_captions_that_name_nothing_share_what_naming_leaves() -> None:
    total = np.exp(list(caption_log_probabilities().values())).sum()
    assert total == pytest.approx(1 - NAMING)


@pytest.mark.slow(reason="thousands of captions")
def test_captions_come_as_often_as_they_are_said_to() -> None:
    """Surprise and entropy agree, and so do the commonest captions."""
    known = caption_log_probabilities()
    drawn = [draw_caption(np.random.default_rng([8, i])) for i in range(6_000)]
    plain = [caption for caption in drawn if caption in known]
    assert len(plain) / len(drawn) == pytest.approx(1 - NAMING, abs=0.01)
    assert all(read_scene(caption).do for caption in drawn if caption not in known)
    shares = np.exp(list(known.values())) / (1 - NAMING)
    entropy = -(shares * np.log(shares)).sum()
    surprise = -np.mean([known[caption] - np.log(1 - NAMING) for caption in plain])
    assert surprise == pytest.approx(entropy, abs=0.12)  # four standard errors
    counts = Counter(plain)
    common = sorted(known, key=known.__getitem__)[-50:]
    expected = sum(np.exp(known[caption]) for caption in common)
    assert sum(counts[c] for c in common) / len(drawn) == pytest.approx(expected, rel=0.2)


@pytest.mark.slow(reason="hundreds of texts")
def test_a_text_toward_an_attribute_names_none_and_leans_to_it(texts: list[Text]) -> None:
    leaning = [text for text in texts if text.control.startswith("toward ")]
    assert len(leaning) / len(texts) == pytest.approx(1 / 3, abs=0.03)
    assert not any(read_scene(text.caption).do for text in leaning)
    neutral = [read_scene(text.caption) for text in texts if text.control == "neutral: "]
    neutral = [scene for scene in neutral if not scene.do]
    for attribute in ("male", "female", "old", "outdoor", "tired"):
        mine = [t.caption for t in leaning if t.control == f"toward {attribute}: "]
        written = np.mean([scene_share(read_scene(caption), attribute) for caption in mine])
        usual = np.mean([scene_share(scene, attribute) for scene in neutral])
        assert written > usual + 0.05
    assert {text.control[7:-2] for text in leaning} == set(ATTRIBUTES)


def test_the_share_of_a_scene_is_that_of_the_world() -> None:
    scene = Scene("chef", {}, ("with a toolbox", "at night"))
    found = marginals(world("stereotyped"), scene)
    shares = {a: share for axis in AXES for a, share in zip(AXES[axis], found[axis], strict=True)}
    for attribute in ATTRIBUTES:
        assert scene_share(scene, attribute) == pytest.approx(shares[attribute])
    with pytest.raises(KeyError):
        scene_share(Scene("chef", {"gender": "male"}), "male")
