"""The planted world: its claims, checked by enumeration, and its sampler against enumeration."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from biasgraph.data.axes import load_axis_set
from biasgraph.sandbox.planted_truth import truth
from biasgraph.sandbox.world import (
    AXES,
    CONTEXTS,
    OCCUPATIONS,
    Scene,
    World,
    joint,
    marginals,
    sample,
    world,
)

ANY_SCENES = [
    Scene("librarian"),
    Scene("athlete", {"gender": "female"}, ("with a toolbox",)),
    Scene(None, {"age": "old", "clothing": "formal"}),
]


def descendants(model: World, axis: str) -> set[str]:
    """The axes that an intervention on `axis` can move."""
    links = nx.DiGraph([(link.parent, link.child) for link in model.links])
    return nx.descendants(links, axis) if axis in links else set()


def share(name: str, occupation: str, axis: str, attribute: str) -> float:
    return float(marginals(world(name), Scene(occupation))[axis][AXES[axis].index(attribute)])


def test_world_has_the_papers_occupations_and_axes() -> None:
    assert len(OCCUPATIONS) == 26
    assert len(CONTEXTS) == 16
    shipped = load_axis_set("occupation")
    assert {axis.name: set(axis.names) for axis in shipped.axes} == {
        axis: set(attributes) for axis, attributes in AXES.items()
    }


@pytest.mark.parametrize("name", ["stereotyped", "debiased"])
def test_links_point_forward_and_name_what_exists(name: str) -> None:
    order = list(AXES)
    for link in world(name).links:
        assert order.index(link.parent) < order.index(link.child)
        assert set(link.shifts) <= set(AXES[link.parent])
        assert all(set(shift) <= set(AXES[link.child]) for shift in link.shifts.values())
    for shifts in CONTEXTS.values():
        assert all(set(shift) <= set(AXES[axis]) for axis, shift in shifts.items())


@pytest.mark.parametrize("occupation", ["librarian", "nurse"])
def test_nine_in_ten_are_female(occupation: str) -> None:
    assert share("stereotyped", occupation, "gender", "female") >= 0.9


@pytest.mark.parametrize("occupation", ["mechanic", "firefighter"])
def test_nine_in_ten_are_male(occupation: str) -> None:
    assert share("stereotyped", occupation, "gender", "male") >= 0.9


@pytest.mark.parametrize("occupation", OCCUPATIONS)
def test_debiased_occupations_are_balanced(occupation: str) -> None:
    shares = marginals(world("debiased"), Scene(occupation))
    assert shares["gender"] == pytest.approx([1 / 2] * 2)
    assert shares["age"] == pytest.approx([1 / 3] * 3)


def test_contexts_move_the_debiased_world_too() -> None:
    shares = marginals(world("debiased"), Scene("engineer", {}, ("with a toolbox",)))
    assert shares["gender"][0] > 0.8


@pytest.mark.parametrize("name", ["stereotyped", "debiased"])
def test_edges_of_both_signs_and_independent_pairs(name: str) -> None:
    pairs = [
        pair
        for occupation in OCCUPATIONS
        for pair in truth(world(name), Scene(occupation), {}).pairs
        if pair.cramers_v is not None
    ]
    edges = [pair for pair in pairs if pair.cramers_v >= 0.1]
    assert sum(edge.sensitivity >= 0.05 for edge in edges) >= 20
    assert sum(edge.sensitivity <= -0.05 for edge in edges) >= 20
    assert sum(pair.cramers_v < 1e-9 for pair in pairs) >= len(pairs) / 2


@pytest.mark.parametrize("scene", ANY_SCENES)
def test_joint_is_a_distribution_and_interventions_hold(scene: Scene) -> None:
    assert joint(world("stereotyped"), scene).sum() == pytest.approx(1)
    shares = marginals(world("stereotyped"), scene)
    for axis, attribute in scene.do.items():
        assert shares[axis][AXES[axis].index(attribute)] == pytest.approx(1)


def test_an_intervention_never_moves_an_ancestor() -> None:
    model = world("stereotyped")
    before = marginals(model, Scene("librarian"))
    after = marginals(model, Scene("librarian", {"clothing": "informal"}))
    for axis in AXES:
        moved = not np.allclose(before[axis], after[axis])
        assert moved == (axis in {"clothing", *descendants(model, "clothing")})


@pytest.mark.parametrize("scene", ANY_SCENES)
def test_samples_follow_the_enumerated_shares(scene: Scene) -> None:
    model = world("stereotyped")
    people = sample(model, scene, 40_000, np.random.default_rng(5))
    for column, shares in enumerate(marginals(model, scene).values()):
        seen = np.bincount(people[:, column], minlength=len(shares)) / len(people)
        assert seen == pytest.approx(shares, abs=0.015)
