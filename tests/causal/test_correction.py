from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from biasgraph.causal.baseline import Baseline
from biasgraph.causal.correction import CorrectedTarget, Unmixing, confusion
from biasgraph.causal.graph import analyze
from biasgraph.causal.rows import PairRow
from biasgraph.causal.settings import AnalysisSettings, MetricName
from biasgraph.causal.tables import Counts, Floats
from biasgraph.causal.transport import Ideal, wasserstein
from biasgraph.errors import InputError
from tests.causal.worlds import chain

PAPER_SIZES = (2, 3, 6, 3, 2, 2, 4, 4)


def flip_confusion(k: int, error: float) -> Floats:
    """(k, k) confusion of a judge that errs with a probability, evenly over the other answers."""
    return (1 - error) * np.eye(k) + error / (k - 1) * (1 - np.eye(k))


def attenuation(k: int, error: float) -> float:
    """The factor by which such errors shrink W1 to a uniform ideal, and so IS: 1 - e k / (k-1)."""
    return 1 - error * k / (k - 1)


def true_shares(observed: Floats, errors: Floats) -> Floats:
    return Unmixing.of(errors).shares(observed)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "index", "values"])
@given(st.integers(0, 2**32), st.integers(2, 6), st.floats(0, 0.4))
def test_even_errors_shrink_every_distance_by_the_same_factor(
    metric: MetricName, seed: int, k: int, error: float
) -> None:
    p, uniform = np.random.default_rng(seed).dirichlet(np.ones(k)), np.full(k, 1 / k)
    seen = flip_confusion(k, error).T @ p
    before, after = wasserstein(p, uniform, metric), wasserstein(seen, uniform, metric)
    assert after == pytest.approx(abs(attenuation(k, error)) * before, abs=1e-12)


@pytest.mark.parametrize(("error", "percent"), [(0.05, 8.0), (0.10, 16.1)])
def test_the_mean_attenuation_over_the_papers_axes(error: float, percent: float) -> None:
    lost = np.mean([1 - attenuation(k, error) for k in PAPER_SIZES])
    assert round(100 * lost, 1) == pytest.approx(percent, abs=0.051)


@given(st.integers(0, 2**32), st.integers(2, 6), st.floats(0, 0.3))
def test_correction_undoes_the_errors(seed: int, k: int, error: float) -> None:
    p = np.random.default_rng(seed).dirichlet(np.ones(k))
    errors = flip_confusion(k, error)
    assert true_shares(errors.T @ p, errors) == pytest.approx(p, abs=1e-9)


@given(st.integers(0, 2**32), st.integers(2, 5))
def test_corrected_shares_are_shares_and_the_nearest_ones(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    observed = rng.dirichlet(np.full(k, 0.3))  # often outside of what the errors can produce
    errors = 0.7 * np.eye(k) + 0.3 * rng.dirichlet(np.ones(k), size=k)
    found = true_shares(observed, errors)
    assert (found >= 0).all() and found.sum() == pytest.approx(1)
    best = minimize(
        lambda p: ((errors.T @ p - observed) ** 2).sum(),
        np.full(k, 1 / k),
        method="SLSQP",
        bounds=[(0, 1)] * k,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert ((errors.T @ found - observed) ** 2).sum() <= best.fun + 1e-6


def test_many_shares_and_many_matrices_at_once() -> None:
    rng = np.random.default_rng(0)
    observed = rng.dirichlet(np.full(3, 0.4), size=(5, 2))
    errors = np.stack([flip_confusion(3, e) for e in (0, 0.1, 0.2, 0.3, 0.4)])
    together = true_shares(observed, errors[:, None])
    for b in range(5):
        for j in range(2):
            alone = true_shares(observed[b, j], errors[b])
            assert together[b, j] == pytest.approx(alone, abs=1e-9)
    same = true_shares(observed[0, 0], errors)
    assert same.shape == (5, 3)
    assert same[2] == pytest.approx(true_shares(observed[0, 0], errors[2]), abs=1e-9)


def test_shares_that_no_truth_could_give_are_fitted() -> None:
    errors = flip_confusion(2, 0.2)
    assert true_shares(np.array([0.9, 0.1]), errors) == pytest.approx([1, 0], abs=1e-6)


def test_a_confusion_matrix_is_counted_by_truth() -> None:
    assert confusion(np.array([[9, 1], [4, 16]])).tolist() == [[0.9, 0.1], [0.2, 0.8]]


def test_a_truth_never_labelled_is_refused() -> None:
    with pytest.raises(InputError, match="lack one of the attributes"):
        confusion(np.array([[9, 1], [0, 0]]))


def test_a_judge_that_cannot_tell_is_refused() -> None:
    with pytest.raises(InputError, match="condition number"):
        confusion(np.array([[52, 48], [48, 52]]))


def corrected_sensitivity(
    initial: Counts,
    arms: Counts,
    ideal: Ideal,
    labelled: Counts,
    settings: AnalysisSettings,
    rng: np.random.Generator,
) -> PairRow:
    target = CorrectedTarget.of(initial[None], ideal, labelled, settings, rng)
    pair = PairRow(source="x", target="y", metric=ideal.metric)
    return replace(pair, **target.correct_pair(arms[None], rng))


def corrected(labelled: list[list[int]], **options: object) -> PairRow:
    settings = AnalysisSettings.resolve(bootstrap=300, **options)
    return corrected_sensitivity(
        np.array([40, 8]),
        np.array([[30, 18], [24, 24]]),
        Ideal("nominal", np.array([0.5, 0.5])),
        np.array(labelled),
        settings,
        np.random.default_rng(0),
    )


def test_a_judge_without_error_changes_nothing() -> None:
    found = corrected([[100, 0], [0, 100]])
    assert found.w1_before_corrected == pytest.approx(40 / 48 - 0.5)
    assert found.w1_after_corrected == pytest.approx(54 / 96 - 0.5)
    assert found.is_corrected == pytest.approx(found.w1_before_corrected - found.w1_after_corrected)


def test_correction_undoes_the_attenuation_of_is() -> None:
    seen, truth = corrected([[100, 0], [0, 100]]), corrected([[90, 10], [10, 90]])
    assert truth.is_corrected == pytest.approx(seen.is_corrected / attenuation(2, 0.1))
    low, high = truth.is_corrected_ci_low, truth.is_corrected_ci_high
    assert low < truth.is_corrected < high


def test_few_labelled_images_widen_the_interval() -> None:
    sure, unsure = corrected([[900, 100], [100, 900]]), corrected([[18, 2], [2, 18]])
    assert sure.is_corrected == pytest.approx(unsure.is_corrected)
    widths = [one.is_corrected_ci_high - one.is_corrected_ci_low for one in (sure, unsure)]
    assert widths[1] > 1.1 * widths[0]


def test_the_interval_of_a_distance_stays_within_what_distances_can_be() -> None:
    answers = CorrectedTarget.of(
        np.array([[32, 5]]),
        Ideal("nominal", np.array([0.5, 0.5])),
        np.array([[32, 3], [0, 2]]),
        AnalysisSettings.resolve(bootstrap=300),
        np.random.default_rng(0),
    ).answers()
    assert answers.w1 < answers.w1_ci[1] == 0.5


def test_pooled_arms_weigh_by_their_answers() -> None:
    settings = AnalysisSettings(mix="pooled", bootstrap=100)
    found = corrected_sensitivity(
        np.array([40, 8]),
        np.array([[30, 10], [10, 10]]),
        Ideal("nominal", np.array([0.5, 0.5])),
        np.array([[50, 0], [0, 50]]),
        settings,
        np.random.default_rng(0),
    )
    assert found.w1_after_corrected == pytest.approx(40 / 60 - 0.5)


def test_an_ideal_from_images_was_seen_by_the_same_judge() -> None:
    reference = np.array([90, 10])  # as all-first truth looks through 10 % errors
    found = corrected_sensitivity(
        np.array([90, 10]),
        np.array([[50, 50]]),
        Ideal("nominal", reference / 100, reference=reference),
        np.array([[90, 10], [10, 90]]),
        AnalysisSettings(bootstrap=100),
        np.random.default_rng(0),
    )
    assert found.w1_before_corrected == pytest.approx(0, abs=1e-6)
    assert found.w1_after_corrected == pytest.approx(0.5)


def test_shares_that_leave_zero_again_are_found() -> None:
    """Taking negative shares out one by one ends beside the optimum here."""
    errors = confusion(np.array([[7, 6, 6, 7], [1, 10, 3, 1], [1, 6, 12, 4], [5, 5, 7, 12]]))
    observed = np.array([4, 3, 5, 4]) / 16
    best = minimize(
        lambda p: ((errors.T @ p - observed) ** 2).sum(),
        np.full(4, 0.25),
        method="SLSQP",
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-14},
    )
    found = true_shares(observed, errors)
    assert found.sum() == pytest.approx(1)
    assert ((errors.T @ found - observed) ** 2).sum() == pytest.approx(best.fun, abs=1e-9)
    assert found == pytest.approx(best.x, abs=1e-3)


def test_only_labelled_axes_are_corrected_with_the_pairs_that_lead_to_them() -> None:
    labelled = np.array([[95, 5], [15, 85]])
    settings = AnalysisSettings(bootstrap=200, noise_draws=0)
    found = analyze(chain(200, 4), settings, Baseline(labelled={"b": labelled}))
    nodes = {node.id: node for node in found.nodes}
    assert nodes["a"].corrected is None and nodes["c"].corrected is None
    truth = nodes["b"].corrected
    seen = np.array(nodes["b"].initial.distribution)
    assert confusion(labelled).T @ truth.distribution == pytest.approx(seen)
    assert truth.ideal == (0.5, 0.5)
    assert truth.w1 == pytest.approx(abs(truth.distribution[0] - 0.5))
    assert truth.w1_ci[0] <= truth.w1 <= truth.w1_ci[1]
    for low, share in zip(truth.distribution_ci, truth.distribution, strict=True):
        assert low[0] < share < low[1]
    for pair in found.pairs:
        if pair.target != "b":
            assert pair.is_corrected is pair.w1_after_corrected is pair.is_corrected_ci_low is None
            continue
        assert pair.w1_before_corrected == truth.w1
        assert pair.is_corrected == truth.w1 - pair.w1_after_corrected
        assert pair.is_corrected_ci_low <= pair.is_corrected <= pair.is_corrected_ci_high
