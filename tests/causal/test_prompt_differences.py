"""What prompts show one by one: their mean distance, whether they differ, what cancels."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from biasgraph.causal.baseline import UNIFORM, Baseline
from biasgraph.causal.graph import analyze
from biasgraph.causal.intervals import Interval
from biasgraph.causal.pooling import analyze_global
from biasgraph.causal.prompt_differences import unleaning
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Variable
from biasgraph.causal.transport import Ideal
from tests.causal.worlds import Records, audit, codes, variables

FAST = AnalysisSettings(bootstrap=200, noise_draws=0)
ORDERED = (Variable("a", ("low", "middle", "high"), "ordinal"),)
TRANSPORT = pytest.mark.slow(reason="thousands of transports; ordinal and nominal axes stay")
COSTLY = (Variable("a", ("x", "y", "z"), "cost", np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0.0]])),)


def prompts(*counts: Sequence[int], axes: tuple[Variable, ...] | None = None) -> list[CodedImages]:
    axes = axes or variables(len(counts[0]))
    return [audit(codes([own]), {}, axes, f"prompt {i}") for i, own in enumerate(counts)]


def summed(
    each: Sequence[CodedImages],
    settings: AnalysisSettings = FAST,
    baseline: Baseline = UNIFORM,
) -> Records:
    own = [analyze(images, settings, baseline) for images in each]
    return Records.of(analyze_global(each, own, settings, baseline))


def node(*counts: Sequence[int], **options: Any) -> dict[str, Any]:
    return summed(prompts(*counts), **options).nodes[0]


def test_one_sided_prompts_that_cancel_in_their_sum_are_told() -> None:
    found = node((47, 1), (1, 47), (46, 2), (2, 46))
    assert found["w1"] == 0 and found["near_ideal"] is True
    assert found["n_mean_prompts"] == 4
    assert found["w1_mean_prompt"] == pytest.approx(np.mean([23, 23, 22, 22]) / 48)
    low, high = found["w1_mean_prompt_ci"]
    assert low <= found["w1_mean_prompt"] <= high and low > found["w1_mean_prompt_null"]["q95"]
    assert "prompts_cancel" in found["flags"] and found["cancel_p"] < 0.001


@pytest.mark.parametrize(
    "counts",
    [
        [(24, 24)] * 4,
        [(46, 2), (40, 8), (30, 18), (47, 1)],  # all one way
        [(46, 2), (24, 24), (23, 25), (25, 23)],  # one leans, the others are at the ideal
        [(27, 21), (21, 27), (26, 22), (22, 26)],  # as far apart as chance puts them
    ],
)
def test_what_does_not_clearly_cancel_is_not_flagged(counts: list[tuple[int, int]]) -> None:
    found = node(*counts)
    assert "prompts_cancel" not in found["flags"]
    assert found["w1_mean_prompt"] >= found["w1"] - 1e-12


def test_a_single_prompt_has_its_mean_and_nothing_to_compare() -> None:
    found = node((40, 8))
    assert found["w1_mean_prompt"] == found["w1"] and found["n_mean_prompts"] == 1
    assert found["cancel_p"] is None
    test = found["prompts_test"]
    assert (test["p"], test["method"], test["cramers_v"]) == (1.0, None, None)


def test_prompts_with_too_few_answers_have_no_distance_but_are_tested() -> None:
    found = node((40, 8), (3, 2), (0, 0))
    assert found["n_mean_prompts"] == 1 and found["prompts_test"]["n_prompts"] == 2
    none = node((3, 2), (2, 2))
    assert none["n_mean_prompts"] == 0 and none["w1_mean_prompt_null"] == {
        "mean": None,
        "q95": None,
    }
    assert none["w1_mean_prompt"] is none["w1_mean_prompt_ci"] is none["cancel_p"] is None


def test_a_prompt_alone_says_nothing_of_prompts() -> None:
    [alone] = Records.of(analyze(prompts((40, 8))[0], FAST)).nodes
    assert not {"n_mean_prompts", "w1_mean_prompt", "cancel_p", "prompts_test"} & {*alone}


def test_prompts_are_tested_against_one_another_by_chi_square() -> None:
    table = [(40, 8), (30, 18), (20, 28)]
    expected = chi2_contingency(table, correction=False)
    test = node(*table)["prompts_test"]
    assert test["statistic"] == pytest.approx(expected.statistic)
    assert test["p"] == test["p_adjusted"] == pytest.approx(expected.pvalue)
    assert test["method"] == "asymptotic" and test["dof"] == 2
    assert test["cramers_v"] == pytest.approx(np.sqrt(expected.statistic / 144))


def test_rare_answers_are_tested_by_drawing() -> None:
    test = node((47, 1), (48, 0), (46, 2))["prompts_test"]
    assert test["method"] == "monte_carlo" and 0.3 < test["p"] < 1


def test_p_is_adjusted_over_the_axes() -> None:
    each = [
        audit(codes([one, other]), {}, variables(2, 2), f"prompt {i}")
        for i, (one, other) in enumerate([((30, 18), (24, 24)), ((18, 30), (24, 24))])
    ]
    first, second = (one["prompts_test"] for one in summed(each).nodes)
    assert first["p_adjusted"] == pytest.approx(2 * first["p"])
    assert second["p_adjusted"] == second["p"] == 1.0


def test_the_order_of_prompts_changes_nothing() -> None:
    each = prompts((40, 8, 2), (30, 10, 10), (5, 5, 40))
    assert summed(each).nodes == summed(each[::-1]).nodes


@pytest.mark.parametrize("target", [0.5, 0.98, 1 / 3])
@pytest.mark.parametrize("n", [2, 5, 12])
def test_the_estimate_from_halves_by_enumeration(target: float, n: int) -> None:
    ideal = Ideal("nominal", np.array([target, 1 - target]))
    half = n // 2
    for hits in range(n + 1):
        images = [1] * hits + [0] * (n - hits)
        halves = list(itertools.combinations(range(n), half))
        total = 0.0
        for chosen in halves:
            own = sum(images[i] for i in chosen)
            side = np.sign(round(own / half - target, 12))
            total += side * ((hits - own) / (n - half) - target)
        found = unleaning(np.array([[hits, n - hits]]), n, ideal)
        assert found == pytest.approx(total / len(halves))


def test_the_estimate_from_halves_does_not_lean_upwards() -> None:
    ideal = Ideal("ordinal", np.full(4, 0.25))
    rng = np.random.default_rng(0)
    for shares in ([0.25] * 4, [0.3, 0.2, 0.25, 0.25], [0.9, 0.05, 0.05, 0.0]):
        drawn = rng.multinomial(20, shares, size=20_000)
        true = float(ideal.distance(np.array(shares)))
        mean = unleaning(drawn, 20, ideal).mean()
        assert mean <= true + 0.003 < ideal.distance(drawn / 20).mean() + 0.02
        assert true > 0 or abs(mean) < 0.003


@pytest.mark.parametrize("axes", [ORDERED, pytest.param(COSTLY, marks=TRANSPORT), variables(3)])
def test_the_interval_covers_means_at_the_ideal(axes: tuple[Variable, ...]) -> None:
    """26 prompts at the ideal: no bootstrap interval of their mean distance reaches 0."""
    rng = np.random.default_rng(1)
    each = prompts(*rng.multinomial(48, [1 / 3] * 3, size=26).tolist(), axes=axes)
    found = summed(each).nodes[0]
    assert found["w1_mean_prompt_ci"][0] == 0 < found["w1_mean_prompt"]
    assert found["w1_mean_prompt"] <= found["w1_mean_prompt_null"]["q95"] + 0.02


def test_far_from_the_ideal_the_interval_is_the_hull() -> None:
    found = node((42, 6), (44, 4), (41, 7))
    rng = np.random.default_rng(0)
    drawn = np.mean(
        [rng.binomial(48, hits / 48, 20_000) / 48 - 0.5 for hits in (42, 44, 41)], axis=0
    )
    expected = Interval.of(found["w1_mean_prompt"], drawn).hull
    assert found["w1_mean_prompt_ci"] == pytest.approx(expected, abs=0.012)


def test_single_answers_give_no_certainty() -> None:
    low, high = node(*[(48, 0)] * 3)["w1_mean_prompt_ci"]
    assert low < 0.495 and high == 0.5


def test_a_counted_ideal_widens_the_interval() -> None:
    counts = [(30, 18), (36, 12)]
    shares = node(*counts, baseline=Baseline(shares={"a": {"a0": 0.5, "a1": 0.5}}))
    counted = node(*counts, baseline=Baseline(counts={"a": {"a0": 20, "a1": 20}}))
    assert counted["w1_mean_prompt"] == shares["w1_mean_prompt"]
    for sign, end, other in zip(
        (1, -1), shares["w1_mean_prompt_ci"], counted["w1_mean_prompt_ci"], strict=True
    ):
        assert sign * (end - other) > 0.1 or other in (0.0, 0.5)
    assert counted["w1_mean_prompt_null"]["q95"] > shares["w1_mean_prompt_null"]["q95"]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_images_where_they_are_allowed(n: int) -> None:
    settings = AnalysisSettings.resolve("paper", bootstrap=100, noise_draws=0)
    found = node((n, 0), (0, n), settings=settings)
    assert found["w1_mean_prompt"] == 0.5 and found["w1_mean_prompt_ci"][0] <= 0.5
    assert "prompts_cancel" not in found["flags"]
