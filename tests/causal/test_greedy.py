"""A greedy order of interventions, and what it is expected to come to."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.causal.greedy import Edges, Shifts, Target, greedy_plan
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Pool
from biasgraph.causal.transport import Ideal, resolve_ideals
from tests.causal.worlds import audit, codes, independent, variables

ALL = [(x, y) for x in range(3) for y in range(3) if x != y]


def planned(
    images: CodedImages,
    weights: Sequence[float],
    ideal: dict[str, dict[str, float]] | None = None,
    steps: int | None = None,
    edges: Edges = ALL,
    **options: Any,
) -> dict[str, Any]:
    settings = AnalysisSettings.resolve(**{"bootstrap": 500, **options})
    ideals = resolve_ideals(images.variables, settings.metric, ideal, None)
    targets = [
        Target(y, weight, one)
        for y, (weight, one) in enumerate(zip(weights, ideals, strict=True))
        if weight
    ]
    return greedy_plan(Pool.of("p", [images]), targets, edges, settings, steps)


def three_axes(n: int = 100) -> CodedImages:
    """a obeys and moves b from 95 % to 75 %; b obeys; c obeys and moves nothing."""
    initial = [[90, 10], [95, 5], [59, 41]]
    arms = {
        (0, 0): codes([[100, 0], [95, 5], [59, 41]]),
        (0, 1): codes([[0, 100], [55, 45], [59, 41]]),
        (1, 0): codes([[90, 10], [100, 0], [59, 41]]),
        (1, 1): codes([[90, 10], [0, 100], [59, 41]]),
        (2, 0): codes([[90, 10], [95, 5], [100, 0]]),
        (2, 1): codes([[90, 10], [95, 5], [0, 100]]),
    }
    return audit(codes(initial), arms, variables(2, 2, 2))


def distances(state: dict[str, Any]) -> dict[str, float]:
    return {row["axis"]: row["distance"] for row in state["targets"]}


def test_the_order_and_the_predictions_by_hand() -> None:
    plan = planned(three_axes(), [1, 1, 0])
    assert distances(plan["before"]) == pytest.approx({"a": 0.4, "b": 0.45})
    assert [step["axis"] for step in plan["steps"]] == ["a", "b"]
    first, second = plan["steps"]
    assert distances(first) == pytest.approx({"a": 0, "b": 0.25})
    assert first["gain"] == pytest.approx(0.6)
    assert first["gain_ci"][0] > 0
    assert first["gain"] > first["chance"]
    assert distances(second) == pytest.approx({"a": 0, "b": 0})
    assert second["total"] == pytest.approx(0)
    assert (plan["stopped"], plan["next"]) == ("all_set", None)


def test_it_stops_where_chance_gains_as_much() -> None:
    plan = planned(three_axes(), [0, 1, 1], {"b": {"b0": 0.75, "b1": 0.25}})
    assert [step["axis"] for step in plan["steps"]] == ["a"]
    assert plan["stopped"] == "no_gain"
    assert plan["next"]["gain"] <= plan["next"]["chance"] < 0.15
    assert (plan["next"]["axis"], plan["next"]["gain"]) == ("c", pytest.approx(0.09))


def test_weights_and_targets_of_ones_own_change_the_order() -> None:
    assert planned(three_axes(), [1, 3, 0], steps=1)["steps"][0]["axis"] == "b"
    plan = planned(three_axes(), [1, 1, 0], {"b": {"b0": 1.0, "b1": 0.0}})
    assert distances(plan["before"]) == pytest.approx({"a": 0.4, "b": 0.05})
    first = plan["steps"][0]
    assert (first["axis"], first["gain"]) == ("a", pytest.approx(0.2))
    assert distances(first) == pytest.approx({"a": 0, "b": 0.25}), "better for a, worse for b"


def test_the_number_of_steps_can_be_limited() -> None:
    plan = planned(three_axes(), [1, 1, 1], steps=1)
    assert len(plan["steps"]) == 1
    assert (plan["stopped"], plan["next"]) == ("steps", None)


def test_all_interventions_used_up() -> None:
    two = three_axes()
    arms = {arm: images for arm, images in two.arms.items() if arm[0] == 0}
    plan = planned(audit(two.initial, arms, two.variables), [1, 1, 0])
    assert [step["axis"] for step in plan["steps"]] == ["a"]
    assert plan["stopped"] == "nothing_left"


def test_targets_with_too_few_answers_about_their_own_intervention_are_left_out() -> None:
    images = three_axes()
    arms = dict(images.arms)
    arms[0, 1] = arms[0, 1].copy()
    arms[0, 1][:90, 0] = -1
    plan = planned(audit(images.initial, arms, images.variables), [1, 1, 0])
    assert plan["left_out"] == ["a"]
    assert [step["axis"] for step in plan["steps"]] == ["b"]


def test_only_edges_move_other_axes() -> None:
    plan = planned(three_axes(), [0, 1, 0], edges=[], steps=3)
    assert [step["axis"] for step in plan["steps"]] == ["b"]
    first = planned(three_axes(), [1, 1, 0], edges=[])["steps"][0]
    assert distances(first) == pytest.approx({"a": 0.4, "b": 0})


shares = st.lists(st.floats(0.01, 1), min_size=3, max_size=3).map(
    lambda values: np.array([values]) / sum(values)
)


@given(shares, shares, shares)
def test_predictions_are_distributions(
    initial: np.ndarray, one: np.ndarray, other: np.ndarray
) -> None:
    shifts = Shifts([initial] * 3, {1: [one] * 3, 2: [other] * 3}, [(1, 0), (2, 0)])
    assert shifts.predict([], 0) == pytest.approx(initial)
    assert shifts.predict([1], 0) == pytest.approx(one), "a single shift is what was seen"
    assert shifts.predict([1, 2], 1) == pytest.approx(one), "an axis keeps its own intervention"
    both = shifts.predict([1, 2], 0)
    assert both.sum() == pytest.approx(1)
    assert (both >= 0).all()
    assert both == pytest.approx(shifts.predict([2, 1], 0)), "the order does not matter"
    assert shifts.predict([1], 2) == pytest.approx(initial), "without an edge nothing moves"
    added = np.maximum(one + other - initial, 0)
    assert both == pytest.approx(added / added.sum())


@pytest.mark.slow(reason="hundreds of audits")
def test_with_no_effect_anywhere_it_plans_nothing() -> None:
    begun = 0
    for seed in range(60):
        obeyed = independent((2, 3, 6), seed=seed)
        rng = np.random.default_rng(seed)
        images = audit(
            obeyed.initial,
            {arm: obeyed.initial[rng.integers(0, 48, 48)] for arm in obeyed.arms},
            obeyed.variables,
        )
        begun += bool(planned(images, [1, 1, 1], bootstrap=200)["steps"])
    assert begun <= 6


def test_the_plain_interval_alone_would_plan_noise() -> None:
    """Near the ideal a sensitivity leans upwards; the chance gain holds against it."""
    images = audit(
        codes([[31, 29], [33, 27]]),
        {
            **{(0, a): codes([[30, 30], [30, 30]]) for a in range(2)},
            **{(1, a): codes([[30, 30], [30, 30]]) for a in range(2)},
        },
        variables(2, 2),
    )
    plan = planned(images, [1, 1])
    assert plan["steps"] == []
    assert plan["next"]["gain"] > 0
    assert plan["next"]["gain"] <= plan["next"]["chance"]


def test_replicates_that_lose_every_answer_count_for_nothing() -> None:
    """Five valid answers of 60 about b: some replicates of its initial images have none."""
    images = independent((2, 2), n=60)
    images.initial[5:, 1] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = planned(images, [0, 1], steps=1)
    step = plan["next"] or plan["steps"][0]
    assert 0 < step["p_best"] <= 1 and np.isfinite(step["gain_ci"]).all()


def test_lost_answers_leave_finite_numbers() -> None:
    images = independent((2, 3), n=40, lost=0.4)
    plan = planned(images, [1, 2], min_valid=5)
    for state in (plan["before"], *plan["steps"]):
        assert np.isfinite([row["distance_ci"] for row in state["targets"]]).all()
        assert np.isfinite(state["total_ci"]).all()


def test_targets_may_have_other_metrics() -> None:
    ideal = Ideal("index", np.array([0.2, 0.3, 0.5]))
    pool = Pool.of("p", [independent((3, 2))])
    plan = greedy_plan(pool, [Target(0, 1, ideal)], [], AnalysisSettings.resolve(bootstrap=200))
    start = pool.total.initial[0].shares
    assert plan["before"]["targets"][0]["distance"] == pytest.approx(float(ideal.distance(start)))


def test_a_plan_without_a_target_is_refused() -> None:
    pool = Pool.of("p", [independent((2, 2))])
    with pytest.raises(ValueError, match="needs a target"):
        greedy_plan(pool, [], [], AnalysisSettings())
