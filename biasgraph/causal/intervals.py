"""Intervals of one number, from replicates or from a count: 95 % unless another tail is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from biasgraph.causal.settings import TAIL
from biasgraph.causal.tables import Floats

ROUNDING = 1e-12  # equal sums differ by less
Ends = tuple[float, float]


@dataclass(frozen=True)
class Interval:
    """Bootstrap intervals of one number; the hull of all is the headline.

    In simulations none covers well alone where one side is near the ideal (STATISTICS (e)).

    Attributes:
        percentile: Of the replicates themselves.
        basic: The estimate less their errors.
        others: The estimate less errors that are possible too, see `near_ideal.Errors`.
    """

    percentile: Ends
    basic: Ends
    others: tuple[Ends, ...] = ()

    @classmethod
    def of(
        cls, estimate: float, draws: Floats, others: Sequence[Floats] = (), tail: float = TAIL
    ) -> Interval:
        """From replicates (B,); those that are undefined, having lost every answer, are left out.

        Args:
            estimate: The number itself.
            draws: Its bootstrap replicates, at least one of them finite.
            others: Replicates (B,) of errors that the estimate may have as well.
            tail: What is left out on each side.
        """
        low, high = middle(draws, tail)
        possible = [middle(errors, tail) for errors in others]
        return cls(
            (low, high),
            (2 * estimate - high, 2 * estimate - low),
            tuple((estimate - most, estimate - least) for least, most in possible),
        )

    @property
    def hull(self) -> Ends:
        """From the lowest of the lower ends to the highest of the higher ones."""
        lows, highs = zip(self.percentile, self.basic, *self.others, strict=True)
        return min(lows), max(highs)

    @property
    def distance(self) -> Ends:
        """The hull for a number that cannot be below 0."""
        return self.within(0.0, np.inf)

    def within(self, least: float, most: float) -> Ends:
        """The hull cut to the range of values that the number can have."""
        low, high = self.hull
        return max(least, low), min(most, high)


def middle(draws: Floats, tail: float = TAIL) -> Ends:
    """The ends of what is left of the finite draws without so much on each side."""
    low, high = np.quantile(draws[np.isfinite(draws)], [tail, 1 - tail]).tolist()
    return low, high


def noise_floor(draws: Floats) -> dict[str, float | None]:
    """Mean and 95 % quantile of what appears without any effect; None without replicates.

    The quantile is one that a further draw exceeds with a chance of .05 (numpy's "weibull").
    """
    if not len(draws):
        return {"mean": None, "q95": None}
    q95 = np.quantile(draws, 0.95, method="weibull")
    return {"mean": float(draws.mean()), "q95": float(q95)}


def wilson(hits: npt.ArrayLike, n: int, tail: float = TAIL) -> Floats:
    """(..., 2) Wilson's intervals of the shares of hits (...) in n >= 1, each for itself."""
    p, z = np.asarray(hits) / n, float(ndtri(1 - tail))
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return np.clip(np.stack([centre - half, centre + half], axis=-1), 0.0, 1.0)
