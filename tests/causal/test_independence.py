from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import (
    MonteCarloMethod,
    chi2,
    chi2_contingency,
    false_discovery_control,
    hypergeom,
    ncx2,
)
from scipy.stats.contingency import association
from statsmodels.stats.contingency_tables import Table
from statsmodels.stats.multitest import multipletests

from biasgraph.causal.independence import (
    adjust_p,
    cramers_v_corrected,
    detectable_statistics,
    expected_low,
    images_to_detect,
    independence,
    monte_carlo_p,
    null_statistics,
)
from biasgraph.causal.settings import AnalysisSettings

PLAIN = AnalysisSettings()
OFF = AnalysisSettings(fallback="off")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


tables = hnp.arrays(
    np.int64,
    st.tuples(st.integers(2, 6), st.integers(2, 6)),
    elements=st.integers(1, 60),
)


@given(tables)
def test_the_test_is_scipys(table: np.ndarray) -> None:
    expected = chi2_contingency(table, correction=False)
    found = independence(table, OFF, rng(), 1e-4)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.p == pytest.approx(expected.pvalue)
    assert (found.dof, found.method) == (expected.dof, "asymptotic")
    assert found.cramers_v == pytest.approx(association(table, method="cramer"), abs=1e-7)
    assert found.expected_low == (
        expected.expected_freq.min() < 1 or (expected.expected_freq < 5).mean() > 0.2
    )


@given(tables)
def test_the_test_is_statsmodels_too(table: np.ndarray) -> None:
    expected = Table(table, shift_zeros=False).test_nominal_association()
    found = independence(table, OFF, rng(), 1e-4)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)


@given(tables, st.randoms(use_true_random=False))
def test_labels_and_their_order_do_not_matter(table: np.ndarray, shuffle) -> None:
    rows, columns = list(range(table.shape[0])), list(range(table.shape[1]))
    shuffle.shuffle(rows)
    shuffle.shuffle(columns)
    moved = independence(table[np.ix_(rows, columns)], OFF, rng(), 1e-4)
    found = independence(table, OFF, rng(), 1e-4)
    turned = independence(table.T, OFF, rng(), 1e-4)
    for other in (moved, turned):
        assert other.statistic == pytest.approx(found.statistic, abs=1e-8)
        assert other.cramers_v == pytest.approx(found.cramers_v, abs=1e-6)
        assert other.dof == found.dof


def test_two_by_two_by_hand() -> None:
    found = independence(np.array([[40, 8], [20, 28]]), PLAIN, rng(), 1e-4)
    # n (ad - bc)^2 / (row and column totals): 96 (40*28 - 8*20)^2 / (48 * 48 * 60 * 36)
    statistic = 96 * 960**2 / (48 * 48 * 60 * 36)
    assert found.statistic == pytest.approx(statistic)
    assert found.dof == 1
    assert found.cramers_v == pytest.approx(np.sqrt(statistic / 96))
    assert found.p == pytest.approx(math.erfc(math.sqrt(statistic / 2)))
    assert found.method == "asymptotic" and not found.expected_low


def test_yates_touches_two_by_two_only_and_never_the_effect_size() -> None:
    yates = AnalysisSettings(yates=True)
    table = np.array([[40, 8], [30, 18]])
    found = independence(table, yates, rng(), 1e-4)
    assert found.statistic == pytest.approx(chi2_contingency(table, correction=True).statistic)
    assert found.p == pytest.approx(chi2_contingency(table, correction=True).pvalue)
    assert found.cramers_v == independence(table, PLAIN, rng(), 1e-4).cramers_v
    wide = np.array([[40, 8, 10], [30, 18, 10]])
    assert independence(wide, yates, rng(), 1e-4) == independence(wide, PLAIN, rng(), 1e-4)


@pytest.mark.parametrize(
    "table",
    [
        [[12, 30, 6]],  # one row
        [[12], [30]],  # one column
        [[12, 0], [30, 0]],  # an empty column leaves one
        [[12, 4], [0, 0]],  # an empty row leaves one
        [[0, 0], [0, 0]],  # all unknown
        [[1, 0], [0, 0]],  # one image
    ],
)
def test_degenerate_tables_have_no_effect_size_and_p_one(table: list[list[int]]) -> None:
    found = independence(np.array(table), PLAIN, rng(), 1e-4)
    assert (found.statistic, found.p, found.dof) == (0, 1, 0)
    assert found.cramers_v is None and found.cramers_v_corrected is None
    assert found.detectable_v is None and found.method is None


def test_no_table_at_all_is_degenerate() -> None:
    assert independence(np.zeros((0, 3), dtype=int), PLAIN, rng(), 1e-4).method is None
    assert independence(np.zeros((3, 0), dtype=int), PLAIN, rng(), 1e-4).method is None


def test_empty_columns_do_not_count_in_anything() -> None:
    padded = np.array([[40, 0, 8], [0, 0, 0], [20, 0, 28]])
    bare = np.array([[40, 8], [20, 28]])
    assert independence(padded, PLAIN, rng(), 1e-4) == independence(bare, PLAIN, rng(), 1e-4)


def test_two_images_are_still_a_table() -> None:
    found = independence(np.eye(2, dtype=int), PLAIN, rng(), 1e-4)
    assert found.cramers_v == pytest.approx(1)
    assert found.cramers_v_corrected is None  # nothing is left of it at n = 2
    assert found.p == 1.0
    assert found.method == "monte_carlo"


# p by the exact conditional distribution of the first cell, for 2 x 2.
def exact_p(table: np.ndarray) -> float:
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    cells = np.arange(max(0, rows[0] + columns[0] - table.sum()), min(rows[0], columns[0]) + 1)

    def statistic(a: np.ndarray) -> np.ndarray:
        n = table.sum()
        return n * (a * n - rows[0] * columns[0]) ** 2 / (rows.prod() * columns.prod())

    chances = hypergeom.pmf(cells, table.sum(), columns[0], rows[0])
    return float(chances[statistic(cells) >= statistic(table[0, 0]) - 1e-9].sum())


@pytest.mark.parametrize(
    "table", [[[47, 1], [43, 5]], [[48, 0], [44, 4]], [[3, 0], [1, 4]], [[48, 0], [40, 8]]]
)
def test_drawn_p_is_the_exact_conditional_p(table: list[list[int]]) -> None:
    counts = np.array(table)
    found = independence(counts, PLAIN, rng(3), 1e-4)
    assert found.method == "monte_carlo"
    assert found.p == pytest.approx(exact_p(counts), rel=0.12)


@pytest.mark.parametrize(
    "table",
    [
        [[40, 5, 3], [45, 2, 1], [46, 2, 0]],
        [[44, 1, 3, 0], [38, 5, 3, 2]],
        [[47, 1], [48, 0], [45, 3], [48, 0], [44, 4], [48, 0]],
    ],
)
def test_drawn_p_agrees_with_scipys_monte_carlo(table: list[list[int]]) -> None:
    method = MonteCarloMethod(n_resamples=49_999, rng=rng(1))
    expected = chi2_contingency(np.array(table), correction=False, method=method).pvalue
    found = independence(np.array(table), PLAIN, rng(2), 1e-4)
    assert found.method == "monte_carlo"
    assert found.p == pytest.approx(expected, rel=0.2)


def test_null_tables_follow_the_asymptotic_law_where_it_holds() -> None:
    table = np.array([[130, 118, 140], [135, 120, 133], [150, 100, 120]])
    drawn = null_statistics([table], rng())(20_000)
    for level in (0.5, 0.05, 0.01):
        assert (drawn >= chi2.isf(level, 4)).mean() == pytest.approx(level, rel=0.15)


def test_fallback_off_never_draws() -> None:
    found = independence(np.array([[47, 1], [43, 5]]), OFF, rng(), 1e-4)
    assert found.method == "asymptotic" and found.expected_low


def test_a_strong_rare_effect_reaches_the_floor_of_p() -> None:
    table = np.zeros((6, 2), dtype=int)
    table[:, 0] = 48
    table[0] = [33, 15]
    found = independence(table, PLAIN, rng(), 1e-4)
    assert found.method == "monte_carlo"
    assert found.p == 1 / 100_000
    finer = independence(table, PLAIN, rng(), 5e-5)
    assert finer.p == 1 / 200_000


def test_low_expected_counts_are_below_one_or_a_fifth_below_five() -> None:
    assert expected_low(np.array([[0.9, 50], [50, 50]]))
    assert not expected_low(np.array([[4, 50, 50, 50, 50]]))  # exactly a fifth
    assert expected_low(np.array([[4, 50, 50, 50]]))


@given(st.integers(0, 2**32))
@settings(max_examples=20)
def test_stopping_early_is_the_full_count_for_a_likely_table(seed: int) -> None:
    draws = np.random.default_rng(seed).random(10_000)
    stream = iter(draws)
    calls: list[int] = []

    def statistics(size: int) -> np.ndarray:
        calls.append(size)
        return np.array([next(stream) for _ in range(size)])

    p = monte_carlo_p(0.5, statistics, 0.05)
    # With alpha = .05 and 9,999 draws it stops at the 500th hit.
    stop = np.flatnonzero(np.cumsum(draws >= 0.5) == 500)[0] + 1
    assert p == 500 / stop
    assert sum(calls) < 9_999


@given(st.integers(0, 2**32), st.sampled_from([0.001, 0.02, 0.1, 0.5, 0.9]))
@settings(max_examples=30)
def test_a_thrifty_p_is_the_same_of_fewer_draws(seed: int, share: float) -> None:
    draws = np.random.default_rng(seed).random(99_999) < share

    def p(*, thrifty: bool) -> tuple[float, int]:
        drawn = 0

        def statistics(size: int) -> np.ndarray:
            nonlocal drawn
            drawn += size
            return draws[drawn - size : drawn].astype(float)

        found = monte_carlo_p(1.0, statistics, 1e-4, thrifty=thrifty)
        return found, drawn

    found, drawn = p(thrifty=True)
    assert found == p(thrifty=False)[0]
    if found >= 0.01:  # stopped at 400 hits
        assert drawn <= 1.5 * 400 / found + 100


def test_without_enough_hits_every_draw_is_made() -> None:
    made = []

    def statistics(size: int) -> np.ndarray:
        made.append(size)
        values = np.zeros(size)
        values[0] = 1.0
        return values

    p = monte_carlo_p(1.0, statistics, 1e-4)
    assert sum(made) == 99_999
    assert p == (1 + len(made)) / 100_000


@pytest.mark.parametrize("alpha", [1e-4, 1e-3, 0.01, 0.05])
def test_stopping_never_turns_a_decision(alpha: float) -> None:
    resamples = max(9_999, round(10 / alpha) - 1)
    for seed, share in enumerate([alpha * 0.8, alpha * 0.95, alpha, alpha * 1.05, alpha * 1.3]):
        hits = np.random.default_rng(seed).random(resamples) < share
        where = [0]

        def statistics(size: int, hits: np.ndarray = hits, where: list[int] = where) -> np.ndarray:
            where[0] += size
            return hits[where[0] - size : where[0]].astype(float)

        full = (1 + hits.sum()) / (resamples + 1)
        assert (monte_carlo_p(1.0, statistics, alpha) <= alpha) == (full <= alpha)


def test_drawn_p_is_valid_and_not_needlessly_large() -> None:
    generate = rng(7)
    shares = np.array([0.9, 0.06, 0.04])
    p = []
    for _ in range(600):
        table = generate.multinomial(24, shares, size=2)
        p.append(independence(table, PLAIN, generate, 0.05).p)
    for level in (0.05, 0.1, 0.25):
        assert np.mean(np.array(p) <= level) <= level + 3 * np.sqrt(level / 600)


def test_bergsma_by_hand() -> None:
    table = np.array([[40, 8, 10], [20, 28, 14]])
    n, statistic = 120, 20.0
    phi = statistic / n - 2 / (n - 1)
    rows, columns = 2 - 1 / (n - 1), 3 - 4 / (n - 1)
    expected = np.sqrt(phi / (min(rows, columns) - 1))
    assert cramers_v_corrected(statistic, table) == pytest.approx(expected)
    assert cramers_v_corrected(0.5, table) == 0
    assert cramers_v_corrected(120, np.array([[60, 0], [0, 60]])) == pytest.approx(1)


def test_the_detectable_effects_are_the_documented_ones() -> None:
    two = independence(np.array([[24, 24], [24, 24]]), PLAIN, rng(), 1e-4)
    six = independence(np.full((6, 2), 24), PLAIN, rng(), 1e-4)
    assert two.detectable_v == pytest.approx(0.40, abs=0.005)
    assert six.detectable_v == pytest.approx(0.30, abs=0.005)
    assert two.detectable_v_80 == pytest.approx(0.482, abs=0.001)
    assert six.detectable_v_80 is not None and six.detectable_v_80 > six.detectable_v


@pytest.mark.parametrize("dof", [1, 5, 15])
@pytest.mark.parametrize("alpha", [1e-200, 1e-4, 0.05, 0.79])
def test_the_noncentrality_gives_its_power(dof: int, alpha: float) -> None:
    critical, noncentrality = detectable_statistics(dof, alpha)
    assert ncx2.sf(critical, dof, noncentrality) == pytest.approx(0.8)


@pytest.mark.parametrize("alpha", [0.8, 0.999])
def test_a_level_above_the_power_detects_even_nothing(alpha: float) -> None:
    critical, noncentrality = detectable_statistics(3, alpha)
    assert noncentrality == 0
    assert chi2.sf(critical, 3) == pytest.approx(alpha)
    found = independence(np.array([[9, 3], [5, 7]]), PLAIN, rng(), alpha)
    assert found.detectable_v_80 == 0


def test_the_smallest_detectable_effect_is_where_p_meets_alpha() -> None:
    table = np.array([[24, 24], [24, 24]])
    needed = independence(table, PLAIN, rng(), 0.01).detectable_v
    assert needed is not None
    shift = needed * 24  # a difference of 2 * shift in 48 images has V = shift / 24
    for extra, significant in ((1.01, True), (0.99, False)):
        d = shift * extra
        tilted = np.array([[24 + d, 24 - d], [24 - d, 24 + d]])
        assert (chi2_contingency(tilted, correction=False).pvalue <= 0.01) == significant


@given(st.lists(st.floats(0, 1), min_size=1, max_size=56))
def test_adjustment_is_scipys_and_statsmodels(p: list[float]) -> None:
    assert adjust_p(p) == pytest.approx(false_discovery_control(p))
    assert adjust_p(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])
    assert adjust_p(p, "by") == pytest.approx(multipletests(p, method="fdr_by")[1])


def test_adjusting_nothing_is_nothing() -> None:
    assert adjust_p([]).shape == (0,)


@pytest.mark.parametrize("times", [2, 5])
def test_so_many_times_the_images_detect_so_much_less(times: int) -> None:
    table, rng = np.array([[20, 10, 8], [15, 12, 11]]), np.random.default_rng(0)
    found = independence(table, AnalysisSettings(), rng, 1e-4).detectable_v_80
    more = independence(times * table, AnalysisSettings(), rng, 1e-4).detectable_v_80
    assert found is not None and more is not None
    assert images_to_detect(more, found) == pytest.approx(times)
