"""Intervals of one number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from biasgraph.causal.intervals import Interval, is_flat, wilson


@given(st.lists(st.integers(0, 60), min_size=1, max_size=6).filter(any))
def test_share_intervals_are_wilsons(counts: list[int]) -> None:
    found = wilson(np.array(counts), sum(counts))
    n = sum(counts)
    for count, interval in zip(counts, found, strict=True):
        assert (wilson(count, n) == interval).all()
        scipys = binomtest(count, n).proportion_ci(0.95, method="wilson")
        assert interval == pytest.approx([scipys.low, scipys.high], abs=1e-9)
        statsmodels = proportion_confint(count, n, method="wilson")
        assert interval == pytest.approx(statsmodels, abs=1e-9)


def test_undefined_replicates_are_left_out() -> None:
    draws = np.linspace(0.4, 0.8, 1001)
    known = Interval.of(0.5, draws)
    assert Interval.of(0.5, np.append(draws, [np.nan, np.inf])) == known


def test_a_distance_is_never_below_0() -> None:
    interval = Interval.of(0.1, np.linspace(0, 0.5, 101))
    assert interval.hull[0] < 0
    assert interval.distance == (0.0, interval.hull[1])


def test_equal_replicates_are_flat() -> None:
    assert is_flat(np.array([0.1, 0.1 + 1e-16, 0.1]))
    assert not is_flat(np.array([0.1, 0.1, 0.2]))
