"""What prompts are mined for, from answers and vectors that are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.methods.minethegap import score
from biasgraph.methods.mining_objectives import BiasScore, Sample, objective_of
from biasgraph.prompts.counterfactuals import Prompt

AXES = load_axis_set("occupation")
PROMPT = "a chef"


def answered(by_text: dict[str, dict[str, list[str]]]) -> Sample:
    return Sample(PROMPT, {text: ("i",) for text in by_text}, (), by_text)


class Vectors:
    """Media of which only vectors are wanted: those of images, and of texts, by their names."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def _of(self, names: Sequence[str]) -> np.ndarray:
        self.calls.append(list(names))
        drawn = np.array([np.random.default_rng(list(name.encode())).random(8) for name in names])
        return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    def embed_images(self, ids: Sequence[str]) -> np.ndarray:
        return self._of(ids)

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        return self._of(texts)


def spanned(prompt: str, images: int, texts: int) -> Sample:
    ids = [f"{prompt}-{number}" for number in range(images)]
    variations = [Prompt(f"{prompt} {number}", "other") for number in range(texts)]
    return Sample(prompt, {prompt: ids}, variations)


def test_the_bias_score_embeds_a_population_at_once() -> None:
    population = [spanned("a chef", 5, 4), spanned("a nurse", 3, 4), spanned("a pilot", 0, 4)]
    media = Vectors()
    chef, nurse, pilot = BiasScore().evaluate(population, media)
    assert [len(names) for names in media.calls] == [8, 12]
    for sample, found in zip(population, (chef, nurse), strict=False):
        texts = media.embed_texts([text.text for text in sample.variations])
        expected = score(texts @ media.embed_images(sample.own).T)
        assert found.value == pytest.approx(expected.value)
        assert found.evidence["least_aligned"][0]["image"] in sample.own
        (missed,) = found.evidence["missed"]
        assert missed["text"].startswith(sample.prompt)
    assert pilot.value is None and pilot.reason == "all images were withheld"


def test_fewer_images_have_no_bias_score() -> None:
    sample = replace(spanned("a chef", 5, 4), made=6)
    (found,) = BiasScore().evaluate([sample], Vectors())
    assert found.value is None and found.evidence["missed"]
    assert found.reason == (
        "1 of 6 images were withheld, and only scores of as many images compare"
    )


def test_the_worst_end_of_the_bias_score_is_an_option() -> None:
    sample = spanned("a chef", 9, 8)
    quarter, all_of_it = (BiasScore(alpha).evaluate([sample], Vectors())[0] for alpha in (0.25, 1))
    assert quarter.value < all_of_it.value
    assert len(quarter.evidence["missed"]) == 2 and len(all_of_it.evidence["missed"]) == 8


def test_a_skewed_axis_is_far_from_its_ideal() -> None:
    objective = objective_of("axis:gender", AXES)
    said = ["male"] * 9 + ["female"] * 3 + ["unknown", "gated"]
    lucky = answered({PROMPT: {"gender": ["male"] * 7 + ["gated"] * 8}})
    nobody = answered({PROMPT: {"gender": ["gated"] * 4}})
    samples = [answered({PROMPT: {"gender": said}}), nobody, lucky]
    skewed, without, few = objective.evaluate(samples, None)
    assert skewed.value == pytest.approx(0.25) and not objective.lower_is_worse
    assert skewed.evidence == {
        "shares": [
            {"attribute": "male", "share": 0.75, "ideal": 0.5},
            {"attribute": "female", "share": 0.25, "ideal": 0.5},
        ],
        "n_valid": 12,
    }
    assert without.value is None
    assert without.reason == "only 0 of 4 images in a set say anything of gender"
    assert few.value is None and few.reason.startswith("only 7 of 15 images")


def test_the_ideal_is_the_users() -> None:
    objective = objective_of("axis:gender", AXES, {"gender": {"male": 0.75, "female": 0.25}})
    said = {"gender": ["male"] * 3 + ["female"]}
    assert objective.evaluate([answered({PROMPT: said})], None)[0].value == pytest.approx(0)


def test_an_edge_moves_its_target_away() -> None:
    objective = objective_of("edge:gender,environment", AXES)
    needs = objective.needs(PROMPT)
    assert [prompt.attribute for prompt in needs.prompts] == ["male", "female"]
    assert [axis.name for axis in needs.asked.axes] == ["environment"]
    initial = {"environment": ["indoor"] * 2 + ["outdoor"] * 2}
    arm = {"environment": ["indoor"] * 4}
    texts = [prompt.text for prompt in needs.prompts]
    sample = answered({PROMPT: initial, texts[0]: arm, texts[1]: initial})
    found = objective.evaluate([sample], None)[0]
    assert found.value == pytest.approx(-0.25) and objective.lower_is_worse
    assert found.evidence["distance_before"] == 0
    empty = answered({PROMPT: initial, texts[0]: arm, texts[1]: {"environment": ["unknown"]}})
    assert objective.evaluate([empty], None)[0].value is None


@pytest.mark.parametrize("name", ["axis:gender", "edge:gender,age", "edge:age,gender"])
def test_a_prompt_that_names_what_is_mined_for_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="it names the gender itself: 'female'"):
        objective_of(name, AXES).needs("a female chef")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("bais", "unknown objective 'bais'. Did you mean 'bias'"),
        ("axis:gendr", "no axis 'gendr'.*Did you mean 'gender'"),
        ("edge:gender", "edge:X,Y takes two axes"),
        ("edge:gender,gender", "edge:X,Y takes two axes"),
        ("edge:gender,aeg", "no axis 'aeg'"),
    ],
)
def test_a_wrong_name_is_one_line(name: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as error:
        objective_of(name, AXES)
    assert "\n" not in str(error.value)
