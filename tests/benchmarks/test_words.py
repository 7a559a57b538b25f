"""The measurement of word influence against the sandbox's truths."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import words
from benchmarks.words_design import design, sets_of
from benchmarks.words_realised import answer_counts, read
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS

REALISED = Path(words.HERE) / "words_realised.csv"


def test_the_design_uses_every_occupation_and_phrase() -> None:
    prompts = design()
    assert [one.occupation for one in prompts] == list(OCCUPATIONS)
    assert Counter(phrase for one in prompts for phrase in one.contexts).keys() == CONTEXTS.keys()
    assert all(len(set(one.contexts)) == 2 for one in prompts)
    first = prompts[0]
    assert first.without(first.occupation).startswith("a person in a laboratory")
    assert first.without("in a laboratory") == "a computer programmer holding a trophy"


def test_every_set_of_the_design_was_drawn() -> None:
    counts = read(REALISED)
    assert {(model, prompt) for model, prompt, _ in counts} == {
        (f"sandbox:{name}", prompt) for name in words.WORLDS for prompt in sets_of(design())
    }
    for (_, _, axis), (images, *shown, unknown) in counts.items():
        assert len(shown) == len(AXES[axis]) and sum(shown) + unknown == images >= 2000


def test_the_planted_truth_of_a_phrase_that_shifts_nothing_is_zero() -> None:
    prompt = next(one for one in design() if "after a big meal" in one.contexts)
    place = prompt.units.index("after a big meal")
    pair = words.Pair("sandbox:debiased", prompt, "gender")
    assert pair.planted()[place] == pytest.approx(0)
    moved = words.Pair("sandbox:debiased", prompt, "bodytype").planted()
    assert moved.argmax() == place and moved[place] > 0.2


def test_more_images_rank_as_the_realised_truth_does() -> None:
    rng, counts = np.random.default_rng(0), read(REALISED)
    pairs = [words.Pair("sandbox:stereotyped", one, "age") for one in design()]
    right = {images: 0 for images in (10, 5000)}
    for pair in pairs:
        shares = pair.realised(counts)
        truth = words.influence(shares).argmax()
        for images in right:
            right[images] += int(words.sampled(shares, images, rng).argmax() == truth)
    assert right[5000] >= 23 > right[10]


def test_counts_are_of_all_images() -> None:
    counted = answer_counts("sandbox:debiased", design()[0].text, 0, 4)
    assert all(images == 4 and sum(rest) == 4 for images, *rest in counted.values())
