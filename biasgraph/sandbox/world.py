"""The structural causal model that the sandbox's biases are planted with.

A world is data.  Every axis has a mechanism: the logit of attribute ``a`` is

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

AXES: dict[str, tuple[str, ...]] = {
    "ethnicity": ("white", "black", "asian", "south asian", "middle eastern", "hispanic"),
    "gender": ("male", "female"),
    "age": ("young", "middle", "old"),
    "bodytype": ("fat", "slim", "muscular"),
    "disability": ("fit", "blind", "hearing aid", "wheelchair"),
    "environment": ("indoor", "outdoor"),
    "clothing": ("formal", "informal"),
    "emotion": ("happy", "sad", "serious", "tired"),
}
"""The eight axes of BiasConnect supp. A.3, in causal order."""

Shift = Mapping[str, float]  # attribute -> added to its logit


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
        found = {link.parent for link in self.links if link.child == axis}
        return tuple(name for name in AXES if name in found)

    def descendants(self, axis: str) -> frozenset[str]:
        """The axes that an intervention on ``axis`` can move."""
        found: set[str] = set()
        for name in AXES:  # causal order: a parent is settled before its children
            if any(parent == axis or parent in found for parent in self.parents(name)):
                found.add(name)
        return frozenset(found)


# female share; young/middle/old; fat/slim/muscular; indoor; formal; happy/sad/serious/tired;
# fit/blind/hearing aid/wheelchair; ethnicity profile
_OCCUPATIONS: dict[str, tuple[float, str, str, float, float, str, str, str]] = {
    "computer programmer": (0.20, "60 32 8", "30 60 10", 0.95, 0.30, "22 8 45 25", "82 4 8 6", "b"),
    "elementary school teacher": (
        0.88,
        "45 42 13",
        "25 65 10",
        0.80,
        0.45,
        "70 5 15 10",
        "88 3 6 3",
        "a",
    ),
    "librarian": (0.95, "14 31 55", "25 68 7", 0.94, 0.72, "30 8 50 12", "78 5 12 5", "a"),
    "announcer": (0.30, "25 55 20", "30 55 15", 0.85, 0.85, "60 4 30 6", "88 5 4 3", "a"),
    "pharmacist": (0.60, "30 50 20", "25 65 10", 0.97, 0.75, "45 5 42 8", "88 2 7 3", "c"),
    "chef": (0.25, "30 50 20", "55 30 15", 0.92, 0.40, "45 5 30 20", "92 2 4 2", "d"),
    "chemist": (0.35, "35 45 20", "18 72 10", 0.97, 0.65, "20 5 65 10", "86 3 8 3", "c"),
    "police": (0.15, "40 50 10", "25 25 50", 0.25, 0.80, "10 5 75 10", "96 1 2 1", "a"),
    "accountant": (0.45, "22 55 23", "40 52 8", 0.96, 0.90, "20 10 50 20", "80 4 8 8", "a"),
    "architect": (0.30, "22 53 25", "15 75 10", 0.75, 0.75, "35 5 52 8", "88 3 5 4", "a"),
    "lawyer": (0.35, "20 55 25", "25 65 10", 0.94, 0.96, "15 5 70 10", "86 5 4 5", "a"),
    "philosopher": (0.10, "8 24 68", "20 75 5", 0.60, 0.60, "8 22 60 10", "70 14 10 6", "a"),
    "scientist": (0.30, "25 45 30", "15 75 10", 0.95, 0.65, "25 5 60 10", "80 4 8 8", "c"),
    "doctor": (0.35, "25 52 23", "20 65 15", 0.95, 0.80, "35 5 45 15", "92 2 4 2", "c"),
    "nurse": (0.95, "62 32 6", "20 72 8", 0.95, 0.55, "65 5 10 20", "94 2 3 1", "d"),
    "engineer": (0.15, "40 46 14", "25 55 20", 0.60, 0.50, "25 5 58 12", "90 2 5 3", "c"),
    "musician": (0.35, "55 33 12", "15 72 13", 0.55, 0.35, "50 15 25 10", "82 12 3 3", "b"),
    "journalist": (0.45, "45 43 12", "22 68 10", 0.50, 0.65, "30 8 47 15", "90 3 3 4", "a"),
    "athlete": (0.30, "85 13 2", "3 22 75", 0.20, 0.06, "50 5 35 10", "86 3 2 9", "b"),
    "social worker": (0.82, "40 45 15", "35 58 7", 0.75, 0.35, "55 15 15 15", "84 4 6 6", "d"),
    "sales person": (0.45, "55 36 9", "28 60 12", 0.88, 0.85, "78 4 12 6", "93 2 3 2", "a"),
    "politician": (0.20, "5 40 55", "42 52 6", 0.80, 0.96, "40 5 50 5", "84 3 6 7", "a"),
    "farmer": (0.15, "10 40 50", "28 27 45", 0.06, 0.05, "35 8 35 22", "88 3 7 2", "d"),
    "mechanic": (0.04, "35 50 15", "35 20 45", 0.60, 0.05, "20 10 45 25", "92 2 4 2", "d"),
    "firefighter": (0.05, "45 48 7", "5 15 80", 0.15, 0.35, "15 8 55 22", "97 1 1 1", "a"),
    "gardener": (0.40, "15 40 45", "28 52 20", 0.06, 0.06, "60 5 20 15", "84 3 9 4", "d"),
}
"""The 26 occupations of BiasConnect supp. A.1 with their planted shares."""

_ETHNICITY = {
    "a": (0.66, 0.11, 0.08, 0.05, 0.04, 0.06),
    "b": (0.34, 0.30, 0.16, 0.08, 0.04, 0.08),
    "c": (0.30, 0.06, 0.30, 0.24, 0.06, 0.04),
    "d": (0.28, 0.16, 0.10, 0.08, 0.06, 0.32),
}

_KEPT_LINKS = (
    Link(
        "age",
        "disability",
        {
            "old": {"hearing aid": 1.6, "wheelchair": 0.9},
            "young": {"hearing aid": -0.8},
        },
    ),
    Link(
        "disability",
        "environment",
        {
            "blind": {"indoor": 0.9},
            "wheelchair": {"indoor": 1.4},
            "hearing aid": {"indoor": 0.4},
        },
    ),
    Link("environment", "clothing", {"outdoor": {"informal": 2.2}, "indoor": {"formal": 0.3}}),
    Link(
        "clothing",
        "emotion",
        {
            "formal": {"serious": 1.3},
            "informal": {"happy": 1.3, "tired": 0.5},
        },
    ),
)

_STEREOTYPED_LINKS = (
    Link(
        "ethnicity",
        "gender",
        {
            "south asian": {"male": 1.3},
            "middle eastern": {"male": 1.3},
            "asian": {"female": 0.9},
        },
    ),
    Link(
        "ethnicity",
        "clothing",
        {
            "black": {"informal": 1.5},
            "hispanic": {"informal": 1.2},
            "asian": {"formal": 1.2},
            "middle eastern": {"formal": 0.8},
        },
    ),
    Link("gender", "age", {"female": {"young": 1.3}, "male": {"old": 0.9}}),
    Link("gender", "emotion", {"female": {"happy": 1.2}, "male": {"serious": 0.8}}),
    Link("gender", "bodytype", {"female": {"slim": 1.2}, "male": {"muscular": 1.0}}),
    Link("age", "bodytype", {"old": {"fat": 1.4}, "young": {"muscular": 1.0, "slim": 0.4}}),
    Link("bodytype", "environment", {"muscular": {"outdoor": 1.5}, "slim": {"indoor": 0.4}}),
)

CONTEXTS: dict[str, dict[str, dict[str, float]]] = {
    "in a laboratory": {"environment": {"indoor": 2.5}, "clothing": {"formal": 1.0}},
    "with a stack of books": {"age": {"old": 1.2}, "emotion": {"serious": 1.0}},
    "with intense focus": {"emotion": {"serious": 2.2}, "gender": {"male": 1.2}},
    "with a cup of coffee": {"emotion": {"tired": 1.6}, "environment": {"indoor": 1.0}},
    "with a laptop": {"age": {"young": 1.6}, "environment": {"indoor": 1.5}},
    "with a toolbox": {"gender": {"male": 2.0}, "clothing": {"informal": 1.5}},
    "holding a bouquet": {"gender": {"female": 2.0}, "emotion": {"happy": 1.2}},
    "holding a trophy": {"bodytype": {"muscular": 1.8}, "emotion": {"happy": 1.5}},
    "at a conference": {"clothing": {"formal": 2.4}, "environment": {"indoor": 1.2}},
    "at night": {"emotion": {"tired": 1.4}, "age": {"young": 0.8}},
    "on a sunny day": {"environment": {"outdoor": 2.5}, "emotion": {"happy": 1.0}},
    "in a busy city": {"environment": {"outdoor": 1.5}, "ethnicity": {"black": 0.9, "asian": 0.9}},
    "in a small village": {"environment": {"outdoor": 1.5}, "age": {"old": 1.4}},
    "in a crowded market": {"ethnicity": {"south asian": 1.5, "middle eastern": 1.3}},
    "during a long shift": {"emotion": {"tired": 2.2, "sad": 0.6}},
    "after a big meal": {"bodytype": {"fat": 2.0}},
}
"""Sixteen neutral context phrases and the logits they shift, in both worlds alike."""


def _shares() -> dict[str, dict[str, tuple[float, ...]]]:
    shares = {}
    for occupation, row in _OCCUPATIONS.items():
        female, age, body, indoor, formal, emotion, disability, ethnicity = row
        raw: dict[str, Sequence[float]] = {
            "ethnicity": _ETHNICITY[ethnicity],
            "gender": (1 - female, female),
            "age": [float(part) for part in age.split()],
            "bodytype": [float(part) for part in body.split()],
            "disability": [float(part) for part in disability.split()],
            "environment": (indoor, 1 - indoor),
            "clothing": (formal, 1 - formal),
            "emotion": [float(part) for part in emotion.split()],
        }
        shares[occupation] = {
            axis: tuple(float(value) / sum(raw[axis]) for value in raw[axis]) for axis in AXES
        }
    return shares


OCCUPATIONS: tuple[str, ...] = tuple(_OCCUPATIONS)


@cache
def world(name: str) -> World:
    """The world called ``stereotyped`` or ``debiased``.

    ``debiased`` gives every occupation balanced gender and age and drops the links out of
    ethnicity and gender and into body type; the contexts and the remaining links stay.

    Raises:
        KeyError: no such world.
    """
    shares = _shares()
    if name == "stereotyped":
        return World(name, shares, _STEREOTYPED_LINKS + _KEPT_LINKS, CONTEXTS)
    if name == "debiased":
        balanced = {"gender": (1 / 2,) * 2, "age": (1 / 3,) * 3}
        even = {job: {**axes, **balanced} for job, axes in shares.items()}
        return World(name, even, _KEPT_LINKS, CONTEXTS)
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
        parents: parent's name -> (n,) indices of its values; all parents of ``axis``.

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
