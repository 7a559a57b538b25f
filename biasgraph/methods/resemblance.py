"""How much a prompt's images resemble those of its counterfactuals, with resampled whole images.

TIBET eqs. 1-5 over the sets of biasgraph.methods.image_sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from biasgraph.causal.resampling import resampled_sums
from biasgraph.causal.settings import generator
from biasgraph.causal.tables import Counts, Floats
from biasgraph.methods.association import bav, cas, cas_normalised, mad
from biasgraph.methods.image_sets import INITIAL, ImageSet, ImageSets, Intervention

NAME = "tibet"
NULL_DRAWS = 500


@dataclass(frozen=True)
class Scores:
    """Of one axis with k attributes, for one prompt or as means over prompts. NaN: undefined.

    Attributes:
        cas: (k,) concept association scores.
        normalised: (k,) those of histograms that sum to 1.
        draws: (B, k) CAS of resampled images.
        null: (N, k) CAS of two sets drawn from the initial images.
        bav: Bias axis variance.
        mad: The released code's.
        bav_draws: (B,) BAV of resampled images.
        bav_null: (N,) BAV of counterfactuals drawn from all of the axis's.
        reasons: (k) why a CAS is undefined, or "".
    """

    cas: Floats
    normalised: Floats
    draws: Floats
    null: Floats
    bav: float
    mad: float
    bav_draws: Floats
    bav_null: Floats
    reasons: tuple[str, ...]

    @classmethod
    def mean(cls, scores: Sequence[Scores]) -> Scores:
        """Every number is the mean over the prompts that have it."""
        if len(scores) == 1:
            return scores[0]
        names = ("cas", "normalised", "draws", "null", "bav_draws", "bav_null")
        arrays = {name: _mean([getattr(own, name) for own in scores]) for name in names}
        reasons = tuple(
            "" if "" in of_one else f"in no prompt; in the first, {of_one[0]}"
            for of_one in zip(*(own.reasons for own in scores), strict=True)
        )
        return cls(
            **arrays,
            bav=float(_mean([np.array(own.bav) for own in scores])),
            mad=float(_mean([np.array(own.mad) for own in scores])),
            reasons=reasons,
        )


class Draws:
    """One prompt's sets of images, resampled as whole images.

    Of the settings of the analysis `seed`, `bootstrap` and `min_valid` count, the latter as the
    fewest images of a set about which a concept is said.
    """

    def __init__(self, images: ImageSets, prompt: str, settings: Mapping[str, Any]) -> None:
        self.sets = images.sets
        self.prompt, self.seed = prompt, int(settings["seed"])
        self.replicates, self.fewest = int(settings["bootstrap"]), int(settings["min_valid"])
        self._same: dict[int, Floats] = {}

    def scores(self, axis: str, attributes: Sequence[str]) -> Scores:
        """The scores of one axis's counterfactuals."""
        k = len(attributes)
        values, normalised = np.full((2, k), np.nan)
        draws, null = np.full((self.replicates, k), np.nan), np.full((NULL_DRAWS, k), np.nan)
        reasons = tuple(self._problem((axis, name)) for name in attributes)
        for place, name in enumerate(attributes):
            if not reasons[place]:
                arm = self.sets[axis, name]
                initial = self.sets[INITIAL].frequencies
                values[place] = cas(initial, arm.frequencies)
                normalised[place] = cas_normalised(initial, arm.frequencies)
                drawn = self._resample(arm.counts, self.replicates, "arm", axis, name)
                draws[:, place] = cas(self._start, drawn)
                null[:, place] = self._same_source(len(arm.counts))
        held = [place for place, name in enumerate(attributes) if (axis, name) in self.sets]
        variance = float(bav(values[held]))
        return Scores(
            cas=values,
            normalised=normalised,
            draws=draws,
            null=null,
            bav=variance,
            mad=float(mad(normalised[held])),
            bav_draws=bav(draws[:, held]),
            bav_null=np.full(NULL_DRAWS, np.nan)
            if np.isnan(variance)
            else self._alike(axis, [self.sets[axis, attributes[place]].counts for place in held]),
            reasons=reasons,
        )

    def _problem(self, which: Intervention) -> str:
        """Why a counterfactual cannot be compared with the initial images, or ""."""
        for key, what in ((INITIAL, "initial images"), (which, "images of it")):
            images: ImageSet | None = self.sets.get(key)
            if images is None:
                return f"there are no {what}"
            if images.telling < self.fewest:
                return (
                    f"{images.telling} of {len(images.counts)} {what} have concepts, and "
                    f"{self.fewest} are needed"
                )
        return ""

    @cached_property
    def _start(self) -> Floats:
        """(B, C) the initial images resampled."""
        return self._resample(self.sets[INITIAL].counts, self.replicates, "start")

    @cached_property
    def _null_start(self) -> Floats:
        """(N, C) the initial images resampled, for comparisons in which nothing differs."""
        return self._resample(self.sets[INITIAL].counts, NULL_DRAWS, "null")

    def _same_source(self, size: int) -> Floats:
        """(N,) CAS of the initial images and of `size` that are drawn from them, too."""
        if size not in self._same:
            counts = self.sets[INITIAL].counts
            drawn = self._resample(counts, NULL_DRAWS, "same", str(size), take=size)
            self._same[size] = cas(self._null_start, drawn)
        return self._same[size]

    def _alike(self, axis: str, arms: Sequence[Counts]) -> Floats:
        """(N,) BAV of counterfactuals that are all drawn from the images of all of them."""
        pool = np.concatenate(arms)
        scores = [
            cas(
                self._null_start,
                self._resample(pool, NULL_DRAWS, "alike", axis, str(place), take=len(arm)),
            )
            for place, arm in enumerate(arms)
        ]
        return bav(np.stack(scores, axis=1))

    def _resample(self, counts: Counts, draws: int, *names: str, take: int | None = None) -> Floats:
        """(draws, C) frequencies in images drawn with replacement, `take` or all as many."""
        rng = generator(self.seed, self.prompt, NAME, *names)
        take = take or len(counts)
        return resampled_sums(counts.astype(np.float64), take, draws, rng) / take


def _mean(values: Sequence[Floats]) -> Floats:
    """The mean of those that are defined, place by place."""
    stacked = np.stack(values)
    known = ~np.isnan(stacked)
    sums, n = np.where(known, stacked, 0).sum(axis=0), known.sum(axis=0)
    return np.asarray(np.divide(sums, n, out=np.full(np.shape(sums), np.nan), where=n > 0))
