"""What chance does to a distance whose truth may lie at the ideal (STATISTICS (k), 3).

A distance has a kink where a share equals its ideal: there it leans upwards, and neither of the
usual bootstrap intervals covers. Shares within two standard errors of the ideal may lie on it, so
errors are drawn for that case as well (after Fang and Santos 2019, who choose the kinks likewise).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biasgraph.causal.tables import Floats
from biasgraph.causal.transport import Ideal

NEAR = 2.0  # standard errors


@dataclass(frozen=True)
class Errors:
    """How far a distance may be off, in replicates (B,) of each case that the images admit.

    Attributes:
        plain: The truth is what the images show.
        at_ideal: The shares near the ideal lie on it; None where none is near.
    """

    plain: Floats
    at_ideal: Floats | None

    @property
    def cases(self) -> list[Floats]:
        """Those there are."""
        return [self.plain] if self.at_ideal is None else [self.plain, self.at_ideal]

    @classmethod
    def of(
        cls,
        draws: Floats,
        shares: Floats,
        images: int,
        ideal: Ideal,
        drawn_ideal: Floats,
        rng: np.random.Generator,
    ) -> Errors:
        """Of a set of images, or of a mixture of several.

        Args:
            draws: (B,) bootstrap distances.
            shares: (k,) what they were drawn from.
            images: How many images say as much about these shares.
            ideal: What the distance is to.
            drawn_ideal: (B, k) its replicates, or (k,).
            rng: For drawing images at the ideal.
        """
        plain = draws - ideal.distance(shares)
        moved = move_to_ideal(shares, images, ideal)
        if moved is None:
            return cls(plain, None)
        drawn = rng.multinomial(images, moved, size=len(draws)) / images
        return cls(plain, ideal.distance(drawn, drawn_ideal) - ideal.distance(moved))


def move_to_ideal(shares: Floats, images: int, ideal: Ideal) -> Floats | None:
    """(k,) shares with those near the ideal moved onto it; None where none is near.

    Along an order (ordinal, index) it is cumulated shares that have kinks, and that are moved.
    """
    ordered = ideal.metric in ("ordinal", "index")
    p, goal = (np.cumsum(s)[:-1] if ordered else s for s in (shares, ideal.shares))
    variance = np.maximum(p * (1 - p), goal * (1 - goal)) / images
    if ideal.reference is not None:
        variance = variance + goal * (1 - goal) / ideal.reference.sum()
    near = np.abs(p - goal) <= NEAR * np.sqrt(variance)
    if not near.any():
        return None
    if ordered:
        cumulated = np.maximum.accumulate(np.where(near, goal, p)).clip(0.0, 1.0)
        return np.diff(cumulated, prepend=0.0, append=1.0)
    rest, far = 1 - goal[near].sum(), p[~near].sum()
    if rest <= 0 or far <= 0:
        return np.asarray(ideal.shares)
    return np.where(near, goal, p * rest / far)
