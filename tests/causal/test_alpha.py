"""Krippendorff's alpha against his own worked example, and against Fleiss' kappa."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from statsmodels.stats.inter_rater import fleiss_kappa

from biasgraph.causal.alpha import NO_PAIR, ONE_ANSWER, Raters, coincidences, krippendorffs_alpha

PUBLISHED = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
"""Four observers of twelve units (Krippendorff 2011, Computing Krippendorff's Alpha)."""


def published() -> np.ndarray:
    rows = [line.split() for line in PUBLISHED.split("\n") if line]
    return np.array([[-1 if cell == "." else int(cell) - 1 for cell in row] for row in rows]).T


def fields(ratings: np.ndarray, size: int, *, ordered: bool = False, replicates: int = 400):
    raters = Raters(ratings.astype(np.int16), size, ordered)
    return raters.fields(replicates, np.random.default_rng(0))


@pytest.mark.parametrize(("ordered", "alpha"), [(False, 0.743), (True, 0.815)])
def test_the_published_example(ordered: bool, alpha: float) -> None:
    found = fields(published(), 5, ordered=ordered)
    assert found["value"] == pytest.approx(alpha, abs=5e-4)
    assert (found["images"], found["ratings"], found["reason"]) == (11, 40, None)
    low, high = found["ci"]
    assert low < alpha < high <= 1
    assert found["metric"] == ("ordinal" if ordered else "nominal")


votes = st.tuples(st.integers(2, 5), st.integers(2, 5), st.integers(2, 20)).flatmap(
    lambda sizes: hnp.arrays(np.int64, (sizes[2], sizes[1]), elements=st.integers(0, sizes[0] - 1))
)


@given(votes)
def test_without_gaps_it_is_fleiss_kappa_for_small_samples(ratings: np.ndarray) -> None:
    size = int(ratings.max()) + 1
    counts = np.stack([(ratings == answer).sum(axis=1) for answer in range(size)], axis=1)
    found = fields(ratings, size, replicates=10)["value"]
    if (counts.sum(axis=0) > 0).sum() < 2:
        assert found is None
    else:
        n = counts.sum()
        assert found == pytest.approx(1 - (1 - fleiss_kappa(counts)) * (n - 1) / n, abs=1e-9)


@given(votes)
def test_two_answers_have_no_order(ratings: np.ndarray) -> None:
    halves = ratings % 2
    assert fields(halves, 2, ordered=True, replicates=10)["value"] == pytest.approx(
        fields(halves, 2, replicates=10)["value"], abs=1e-12
    )


def test_an_order_turned_round_is_the_same() -> None:
    given_, turned = published(), published()
    turned[given_ >= 0] = 4 - given_[given_ >= 0]
    one, other = (fields(ratings, 5, ordered=True)["value"] for ratings in (given_, turned))
    assert one == pytest.approx(other, abs=1e-12)


def test_who_answered_alone_counts_nowhere() -> None:
    alone = np.concatenate([published(), np.array([[4, -1, -1, -1]] * 30)])
    assert fields(alone, 5) == fields(published(), 5)


def test_what_is_undefined_says_why() -> None:
    same = fields(np.zeros((20, 3)), 2)
    assert (same["value"], same["ci"], same["reason"]) == (None, None, ONE_ANSWER)
    apart = fields(np.array([[0, -1], [-1, 1]]), 2)
    assert (apart["value"], apart["images"], apart["reason"]) == (None, 0, NO_PAIR)


def test_raters_who_always_agreed_so_far_may_yet_differ() -> None:
    ratings = np.repeat(np.array([0, 1] * 15), 3).reshape(30, 3)
    found = fields(ratings, 2)
    assert found["value"] == 1
    assert 0.7 < found["ci"][0] < 1 and found["ci"][1] == 1


def test_coincidences_add_up_to_the_answers() -> None:
    counts = np.array([[2, 1, 0], [1, 0, 0], [0, 0, 4]])
    sums = coincidences(counts).sum(axis=(1, 2))
    assert sums == pytest.approx([3, 0, 4])
    assert coincidences(counts)[0] == pytest.approx(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]]))


def test_the_bootstrap_covers_alpha() -> None:
    rng, hits, raters, error = np.random.default_rng(1), 0, 3, 0.2

    def draw(images: int) -> np.ndarray:
        truth = rng.choice(3, images, p=[0.5, 0.3, 0.2])
        wrong = rng.random((images, raters)) < error
        ratings = np.where(wrong, rng.integers(0, 3, (images, raters)), truth[:, None])
        ratings[rng.random((images, raters)) < 0.2] = -1
        return ratings

    large = draw(100_000)
    counts = np.stack([(large == answer).sum(axis=1) for answer in range(3)], axis=1)
    true = float(krippendorffs_alpha(coincidences(counts).sum(axis=0)))
    for _ in range(200):
        low, high = fields(draw(60), 3)["ci"]
        hits += low <= true <= high
    assert hits >= 180
