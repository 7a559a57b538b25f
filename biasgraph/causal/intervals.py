"""95 % intervals of one number, from replicates or from a count."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from biasgraph.causal.settings import TAIL
from biasgraph.causal.tables import Floats

ROUNDING = 1e-12  # equal sums differ by less


@dataclass(frozen=True)
class Interval:
    """95 % bootstrap intervals of one number; the hull of the two is the headline.

    In simulations neither covers well alone where one side is near the ideal (STATISTICS (e)).
    """

    percentile: tuple[float, float]
    basic: tuple[float, float]

    @classmethod
    def of(cls, estimate: float, draws: Floats) -> Interval:
        """From replicates (B,); those that are undefined, having lost every answer, are left out.

        Args:
            estimate: The number itself.
            draws: Its bootstrap replicates, at least one of them finite.
        """
        low, high = np.quantile(draws[np.isfinite(draws)], [TAIL, 1 - TAIL]).tolist()
        return cls((low, high), (2 * estimate - high, 2 * estimate - low))

    @property
    def hull(self) -> tuple[float, float]:
        """From the lower of the lower ends to the higher of the higher ones."""
        return min(self.percentile[0], self.basic[0]), max(self.percentile[1], self.basic[1])

    @property
    def distance(self) -> tuple[float, float]:
        """The hull for a number that cannot be below 0."""
        low, high = self.hull
        return max(0.0, low), high


def noise_floor(draws: Floats) -> dict[str, float | None]:
    """Mean and 95 % quantile of what appears without any effect; None without replicates."""
    if not len(draws):
        return {"mean": None, "q95": None}
    return {"mean": float(draws.mean()), "q95": float(np.quantile(draws, 0.95))}


def is_flat(draws: Floats) -> bool:
    """Whether all replicates are one number, so that their interval would claim certainty.

    Images that all gave one answer are so resampled; whoever asks draws again from smoothed shares
    then, in which the answers never seen are possible (STATISTICS (e), 3).
    """
    return bool(np.ptp(draws) < ROUNDING)


def wilson(hits: npt.ArrayLike, n: int) -> Floats:
    """(..., 2) Wilson's intervals of the shares of hits (...) in n >= 1, each for itself."""
    p, z = np.asarray(hits) / n, float(ndtri(1 - TAIL))
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return np.clip(np.stack([centre - half, centre + half], axis=-1), 0.0, 1.0)
