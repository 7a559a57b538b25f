"""How well intervals cover when the ideal was counted from photographs (docs/reference.md).

    python benchmarks/reference.py [AUDITS]

Draws audits from known distributions: initial images, two arms of an intervention and photographs,
48 of each, and counts how often the 95 % intervals of W1 and IS hold the true values, once with
the photographs resampled, as `--reference` does, and once with their shares taken as exact, as
`--ideal` would. Claims: how often a direction is claimed where the true IS is 0.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np

from biasgraph.causal.intervals import Interval
from biasgraph.causal.rows import PairRow
from biasgraph.causal.sensitivity import TargetDraws, measure_sensitivity
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Floats, Variable
from biasgraph.causal.transport import Ideal, resolve_ideals

IMAGES = 48
AUDITS = 1000


@dataclass(frozen=True)
class World:
    """Shares of one axis: real, of the model's initial images, and of the mean of its arms."""

    name: str
    real: tuple[float, ...]
    initial: tuple[float, ...]
    arms: tuple[float, ...]


WORLDS = (
    World("far from the reference, moved towards it", (0.7, 0.3), (0.95, 0.05), (0.8, 0.2)),
    World("far from the reference, not moved", (0.5, 0.5), (0.9, 0.1), (0.9, 0.1)),
    World("at the reference, not moved", (0.7, 0.3), (0.7, 0.3), (0.7, 0.3)),
    World("at the reference, moved away", (0.7, 0.3), (0.7, 0.3), (0.95, 0.05)),
    World(
        "four attributes, moved towards it",
        (0.4, 0.3, 0.2, 0.1),
        (0.85, 0.05, 0.05, 0.05),
        (0.6, 0.2, 0.1, 0.1),
    ),
)


def distance(p: tuple[float, ...], q: tuple[float, ...]) -> float:
    """Total variation."""
    return float(np.abs(np.subtract(p, q)).sum() / 2)


def audit(
    world: World, exact: bool, settings: AnalysisSettings, rng: np.random.Generator
) -> tuple[bool, bool, bool]:
    """Whether the intervals of W1 and IS hold the truth, and whether a direction is claimed."""
    names = tuple("abcdef"[: len(world.real)])
    counts = rng.multinomial(IMAGES, world.real)
    reference = {"axis": dict(zip(names, counts.tolist(), strict=True))}
    [ideal] = resolve_ideals([Variable("axis", names)], None, None, reference)
    if exact:
        ideal = replace(ideal, reference=None)
    initial = rng.multinomial(IMAGES, world.initial)[None]
    arms = rng.multinomial(IMAGES, world.arms, size=(1, 2))
    draws = TargetDraws.of(initial, ideal, settings.bootstrap, rng)
    before = interval_of(initial, ideal, draws)
    pair = PairRow(source="x", target="axis", metric=ideal.metric)
    pair = measure_sensitivity(pair, initial, arms, ideal, draws, settings, rng)
    true_w1 = distance(world.initial, world.real)
    true_is = true_w1 - distance(world.arms, world.real)
    return (
        before[0] <= true_w1 <= before[1],
        (pair.is_ci_low or 0) <= true_is <= (pair.is_ci_high or 0),
        pair.sign != "undetermined",
    )


def interval_of(initial: Floats, ideal: Ideal, draws: TargetDraws) -> tuple[float, float]:
    w1 = float(ideal.distance(initial.sum(axis=0) / initial.sum()))
    return Interval.of(w1, draws.distances).distance


def main(audits: int) -> None:
    settings = AnalysisSettings(bootstrap=1000)
    print("| world | photographs | W1 held | IS held | direction claimed |")
    print("|---|---|---|---|---|")
    for world in WORLDS:
        for exact in (False, True):
            rng = np.random.default_rng(0)
            held = np.mean([audit(world, exact, settings, rng) for _ in range(audits)], axis=0)
            how = "taken as exact" if exact else "resampled"
            print(f"| {world.name} | {how} | " + " | ".join(f"{x:.3f}" for x in held) + " |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else AUDITS)
