"""How far any number of raters agree: Krippendorff's alpha (2004, ch. 11; 2011).

One minus observed over expected disagreement, counted in pairs of answers about one image. Raters
need not all answer, and may be two or many; an image that fewer than two answered counts nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgraph.causal.agreement import percentiles
from biasgraph.causal.resampling import resampled_sums
from biasgraph.causal.tables import Codes, Counts, Floats

NO_PAIR = "fewer than two raters answered about any image"
ONE_ANSWER = "only one answer was ever given"


def votes(ratings: Codes, size: int) -> Counts:
    """(images, k) how many raters gave each answer, of codes (images, raters); others count not."""
    return np.stack([(ratings == answer).sum(axis=1) for answer in range(size)], axis=1)


def coincidences(given: Counts) -> Floats:
    """(images, k, k) pairs of different raters' answers about an image, each by 1 / (raters - 1).

    They add up to the number of its answers, or to none where fewer than two raters answered.

    Args:
        given: (images, k) votes.
    """
    raters = given.sum(axis=1)
    pairs = given[:, :, None] * given[:, None, :] - np.eye(given.shape[1]) * given[:, None, :]
    return np.asarray(
        pairs / np.maximum(raters - 1, 1)[:, None, None] * (raters > 1)[:, None, None]
    )


def krippendorffs_alpha(sums: Floats, *, ordered: bool = False) -> Floats:
    """Alpha (...) of coincidences (..., k, k) summed over images.

    Not a number where only one answer was ever given, or none.

    Args:
        sums: The coincidences.
        ordered: Whether answers further apart disagree more, by the ranks in between (the ordinal
            difference); otherwise any two different ones disagree alike (nominal).
    """
    totals = sums.sum(axis=-1)
    n = totals.sum(axis=-1)
    if ordered:
        middles = totals.cumsum(axis=-1) - totals / 2
        apart = (middles[..., :, None] - middles[..., None, :]) ** 2
    else:
        apart = 1.0 - np.eye(sums.shape[-1])
    observed = (sums * apart).sum(axis=(-2, -1))
    expected = (totals[..., :, None] * totals[..., None, :] * apart).sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (n - 1) * observed / np.where(expected > 0, expected, np.nan)
        return np.asarray(1 - ratio)


@dataclass(frozen=True)
class Raters:
    """The answers of several raters about one axis.

    Attributes:
        ratings: (images, raters) codes, 0 to size - 1; a negative one is no answer.
        size: How many answers there are.
        ordered: Whether they have an order.
    """

    ratings: Codes
    size: int
    ordered: bool = False

    def fields(self, replicates: int, rng: np.random.Generator) -> dict[str, Any]:
        """Alpha with its interval in JSON types, and why where it is None.

        images: those with two answers or more; ratings: the answers about them. The interval
        resamples images; where all raters agree on each, from one more image on which they answer
        at random (see `Agreement.fields`).

        Args:
            replicates: How often to resample.
            rng: For resampling.
        """
        given = votes(self.ratings, self.size)
        given = given[given.sum(axis=1) > 1]
        cells = coincidences(given)
        value = float(krippendorffs_alpha(cells.sum(axis=0), ordered=self.ordered))
        about = {
            "metric": "ordinal" if self.ordered else "nominal",
            "images": len(given),
            "ratings": int(given.sum()),
        }
        if not np.isfinite(value):
            reason = ONE_ANSWER if len(given) else NO_PAIR
            return {**about, "value": None, "ci": None, "reason": reason}
        if value == 1:
            blank = np.full_like(cells[:1], given.sum() / len(given) / self.size**2)
            cells = np.concatenate([cells, blank])
        flat = cells.reshape(len(cells), -1)
        draws = resampled_sums(flat, len(given), replicates, rng).reshape(-1, *cells.shape[1:])
        ends = percentiles(krippendorffs_alpha(draws, ordered=self.ordered))
        return {**about, "value": value, "ci": ends, "reason": None}
