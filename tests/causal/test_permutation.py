"""Do arms differ in what is said about their images?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from biasgraph.causal.permutation import Stratum, permutation_test


def stratum(*arms: list[list[int]]) -> Stratum:
    """The words of every image, arm by arm."""
    places = np.repeat(np.arange(len(arms)), [len(arm) for arm in arms])
    return Stratum(np.array([image for arm in arms for image in arm]), places)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_the_statistic_is_that_of_the_table_of_words() -> None:
    found = permutation_test(
        [stratum([[2, 0, 1], [1, 0, 0], [1, 1, 0]], [[0, 1, 0], [0, 2, 1], [0, 1, 1]])], rng()
    )
    table = np.array([[4, 1, 1], [0, 4, 2]])
    assert found is not None
    expected = chi2_contingency(table, correction=False).statistic
    assert found.statistic == pytest.approx(expected)
    assert found.v == pytest.approx(np.sqrt(expected / 12))
    assert found.n == 6


def test_p_counts_the_ways_to_give_images_arms() -> None:
    """Of the 20 ways to give three of six images one arm, 2 separate them so."""
    found = permutation_test([stratum([[3, 0]] * 3, [[0, 1]] * 3)], rng(), 19_999)
    assert found is not None
    assert found.p == pytest.approx(2 / 20, abs=0.01)
    assert found.v == pytest.approx(1)
    with_everything_the_same = permutation_test([stratum([[1, 1]] * 3, [[1, 1]] * 3)], rng())
    assert with_everything_the_same is not None
    assert with_everything_the_same.p == 1
    assert with_everything_the_same.v == pytest.approx(0)


def test_words_that_go_together_do_not_count_twice() -> None:
    """Several words an image: the count table rejects far too often, permuted images do not."""
    draw = np.random.default_rng(7)
    permuted = counted = 0
    for _ in range(300):
        kinds = draw.integers(0, 2, 48)
        words = np.where(kinds[:, None] == 1, [3, 0], [0, 3])
        arms = np.repeat([0, 1, 2], 16)
        found = permutation_test([Stratum(words, arms)], draw, 199)
        assert found is not None
        permuted += found.p <= 0.05
        table = np.array([words[arms == arm].sum(axis=0) for arm in range(3)])
        counted += chi2_contingency(table, correction=False).pvalue <= 0.05
    assert permuted / 300 == pytest.approx(0.05, abs=0.035)
    assert counted / 300 > 0.15


def test_images_change_places_within_their_prompt_only() -> None:
    """Two prompts that talk of different things, and whose arms do not differ."""
    cook = stratum([[1, 0], [0, 1]] * 4, [[1, 0], [0, 1]] * 4)
    nurse = stratum([[0, 1], [1, 0]] * 8, [[0, 1], [1, 0]] * 8)
    found = permutation_test([cook, nurse], rng())
    assert found is not None
    assert found.p == 1
    assert found.n == 48


@pytest.mark.parametrize(
    "strata",
    [
        [],
        [stratum([[1, 1], [1, 0]])],  # one arm
        [stratum([[1], [1]], [[1], [0]])],  # one word
        [stratum([[1, 0], [1, 0]], [[1, 1], [1, 0]])],  # a word of one image
        [stratum([[1, 1], [1, 1]], [[0, 0], [0, 0]])],  # nothing is said about one arm
        [stratum([[0, 0]], [[0, 0]])],
    ],
)
def test_nothing_to_compare(strata: list[Stratum]) -> None:
    assert permutation_test(strata, rng()) is None


def test_an_arm_about_which_nothing_is_said_is_left_out() -> None:
    both = stratum([[1, 0]] * 3, [[0, 1]] * 3)
    three = stratum([[1, 0]] * 3, [[0, 0]] * 3, [[0, 1]] * 3)
    assert permutation_test([three], rng()) == permutation_test([both], rng())
