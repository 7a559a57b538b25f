"""E-processes: what they are worth without an effect, and e-BH."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biasgraph.causal.e_process import e_bh, log_e, log_e_values
from biasgraph.causal.tables import UNKNOWN, CodedImages
from tests.causal.worlds import variables


def test_two_blocks_by_hand() -> None:
    # Before the first block both arms are uniform; then (1.5, .5) / 2 and (.5, 1.5) / 2, mean 1/2.
    found = log_e([np.array([0, 0], np.int16), np.array([1, 1], np.int16)], 2)
    assert np.exp(found) == pytest.approx([1.0, (0.75 / 0.5) ** 2])


@pytest.mark.slow(reason="hundreds of draws")
def test_the_mean_of_an_e_value_without_effect_is_one() -> None:
    rng = np.random.default_rng(0)
    drawn = (rng.random((20_000, 2, 6)) < 0.3).astype(np.int16)
    values = np.exp([log_e(list(arms), 2)[-1] for arms in drawn])
    assert values.mean() == pytest.approx(1, abs=4 * values.std() / np.sqrt(len(values)))


def test_whoever_watches_every_image_is_fooled_no_more_often_than_alpha() -> None:
    rng = np.random.default_rng(1)
    best = [
        log_e(list(rng.choice(3, p=[0.7, 0.2, 0.1], size=(3, 200)).astype(np.int16)), 3).max()
        for _ in range(1_000)
    ]
    assert np.mean(np.array(best) >= np.log(1 / 0.05)) <= 0.05


def test_only_valid_answers_count_and_prompts_are_multiplied() -> None:
    arms = {(0, 0): [[0, 0], [0, UNKNOWN], [0, 0]], (0, 1): [[1, 1], [1, 1], [1, 0]]}
    coded = CodedImages(
        "a nurse",
        variables(2, 2),
        np.zeros((1, 2), np.int16),
        {arm: np.array(codes, np.int16) for arm, codes in arms.items()},
    )
    own = log_e_values([coded], 0, 1)
    assert own == pytest.approx(log_e([np.array([0, 0]), np.array([1, 1, 0])], 2))
    assert log_e_values([coded, coded], 0, 1) == pytest.approx(2 * own)
    assert len(log_e_values([replace(coded, arms={})], 0, 1)) == 0


def test_e_bh_by_hand() -> None:
    values = np.log([1000.0, 70.0, 50.0, 1.0])
    # 4 / (.05 r): 80, 40, 26.7, 20.
    assert e_bh(values.tolist(), 0.05) == [True, True, True, False]
    assert e_bh(np.log([79.0, 1.0, 1.0, 1.0]).tolist(), 0.05) == [False] * 4
    assert e_bh([], 0.05) == []
