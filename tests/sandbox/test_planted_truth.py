"""The planted truth: enumerated distributions against drawn ones, pairs against hand and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from biasgraph.data.axes import load_axis_set
from biasgraph.errors import InputError
from biasgraph.sandbox.planted_truth import (
    TruePair,
    Truth,
    intervene,
    metrics_of,
    population_v,
    truth,
    truth_of,
)
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.world import (
    AXES,
    CONTEXTS,
    OCCUPATIONS,
    Scene,
    joint,
    marginals,
    sample,
    world,
)
from tests.sandbox.test_world import descendants

METRICS = metrics_of(load_axis_set("occupation"))
WORLDS = ("stereotyped", "debiased")


def _pair(exact: Truth, source: str, target: str) -> TruePair:
    (pair,) = [p for p in exact.pairs if (p.source, p.target) == (source, target)]
    return pair


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize(
    "scene",
    [
        Scene("librarian"),
        Scene("mechanic", {"gender": "female", "disability": "blind"}, ("with a cup of coffee",)),
        Scene(None, {"age": "old"}),
    ],
)
def test_enumeration_agrees_with_drawing(name: str, scene: Scene) -> None:
    model = world(name)
    n = 40_000
    people = sample(model, scene, n, np.random.default_rng(5))
    assert joint(model, scene).sum() == pytest.approx(1)
    for column, (axis, shares) in zip(people.T, marginals(model, scene).items(), strict=True):
        drawn = np.bincount(column, minlength=len(shares)) / n
        assert np.abs(drawn - shares).max() < 4 * np.sqrt(0.25 / n), axis


@pytest.mark.parametrize("name", WORLDS)
def test_interventions_move_descendants_and_nothing_else(name: str) -> None:
    model = world(name)
    for occupation in OCCUPATIONS[::5]:
        for pair in truth(model, Scene(occupation), METRICS).pairs:
            moved = pair.target in descendants(model, pair.source)
            assert pair.cramers_v is not None
            assert (pair.cramers_v > 0) == moved, pair
            if not moved:
                assert pair.sensitivity == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", WORLDS)
def test_links_point_forward_and_name_what_exists(name: str) -> None:
    model, order = world(name), list(AXES)
    for link in model.links:
        assert order.index(link.parent) < order.index(link.child)
        assert set(link.shifts) <= set(AXES[link.parent])
        assert all(set(shift) <= set(AXES[link.child]) for shift in link.shifts.values())
    for shifts in CONTEXTS.values():
        assert all(set(shift) <= set(AXES[axis]) for axis, shift in shifts.items())
    for shares in model.shares.values():
        assert all(sum(shares[axis]) == pytest.approx(1) for axis in AXES)


def test_the_worlds_keep_what_was_asked_of_them() -> None:
    female, male = 1, 0
    planted = {job: marginals(world("stereotyped"), Scene(job))["gender"] for job in OCCUPATIONS}
    assert len(OCCUPATIONS) == 26
    assert min(planted[job][female] for job in ("librarian", "nurse")) >= 0.9
    assert min(planted[job][male] for job in ("mechanic", "firefighter")) >= 0.9
    for job in OCCUPATIONS:
        plain = marginals(world("debiased"), Scene(job))
        assert plain["gender"] == pytest.approx([1 / 2] * 2)
        assert plain["age"] == pytest.approx([1 / 3] * 3)
    signs = [pair.sensitivity for pair in truth(world("stereotyped"), Scene("nurse"), {}).pairs]
    assert min(signs) < -0.02
    assert max(signs) > 0.02
    assert signs.count(pytest.approx(0, abs=1e-12)) > 10


def test_population_v_is_scipys_on_a_large_table() -> None:
    arms = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]])
    counts = (arms * 1000).astype(int)
    statistic = chi2_contingency(counts, correction=False).statistic
    assert population_v(arms) == pytest.approx(np.sqrt(statistic / counts.sum()))


def test_population_v_at_the_edges() -> None:
    assert population_v(np.array([[0.3, 0.7], [0.3, 0.7 + 1e-15]])) == 0.0
    assert population_v(np.array([[1.0, 0.0], [0.0, 1.0]])) == pytest.approx(1)
    assert population_v(np.array([[1.0, 0.0], [1.0, 0.0]])) is None
    assert population_v(np.array([[0.4, 0.6]])) is None
    assert population_v(np.array([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]])) == population_v(
        np.array([[0.5, 0.5], [0.1, 0.9]])
    )


def _flat() -> tuple[dict[str, np.ndarray], dict[tuple[str, str], dict[str, np.ndarray]]]:
    """Every axis even, whatever is intervened on."""
    even = {axis: np.full(len(values), 1 / len(values)) for axis, values in AXES.items()}
    arms = {(axis, value): dict(even) for axis, values in AXES.items() for value in values}
    return even, arms


def test_sensitivity_by_hand_in_each_axis_s_own_metric() -> None:
    initial, arms = _flat()
    initial["age"] = np.array([0.8, 0.0, 0.2])
    for value in AXES["gender"]:
        arms["gender", value]["age"] = np.array([0.0, 0.5, 0.5])
    nominal = _pair(truth_of(initial, arms, {}), "gender", "age")
    # half of |.8-1/3| + 1/3 + |.2-1/3|, and half of 1/3 + 1/6 + 1/6
    assert nominal.w1_before == pytest.approx(0.8 - 1 / 3)
    assert nominal.w1_after == pytest.approx(1 / 3)
    assert nominal.sensitivity == pytest.approx(0.8 - 2 / 3)
    assert nominal.cramers_v == 0.0
    ordinal = _pair(truth_of(initial, arms, METRICS), "gender", "age")
    # cumulative shares .8 .8 against 1/3 2/3, and 0 .5; two steps
    assert ordinal.w1_before == pytest.approx((0.8 - 1 / 3 + 0.8 - 2 / 3) / 2)
    assert ordinal.w1_after == pytest.approx((1 / 3 + 2 / 3 - 0.5) / 2)


def test_metrics_are_the_axes_own() -> None:
    assert METRICS["age"] == "ordinal"
    assert {metric for axis, metric in METRICS.items() if axis != "age"} == {"nominal"}


def test_a_counterfactual_keeps_the_rest_of_the_prompt() -> None:
    scene = read_scene("an elderly librarian in a laboratory")
    assert scene == Scene("librarian", {"age": "old"}, ("in a laboratory",))
    changed = intervene(scene, "age", "young")
    assert changed == Scene("librarian", {"age": "young"}, ("in a laboratory",))
    assert intervene(scene, "gender", "male").do == {"age": "old", "gender": "male"}


def test_a_prompt_about_nobody_is_an_input_error() -> None:
    with pytest.raises(InputError, match="does not know the subject of 'a bowl of fruit'"):
        read_scene("a bowl of fruit")
