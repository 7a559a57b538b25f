"""The Cochran-Mantel-Haenszel test against scipy, statsmodels, R and its own definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import chi2_contingency, kstest
from statsmodels.stats.contingency_tables import StratifiedTable

from biasgraph.causal.independence import DEGENERATE, Independence, independence
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.stratified import stratified_independence
from biasgraph.causal.tables import Counts
from biasgraph.errors import InputError

ALPHA = 5e-5
ASYMPTOTIC = AnalysisSettings(fallback="off")

# R's datasets: datasets::UCBAdmissions, admission by gender within six departments ...
BERKELEY = np.array(
    [
        [[512, 313], [89, 19]], [[353, 207], [17, 8]], [[120, 205], [202, 391]],
        [[138, 279], [131, 244]], [[53, 138], [94, 299]], [[22, 351], [24, 317]],
    ]
)  # fmt: skip
# ... and the satisfaction with a job by income within two genders of Agresti (2002), p. 57,
# example(mantelhaen.test): Cochran-Mantel-Haenszel M^2 = 10.2001, df = 9, p-value = 0.3345.
SATISFACTION = np.array(
    [
        [[1, 3, 11, 2], [2, 3, 17, 3], [0, 1, 8, 5], [0, 2, 4, 2]],
        [[1, 1, 2, 1], [0, 3, 5, 1], [0, 0, 7, 3], [0, 1, 9, 6]],
    ]
)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def cmh(strata: Any, settings: AnalysisSettings = ASYMPTOTIC, alpha: float = ALPHA) -> Independence:
    return stratified_independence(np.array(strata, dtype=np.int64), settings, rng(), alpha)


def test_one_stratum_is_pearsons_chi_square() -> None:
    table = np.array([[30, 10, 8], [12, 25, 11], [14, 16, 18]])
    n = table.sum()
    test = cmh([table])
    pearson = chi2_contingency(table, correction=False)
    assert test.statistic == pytest.approx((n - 1) / n * pearson.statistic)
    assert test.dof == pearson.dof
    plain = independence(table, ASYMPTOTIC, rng(), ALPHA)
    assert (test.cramers_v, test.detectable_v) == (plain.cramers_v, plain.detectable_v)


def test_two_by_two_is_statsmodels() -> None:
    test = cmh(BERKELEY)
    oracle = StratifiedTable(list(BERKELEY)).test_null_odds(correction=False)
    assert test.statistic == pytest.approx(oracle.statistic)
    assert (test.p, test.dof, test.method) == (pytest.approx(oracle.pvalue), 1, "cmh")
    pooled = chi2_contingency(BERKELEY.sum(axis=0), correction=False)
    assert pooled.pvalue < 1e-20  # Simpson's paradox: within departments there is next to nothing
    assert test.cramers_v == pytest.approx(np.sqrt(pooled.statistic / BERKELEY.sum()))


def test_more_rows_and_columns_are_as_published() -> None:
    test = cmh(SATISFACTION)
    assert test.statistic == pytest.approx(10.2001, abs=5e-5)
    assert (test.dof, round(test.p, 4)) == (9, 0.3345)
    assert test.expected_low


def by_definition(strata: Counts) -> float:
    """Landis, Heyman and Koch: the covariance cell by cell, without the last row and column."""
    r, c = strata.shape[1:]
    cells = [(i, j) for i in range(r - 1) for j in range(c - 1)]
    gap, covariance = np.zeros(len(cells)), np.zeros((len(cells), len(cells)))
    for table in strata:
        n, row, column = table.sum(), table.sum(axis=1), table.sum(axis=0)
        for a, (i, j) in enumerate(cells):
            gap[a] += table[i, j] - row[i] * column[j] / n
            for b, (k, m) in enumerate(cells):
                covariance[a, b] += (
                    row[i] * ((i == k) * n - row[k]) * column[j] * ((j == m) * n - column[m])
                ) / (n**2 * (n - 1))
    return float(gap @ np.linalg.solve(covariance, gap))


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(2, 4), st.integers(2, 4)),
                  elements=st.integers(1, 40)))  # fmt: skip
def test_any_table_follows_the_definition(strata: Counts) -> None:
    test = cmh(strata)
    assert test.statistic == pytest.approx(by_definition(strata), rel=1e-6, abs=1e-9)
    assert test.dof == (strata.shape[1] - 1) * (strata.shape[2] - 1)


@given(hnp.arrays(np.int64, (3, 3, 3), elements=st.integers(0, 4)))
def test_empty_cells_rows_and_columns_do_no_harm(strata: Counts) -> None:
    test = cmh(strata)
    assert 0 <= test.p <= 1
    assert np.isfinite(test.statistic)
    if test.method is not None:
        turned = cmh(strata[::-1, ::-1].swapaxes(1, 2))
        assert turned.statistic == pytest.approx(test.statistic, rel=1e-6, abs=1e-9)
        assert turned.dof == test.dof


def test_strata_that_say_nothing_change_nothing() -> None:
    nothing = [[[9, 0], [4, 0]], [[0, 0], [3, 5]], [[0, 0], [0, 0]], [[1, 0], [0, 0]]]
    test = cmh([*BERKELEY, *nothing])
    assert test.statistic == pytest.approx(cmh(BERKELEY).statistic)
    assert cmh(nothing) == DEGENERATE


def test_columns_that_meet_in_no_stratum_cost_no_degree_of_freedom() -> None:
    left = [[12, 8, 0, 0], [5, 15, 0, 0]]
    right = [[0, 0, 9, 11], [0, 0, 13, 7]]
    test = cmh([left, right])
    assert test.dof == 2
    parts = [cmh([np.array(one)]).statistic for one in (left, right)]
    assert test.statistic == pytest.approx(sum(parts))


def test_low_counts_are_drawn_within_strata() -> None:
    test = cmh(SATISFACTION, AnalysisSettings(), alpha=0.01)
    assert test.method == "cmh_monte_carlo"
    assert test.p == pytest.approx(0.3345, abs=0.05)
    strata = np.array([[[3, 0], [1, 4]], [[2, 1], [0, 3]], [[2, 0], [1, 2]]])
    drawn = cmh(strata, AnalysisSettings(), alpha=1e-4)
    assert drawn.method == "cmh_monte_carlo"
    assert drawn.p == pytest.approx(exact_two_by_two(strata), rel=0.1)


def exact_two_by_two(strata: Counts) -> float:
    """P(statistic >= observed) with all margins fixed, by convolving hypergeometric counts."""
    from scipy.stats import hypergeom

    total = {0: 1.0}
    mean = 0.0
    for table in strata:
        null = hypergeom(table.sum(), table[0].sum(), table[:, 0].sum())
        mean += float(null.mean())
        new: dict[int, float] = {}
        for value, p in total.items():
            for more in range(int(null.support()[0]), int(null.support()[1]) + 1):
                new[value + more] = new.get(value + more, 0.0) + p * float(null.pmf(more))
        total = new
    observed = abs(strata[:, 0, 0].sum() - mean)
    return sum(p for value, p in total.items() if abs(value - mean) >= observed - 1e-9)


@pytest.mark.slow(reason="hundreds of audits")
def test_the_size_is_right_where_the_pooled_test_rejects_too_often() -> None:
    """26 prompts, of which 6 lose half the images of one arm: nothing moves within any prompt."""
    random = np.random.default_rng(1)
    audits, prompts, n = 400, 26, 48
    p_stratified, p_pooled = [], []
    shares = np.concatenate([np.tile([0.9, 0.05, 0.05], (6, 1)), np.tile([0.2, 0.4, 0.4], (20, 1))])
    sizes = np.array([[n // 2 if h < 6 else n, n] for h in range(prompts)])
    for _ in range(audits):
        strata = np.array(
            [
                [random.multinomial(m, p) for m in arms]
                for arms, p in zip(sizes, shares, strict=True)
            ]
        )
        p_stratified.append(stratified_independence(strata, ASYMPTOTIC, random, ALPHA).p)
        p_pooled.append(independence(strata.sum(axis=0), ASYMPTOTIC, random, ALPHA).p)
    assert np.mean(np.array(p_pooled) <= 0.05) > 0.2
    assert 0.02 <= np.mean(np.array(p_stratified) <= 0.05) <= 0.08
    assert kstest(p_stratified, "uniform").pvalue > 0.01


def test_drawn_p_values_are_uniform_under_the_null() -> None:
    random = np.random.default_rng(2)
    p = []
    for _ in range(150):
        strata = random.multinomial(8, [0.85, 0.12, 0.03], size=(4, 2))
        test = stratified_independence(strata, AnalysisSettings(), random, 0.05)
        if test.method is not None:
            assert test.method == "cmh_monte_carlo" or not test.expected_low
            p.append(test.p)
    assert 0.01 <= np.mean(np.array(p) <= 0.05) <= 0.09


def test_the_seed_decides() -> None:
    one, other = (
        stratified_independence(SATISFACTION, AnalysisSettings(), generator(0, "x"), ALPHA)
        for _ in range(2)
    )
    assert one == other


def test_a_table_too_large_is_refused() -> None:
    with pytest.raises(InputError, match=r"60 x 60 attributes .* --global-test pooled"):
        cmh(np.ones((2, 60, 60)))
