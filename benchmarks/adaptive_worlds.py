"""The worlds in which stopping early is tried, written down before they were run.

Every audit has axes with 2, 3, 4 and 6 attributes, each diversified and each asked about: 12 pairs.
The arms of an intervention share one mixture and differ in one answer's share, so that V and IS
are what a row says, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from benchmarks.validity_design import Shares, around, mirrored, skewed
from biasgraph.causal.tables import CodedImages, Codes, Variable

SIZES = (2, 3, 4, 6)
VARIABLES = tuple(
    Variable(f"axis of {size}", tuple(f"answer {j}" for j in range(size))) for size in SIZES
)


@dataclass(frozen=True)
class World:
    """How the answers about an axis with k attributes are distributed.

    Attributes:
        name: What it tries.
        before: Shares of the initial images, by k.
        mixture: Those of the arms together.
        v: Cramér's V of every pair.
        is_: IS of every pair, with a uniform ideal.
        even: Whether the arms spread evenly, instead of one of them being unlike the others.
        correlation: Of the latent variables behind an image's answers (a Gaussian copula).
    """

    name: str
    before: Callable[[int], Shares]
    mixture: Callable[[int], Shares]
    v: float
    is_: float
    even: bool = False
    correlation: float = 0.6

    def arms(self, k: int, count: int) -> Shares:
        """(J, k) shares of J arms: their V is `v`, and their mean `mixture`."""
        mean = self.mixture(k)
        place = int(mean.argmax())
        spread = np.linspace(-1.0, 1.0, count)
        if not self.even:
            spread = np.r_[np.ones(count - 1), 1.0 - count]
        # One share moves and the others keep their proportions: phi is its variance over m (1 - m).
        phi = self.v**2 * (min(count, k) - 1)
        m = mean[place]
        moved = m + spread * np.sqrt(phi * m * (1 - m) / (spread**2).mean())
        if moved.min() < 0 or moved.max() > 1:
            raise ValueError(f"{self.name}: V = {self.v} is out of reach for {count} x {k}")
        arms = np.outer((1 - moved) / (1 - m), mean)
        arms[:, place] = moved
        return np.asarray(arms)

    def draw(self, images: int, rng: np.random.Generator) -> CodedImages:
        """The answers about so many images of each prompt."""
        initial = self._images([self.before(k) for k in SIZES], images, rng)
        arms = {
            (x, a): self._images([self.arms(k, count)[a] for k in SIZES], images, rng)
            for x, count in enumerate(SIZES)
            for a in range(count)
        }
        return CodedImages(self.name, VARIABLES, initial, arms)

    def _images(self, shares: list[Shares], n: int, rng: np.random.Generator) -> Codes:
        own, common = rng.standard_normal((n, len(shares))), rng.standard_normal((n, 1))
        latent = np.sqrt(1 - self.correlation) * own + np.sqrt(self.correlation) * common
        columns = [
            np.minimum(np.searchsorted(p.cumsum(), u, side="right"), len(p) - 1)
            for p, u in zip(shares, ndtr(latent).T, strict=True)
        ]
        return np.stack(columns, axis=1).astype(np.int16)


# fmt: off
WORLDS = (
    World("no effect, 30% rare", skewed(0.3), skewed(0.3), v=0, is_=0),
    World("no effect, 5% rare", skewed(0.05), skewed(0.05), v=0, is_=0),
    World("no effect, 1% rare", skewed(0.01), skewed(0.01), v=0, is_=0),
    World("V at min. V, half and half", around(0.5), around(0.5), v=0.3, is_=0, even=True),
    World("V at min. V, one arm of 10% rare", skewed(0.1), skewed(0.1), v=0.3, is_=0),
    World("an edge, IS 0: .7 to its mirror", skewed(0.3), mirrored(0.3), v=0.3, is_=0),
    World("an edge, IS 0: .9 to its mirror", skewed(0.1), mirrored(0.1), v=0.3, is_=0),
    World("an edge, IS at delta: .8 to .75", around(0.8), around(0.75), v=0.3, is_=0.05),
)
# fmt: on
