"""The worlds in which the claims are tried: written down before they were run.

A world says how the answers about an axis with k attributes are distributed in the initial images
and in each arm of an intervention. Every audit has axes with 2, 2, 3, 3, 6 and 6 attributes, each
diversified and each asked about, so that every row has pairs of k = 2, 3, 6 attributes under
J = 2, 3, 6 arms. The last row is of the sandbox's worlds, with their 8 axes.
"""

# ruff: noqa: E501  (a table)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Shares = npt.NDArray[np.float64]
SIZES = (2, 2, 3, 3, 6, 6)


def skewed(rare: float) -> Callable[[int], Shares]:
    """One attribute with all but `rare` of the answers, which the others share."""
    return lambda k: np.r_[1 - rare, np.full(k - 1, rare / (k - 1))]


def uniform(k: int) -> Shares:
    """Equal shares."""
    return np.full(k, 1 / k)


def mirrored(rare: float) -> Callable[[int], Shares]:
    """The same shares in the opposite order: as far from a uniform ideal as `skewed`."""
    return lambda k: skewed(rare)(k)[::-1]


def around(low: float) -> Callable[[int], Shares]:
    """A first share of `low`; as far below an ideal first share as `skewed` may lie above it."""
    return lambda k: np.r_[low, np.full(k - 1, (1 - low) / (k - 1))]


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes:
        name: What it tries.
        images: Of each set.
        before: Shares of the initial images, by k.
        after: Shares of the arms, by k; those of `before` unless given.
        ideal: Uniform unless given.
        odd: First shares of all arms but the last and of the last, instead of `after`; None lets
            the last leave the mixture where the initial images are.
        sizes: Images of the arms in turn, as shares of `images`.
        correlation: Of the latent variables behind an image's answers.
        single: Whether only audits count whose initial images show a single answer.
        worded: Whether neutral rewordings do what the arms do, so that there is no effect beyond
            wording; claims and intervals are then those against the rewordings.
        reference: Images of a reference, drawn from the ideal, that stands for it; 0 for none.
        sandbox: Whether the answers are those of the sandbox's occupations, in both worlds in turn,
            instead of all that the other fields say.
        audits: How many make 20,000 pairs that count.
    """

    name: str
    images: int
    before: Callable[[int], Shares]
    after: Callable[[int], Shares] | None = None
    ideal: Callable[[int], Shares] = uniform
    odd: tuple[float, float | None] | None = None
    sizes: tuple[float, ...] = (1.0,)
    correlation: float = 0.0
    single: bool = False
    worded: bool = False
    reference: int = 0
    sandbox: bool = False
    audits: int = 670

    def arm(self, k: int, number: int, arms: int) -> Shares:
        """(k,) shares in arm `number` of `arms`."""
        if self.odd is None:
            return (self.after or self.before)(k)
        others, last = self.odd
        if number < arms - 1:
            return around(others)(k)
        start = float(self.before(k)[0])
        return around(arms * start - (arms - 1) * others if last is None else last)(k)


RARE = (0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 0.5)
LOST = (1.0, 0.5, 1.0, 0.35)

# fmt: off
ROWS: tuple[Row, ...] = (
    *(Row(f"no effect, {r:.1%} rare", n, skewed(r)) for n in (16, 48, 200) for r in RARE),
    *(
        Row(f"no effect, {r:.0%} rare, unequal arms", 48, skewed(r), sizes=LOST)
        for r in (0.01, 0.05, 0.3)
    ),
    *(
        Row(f"no effect, ideal = {1 - r:.0%}", 48, skewed(r), ideal=skewed(r))
        for r in (0.02, 0.1, 0.3)
    ),
    Row("no effect, reference of 48: 97%", 48, skewed(0.03), ideal=skewed(0.03), reference=48),
    *(
        Row(f"no effect, {r:.0%} rare, correlated axes", 48, skewed(r), correlation=0.6)
        for r in (0.05, 0.3)
    ),
    Row("no effect, 3% rare, single-answer initial set", 48, skewed(0.03), single=True, audits=980),
    *(
        Row("arms differ, IS 0: .97 in all, one arm less", n, skewed(0.03), odd=(1.0, None))
        for n in (48, 200)
    ),
    Row("arms differ, IS 0: .5 in all, one arm less", 48, skewed(0.5), odd=(0.58, None)),
    *(
        Row("arms differ: .8 in all but one, .2 there", n, skewed(0.2), odd=(0.8, 0.2))
        for n in (48, 200)
    ),
    *(
        Row("real shift, IS 0: .7 to its mirror", n, skewed(0.3), mirrored(0.3))
        for n in (16, 48, 200)
    ),
    *(Row("real shift, IS 0: .97 to its mirror", n, skewed(0.03), mirrored(0.03)) for n in (48,)),
    *(
        Row("real shift, IS 0: .45 to its mirror", n, skewed(0.55), mirrored(0.55))
        for n in (48, 200)
    ),
    Row("real shift, IS 0: .8 to .4, ideal .6", 48, skewed(0.2), around(0.4), ideal=around(0.6)),
    *(
        Row("at the ideal, moved away by .1", n, uniform, lambda k: around(1 / k + 0.1)(k))
        for n in (48, 200)
    ),
    *(
        Row("off by .1, moved to the ideal", n, lambda k: around(1 / k + 0.1)(k), uniform)
        for n in (48, 200)
    ),
    *(Row(".8 to .65", n, skewed(0.2), skewed(0.35)) for n in (48, 200)),
    *(Row(".65 to .8", n, skewed(0.35), skewed(0.2)) for n in (48, 200)),
    *(Row(".97 to .85", n, skewed(0.03), skewed(0.15)) for n in (48, 200)),
    Row("1 to .9", 48, skewed(0.0), skewed(0.1)),
    *(Row("IS at delta: .8 to .75", n, skewed(0.2), skewed(0.25)) for n in (200, 800)),
    *(Row("wording alone: .8 to .65, rewordings too", n, skewed(0.2), skewed(0.35), worded=True) for n in (48, 200)),
    Row("no effect, reference of 48: 99%", 48, skewed(0.01), ideal=skewed(0.01), reference=48),
    Row("the sandbox's two worlds, 26 occupations", 48, uniform, sandbox=True, audits=360),
)
# fmt: on
