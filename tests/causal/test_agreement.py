from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy
from statsmodels.stats.inter_rater import cohens_kappa as oracle

from biasgraph.causal.agreement import (
    NO_IMAGE,
    ONE_ANSWER,
    Agreement,
    accuracy,
    cohens_kappa,
    cross_table,
    divergence,
    macro_f1,
    total_variation,
    uneven_errors,
)
from biasgraph.causal.tables import GATED, UNKNOWN

tables = st.integers(2, 6).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 30), min_size=k, max_size=k), min_size=k, max_size=k
    ).map(np.array)
)


def fields(table: list[list[int]], replicates: int = 400) -> dict[str, object]:
    valid = np.array(table)
    whole = np.zeros((len(valid) + 2, len(valid) + 2), dtype=np.int64)
    whole[:-2, :-2] = valid
    return Agreement(whole).fields(replicates, np.random.default_rng(0))


def test_a_cross_table_holds_every_image_once() -> None:
    truth = np.array([0, 0, 1, UNKNOWN, GATED, 1], dtype=np.int16)
    answers = np.array([0, 1, 1, 0, GATED, UNKNOWN], dtype=np.int16)
    table = cross_table(truth, answers, 2)
    assert table.tolist() == [[1, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


@given(tables)
def test_kappa_is_that_of_statsmodels(counts: np.ndarray) -> None:
    found = float(cohens_kappa(counts))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = oracle(counts, return_results=False) if counts.sum() else np.nan
    if np.isfinite(found):
        assert found == pytest.approx(expected, abs=1e-12)
    else:  # one answer only, or none
        assert (counts.sum(axis=0) > 0).sum() <= 1 and (counts.sum(axis=1) > 0).sum() <= 1


@given(tables)
def test_f1_is_the_mean_over_the_attributes_that_occur(counts: np.ndarray) -> None:
    each = []
    for i in range(len(counts)):
        hits, said, true = counts[i, i], counts[:, i].sum(), counts[i].sum()
        if said + true:
            precision, recall = (hits / n if n else 0.0 for n in (said, true))
            total = precision + recall
            each.append(2 * precision * recall / total if total else 0.0)
    found = float(macro_f1(counts))
    assert found == pytest.approx(np.mean(each)) if each else np.isnan(found)


@given(tables, st.integers(0, 2**32))
def test_the_names_of_the_attributes_do_not_matter(counts: np.ndarray, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(counts))
    again = counts[np.ix_(order, order)]
    for measure in (cohens_kappa, macro_f1):
        assert float(measure(again)) == pytest.approx(float(measure(counts)), nan_ok=True)


@given(tables)
def test_kappa_takes_no_side(counts: np.ndarray) -> None:
    swapped = float(cohens_kappa(counts.T))
    assert swapped == pytest.approx(float(cohens_kappa(counts)), nan_ok=True)


def test_divergence_is_scipys_and_infinite_where_it_is() -> None:
    p, q = np.array([30, 10, 10]), np.array([20, 20, 10])
    assert divergence(p, q) == pytest.approx(entropy(p, q))
    assert divergence(p, np.array([20, 0, 10])) == np.inf
    assert divergence(np.array([30, 0, 10]), q) == pytest.approx(entropy([30, 0, 10], q))
    assert np.isnan(divergence(p, np.zeros(3)))
    assert total_variation(p, q) == pytest.approx(0.2)


def test_a_judge_against_itself() -> None:
    found = fields([[20, 0, 0], [0, 15, 0], [0, 0, 5]])
    assert (found["accuracy"], found["f1"], found["kappa"]) == (1, 1, 1)
    assert found["kl_reference_judge"] == found["kl_judge_reference"] == found["tv"] == 0
    assert found["flags"] == ["zero_width"]
    for name in ("accuracy_ci", "f1_ci", "kappa_ci"):
        low, high = found[name]
        assert 0.7 < low < 1 and high == 1


def test_what_chance_explains_has_no_kappa() -> None:
    found = fields([[40, 0], [0, 0]])
    assert found["accuracy"] == 1
    assert found["kappa"] is None and found["kappa_ci"] is None


def test_without_a_valid_pair_nothing_is_defined() -> None:
    found = fields([[0, 0], [0, 0]])
    undefined = ("accuracy", "f1", "kappa", "kl_reference_judge", "tv", "coverage", "kappa_ci")
    assert [found[name] for name in undefined] == [None] * len(undefined)
    assert found["flags"] == ["few_images"]


@given(tables.filter(lambda counts: len(counts) > 2))
def test_unknown_and_gated_may_count_as_answers(counts: np.ndarray) -> None:
    found = Agreement(counts).fields(20, np.random.default_rng(0))
    if found["kappa_with_unknown"] is None:
        assert found["kappa_with_unknown_reason"] in (NO_IMAGE, ONE_ANSWER)
    else:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected = oracle(counts, return_results=False)
        assert found["kappa_with_unknown"] == pytest.approx(expected, abs=1e-12)
        assert found["kappa_with_unknown_reason"] is None
    only_kappas = Agreement(counts).kappas(20, np.random.default_rng(0))
    assert only_kappas == {name: found[name] for name in only_kappas}


def test_an_undefined_kappa_says_why() -> None:
    assert fields([[40, 0], [0, 0]])["kappa_reason"] == ONE_ANSWER
    assert fields([[0, 0], [0, 0]])["kappa_reason"] == NO_IMAGE
    assert fields([[20, 5], [4, 20]])["kappa_reason"] is None


def test_an_infinite_divergence_is_null() -> None:
    found = fields([[20, 0], [20, 0]])
    assert found["kl_reference_judge"] is None
    assert found["kl_judge_reference"] == pytest.approx(np.log(2))


def test_lost_answers_count_in_the_coverage_and_nowhere_else() -> None:
    table = np.array([[20, 5, 6, 0], [3, 20, 0, 2], [4, 0, 1, 0], [0, 0, 0, 9]])
    found = Agreement(table).fields(400, np.random.default_rng(0))
    assert (found["n"], found["n_valid"]) == (70, 48)
    assert found["coverage"] == pytest.approx(48 / 56)
    assert found["accuracy"] == pytest.approx(40 / 48)
    assert found["tv"] == pytest.approx(abs(31 / 56 - 27 / 52))


@pytest.mark.parametrize("size", [60, 240])
def test_the_bootstrap_covers_kappa(size: int) -> None:
    rng = np.random.default_rng(size)
    shares = np.array([[0.4, 0.06, 0.02], [0.05, 0.25, 0.05], [0.02, 0.05, 0.1]])
    true = float(cohens_kappa(shares))
    hits = 0
    for _ in range(200):
        drawn = rng.multinomial(size, shares.ravel()).reshape(3, 3).tolist()
        low, high = fields(drawn)["kappa_ci"]
        hits += low <= true <= high
    assert hits >= 180


def test_errors_that_depend_on_the_images_are_told() -> None:
    good, bad = np.array([[45, 5], [5, 45]]), np.array([[30, 20], [20, 30]])
    assert uneven_errors(good, bad) < 0.001
    assert uneven_errors(good, good) == pytest.approx(1)
    assert uneven_errors(good, np.zeros((2, 2), dtype=int)) is None


def test_accuracy_is_the_share_on_the_diagonal() -> None:
    tables = np.array([[[3, 1], [2, 4]], [[0, 5], [5, 0]], [[0, 0], [0, 0]]])
    assert accuracy(tables) == pytest.approx([0.7, 0, np.nan], nan_ok=True)
