"""Predicted Intersectional Sensitivity against what mitigations did (BiasConnect sec. 5.3, A.7).

Every set of images is split in two halves, many times. A prediction from one half is set against
an observation from the other, so that they share no image; both are made twice in every split,
which says how far either repeats itself, and so how well they could agree at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from biasgraph.causal.graph import measure_axes
from biasgraph.causal.intervals import ROUNDING
from biasgraph.causal.resampling import image_counts, one_hot
from biasgraph.causal.settings import SHIFT_ALPHA, TAIL, AnalysisSettings, generator
from biasgraph.causal.tables import UNKNOWN, Arm, CodedImages, Codes, Counts, Floats, Pool, mix_arms
from biasgraph.causal.transport import Ideal

Kind = Literal["fresh", "reweighted", "other_model"]
Truths = npt.NDArray[np.bool_]
Draw = Callable[[str, Codes, Sequence[int]], list[Counts]]
"""A name, (images, variables) codes and the variables' sizes -> of each (R, k) counts of R sets.

The same images are drawn wherever the name and their number are the same.
"""

SPLITS = 200
REPLICATES = 500  # of images, for each mitigated pair
CLEAR = 0.05  # a predicted |IS| from which on its direction is looked at
FEWEST_EDGES = 3  # with two, a correlation is -1 or 1


@dataclass(frozen=True)
class Mitigation:
    """How the axes of a prompt were diversified besides by the counterfactuals of its audit.

    Attributes:
        kind: "fresh": by further images of prompts that spread an axis evenly; "reweighted": by
            weights of the initial images, even over what they show of an axis; "other_model": by
            another model's images of the initial prompt, whatever the axis.
        arms: The further images, by arm.
        plain: (images, variables) codes of the other model's.
        axes: The variables that the other model is known to mitigate; None where that is not known.
    """

    kind: Kind
    arms: Mapping[Arm, Codes] = field(default_factory=dict)
    plain: Codes | None = None
    axes: frozenset[int] | None = None

    def select(self, closer: Truths) -> Truths:
        """(V,) which variables it diversifies, of those that it brings closer to their ideals."""
        if self.kind != "other_model":
            return np.ones_like(closer)
        return closer & self.meant(closer)

    def meant(self, closer: Truths) -> Truths:
        """(V,) which variables it is meant to diversify, as far as that is known."""
        if self.axes is None:
            return closer
        return np.isin(np.arange(len(closer)), list(self.axes))


@dataclass(frozen=True)
class Moments:
    """Sums of products of a prompt's predictions and observations, around their means.

    They are means over splits; p1, p2 and o1, o2 are of the two halves.

    Attributes:
        pairs: How many pairs of axes there are.
        predicted: p1 p1 and p2 p2.
        observed: o1 o1 and o2 o2.
        disjoint: p1 o2 and p2 o1, which share no image.
        shared: p1 o1 and p2 o2, which share initial images.
        predicted_again: p1 p2.
        observed_again: o1 o2.
    """

    pairs: int = 0
    predicted: float = 0.0
    observed: float = 0.0
    disjoint: float = 0.0
    shared: float = 0.0
    predicted_again: float = 0.0
    observed_again: float = 0.0

    @classmethod
    def of(cls, predicted: Floats, observed: Floats) -> Moments:
        """Of (2, S, pairs) numbers; none where there are fewer than FEWEST_EDGES pairs."""
        pairs = predicted.shape[-1]
        if pairs < FEWEST_EDGES:
            return cls()
        p, o = (one - one.mean(axis=-1, keepdims=True) for one in (predicted, observed))

        def mean(one: Floats, other: Floats) -> float:
            return float((one * other).sum(axis=-1).mean())

        return cls(
            pairs=pairs,
            predicted=mean(p, p),
            observed=mean(o, o),
            disjoint=mean(p, o[::-1]),
            shared=mean(p, o),
            predicted_again=mean(p[0], p[1]),
            observed_again=mean(o[0], o[1]),
        )


@dataclass(frozen=True)
class Claims:
    """The directions that either half of a prompt's initial images shows.

    Attributes:
        signs: (2, V, V) by half: 1 where an edge brings its target closer to the ideal and |IS| is
            at least CLEAR, -1 where it moves it away, else 0.
        rest: The prompt's images with the other half of the initial ones, for each of the two.
    """

    signs: npt.NDArray[np.int64]
    rest: tuple[CodedImages, CodedImages]

    @classmethod
    def of(cls, images: CodedImages, ideals: Sequence[Ideal], settings: AnalysisSettings) -> Claims:
        """As the analysis claims them; which pairs are edges, initial images have no say in."""
        rng = generator(settings.seed, images.prompt, "validation", "directions")
        first, second = (
            replace(images, initial=images.initial[half])
            for half in np.array_split(rng.permutation(len(images.initial)), 2)
        )
        # Whether a pair is an edge the caller knows; here any link has its direction told.
        quick = replace(settings, alpha=SHIFT_ALPHA, fdr=None, bootstrap=REPLICATES, noise_draws=0)
        signs = []
        for half in (first, second):
            pool = Pool.of(images.prompt, [half])
            _, rows = measure_axes(pool, ideals, quick, quick.prompt_rule)
            told = [
                {"towards": 1, "away": -1}.get(row.sign or "", 0)
                if row.edge and abs(row.is_ or 0) >= CLEAR
                else 0
                for row in rows
            ]
            signs.append(np.reshape(told, (len(ideals), len(ideals))))
        return cls(np.stack(signs), (second, first))

    def count_kept(
        self, mitigation: Mitigation, scale: _Scale, edges: Truths, resampled: Draw
    ) -> dict[str, int]:
        """How many claims along some pairs there are, and what the other halves say of them."""
        said = np.where(edges, self.signs, 0)
        sets = [scale.both(rest, mitigation, _whole)[1][0] for rest in self.rest]
        drawn = [scale.both(rest, mitigation, resampled)[1] for rest in self.rest]
        low, high = np.quantile(np.stack(drawn), [TAIL, 1 - TAIL], axis=1)
        same = said * np.stack(sets) > ROUNDING
        clear = (said != 0) & ((low > ROUNDING) | (high < -ROUNDING))
        return {
            "signs": int((said != 0).sum()),
            "signs_kept": int(same.sum()),
            "clear_signs": int(clear.sum()),
            "clear_signs_kept": int((clear & same).sum()),
        }


@dataclass(frozen=True)
class Trial:
    """What one mitigation did to a prompt, beside what was predicted.

    Attributes:
        prompt: The initial prompt.
        kind: The mitigation's.
        axes: Axes that it was tried on: all, or those that another model brings closer, of those
            that it is known to mitigate.
        edges: Pairs that are edges of the prompt's graph, and measured.
        along_edges: Their moments.
        along_all: Those of all pairs that were measured.
        at_once: Those of the other axes when the shifts along edges of all axes that another model
            brings closer are added; none for other mitigations, which change one axis.
        signs: Directions claimed in half of the initial images for edges with |IS| >= CLEAR ...
        signs_kept: ... and observed with the other half.
        clear_signs: Of the claimed ones those where the other half has a direction of its own, as
            the 95 % interval of its change lies on one side of 0 ...
        clear_signs_kept: ... and it is the claimed one.
        pairs: Pairs of different axes that were measured.
        harmed: Pairs in which the target moved away from its ideal (A.5) ...
        harmed_clearly: ... and the 95 % interval of its change says so.
        before: Sum of the distances of the mitigated axes themselves from their ideals.
        after: The same after their mitigation.
    """

    prompt: str
    kind: Kind
    axes: int
    edges: int
    along_edges: Moments
    along_all: Moments
    at_once: Moments
    signs: int
    signs_kept: int
    clear_signs: int
    clear_signs_kept: int
    pairs: int
    harmed: int
    harmed_clearly: int
    before: float
    after: float


def try_mitigation(
    images: CodedImages,
    mitigation: Mitigation,
    ideals: Sequence[Ideal],
    edges: Truths,
    claims: Claims,
    settings: AnalysisSettings,
) -> Trial:
    """Predict what diversifying each axis does to every other one, and see.

    Args:
        images: Of one prompt, with its counterfactuals, from which it is predicted.
        mitigation: What was done.
        ideals: Of the variables.
        edges: (V, V) whether a source and a target are an edge of the prompt's graph.
        claims: Directions of edges that halves of the initial images show.
        settings: Of the analysis.
    """
    names = (images.prompt, "validation", mitigation.kind)
    scale = _Scale.of(images, ideals, settings)
    predicted, observed = scale.both(images, mitigation, _halves(settings.seed, *names))
    _, whole = scale.both(images, mitigation, _whole)
    _, drawn = scale.both(images, mitigation, _resample(settings.seed, *names))
    change, high = whole[0], np.quantile(drawn, 1 - TAIL, axis=0)
    own = np.diagonal(np.quantile(drawn, TAIL, axis=0)) > ROUNDING
    tried = mitigation.select(own) & np.isfinite(np.diagonal(change))
    apart = ~np.eye(len(ideals), dtype=bool) & tried[:, None]
    measured = apart & (np.isfinite(predicted) & np.isfinite(observed)).all(axis=0)
    found = measured & edges
    halves = [half.reshape(2, SPLITS, *change.shape) for half in (predicted, observed)]
    before = scale.distances(_whole("", images.initial, scale.sizes))[0]
    harmed = measured & (change < -ROUNDING)
    return Trial(
        prompt=images.prompt,
        kind=mitigation.kind,
        axes=int(tried.sum()),
        edges=int(found.sum()),
        along_edges=Moments.of(*(half[..., found] for half in halves)),
        along_all=Moments.of(*(half[..., measured] for half in halves)),
        at_once=scale.at_once(
            images, mitigation, found, ~mitigation.meant(own), _halves(settings.seed, *names)
        ),
        **claims.count_kept(mitigation, scale, found, _resample(settings.seed, *names, "signs")),
        pairs=int(measured.sum()),
        harmed=int(harmed.sum()),
        harmed_clearly=int((harmed & (high < -ROUNDING)).sum()),
        before=float(before[tried].sum()),
        after=float((before - np.diagonal(change))[tried].sum()),
    )


@dataclass(frozen=True)
class _Scale:
    """Measures distances of V variables to their ideals in many sets of images at once."""

    sizes: list[int]
    ideals: Sequence[Ideal]
    mix: str

    @classmethod
    def of(cls, images: CodedImages, ideals: Sequence[Ideal], settings: AnalysisSettings) -> _Scale:
        return cls([variable.size for variable in images.variables], ideals, settings.mix)

    def both(
        self, images: CodedImages, mitigation: Mitigation, draw: Draw
    ) -> tuple[Floats, Floats]:
        """(R, V, V) predicted IS and observed change of distance, by source and target."""
        before = self.distances(draw("initial", images.initial, self.sizes))[:, None]
        predicted = before - self._of_arms(images.arms, draw)
        if mitigation.kind == "fresh":
            return predicted, before - self._of_arms(mitigation.arms, draw, "again")
        if mitigation.plain is not None:
            other = self.distances(draw("other", mitigation.plain, self.sizes))
            return predicted, before - other[:, None] + np.zeros_like(predicted)
        return predicted, before - self._reweigh(images.initial, draw)

    def at_once(
        self, images: CodedImages, mitigation: Mitigation, edges: Truths, rest: Truths, draw: Draw
    ) -> Moments:
        """Of the axes that another model is not meant to change; see `Trial.at_once`."""
        others = np.flatnonzero(rest)
        if mitigation.plain is None or not edges[:, others].any():
            return Moments()
        initial = draw("initial", images.initial, self.sizes)
        before = self.distances(initial)
        after = self.distances(draw("other", mitigation.plain, self.sizes))
        shares = _shares(initial)
        moved = list(shares)
        for x in np.flatnonzero(edges[:, others].any(axis=1)):
            mixture = self._mixtures(images.arms, int(x), draw, "arm")
            for y in np.flatnonzero(edges[x]):
                moved[y] = moved[y] + mixture[y] - shares[y]
        expected = self._to_ideals(_shares([np.clip(one, 0, None) for one in moved]))
        halves = [(before - one).reshape(2, SPLITS, -1)[..., others] for one in (expected, after)]
        finite = np.isfinite(np.stack(halves)).all(axis=(0, 1, 2))
        return Moments.of(*(half[..., finite] for half in halves))

    def distances(self, counts: Sequence[Counts]) -> Floats:
        """(R, V) of (R, k) counts of each variable; not a number where there are none."""
        return self._to_ideals(_shares(counts))

    def _to_ideals(self, shares: Sequence[Floats]) -> Floats:
        found = [ideal.distance(one) for ideal, one in zip(self.ideals, shares, strict=True)]
        return np.stack(found, axis=-1)

    def _of_arms(self, arms: Mapping[Arm, Codes], draw: Draw, name: str = "arm") -> Floats:
        """(R, V, V) distances under the interventions on each variable, undefined without any."""
        rows, nothing = [], np.full((1, len(self.sizes)), np.nan)
        for x in range(len(self.sizes)):
            shares = self._mixtures(arms, x, draw, name)
            rows.append(self._to_ideals(shares) if shares else nothing)
        most = max(map(len, rows))
        return np.stack([np.broadcast_to(row, (most, len(self.sizes))) for row in rows], axis=1)

    def _mixtures(self, arms: Mapping[Arm, Codes], x: int, draw: Draw, name: str) -> list[Floats]:
        """By variable (R, k) shares under the interventions on x; empty without any."""
        drawn = [
            draw(f"{name} {x} {a}", codes, self.sizes)
            for (source, a), codes in sorted(arms.items(), key=lambda arm: arm[0])
            if source == x and len(codes)
        ]
        with np.errstate(invalid="ignore"):
            return [mix_arms(np.stack(one, axis=1), self.mix) for one in zip(*drawn, strict=True)]

    def _reweigh(self, codes: Codes, draw: Draw) -> Floats:
        """(R, V, V) distances when what images show of each variable weighs the same."""
        rows = []
        for x, k in enumerate(self.sizes):
            source = codes[:, [x]].astype(np.int64)
            joint = np.where((source < 0) | (codes < 0), UNKNOWN, source * self.sizes + codes)
            drawn = draw("initial", joint, [k * size for size in self.sizes])
            rows.append(self._to_ideals([_even(one.reshape(len(one), k, -1)) for one in drawn]))
        return np.stack(rows, axis=1)


def _shares(counts: Sequence[Counts] | Sequence[Floats]) -> list[Floats]:
    """Each (R, k) divided by its sums; not a number where these are 0."""
    with np.errstate(invalid="ignore"):
        return [np.asarray(one / one.sum(axis=-1, keepdims=True)) for one in counts]


def _even(tables: Counts) -> Floats:
    """(R, k) shares of the columns of (R, J, k) tables when all rows with answers weigh alike."""
    sizes = tables.sum(axis=-1, keepdims=True)
    seen = (sizes > 0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return np.asarray((tables / np.maximum(sizes, 1)).sum(axis=1) / seen)


def _whole(name: str, codes: Codes, sizes: Sequence[int]) -> list[Counts]:
    """Of all images, as a single set."""
    return _weigh_counts(np.ones((1, len(codes))), codes, sizes)


def _halves(seed: int, *names: str) -> Draw:
    """Of the first halves of SPLITS random splits, then of the second ones."""

    def draw(name: str, codes: Codes, sizes: Sequence[int]) -> list[Counts]:
        rng = generator(seed, *names, "halves", name)
        order = rng.permuted(np.tile(np.arange(len(codes)), (SPLITS, 1)), axis=1)
        first = (order < len(codes) // 2).astype(np.float64)
        return _weigh_counts(np.concatenate([first, 1 - first]), codes, sizes)

    return draw


def _resample(seed: int, *names: str) -> Draw:
    """Of REPLICATES bootstrap samples of the images."""

    def draw(name: str, codes: Codes, sizes: Sequence[int]) -> list[Counts]:
        if not len(codes):
            return [np.zeros((REPLICATES, size), dtype=np.int64) for size in sizes]
        rng = generator(seed, *names, "resamples", name)
        return image_counts(codes, sizes, len(codes), REPLICATES, rng)

    return draw


def _weigh_counts(weights: Floats, codes: Codes, sizes: Sequence[int]) -> list[Counts]:
    counts = (weights @ one_hot(codes, sizes)).round().astype(np.int64)
    return np.split(counts, np.cumsum(sizes)[:-1], axis=1)
