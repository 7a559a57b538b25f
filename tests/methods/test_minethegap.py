"""MineTheGap's score: hand-computed values, and the variations it is taken over."""

from __future__ import annotations

import numpy as np
import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.methods import minethegap, variations


def test_the_order_statistic_is_the_fourth_of_fifteen() -> None:
    values = np.random.default_rng(0).permutation(np.arange(1.0, 16))
    assert minethegap.lower_percentile(values) == 4
    assert minethegap.lower_percentile(values[:1]) == values[0]
    assert minethegap.lower_percentile(np.array([3.0, 1, 2, 4])) == 1  # ceil(.25 * 4) = 1
    assert minethegap.lower_percentile(np.array([5.0, 3, 1, 2, 4])) == 2


def test_score_of_a_small_matrix() -> None:
    similarity = np.array([[0.9, 0.1, 0.2], [0.3, 0.8, 0.2]])
    found = minethegap.score(similarity)
    assert found.best_image.tolist() == [0.9, 0.8]
    assert found.best_text.tolist() == [0.9, 0.8, 0.2]
    # the lowest of two is .8, the lowest of three is .2, the mean is 2.5 / 6
    assert found.value == pytest.approx((0.8 + 0.2) / 2 / (2.5 / 6))


def test_one_image_and_one_variation() -> None:
    assert minethegap.score(np.array([[0.25]])).value == 1


@pytest.mark.parametrize("mean", [0.0, -0.2])
def test_a_mean_that_is_not_positive_gives_no_score(mean: float) -> None:
    assert minethegap.score(np.full((2, 2), mean)).value is None


def test_variations_are_all_combinations() -> None:
    axes = load_axis_set("occupation")
    texts = variations.variations("a nurse", axes, ("gender", "age"))
    assert len(texts) == 6
    assert {(text.axis, text.attribute) for text in texts} == {
        ("gender + age", f"{gender} + {age}")
        for gender in ("male", "female")
        for age in axes.axis("age").names
    }
    assert "a young male nurse" in [text.text for text in texts]


def test_too_many_variations_are_refused_with_their_number() -> None:
    axes = load_axis_set("occupation")
    with pytest.raises(InputError, match=r"gives 72 variations, more than 64"):
        variations.variations("a nurse", axes, ("gender", "age", "ethnicity", "clothing"))
    with pytest.raises(InputError, match="Did you mean 'gender'"):
        variations.variations("a nurse", axes, ("gendr",))


def test_the_usual_axes() -> None:
    axes = load_axis_set("occupation")
    assert variations.usual_axes(axes) == ("gender", "ethnicity")
    assert variations.usual_axes(axes.only(["age", "clothing"])) == ("age",)
