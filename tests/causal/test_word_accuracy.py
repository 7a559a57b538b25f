"""Top-k accuracies: against all orders written out, scipy and statsmodels."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom
from statsmodels.stats.proportion import proportion_confint

from biasgraph.causal.word_accuracy import (
    MORE_UNITS,
    RankedPair,
    accuracy_rows,
    first_units,
    mean_difference,
    mean_hits,
    top_hit,
)

scores = st.lists(st.integers(0, 3), min_size=4, max_size=6)


def written_out(predicted: list[int], first: np.ndarray, k: int) -> tuple[float, float]:
    """Mean over all orders of equal scores: any of the first units is in front; and one of them."""
    orders = [
        order
        for order in itertools.permutations(range(len(predicted)))
        if all(
            predicted[a] >= predicted[b] for a, b in itertools.pairwise(order)
        )
    ]  # fmt: skip
    hits = [[bool(first[unit]) for unit in order[:k]] for order in orders]
    return (
        float(np.mean([any(hit) for hit in hits])),
        float(np.mean([sum(hit) / first.sum() for hit in hits])),
    )


@given(predicted=scores, truth=st.data(), k=st.sampled_from([1, 2, 3]))
def test_ties_are_counted_by_expectation(
    predicted: list[int], truth: st.DataObject, k: int
) -> None:
    true = truth.draw(st.lists(st.integers(0, 2), min_size=len(predicted), max_size=len(predicted)))
    first = first_units(np.array(true, dtype=float))
    any_, one = written_out(predicted, first, k)
    given_scores = np.array(predicted, dtype=float)
    if first.all():
        assert math.isnan(top_hit(given_scores, first, k))
        return
    assert top_hit(given_scores, first, k) == pytest.approx(any_)
    assert top_hit(given_scores, first, k, "first") == pytest.approx(one)
    assert any_ >= one - 1e-12


@pytest.mark.parametrize(("n", "right", "k"), [(4, 1, 1), (7, 2, 3), (5, 4, 2), (9, 3, 1)])
def test_equal_scores_are_the_random_ranking_exactly(n: int, right: int, k: int) -> None:
    first = np.arange(n) < right
    found = top_hit(np.zeros(n), first, k)
    assert found == pytest.approx(1 - hypergeom.pmf(0, n, right, k))
    assert top_hit(np.zeros(n), first, k, "first") == pytest.approx(k / n)


def test_the_truths_first_units_are_the_largest_and_the_tied() -> None:
    truth = np.array([0.1 + 0.2, 0.3, 0.2, 0.0])
    assert first_units(truth).tolist() == [True, True, False, False]
    assert first_units(truth, [False, False, True, False]).tolist() == [True, True, True, False]


@pytest.mark.parametrize(("n", "defined"), [(1, []), (2, [1]), (3, [1]), (4, [1, 2, 3])])
def test_too_few_words_are_no_hit_and_no_miss(n: int, defined: list[int]) -> None:
    first = np.arange(n) == 0
    found = [k for k in (1, 2, 3) if math.isfinite(top_hit(np.arange(n) / n, first, k))]
    assert found == defined


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_one_pair_a_prompt_has_wilsons_interval() -> None:
    hits = np.array([1.0] * 30 + [0.0] * 10)
    found = mean_hits(hits, range(40), rng())
    assert (found.value, found.pairs, found.prompts, found.how) == (0.75, 40, 40, "wilson")
    low, high = proportion_confint(30, 40, method="wilson")
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))


def test_pairs_that_are_all_alike_are_as_many_as_prompts() -> None:
    found = mean_hits(np.ones(20), [i // 2 for i in range(20)], rng())
    low, _ = proportion_confint(10, 10, method="wilson")
    assert (found.value, found.low, found.high) == (1.0, pytest.approx(low), 1.0)


def test_an_expectation_that_is_the_same_for_every_prompt_has_no_interval() -> None:
    """The random ranking of prompts of four words is right in a quarter of all cases, exactly."""
    found = mean_hits(np.full(40, 0.25), range(40), rng())
    assert (found.value, found.low, found.how) == (0.25, None, "")
    assert found.reason == "it is the same for every prompt"


def test_axes_of_one_prompt_are_resampled_together() -> None:
    """Copies of every pair add nothing that is known."""
    hits = np.tile([1.0, 0.0, 0.5, 0.25], 10)
    alone = mean_hits(hits, range(40), rng())
    copied = mean_hits(np.repeat(hits, 5), np.repeat(np.arange(40), 5).tolist(), rng())
    assert alone.how == copied.how == "bootstrap"
    assert (copied.low, copied.high) == pytest.approx((alone.low, alone.high))
    assert (copied.pairs, copied.prompts) == (200, 40)
    assert alone.value is not None and alone.low is not None and alone.high is not None
    assert alone.low < alone.value < alone.high
    error = 1.96 * hits.std() / math.sqrt(40)
    assert alone.high - alone.low == pytest.approx(2 * error, rel=0.15)


def test_what_is_undefined_says_why() -> None:
    none = mean_hits(np.full(3, math.nan), range(3), rng(), k=2)
    assert (none.value, none.pairs) == (None, 0)
    assert none.reason == "no prompt ranks at least 4 words of which some are not first in truth"
    assert str(MORE_UNITS[2]) in none.reason
    some = mean_hits(np.array([1.0, math.nan, 0.0]), range(3), rng())
    assert (some.value, some.pairs) == (0.5, 2)
    single = mean_hits(np.array([1.0, 0.0]), ["p", "p"], rng())
    assert (single.value, single.low, single.reason) == (0.5, None, "there is one prompt")


def test_a_difference_is_of_the_same_pairs() -> None:
    one = np.array([1.0, 1.0, 0.0, 1.0] * 10 + [math.nan])
    other = np.array([1.0, 0.0, 0.0, 0.0] * 10 + [1.0])
    found = mean_difference(one, other, range(41), rng())
    assert (found.value, found.pairs) == (0.5, 40)
    spread = (one - other)[:40].std()
    assert found.low == pytest.approx(0.5 - 1.96 * spread / math.sqrt(40), abs=0.03)
    assert mean_difference(one, one, range(41), rng()).reason == "it is the same for every prompt"
    assert mean_difference(one[:1], one[:1] * math.nan, ["p"], rng()).value is None
    alone = mean_difference(one[:4], other[:4], ["p"] * 4, rng())
    assert (alone.value, alone.low, alone.reason) == (0.5, None, "there is one prompt")


def test_intervals_cover_what_new_prompts_would_show() -> None:
    """300 studies of 40 prompts with 3 axes each, whose hits hang together."""
    draw = np.random.default_rng(2)
    inside = 0
    for _ in range(300):
        share = draw.beta(2, 2, size=40)
        hits = (draw.random((40, 3)) < share[:, None]).astype(float).ravel()
        found = mean_hits(hits, np.repeat(np.arange(40), 3).tolist(), draw)
        assert found.low is not None and found.high is not None
        inside += found.low <= 0.5 <= found.high
    assert inside >= 0.92 * 300


def test_every_method_is_held_against_the_references() -> None:
    truth = np.array([0.9, 0.9, 0.2, 0.1])
    good, poor = np.array([2.0, 3.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0, 3.0])
    pairs = [
        RankedPair(prompt, truth, {"random": np.zeros(4), "one": good if prompt % 4 else poor})
        for prompt in range(40)
    ] + [RankedPair(40, np.array([1.0, 0.0]), {"random": np.zeros(2)})]
    rows = {(row.method, row.ties, row.top): row for row in accuracy_rows(pairs, rng())}
    assert len(rows) == 2 * 2 * 3
    assert rows["one", "any", 1].accuracy.value == 0.75
    assert rows["one", "first", 1].accuracy.value == 0.375
    assert rows["one", "any", 1].accuracy.pairs == 40
    assert rows["random", "any", 1].accuracy.pairs == 41
    assert rows["random", "any", 2].accuracy.pairs == 40
    assert rows["random", "any", 2].accuracy.value == pytest.approx(1 - 1 / 6)
    ahead = rows["one", "any", 1].ahead_of["random"]
    assert ahead.value == pytest.approx(0.25) and ahead.pairs == 40
    assert ahead.low is not None and ahead.low > 0
    assert rows["random", "any", 1].ahead_of == {}


def test_a_tie_by_chance_counts_where_it_is_said() -> None:
    ranking = {"one": np.array([0.0, 1.0, 0.5])}
    pair = RankedPair("p", np.array([3.0, 2.0, 1.0]), ranking, [True, True, False])
    found = {(row.ties, row.top): row.accuracy.value for row in accuracy_rows([pair], rng())}
    assert (found["any", 1], found["first", 1]) == (1.0, 0.0)
