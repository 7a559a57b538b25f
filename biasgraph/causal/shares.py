"""What an intervention does in shares of pictures: of which attribute there are more, or fewer.

Attributes, and arms, are chosen by what is seen of them, so an interval leaves out as much less as
there were to choose from: it covers whichever is chosen. Intervals are Clopper's and Pearson's, of
mixtures with their effective number of images (Korn and Graubard 1998); Wilson's, which nodes have,
fall short so far out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from biasgraph.causal.intervals import ROUNDING, Ends, wilson
from biasgraph.causal.sensitivity import images_of_mixture
from biasgraph.causal.tables import Counts, mix_arms


@dataclass(frozen=True)
class Share:
    """A share of valid answers, 0 to 1, and its interval."""

    value: float
    ends: Ends

    @classmethod
    def of(cls, value: float, images: float, tail: float) -> Share:
        """A share seen in so many images, leaving out `tail` on each side."""
        hits = value * images
        low = betaincinv(hits, images - hits + 1, tail) if value > ROUNDING else 0.0
        high = betaincinv(hits + 1, images - hits, 1 - tail) if value < 1 - ROUNDING else 1.0
        return cls(value, (float(low), float(high)))


@dataclass(frozen=True)
class ShareChange:
    """The attribute whose share an intervention changes most.

    Attributes:
        attribute: Its place.
        before: Its share of the initial images, with the interval that nodes have.
        after: Its share of the mixture of the arms.
    """

    attribute: int
    before: Share
    after: Share


@dataclass(frozen=True)
class ShareGap:
    """The attribute in whose share two arms differ most.

    Attributes:
        attribute: Its place.
        lowest: The place of the arm with the least of it, and its share there.
        highest: The same of the arm with the most of it.
    """

    attribute: int
    lowest: tuple[int, Share]
    highest: tuple[int, Share]


def largest_change(initial: Counts, arms: Counts, mix: str, tail: float) -> ShareChange:
    """The attribute whose share changes most; of several, the one that more initial images show.

    Args:
        initial: (k,) answers about the initial images, at least one.
        arms: (J, k) answers about the images of each arm, at least one each.
        mix: How the arms are mixed.
        tail: What an interval leaves out on each side.
    """
    shares, after = initial / initial.sum(), mix_arms(arms, mix)
    change = np.abs(after - shares)
    tied = change >= change.max() - ROUNDING
    place = int(np.where(tied, shares, -1.0).argmax())
    low, high = wilson(initial[place], int(initial.sum()), tail).tolist()
    images = images_of_mixture(arms.sum(axis=1), mix)
    return ShareChange(
        place,
        Share(float(shares[place]), (low, high)),
        Share.of(float(after[place]), images, tail / choices(len(shares))),
    )


def widest_gap(arms: Counts, tail: float) -> ShareGap:
    """The attribute in whose share two of the arms (J, k) differ most; each has an answer."""
    sizes = arms.sum(axis=1)
    shares = arms / sizes[:, None]
    place = int(np.ptp(shares, axis=0).argmax())
    each = tail / (choices(arms.shape[1]) * len(arms))
    low, high = int(shares[:, place].argmin()), int(shares[:, place].argmax())
    ends = [(one, Share.of(float(shares[one, place]), sizes[one], each)) for one in (low, high)]
    return ShareGap(place, *ends)


def choices(size: int) -> int:
    """Among how many of so many one chooses: of two, either one tells of both."""
    return size if size > 2 else 1
