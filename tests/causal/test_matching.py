from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from biasgraph.causal import matching
from biasgraph.causal.matching import draw_subsets, expected_gaps, matched_distance
from biasgraph.causal.settings import MetricName
from biasgraph.causal.transport import Ideal


def every_subset(answers: list[list[int]], samples: list[int], ideal: Ideal) -> float:
    """Mean distance over all ways to take `samples` images from the groups: the definition."""
    k = len(ideal.shares)
    found = []
    groups = [
        itertools.combinations(group, take) for group, take in zip(answers, samples, strict=True)
    ]
    for chosen in itertools.product(*groups):
        counts = np.bincount([a for group in chosen for a in group], minlength=k)
        found.append(float(ideal.distance(counts / counts.sum())))
    return float(np.mean(found))


def counted(answers: list[list[int]], k: int) -> np.ndarray:
    return np.array([[np.bincount(group, minlength=k) for group in answers]])


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "index", "values"])
@pytest.mark.parametrize(
    ("answers", "samples"),
    [
        ([[0, 0, 0, 1, 2, 2, 1, 0]], [3]),
        ([[0, 0, 0, 1, 2, 2, 1, 0]], [8]),
        ([[0, 0, 0, 0]], [2]),
        ([[0, 1, 2, 0], [2, 2, 1, 0, 0]], [2, 2]),
        ([[0, 1, 1], [2, 2, 1, 0], [0, 0]], [2, 2, 2]),
    ],
)
def test_the_expectation_is_the_mean_over_all_subsets(
    metric: MetricName, answers: list[list[int]], samples: list[int]
) -> None:
    shares = np.full(3, 1 / 3) if metric == "values" else np.array([0.2, 0.5, 0.3])
    ideal = Ideal(metric, shares)
    found = matched_distance(
        counted(answers, 3), np.array(samples), ideal, np.random.default_rng(0)
    )
    assert found == pytest.approx([every_subset(answers, samples, ideal)], abs=1e-12)


def test_a_cost_matrix_is_matched_by_drawing() -> None:
    cost = np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0.0]])
    ideal = Ideal("cost", np.array([0.2, 0.5, 0.3]), cost)
    answers, samples = [[0, 1, 2, 0], [2, 2, 1, 0, 0]], [2, 2]
    rng = np.random.default_rng(0)
    found = matched_distance(counted(answers, 3), np.array(samples), ideal, rng)
    assert found == pytest.approx([every_subset(answers, samples, ideal)], abs=0.05)
    many = matched_distance(np.repeat(counted(answers, 3), 500, 0), np.array(samples), ideal, rng)
    assert many.shape == (500,)
    assert many.mean() == pytest.approx(every_subset(answers, samples, ideal), abs=0.02)


def test_every_replicate_may_have_its_own_ideal() -> None:
    answers, k = [[0, 0, 1, 2, 2, 1, 0]], 3
    ideals = np.array([[0.2, 0.5, 0.3], [1.0, 0, 0], [0.2, 0.5, 0.3]])
    for metric in ("nominal", "ordinal"):
        for groups, samples in ((answers, [3]), ([answers[0][:4], answers[0][4:]], [2, 2])):
            found = matched_distance(
                np.repeat(counted(groups, k), 3, axis=0),
                np.array(samples),
                Ideal(metric, np.full(3, 1 / 3)),
                np.random.default_rng(0),
                shares=ideals,
            )
            expected = [every_subset(groups, samples, Ideal(metric, own)) for own in ideals]
            assert found == pytest.approx(expected, abs=1e-12)


@given(
    size=st.integers(2, 60),
    share=st.floats(0, 1),
    kept=st.floats(0.05, 1),
    target=st.floats(0, 1),
)
def test_gaps_are_scipys_hypergeometric_expectation(
    size: int, share: float, kept: float, target: float
) -> None:
    successes, sample = round(size * share), max(1, round(size * kept))
    h = np.arange(sample + 1)
    expected = hypergeom.pmf(h, size, successes, sample) @ np.abs(h / sample - target)
    found = expected_gaps(
        np.array([[successes]]), np.array([size]), np.array([sample]), np.array([target])
    )
    assert found == pytest.approx([expected], abs=1e-9)


@given(st.lists(st.integers(3, 90), min_size=1))
def test_distinct_counts_are_numpys(values: list[int]) -> None:
    counts = np.array(values)
    found, expected = matching._distinct(counts), np.unique(counts, return_inverse=True)
    assert all((one == other).all() for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize(
    ("successes", "sizes", "samples"),
    [
        ([1000], [2000], [600]),
        ([600], [3000], [1000]),
        ([13_000], [27_778], [4_630]),
        ([400, 500], [1200, 1000], [600, 600]),
        ([60, 90], [288, 240], [120, 120]),
        ([100, 90], [480, 400], [200, 200]),
        ([130], [576], [300]),
    ],
)
def test_the_normal_form_is_close_where_it_is_used(
    successes: list[int], sizes: list[int], samples: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    targets = np.linspace(0, 1, 101)
    given = np.repeat([successes], 101, axis=0), np.array(sizes), np.array(samples), targets
    normal = expected_gaps(*given)
    monkeypatch.setattr(matching, "NORMAL_VARIANCE", np.inf)
    exact = expected_gaps(*given)
    assert (normal != exact).any()
    assert normal == pytest.approx(exact, abs=1e-4)


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 5))
def test_subsets_are_of_the_wanted_size_and_within_the_counts(
    seed: int, groups: int, k: int
) -> None:
    rng = np.random.default_rng(seed)
    counts = np.repeat(rng.integers(1, 9, (1, groups, k)), 6, axis=0)
    samples = rng.integers(0, counts[0].sum(axis=-1) + 1)
    drawn = draw_subsets(counts, samples, rng)
    assert (drawn.sum(axis=-1) == samples).all()
    assert (drawn >= 0).all() and (drawn <= counts).all()
