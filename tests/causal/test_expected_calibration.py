"""Expected calibration error: by hand, at its ends, and for what is drawn as it says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.causal.expected_calibration import expected_calibration_error


def test_by_hand() -> None:
    # Two bins: .6 and .9, right in 1 of 2 and in 1 of 1.
    probabilities = np.array([[0.6, 0.4], [0.4, 0.6], [0.1, 0.9]])
    labels = np.array([0, 0, 1])
    expected = 2 / 3 * abs(0.5 - 0.6) + 1 / 3 * abs(1.0 - 0.9)
    assert expected_calibration_error(probabilities, labels) == pytest.approx(expected)


def test_sure_and_right_is_0_and_sure_and_wrong_is_1() -> None:
    sure = np.eye(3)
    assert expected_calibration_error(sure, np.array([0, 1, 2])) == 0
    assert expected_calibration_error(sure, np.array([1, 2, 0])) == 1


def test_what_is_drawn_as_it_says_is_calibrated() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet([1, 1, 1], size=20_000)
    labels = np.array([rng.choice(3, p=row) for row in probabilities])
    assert expected_calibration_error(probabilities, labels) < 0.02
    sharper = probabilities**4 / (probabilities**4).sum(axis=1, keepdims=True)
    assert expected_calibration_error(sharper, labels) > 0.1


@given(st.integers(1, 30), st.integers(2, 5), st.integers(0, 1000))
def test_it_lies_between_0_and_1(n: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = expected_calibration_error(rng.dirichlet([1] * k, size=n), rng.integers(0, k, n))
    assert 0 <= found <= 1
