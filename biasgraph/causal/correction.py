"""What wrong answers do to the numbers, and how to undo it (STATISTICS (f)).

A confusion matrix C has C[t, a] = P(answer a | truth t), estimated from images whose truth is
known. Observed shares are then C^T p, and the same C is assumed for every set of images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasgraph.causal.intervals import Interval
from biasgraph.causal.resampling import Resamples, resample
from biasgraph.causal.rows import CorrectedAnswers, NodeRow, PairRow
from biasgraph.causal.settings import TAIL, AnalysisSettings, generator
from biasgraph.causal.tables import Counts, Floats, Pool
from biasgraph.causal.transport import Ideal
from biasgraph.errors import InputError

WORST_CONDITION = 10.0
SUM_WEIGHT = 1e4  # of the row that makes least-squares shares sum to 1
TOLERANCE = 1e-9
CORRECTED = (
    *("w1_before_corrected", "w1_after_corrected"),
    *("is_corrected", "is_corrected_ci_low", "is_corrected_ci_high"),
)
"""The fields of a pair without the judge's errors."""
RIDGE = 1e-12  # keeps a matrix that a replicate made singular solvable


def confusion(labelled: Counts) -> Floats:
    """(k, k) shares of answers by truth from counts labelled[truth, answer].

    Raises:
        InputError: A truth was never labelled, or the answers tell the truths apart so badly
            (condition number above 10) that undoing the errors would be guesswork.
    """
    totals = labelled.sum(axis=1, keepdims=True)
    if (totals == 0).any():
        raise InputError("The labelled images lack one of the attributes: its errors are unknown.")
    shares = labelled / totals
    condition = float(np.linalg.cond(shares))
    if condition > WORST_CONDITION:
        raise InputError(
            "The labelled answers confuse the attributes too much to be corrected "
            f"(condition number {condition:.3g}, at most {WORST_CONDITION:g})."
        )
    return np.asarray(shares)


def resampled_confusions(labelled: Counts, replicates: int, rng: np.random.Generator) -> Floats:
    """(replicates, k, k) confusion matrices of resampled labels, each truth's number kept.

    A truth that always got the same answer would never vary: it is drawn from smoothed shares.
    """
    drawn = resample(labelled, replicates, rng, pseudo=0)
    never_varies = (labelled > 0).sum(axis=1) == 1
    if never_varies.any():
        drawn[:, never_varies] = resample(labelled[None, never_varies], replicates, rng, 1)[:, 0]
    return np.asarray(drawn / labelled.sum(axis=1)[:, None])


@dataclass(frozen=True)
class Unmixing:
    """Confusion matrices (..., k, k), ready to be undone many times."""

    errors: Floats
    inverse: Floats

    @classmethod
    def of(cls, errors: Floats) -> Unmixing:
        """Of confusion matrices (..., k, k)."""
        return cls(errors, np.asarray(np.linalg.pinv(np.swapaxes(errors, -1, -2)), dtype=float))

    def for_sets(self) -> Unmixing:
        """The same for shares with one more dimension before the last, that of sets of images."""
        return Unmixing(self.errors[..., None, :, :], self.inverse[..., None, :, :])

    def shares(self, observed: Floats) -> Floats:
        """Shares p (..., k) on the simplex for which C^T p is nearest to the observed shares.

        The plain solution where it stays on the simplex, least squares on it otherwise.

        Args:
            observed: (..., k), which broadcasts with the matrices.
        """
        k = observed.shape[-1]
        shape = (*np.broadcast_shapes(observed.shape[:-1], self.errors.shape[:-2]), k)
        solved = np.broadcast_to((self.inverse @ observed[..., None])[..., 0], shape).copy()
        outside = (solved < -TOLERANCE).any(axis=-1) | (np.abs(solved.sum(axis=-1) - 1) > TOLERANCE)
        if outside.any():
            observed = np.broadcast_to(observed, shape)[outside]
            errors = np.broadcast_to(self.errors, (*shape, k))[outside]
            solved[outside] = _nearest(np.swapaxes(errors, -1, -2), observed)
        return np.clip(solved, 0.0, 1.0)


def _nearest(matrices: Floats, observed: Floats) -> Floats:
    """(n, k) shares on the simplex with the least |A p - q|, for A (n, k, k) and q (n, k).

    Shares that would be negative are taken out one by one, for all n at once; where that is not
    the optimum (its conditions tell), non-negative least squares finds it.
    """
    n, k = observed.shape
    gram = np.swapaxes(matrices, -1, -2) @ matrices
    target = (np.swapaxes(matrices, -1, -2) @ observed[..., None])[..., 0]
    system = np.zeros((n, k + 1, k + 1))
    system[:, :k, :k] = gram + RIDGE * np.eye(k)
    free = np.ones((n, k), dtype=bool)
    solved, price = np.zeros((n, k)), np.zeros(n)
    left = np.arange(n)
    while len(left):
        both = free[left, :, None] & free[left, None, :]
        part = system[left]
        part[:, :k, :k] = np.where(both, part[:, :k, :k], np.eye(k))
        part[:, :k, k] = part[:, k, :k] = free[left]
        right = np.concatenate(
            [np.where(free[left], target[left], 0.0), np.ones((len(left), 1))], 1
        )
        found = np.linalg.solve(part, right[..., None])[..., 0]
        solved[left], price[left] = found[:, :k], found[:, k]
        lowest = found[:, :k].argmin(axis=1)
        negative = found[np.arange(len(left)), lowest] < -TOLERANCE
        free[left[negative], lowest[negative]] = False
        left = left[negative]
    slope = (gram @ solved[..., None])[..., 0] - target + price[:, None]
    missed = (slope < -1e-7).any(axis=1)  # at the optimum no share that is 0 would rather grow
    solved[missed] = [
        _least_squares(matrix, shares)
        for matrix, shares in zip(matrices[missed], observed[missed], strict=True)
    ] or np.zeros((0, k))
    return solved


def _least_squares(matrix: Floats, observed: Floats) -> Floats:
    from scipy.optimize import nnls

    stacked = np.vstack([matrix, np.full((1, len(observed)), SUM_WEIGHT)])
    shares, _ = nnls(stacked, np.append(observed, SUM_WEIGHT))
    return np.asarray(shares / shares.sum())


@dataclass(frozen=True)
class CorrectedTarget:
    """The initial images of one axis with the judge's errors undone.

    Attributes:
        metric: The ideal as it was given.
        settings: Of the analysis.
        errors: The confusion matrix, ready to be undone.
        drawn_errors: Its replicates.
        shares: (k,) corrected shares.
        drawn_shares: (B, k) their replicates.
        ideal: (k,) the ideal, corrected where the same judge answered about its images.
        drawn_ideal: (B, k) its replicates, or (k,).
    """

    metric: Ideal
    settings: AnalysisSettings
    errors: Unmixing
    drawn_errors: Unmixing
    shares: Floats
    drawn_shares: Floats
    ideal: Floats
    drawn_ideal: Floats

    @classmethod
    def of(
        cls,
        initial: Counts,
        ideal: Ideal,
        labelled: Counts,
        settings: AnalysisSettings,
        rng: np.random.Generator,
    ) -> CorrectedTarget:
        """Undo the errors that labelled images show.

        Args:
            initial: (P, k) answers about P prompts.
            ideal: Of the axis.
            labelled: (k, k) counts[truth, answer].
            settings: Of the analysis.
            rng: For resampling all of these.

        Raises:
            InputError: As `confusion` does.
        """
        errors = Unmixing.of(confusion(labelled))
        replicates = settings.bootstrap
        drawn_errors = Unmixing.of(resampled_confusions(labelled, replicates, rng))
        drawn = Resamples.of(initial, replicates, rng).total / initial.sum()
        goal, drawn_goal = ideal.shares, ideal.draws(replicates, rng)
        if ideal.reference is not None and ideal.judged:  # it has the same errors
            goal, drawn_goal = errors.shares(goal), drawn_errors.shares(drawn_goal)
        return cls(
            metric=ideal,
            settings=settings,
            errors=errors,
            drawn_errors=drawn_errors,
            shares=errors.shares(initial.sum(axis=0) / initial.sum()),
            drawn_shares=drawn_errors.shares(drawn),
            ideal=goal,
            drawn_ideal=drawn_goal,
        )

    @property
    def distance(self) -> float:
        """W1 of the corrected shares to the ideal."""
        return float(self.metric.distance(self.shares, self.ideal))

    @property
    def drawn_distances(self) -> Floats:
        """(B,) its replicates."""
        return self.metric.distance(self.drawn_shares, self.drawn_ideal)

    def answers(self) -> CorrectedAnswers:
        """What a node says of it; intervals are 95 %."""
        ends = np.quantile(self.drawn_shares, [TAIL, 1 - TAIL], axis=0)
        farthest = replace(self.metric, shares=self.ideal).farthest
        return CorrectedAnswers(
            distribution=tuple(self.shares.tolist()),
            distribution_ci=tuple(map(tuple, ends.T.tolist())),
            ideal=tuple(self.ideal.tolist()),
            w1=self.distance,
            w1_ci=Interval.of(self.distance, self.drawn_distances).within(0.0, farthest),
        )

    def correct_pair(self, arms: Counts, rng: np.random.Generator) -> dict[str, float]:
        """`CORRECTED` of a pair with answers arms (P, J, k), all with the same judge's errors."""
        sizes = arms.sum(axis=(0, 2))
        pooled = self.settings.mix == "pooled"
        weights = sizes / sizes.sum() if pooled else np.full(len(sizes), 1 / len(sizes))
        drawn = Resamples.of(arms, self.settings.bootstrap, rng).total

        def distance(counts: Counts, errors: Unmixing, ideal: Floats) -> Floats:
            shares = errors.for_sets().shares(counts / sizes[:, None])
            return self.metric.distance((shares * weights[:, None]).sum(axis=-2), ideal)

        after = float(distance(arms.sum(axis=0), self.errors, self.ideal))
        replicates = self.drawn_distances - distance(drawn, self.drawn_errors, self.drawn_ideal)
        value = self.distance - after
        low, high = Interval.of(value, replicates).hull
        return dict(zip(CORRECTED, (self.distance, after, value, low, high), strict=True))


def correct(
    nodes: Sequence[NodeRow],
    pairs: Sequence[PairRow],
    pool: Pool,
    ideals: Sequence[Ideal],
    settings: AnalysisSettings,
    labelled: Mapping[str, Counts],
) -> tuple[list[NodeRow], list[PairRow]]:
    """Nodes and pairs with corrected numbers beside the others; None where there can be none.

    Args:
        nodes: One for each of the pool's variables.
        pairs: Their ordered pairs.
        pool: The answers.
        ideals: Of the variables.
        settings: Of the analysis.
        labelled: counts[truth, answer] (k, k) by the name of each axis that can be corrected.
    """
    index = {variable.name: i for i, variable in enumerate(pool.variables)}
    targets: dict[str, CorrectedTarget] = {}
    for node in nodes:
        if node.id in labelled and node.w1 is not None:
            place = index[node.id]
            rng = generator(settings.seed, pool.name, "correction", node.id)
            targets[node.id] = CorrectedTarget.of(
                pool.initial(place), ideals[place], labelled[node.id], settings, rng
            )
    corrected = []
    for pair in pairs:
        target = targets.get(pair.target)
        numbers: dict[str, Any] = dict.fromkeys(CORRECTED)
        if target is not None and pair.is_ is not None:
            rng = generator(settings.seed, pool.name, "correction", pair.source, pair.target)
            arms = pool.strata(index[pair.source], index[pair.target])
            numbers |= target.correct_pair(arms, rng)
        corrected.append(replace(pair, **numbers))
    answers = {name: target.answers() for name, target in targets.items()}
    return [replace(node, corrected=answers.get(node.id)) for node in nodes], corrected
