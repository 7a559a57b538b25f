"""Intervals of one number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from biasgraph.causal.intervals import Interval, wilson


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


def test_a_number_stays_in_its_range() -> None:
    interval = Interval.of(0.45, np.linspace(0.2, 0.6, 1001))
    low, high = interval.hull
    assert low < 0.35 and high > 0.6
    assert interval.within(0.35, 0.5) == (0.35, 0.5)
    assert interval.within(0.0, 1.0) == (low, high)


def test_possible_errors_are_taken_off_the_estimate() -> None:
    draws = np.linspace(0.4, 0.6, 1001)
    errors = np.linspace(0.0, 0.4, 1001)  # always upwards: the truth lies below the estimate
    interval = Interval.of(0.5, draws, [errors])
    ((low, high),) = interval.others
    assert (low, high) == pytest.approx((0.5 - 0.39, 0.5 - 0.01))
    assert interval.percentile == pytest.approx((0.405, 0.595))
    assert interval.hull == pytest.approx((0.11, 0.595))
    undefined = Interval.of(0.5, draws, [np.append(errors, [np.nan, np.inf])])
    assert undefined == interval


def test_errors_of_the_plain_bootstrap_give_the_basic_interval() -> None:
    draws = np.random.default_rng(0).normal(0.3, 0.05, 500)
    interval = Interval.of(0.3, draws, [draws - 0.3])
    assert interval.others[0] == pytest.approx(interval.basic)
