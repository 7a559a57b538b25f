"""The test of the initial images against the mixture that is used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.shift import shift_p
from biasgraph.causal.stratified import stratified_independence

EQUAL, POOLED = AnalysisSettings(), AnalysisSettings(mix="pooled")


def shift(
    start: Sequence[Sequence[int]],
    arms: Sequence[Sequence[Sequence[int]]],
    settings: AnalysisSettings = EQUAL,
    *,
    stratified: bool = False,
    seed: int = 0,
) -> float | None:
    """Of (P, k) initial answers and (P, J, k) answers of the arms."""
    rng = np.random.default_rng(seed)
    return shift_p(np.array(start), np.array(arms), settings, rng, stratified=stratified)


def chi2(*rows: Sequence[int]) -> float:
    return float(chi2_contingency(np.array(rows), correction=False).pvalue)


def test_equal_arms_are_summed() -> None:
    expected = chi2([30, 18], [87, 9])
    assert shift([[30, 18]], [[[44, 4], [43, 5]]]) == pytest.approx(expected)
    assert shift([[30, 18]], [[[44, 4], [43, 5]]], POOLED) == pytest.approx(expected)


def test_arms_within_a_tenth_are_summed_too() -> None:
    assert shift([[30, 18]], [[[44, 4], [40, 4]]]) == pytest.approx(chi2([30, 18], [84, 8]))


def test_unequal_arms_are_cut_to_one_size_unless_they_are_pooled() -> None:
    start, arms = [[40, 32]], [[[48, 0], [0, 24]]]
    assert shift(start, arms) == pytest.approx(chi2([40, 32], [24, 24]))
    assert shift(start, arms, POOLED) == pytest.approx(chi2([40, 32], [48, 24]))


def test_the_images_that_are_kept_are_drawn_by_the_seed() -> None:
    given = [[30, 18]], [[[40, 8], [14, 10]]]
    assert shift(*given, seed=1) == shift(*given, seed=1)
    drawn = {shift(*given, seed=seed) for seed in range(20)}
    # 24 images of each: 14 of the smaller arm, and between 16 and 24 of the larger one.
    possible = [chi2([30, 18], [14 + one, 34 - one]) for one in range(16, 25)]
    assert len(drawn) > 1
    assert all(any(p == pytest.approx(one) for one in possible) for p in drawn)


def test_nothing_on_either_side_is_no_test() -> None:
    assert shift([[0, 0]], [[[24, 24], [24, 24]]]) is None
    assert shift([[24, 24]], [[[0, 0], [0, 0]]]) is None
    # An arm without answers is nothing that others could be cut down to.
    assert shift([[24, 24]], [[[24, 24], [0, 0]]]) is None
    assert shift([[24, 24]], [[[24, 24], [0, 0]]], POOLED) == pytest.approx(1)


def test_one_answer_everywhere_cannot_differ() -> None:
    assert shift([[48, 0]], [[[48, 0], [48, 0]]]) == 1


def test_prompts_that_lack_an_arm_do_not_count_where_arms_are_cut() -> None:
    """Their initial images would stand against other prompts' arms."""
    start = [[24, 24], [48, 0]]
    arms = [[[24, 24], [24, 24]], [[48, 0], [0, 0]]]
    assert shift(start, arms) == pytest.approx(1)
    assert shift(start, arms, stratified=True) == pytest.approx(1)
    only = shift([[40, 8]], [[[24, 24], [24, 24]]], stratified=True)
    both = shift([[40, 8], [48, 0]], [[[24, 24], [24, 24]], [[48, 0], [0, 0]]], stratified=True)
    assert both == pytest.approx(only)


def test_within_prompts_their_differences_do_not_count() -> None:
    """Half as many arms' images in one of two opposite prompts: no shift in either."""
    start = [[44, 4], [4, 44]]
    arms = [[[22, 2], [22, 2]], [[4, 44], [4, 44]]]
    assert shift(start, arms, stratified=True) == pytest.approx(1)
    assert shift(start, arms) < 0.05


def test_several_prompts_are_tested_as_tables_are() -> None:
    start = np.array([[30, 18], [20, 28]])
    arms = np.array([[[40, 8], [40, 8]], [[30, 18], [28, 20]]])
    both = np.stack([start, arms.sum(axis=1)], axis=1)
    rng = np.random.default_rng(0)
    expected = stratified_independence(both, EQUAL, rng, 0.05).p
    assert shift(start.tolist(), arms.tolist(), stratified=True) == pytest.approx(expected)
    summed = shift(start.tolist(), arms.tolist())
    assert summed == pytest.approx(chi2(*both.sum(axis=0).tolist()))


def rejections(settings: AnalysisSettings, audits: int = 400) -> float:
    """Share of audits where unequal arms mix evenly to what the initial images are, and p <= .05.

    True shares .9 and .1, of 48 and 24 images; the initial ones .5.
    """
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(audits):
        start = rng.multinomial(48, [0.5, 0.5])[None]
        arms = np.stack([rng.multinomial(48, [0.9, 0.1]), rng.multinomial(24, [0.1, 0.9])])[None]
        p = shift_p(start, arms, settings, rng, stratified=False)
        found += p is not None and p <= 0.05
    return found / audits


@pytest.mark.slow(reason="hundreds of audits")
def test_unequal_arms_keep_the_level_of_their_even_mixture() -> None:
    margin = 2 * np.sqrt(0.05 * 0.95 / 400)
    assert rejections(EQUAL) <= 0.05 + margin
    # The pooled answers are of another mixture, at .63: the wrong null.
    assert rejections(POOLED) > 0.15
