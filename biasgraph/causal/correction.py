"""What wrong answers do to the numbers, and how to undo it (STATISTICS (f)).

A confusion matrix C has C[t, a] = P(answer a | truth t), estimated from images whose truth is
known. Observed shares are then C^T p, and the same C is assumed for every set of images.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from biasgraph.causal.sensitivity import Interval, resample
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Counts, Floats
from biasgraph.causal.transport import Ideal
from biasgraph.errors import InputError

WORST_CONDITION = 10.0
SUM_WEIGHT = 1e4  # of the row that makes least-squares shares sum to 1


@dataclass(frozen=True)
class CorrectedSensitivity:
    """W1 and IS with the judge's errors undone, and the hull interval of IS."""

    w1_before: float
    w1_after: float
    value: float
    interval: Interval


def flip_confusion(k: int, error: float) -> Floats:
    """(k, k) confusion of a judge that errs with a probability, evenly over the other answers."""
    return np.asarray((1 - error) * np.eye(k) + error / (k - 1) * (1 - np.eye(k)))


def attenuation(k: int, error: float) -> float:
    """The factor by which such errors shrink W1 to a uniform ideal, and so IS: 1 - e k / (k-1)."""
    return 1 - error * k / (k - 1)


def confusion(labelled: Counts) -> Floats:
    """(k, k) shares of answers by truth from counts labelled[truth, answer].

    Raises InputError where a truth was never labelled, or where the answers tell the truths
    apart so badly (condition number above 10) that undoing the errors would be guesswork.
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


def true_shares(observed: Floats, errors: Floats) -> Floats:
    """Shares p (..., k) on the simplex for which C^T p is nearest to the observed shares.

    observed (..., k) and errors (..., k, k) broadcast. The plain solution where it stays on the
    simplex, non-negative least squares otherwise.
    """
    lead = np.broadcast_shapes(observed.shape[:-1], errors.shape[:-2])
    k = observed.shape[-1]
    inverse = np.linalg.pinv(np.swapaxes(errors, -1, -2))
    solved = np.broadcast_to((inverse @ observed[..., None])[..., 0], (*lead, k)).copy()
    outside = (solved < 0).any(axis=-1) | (np.abs(solved.sum(axis=-1) - 1) > 1e-9)
    observed = np.broadcast_to(observed, (*lead, k))
    errors = np.broadcast_to(errors, (*lead, k, k))
    solved[outside] = [
        _least_squares(matrix.T, shares)
        for matrix, shares in zip(errors[outside], observed[outside], strict=True)
    ] or np.zeros((0, k))
    return solved


def _least_squares(transposed: Floats, observed: Floats) -> Floats:
    matrix = np.vstack([transposed, np.full((1, len(observed)), SUM_WEIGHT)])
    shares, _ = nnls(matrix, np.append(observed, SUM_WEIGHT))
    return np.asarray(shares / shares.sum())


def corrected_sensitivity(
    initial: Counts,
    arms: Counts,
    ideal: Ideal,
    labelled: Counts,
    settings: AnalysisSettings,
    rng: np.random.Generator,
) -> CorrectedSensitivity:
    """IS with the judge's errors undone in the initial images, every arm and an ideal from images.

    initial (k,), arms (J, k): answers; labelled (k, k): answers by truth. Its interval resamples
    the answers and the labelled images alike. Raises InputError as `confusion` does.
    """
    sizes = arms.sum(axis=-1)
    weights = sizes / sizes.sum() if settings.mix == "pooled" else np.full(len(arms), 1 / len(arms))

    def distances(start: Counts, mitigated: Counts, goal: Floats, errors: Floats) -> Floats:
        """(2, ...) W1 before and after."""
        before = true_shares(start / initial.sum(), errors)
        after = true_shares(mitigated / sizes[:, None], errors[..., None, :, :])
        if ideal.reference is not None:
            goal = true_shares(goal, errors)
        mix = (after * weights[:, None]).sum(axis=-2)
        return np.stack([ideal.distance(before, goal), ideal.distance(mix, goal)])

    before, after = distances(initial, arms, ideal.shares, confusion(labelled))
    replicates = settings.bootstrap
    drawn = distances(
        resample(initial[None], replicates, rng)[:, 0],
        resample(arms, replicates, rng),
        ideal.draws(replicates, rng),
        resample(labelled, replicates, rng) / labelled.sum(axis=1)[:, None],
    )
    value = float(before - after)
    return CorrectedSensitivity(
        float(before), float(after), value, Interval.of(value, drawn[0] - drawn[1])
    )
