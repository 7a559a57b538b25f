"""The planted truth of a prompt: exact distributions and the graph they imply, by enumeration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biasgraph.causal.settings import MetricName
from biasgraph.causal.transport import wasserstein
from biasgraph.data.axes import AxisSet
from biasgraph.errors import InputError
from biasgraph.sandbox.world import AXES, Scene, World, marginals

Floats = np.ndarray

ROUNDING = 1e-9
"""Arms that differ by less differ by rounding alone."""


@dataclass(frozen=True)
class TruePair:
    """What an audit of infinitely many images would find for ``source -> target``.

    Attributes:
        cramers_v: population V of target over equally weighted arms of source, in [0, 1], exactly
            0 where the arms are equal; None where the target only ever takes one attribute.
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
        """Intersectional Sensitivity, BiasConnect eq. 4."""
        return self.w1_before - self.w1_after


@dataclass(frozen=True)
class Truth:
    """The exact distributions of a prompt and of all its counterfactuals.

    Attributes:
        initial: axis -> (k,) shares.
        arms: (axis, attribute) -> axis -> (k,) shares, for every single intervention.
        pairs: every ordered pair of different axes.
    """

    initial: Mapping[str, Floats]
    arms: Mapping[tuple[str, str], Mapping[str, Floats]]
    pairs: tuple[TruePair, ...]

    @cached_property
    def by_name(self) -> Mapping[tuple[str, str], TruePair]:
        """The pairs by (source, target)."""
        return {(pair.source, pair.target): pair for pair in self.pairs}


def intervene(scene: Scene, axis: str, attribute: str) -> Scene:
    """The scene of the counterfactual prompt."""
    return Scene(scene.occupation, {**scene.do, axis: attribute}, scene.contexts)


def metrics_of(axes: AxisSet) -> dict[str, MetricName]:
    """Each axis's own ground metric, as an audit with these axes uses it.

    Raises:
        InputError: an axis has a cost matrix, which the planted truth does not know.
    """
    for axis in axes.axes:
        if axis.metric == "cost":
            raise InputError(
                f"the planted truth does not support cost matrices, and {axis.name} has one"
            )
    return {axis.name: axis.metric for axis in axes.axes}


def truth(model: World, scene: Scene, metrics: Mapping[str, MetricName]) -> Truth:
    """Enumerate the initial scene and each single intervention.

    Args:
        model: the planted world.
        scene: what the initial prompt asks for.
        metrics: ground metric by axis, see `metrics_of`; nominal where not given.
    """
    arms = {
        (axis, attribute): marginals(model, intervene(scene, axis, attribute))
        for axis, attributes in AXES.items()
        for attribute in attributes
    }
    return truth_of(marginals(model, scene), arms, metrics)


def truth_of(
    initial: Mapping[str, Floats],
    arms: Mapping[tuple[str, str], Mapping[str, Floats]],
    metrics: Mapping[str, MetricName],
) -> Truth:
    """The truth that distributions imply, be they enumerated or measured.

    Args:
        initial: axis -> (k,) shares.
        arms: (axis, attribute) -> axis -> (k,) shares, for every single intervention.
        metrics: ground metric by axis; nominal where not given.
    """
    pairs = tuple(
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
    return Truth(initial, arms, pairs)


def _pair(source: str, target: str, initial: Floats, arms: Floats, metric: MetricName) -> TruePair:
    even = np.full(len(initial), 1 / len(initial))
    before = wasserstein(initial, even, metric)
    after = wasserstein(arms.mean(axis=0), even, metric)
    return TruePair(source, target, population_v(arms), float(before), float(after))


def population_v(arms: Floats) -> float | None:
    """Cramér's V of equally weighted rows of shares, (J, k); None for a single column or row."""
    table = arms[:, arms.sum(axis=0) > 0] / len(arms)
    smaller = min(table.shape) - 1
    if smaller < 1:
        return None
    if np.ptp(arms, axis=0).max() < ROUNDING:
        return 0.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True)
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / smaller))
