"""The planted truth of a prompt: exact distributions and the graph they imply, by enumeration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biasgraph.causal.transport import wasserstein
from biasgraph.errors import InputError, printable
from biasgraph.sandbox.captions import read
from biasgraph.sandbox.world import AXES, Scene, World, marginals

Floats = np.ndarray


@dataclass(frozen=True)
class TruePair:
    """What an audit of infinitely many images would find for ``source -> target``.

    Attributes:
        cramers_v: population V of target over equally weighted arms of source, in [0, 1]; None
            where the target has one attribute only.
        w1_before, w1_after: distance of the target from uniform, before and after diversifying.
        sensitivity: Intersectional Sensitivity, BiasConnect eq. 4: w1_before - w1_after.
    """

    source: str
    target: str
    cramers_v: float | None
    w1_before: float
    w1_after: float

    @property
    def sensitivity(self) -> float:
        return self.w1_before - self.w1_after


@dataclass(frozen=True)
class Truth:
    """The exact distributions of a prompt and of all its counterfactuals.

    Attributes:
        initial: axis -> (k,) shares.
        arms: (axis, attribute) -> axis -> (k,) shares, for every single intervention.
        pairs: every ordered pair of different axes.
    """

    scene: Scene
    initial: dict[str, Floats]
    arms: dict[tuple[str, str], dict[str, Floats]]
    pairs: tuple[TruePair, ...]


def scene_of(prompt: str) -> Scene:
    """What a prompt asks of the sandbox.

    Raises:
        InputError: it names nobody whom the sandbox knows.
    """
    try:
        return read(prompt)
    except ValueError:
        raise InputError(
            f"the sandbox knows no subject in '{printable(prompt)}'; it knows 26 occupations and "
            "'person'"
        ) from None


def intervene(scene: Scene, axis: str, attribute: str) -> Scene:
    """The scene of the counterfactual prompt."""
    return Scene(scene.occupation, {**scene.do, axis: attribute}, scene.contexts)


def truth(model: World, scene: Scene, metrics: dict[str, str] | None = None) -> Truth:
    """Enumerate the initial scene and each single intervention.

    Args:
        metrics: ground metric by axis; nominal where not given.
    """
    initial = marginals(model, scene)
    arms = {
        (axis, attribute): marginals(model, intervene(scene, axis, attribute))
        for axis, attributes in AXES.items()
        for attribute in attributes
    }
    return Truth(scene, initial, arms, true_pairs(initial, arms, metrics or {}))


def true_pairs(
    initial: dict[str, Floats],
    arms: dict[tuple[str, str], dict[str, Floats]],
    metrics: dict[str, str],
) -> tuple[TruePair, ...]:
    """The pairs that distributions imply; also used on distributions that were measured."""
    return tuple(
        _pair(
            source,
            target,
            initial[target],
            np.stack([arms[source, attribute][target] for attribute in AXES[source]]),
            metrics.get(target, "nominal"),
        )
        for source in AXES
        for target in AXES
        if source != target
    )


def _pair(source: str, target: str, initial: Floats, arms: Floats, metric: str) -> TruePair:
    even = np.full(len(initial), 1 / len(initial))
    before = wasserstein(initial, even, metric)  # type: ignore[arg-type]
    after = wasserstein(arms.mean(axis=0), even, metric)  # type: ignore[arg-type]
    return TruePair(source, target, population_v(arms), float(before), float(after))


def population_v(arms: Floats) -> float | None:
    """Cramér's V of equally weighted rows of shares, (J, k); None for a single column or row."""
    table = arms[:, arms.sum(axis=0) > 0] / len(arms)
    smaller = min(table.shape) - 1
    if smaller < 1:
        return None
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / smaller))
