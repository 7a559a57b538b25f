"""The expected best against every subset, and Student's interval against scipy's."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import t

from biasgraph.causal.best_of import expected_best, mean_interval

SCORES = [0.3, 0.1, 0.7, 0.7, 0.5]


@pytest.mark.parametrize(("lower", "best"), [(True, min), (False, max)])
def test_the_expected_best_is_the_mean_over_all_subsets(lower: bool, best) -> None:
    expected = [np.mean([best(some) for some in combinations(SCORES, k)]) for k in range(1, 6)]
    np.testing.assert_allclose(expected_best(SCORES, lower=lower), expected, rtol=1e-12)


def test_the_expected_best_of_many_stays_in_range() -> None:
    scores = np.random.default_rng(0).random(2000)
    found = expected_best(scores, lower=True)
    assert found[0] == pytest.approx(scores.mean()) and found[-1] == pytest.approx(scores.min())
    assert (np.diff(found) <= 1e-12).all()


def test_the_interval_of_a_mean() -> None:
    mean, low, high = mean_interval(SCORES)
    expected = t.interval(0.95, 4, np.mean(SCORES), np.std(SCORES, ddof=1) / 5**0.5)
    assert (low, high) == pytest.approx(expected) and mean == pytest.approx(0.46)
    assert mean_interval([]) == (None, None, None)
    assert mean_interval([0.3]) == (0.3, None, None)
    assert mean_interval([0.5, 0.5, 0.5]) == (0.5, None, None)
