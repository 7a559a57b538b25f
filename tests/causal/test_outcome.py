"""Prediction against outcome."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasgraph.causal.greedy import Target, greedy_plan
from biasgraph.causal.outcome import compare_outcome
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Codes, Pool
from biasgraph.causal.transport import resolve_ideals
from tests.causal.worlds import audit, codes, variables

EDGES = [(0, 2), (1, 2)]
SETTINGS = AnalysisSettings.resolve(bootstrap=1000)


def three() -> Pool:
    """a and b obey; each moves c from 90 % to 70 %."""
    initial = codes([[90, 10], [80, 20], [90, 10]])
    arms = {
        (0, 0): codes([[100, 0], [80, 20], [90, 10]]),
        (0, 1): codes([[0, 100], [80, 20], [50, 50]]),
        (1, 0): codes([[90, 10], [100, 0], [90, 10]]),
        (1, 1): codes([[90, 10], [0, 100], [50, 50]]),
    }
    return Pool.of("p", [audit(initial, arms, variables(2, 2, 2))])


def joint(c: list[list[int]]) -> list[Codes]:
    """25 images of each combination of a and b, with these counts of c."""
    return [
        codes([[25, 0] if a == 0 else [0, 25], [25, 0] if b == 0 else [0, 25], c[2 * a + b]])
        for a in range(2)
        for b in range(2)
    ]


def compared(images: list[Codes], **options: Any) -> list[dict[str, Any]]:
    pool = three()
    ideals = resolve_ideals(pool.variables, None, None, None)
    targets = [Target(y, 1.0, ideal) for y, ideal in enumerate(ideals)]
    settings = AnalysisSettings.resolve(bootstrap=1000, **options)
    return compare_outcome(images, pool, [0, 1], targets, EDGES, settings)


def test_additive_effects_are_predicted() -> None:
    a, b, c = compared(joint([[22, 3], [13, 12], [12, 13], [3, 22]]))
    assert a["predicted"]["distance"] == b["predicted"]["distance"] == 0
    assert a["found"]["distance"] == 0
    assert a["error"] == 0
    assert a["error_ci"][0] < 0 < a["error_ci"][1] < 0.05, "answers never seen may appear"
    assert c["predicted"]["distribution"] == pytest.approx([0.5, 0.5])
    assert c["found"]["distribution"] == pytest.approx([0.5, 0.5])
    assert (c["found"]["n_valid"], c["found"]["n_total"]) == (100, 100)
    assert c["misplaced"] == pytest.approx(0)


def test_an_interaction_shows_as_error() -> None:
    *_, c = compared(joint([[23, 2]] * 3 + [[25, 0]]))
    assert c["found"]["distance"] == pytest.approx(0.44)
    assert c["error"] == pytest.approx(-0.44)
    assert c["error_ci"][1] < 0
    assert c["misplaced"] == pytest.approx(0.44)


def test_predictions_are_those_of_the_plan() -> None:
    pool = three()
    ideals = resolve_ideals(pool.variables, None, None, None)
    targets = [Target(y, 1.0, ideal) for y, ideal in enumerate(ideals)]
    plan = greedy_plan(pool, targets, EDGES, SETTINGS)
    assert {step["axis"] for step in plan["steps"]} == {"a", "b"}
    for row, planned in zip(
        compared(joint([[20, 5]] * 4)), plan["steps"][-1]["targets"], strict=True
    ):
        assert row["predicted"]["distribution"] == pytest.approx(planned["distribution"])
        assert row["predicted"]["distance"] == pytest.approx(planned["distance"])


def test_too_few_valid_answers_are_not_compared() -> None:
    images = joint([[20, 5]] * 4)
    for one in images:
        one[:, 2] = -1
    *_, c = compared(images)
    assert c["found"]["n_valid"] == 0
    assert c["found"]["distance"] is c["error"] is c["misplaced"] is None
    assert c["predicted"]["distance"] is not None


def test_combinations_are_resampled_by_themselves_where_they_can_be() -> None:
    """Each combination shows one attribute only: little varies but how often it is drawn."""
    many = compared(joint([[25, 0], [0, 25], [25, 0], [0, 25]]))[2]
    assert many["found"]["distance_ci"] == [0, pytest.approx(0.04, abs=0.02)]
    single = [one[:1] for one in joint([[25, 0], [0, 25], [25, 0], [0, 25]])]
    few = compared(single, min_valid=1)[2]
    assert few["found"]["distance_ci"][1] > 0.2


@pytest.mark.slow(reason="hundreds of audits")
def test_a_false_prediction_is_covered_at_the_stated_rate() -> None:
    rng = np.random.default_rng(0)
    misses = 0
    for _ in range(60):
        outcome = [int((rng.random(25) < 0.5).sum()) for _ in range(4)]
        *_, c = compared(joint([[25 - one, one] for one in outcome]))
        misses += not c["error_ci"][0] <= 0 <= c["error_ci"][1]
    assert misses <= 6
