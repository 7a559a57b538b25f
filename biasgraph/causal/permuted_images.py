"""What sets of images would say if no intervention did anything: whole images change places.

Drawing all sets from the initial images alone (BiasConnect's audits have 48) takes their shares for
the truth: with 16 images a set, 11 % of audits without any effect exceeded the 95 % quantile of
such a floor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from biasgraph.causal.resampling import BLOCK, Take
from biasgraph.causal.tables import Arm, CodedImages, Codes, Counts, Pool

Indices = npt.NDArray[np.intp]


def permuted_counts(
    pool: Pool,
    sources: Sequence[int],
    replicates: int,
    rng: np.random.Generator,
    take: Take = None,
) -> tuple[list[Counts], dict[int, list[Counts]]]:
    """The counts of a pool whose images have changed places, each prompt's among themselves.

    The valid answers about a variable y change places among the initial images and all arms but
    those of y itself, and every set keeps as many of them as it has. If no intervention moves y,
    all these orders are equally likely, whatever the shares are: nothing is estimated. One order of
    a prompt's images serves all variables, so that what an image's answers share is kept; where it
    leads to an image that does not count for y, it is followed from there until it leads to one
    that does, which is as random an order of those that count.

    Args:
        pool: The images.
        sources: The variables whose arms to count.
        replicates: How many orders to draw.
        rng: To draw with.
        take: For each prompt, how many places of each arm and, under None, of the initial images to
            count, drawn at random; all unless given.

    Returns:
        Per variable the counts (replicates, k) of the initial images, and by source those
        (replicates, J, k) of its arms.
    """
    arms = [arm for x in sources for arm in pool.total.arms_of(x)]
    sets = (None, *arms)
    counts = [np.zeros((replicates, len(sets), one.size), dtype=np.int64) for one in pool.variables]
    for number, images in enumerate(pool.prompts):
        one = _Prompt.of(images, sets, None if take is None else take[number])
        step = max(1, BLOCK // max(1, len(one.codes))) if take is None else 1
        for start in range(0, replicates, step):
            one.add_permuted([each[start : start + step] for each in counts], rng)
    columns = {x: [1 + i for i, arm in enumerate(arms) if arm[0] == x] for x in sources}
    return (
        [each[:, 0] for each in counts],
        {x: [each[:, chosen] for each in counts] for x, chosen in columns.items()},
    )


@dataclass(frozen=True)
class _Prompt:
    """One prompt's images, set after set.

    Attributes:
        codes: (N, variables) answers.
        sets: (N,) the set of each image; those after `take` change places, but are not counted.
        axis: (N,) the variable that was intervened on, or -1.
        take: (sets,) how many places of each set to count.
    """

    codes: Codes
    sets: Indices
    axis: Indices
    take: Indices

    @classmethod
    def of(
        cls,
        images: CodedImages,
        sets: Sequence[Arm | None],
        take: Mapping[Arm | None, int] | None,
    ) -> _Prompt:
        every = [*sets, *(arm for arm in images.arms if arm not in sets)]
        parts = [
            images.initial if arm is None else images.arms.get(arm, images.initial[:0])
            for arm in every
        ]
        lengths = [len(part) for part in parts]
        axes = [-1 if arm is None else arm[0] for arm in every]
        counted = lengths if take is None else [take.get(arm, 0) for arm in every]
        return cls(
            np.concatenate(parts),
            np.repeat(np.arange(len(every)), lengths),
            np.repeat(axes, lengths),
            np.array(counted[: len(sets)]),
        )

    def add_permuted(self, counts: Sequence[Counts], rng: np.random.Generator) -> None:
        """Add the answers in random orders to counts (rows, sets, k) of each variable."""
        rows, n = len(counts[0]), len(self.codes)
        order = rng.permuted(np.tile(np.arange(n, dtype=np.int32), (rows, 1)), axis=1)
        counted = self._places(rng)
        for y, totals in enumerate(counts):
            codes = self.codes[:, y].copy()
            idle = (self.axis == y) | (codes < 0)
            places = counted[~idle[counted]]
            image = order.take(places, axis=1).ravel()
            lost = np.flatnonzero(idle.take(image))
            while lost.size:
                image[lost] = order[lost // len(places), image[lost]]
                lost = lost[idle[image[lost]]]
            _, sets, k = totals.shape
            cells = (np.arange(rows)[:, None] * sets + self.sets[places]) * k
            cells += codes.take(image).reshape(cells.shape)
            totals += np.bincount(cells.ravel(), minlength=totals.size).reshape(totals.shape)

    def _places(self, rng: np.random.Generator) -> Indices:
        """Which images' places to count."""
        sizes = np.bincount(self.sets, minlength=len(self.take))[: len(self.take)]
        starts = np.cumsum(sizes) - sizes
        ranges = [s + np.arange(t) for s, t in zip(starts, self.take, strict=True)]
        chosen: Indices = np.concatenate(ranges)
        if (self.take == sizes).all():
            return chosen
        shuffled: Indices = np.argsort(self.sets + rng.random(len(self.sets)))
        return shuffled[chosen]
