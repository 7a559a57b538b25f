"""How often a gate of `biasgraph build` fails where the distance is just what it allows.

    python -m benchmarks.gate_errors [--audits 1000]

A gate fails when the lower end of the 95 % interval exceeds its number, so .025 is what it claims.
Distances are nominal W1 to a uniform ideal. Images that follow the ideal itself are tried as well,
with a gate at 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from biasgraph.causal.intervals import ROUNDING, Interval
from biasgraph.causal.sensitivity import TargetDraws
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.transport import Ideal

WORLDS = (
    ((0.7, 0.3), 24),
    ((0.7, 0.3), 48),
    ((0.7, 0.3), 200),
    ((0.6, 0.3, 0.1), 48),
    ((0.5, 0.3, 0.1, 0.1), 48),
    ((0.5, 0.3, 0.1, 0.05, 0.05), 48),
    ((0.5, 0.5), 48),
    ((0.25, 0.25, 0.25, 0.25), 48),
)
"""True shares, and images."""
REPLICATES = 500


def failures(shares: Sequence[float], images: int, audits: int, rng: np.random.Generator) -> float:
    """The share of audits in which a gate at the true distance fails."""
    ideal = Ideal("nominal", np.full(len(shares), 1 / len(shares)))
    allowed, failed = float(ideal.distance(np.array(shares))), 0
    for counts in rng.multinomial(images, shares, size=audits):
        draws = TargetDraws.of(counts[None], ideal, REPLICATES, rng)
        w1 = float(ideal.distance(counts / images))
        interval = Interval.of(w1, draws.distances, draws.errors.cases[1:], AnalysisSettings().tail)
        low, _ = interval.within(0.0, ideal.farthest)
        failed += low > allowed + ROUNDING
    return failed / audits


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line for each world."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--audits", type=int, default=1000)
    audits = parser.parse_args(arguments).audits
    rng = np.random.default_rng(0)
    for shares, images in WORLDS:
        share = failures(shares, images, audits, rng)
        print(f"{', '.join(f'{one:g}' for one in shares)}; {images} images: {share:.3f}")


if __name__ == "__main__":
    main()
