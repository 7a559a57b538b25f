"""The structural causal model that the sandbox's biases are planted with.

A world is data (``templates/sandbox/world.yaml``).  Every axis has a mechanism: the logit of
attribute ``a`` is

    log(share of a in the occupation) + sum of the shifts of its parents' values
                                      + sum of the shifts of the context phrases,

and the attribute is drawn from the softmax of its logits.  Axes are drawn in the order of
``AXES``; a link may only point forward in that order, so the links form a DAG.

A prompt that names an attribute *intervenes*: the axis' mechanism is replaced by the named value
(Pearl's do-operator), whatever its parents say.  An axis therefore moves its descendants and never
its ancestors, and the direction of every true edge is known.

The shares and shifts were chosen to give edges of both signs and pairs without an edge.  They are
planted, not measured, and say nothing about people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from biasgraph.io import resources

_PLANTED = resources.read_yaml("sandbox", "world.yaml")

AXES: dict[str, tuple[str, ...]] = {
    axis: tuple(attributes) for axis, attributes in _PLANTED["axes"].items()
}
"""The eight axes of BiasConnect supp. A.3, in causal order."""

OCCUPATIONS: tuple[str, ...] = tuple(_PLANTED["occupations"])
"""The 26 occupations of BiasConnect supp. A.1."""

Shift = Mapping[str, float]  # attribute -> added to its logit

CONTEXTS: Mapping[str, Mapping[str, Shift]] = _PLANTED["contexts"]
"""Sixteen neutral context phrases and the logits they shift, in both worlds alike."""


@dataclass(frozen=True)
class Link:
    """``parent -> child``: each value of the parent shifts the logits of the child."""

    parent: str
    child: str
    shifts: Mapping[str, Shift]  # parent's value -> child's attribute -> logit


@dataclass(frozen=True)
class World:
    """A causal model: shares per occupation, links between axes, shifts by context phrases.

    Attributes:
        name: ``stereotyped`` or ``debiased``.
        shares: occupation -> axis -> share of each attribute, in the order of ``AXES``.
        links: the arrows between axes.
        contexts: phrase -> axis -> attribute -> logit.
    """

    name: str
    shares: Mapping[str, Mapping[str, tuple[float, ...]]]
    links: tuple[Link, ...]
    contexts: Mapping[str, Mapping[str, Shift]] = field(default_factory=dict)

    def parents(self, axis: str) -> tuple[str, ...]:
        """The axes with a link to ``axis``, in causal order."""
        parents = {link.parent for link in self.links if link.child == axis}
        return tuple(name for name in AXES if name in parents)


def _shares() -> dict[str, dict[str, tuple[float, ...]]]:
    shares = {}
    for occupation, planted in _PLANTED["occupations"].items():
        female, indoor, formal = (planted[name] for name in ("female", "indoor", "formal"))
        weights = {
            **planted,
            "ethnicity": _PLANTED["ethnicity_profiles"][planted["ethnicity"]],
            "gender": (1 - female, female),
            "environment": (indoor, 1 - indoor),
            "clothing": (formal, 1 - formal),
        }
        shares[occupation] = {
            axis: tuple(weight / sum(weights[axis]) for weight in weights[axis]) for axis in AXES
        }
    return shares


@cache
def world(name: str) -> World:
    """The world called ``stereotyped`` or ``debiased``.

    ``debiased`` gives every occupation balanced gender and age and drops the links out of
    ethnicity and gender and into body type; the contexts and the remaining links stay.

    Raises:
        KeyError: no such world.
    """
    shares = _shares()
    kept = tuple(Link(**link) for link in _PLANTED["kept_links"])
    if name == "stereotyped":
        dropped = tuple(Link(**link) for link in _PLANTED["stereotyped_links"])
        return World(name, shares, dropped + kept, CONTEXTS)
    if name == "debiased":
        balanced = {"gender": (1 / 2,) * 2, "age": (1 / 3,) * 3}
        even = {job: {**axes, **balanced} for job, axes in shares.items()}
        return World(name, even, kept, CONTEXTS)
    raise KeyError(name)


@dataclass(frozen=True)
class Scene:
    """What a prompt asks for: an occupation, interventions and context phrases.

    ``occupation`` None is "a person": the occupation is drawn evenly.
    """

    occupation: str | None
    do: Mapping[str, str] = field(default_factory=dict)
    contexts: tuple[str, ...] = ()


def conditional(
    model: World, occupation: str, axis: str, parents: Mapping[str, np.ndarray], scene: Scene
) -> np.ndarray:
    """P(axis | parents) under a scene's contexts.

    Args:
        model: the planted world.
        occupation: one of the 26.
        axis: the axis whose mechanism is evaluated.
        parents: parent's name -> (n,) indices of its values; all parents of ``axis``.
        scene: gives the contexts; its interventions are not looked at.

    Returns:
        (n, k) probabilities; (1, k) for an axis without parents.
    """
    attributes = AXES[axis]
    logits = np.log(np.asarray(model.shares[occupation][axis]))[None, :]
    for context in scene.contexts:
        logits = logits + _row(model.contexts[context].get(axis, {}), attributes)
    for link in model.links:
        if link.child == axis:
            table = np.stack(
                [_row(link.shifts.get(value, {}), attributes) for value in AXES[link.parent]]
            )
            logits = logits + table[parents[link.parent]]
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _row(shift: Shift, attributes: tuple[str, ...]) -> np.ndarray:
    return np.array([shift.get(attribute, 0.0) for attribute in attributes])


def joint(model: World, scene: Scene) -> np.ndarray:
    """The exact joint distribution of the eight axes under a scene, by enumeration.

    Returns:
        Array of shape (6, 2, 3, 3, 4, 2, 2, 4), axes in the order of ``AXES``, summing to 1.
    """
    if scene.occupation is None:
        parts = [joint(model, Scene(job, scene.do, scene.contexts)) for job in OCCUPATIONS]
        return np.asarray(np.mean(parts, axis=0))
    probability = np.ones((1,) * len(AXES))
    for axis, attributes in AXES.items():
        if axis in scene.do:
            parents: tuple[str, ...] = ()
            table = np.array([[value == scene.do[axis] for value in attributes]], dtype=float)
        else:
            parents = model.parents(axis)
            grid = np.indices([len(AXES[parent]) for parent in parents])
            states = {parent: values.ravel() for parent, values in zip(parents, grid, strict=True)}
            table = conditional(model, scene.occupation, axis, states, scene)
        involved = {*parents, axis}
        shape = [len(values) if name in involved else 1 for name, values in AXES.items()]
        probability = probability * table.reshape(shape)
    return probability


def marginals(model: World, scene: Scene) -> dict[str, np.ndarray]:
    """The exact distribution of every axis under a scene; axis -> (k,) shares summing to 1."""
    table = joint(model, scene)
    every = range(table.ndim)
    return {
        axis: table.sum(axis=tuple(other for other in every if other != index))
        for index, axis in enumerate(AXES)
    }


def sample(model: World, scene: Scene, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw ``n`` people from a scene.

    Returns:
        (n, 8) int64 indices of attributes, columns in the order of ``AXES``.
    """
    if scene.occupation is None:
        jobs = rng.integers(len(OCCUPATIONS), size=n)
        people = np.empty((n, len(AXES)), dtype=np.int64)
        for job in np.unique(jobs):
            chosen = np.flatnonzero(jobs == job)
            inner = Scene(OCCUPATIONS[job], scene.do, scene.contexts)
            people[chosen] = sample(model, inner, len(chosen), rng)
        return people
    states: dict[str, np.ndarray] = {}
    for axis, attributes in AXES.items():
        if axis in scene.do:
            states[axis] = np.full(n, attributes.index(scene.do[axis]))
        else:
            rows = conditional(model, scene.occupation, axis, states, scene)
            below = rng.random((n, 1)) > np.cumsum(rows, axis=1)[:, :-1]
            states[axis] = below.sum(axis=1)
    return np.stack([states[axis] for axis in AXES], axis=1)
