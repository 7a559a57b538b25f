"""Wasserstein-1 to the ideal under each ground metric (BiasConnect eqs. 1-3)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biasgraph.causal.resampling import resample
from biasgraph.causal.settings import MetricName
from biasgraph.causal.tables import Counts, Floats, Variable
from biasgraph.errors import InputError, did_you_mean, printable

SUM_TOLERANCE = 1e-6
LARGEST = 2**53
"""A count that a float still holds exactly."""


def wasserstein(p: Floats, q: Floats, metric: MetricName, cost: Floats | None = None) -> Floats:
    """Wasserstein-1 between distributions over k attributes, along the last axis (eqs. 1-3).

    Args:
        p: (..., k) shares, which broadcast with q.
        q: (..., k) shares.
        metric: nominal (total variation), in [0, 1]; ordinal, attributes one step of 1/(k-1) apart,
            in [0, 1]; index, the literal eq. 2 on attribute positions, in [0, k-1]; values, the k
            shares taken as k samples, in [0, 2/k]; cost, by POT's emd2, in [0, max cost].
        cost: (k, k) ground costs, for the metric "cost" alone.

    Returns:
        (...) distances, 0 where p and q are equal.
    """
    k = np.shape(p)[-1]
    if metric == "nominal":
        return np.asarray(0.5 * np.abs(p - q).sum(axis=-1))
    if metric == "values":
        return np.asarray(np.abs(np.sort(p, axis=-1) - np.sort(q, axis=-1)).mean(axis=-1))
    if metric == "cost":
        return _emd(p, q, np.asarray(cost, dtype=float))
    steps = np.abs(np.cumsum(p - q, axis=-1)).sum(axis=-1)
    return np.asarray(steps / max(k - 1, 1) if metric == "ordinal" else steps)


def _emd(p: Floats, q: Floats, cost: Floats) -> Floats:
    # POT imports torch unless told not to, and nothing here needs it.
    os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")
    import ot

    k = len(cost)
    p, q = np.broadcast_arrays(p, q)
    both = np.concatenate([p.reshape(-1, k), q.reshape(-1, k)], axis=1)
    rows, where = np.unique(both, axis=0, return_inverse=True)
    distances = [
        ot.emd2(row[:k], row[k:], cost, check_marginals=False) if np.isfinite(row).all() else np.nan
        for row in rows
    ]
    return np.asarray(distances, dtype=float)[where.ravel()].reshape(p.shape[:-1])


@dataclass(frozen=True)
class Ideal:
    """What one axis is compared with, and by which metric.

    Attributes:
        metric: The ground metric.
        shares: (k,) the ideal distribution, summing to 1.
        cost: (k, k) ground costs, for the metric "cost" alone.
        reference: (k,) counts of the images the shares were taken from, if they were; they are
            resampled with everything else (BiasConnect supp. A.9).
        judged: Whether the judge that answered about the images answered about those too, so that
            both have its errors.
    """

    metric: MetricName
    shares: Floats
    cost: Floats | None = None
    reference: Counts | None = None
    judged: bool = True

    def distance(self, p: Floats, shares: Floats | None = None) -> Floats:
        """W1 (...) of p (..., k) to the ideal, or to other ideal shares that broadcast with p."""
        return wasserstein(p, self.shares if shares is None else shares, self.metric, self.cost)

    @property
    def farthest(self) -> float:
        """The largest W1 that any distribution can have; it is one of a single attribute."""
        return float(self.distance(np.eye(len(self.shares))).max())

    def draws(self, replicates: int, rng: np.random.Generator) -> Floats:
        """(replicates, k) resampled ideals, or (k,) when the ideal is not from images."""
        if self.reference is None:
            return self.shares
        drawn = resample(self.reference[None], replicates, rng)[:, 0]
        return np.asarray(drawn / self.reference.sum())


def resolve_ideals(
    variables: Sequence[Variable],
    metric: MetricName | None,
    ideal: Mapping[str, Mapping[str, float]] | None,
    reference: Mapping[str, Mapping[str, int]] | None,
    *,
    judged: bool = True,
) -> list[Ideal]:
    """The ideal of every variable: given shares, reference counts, or uniform.

    Args:
        variables: The axes.
        metric: None takes each variable's own.
        ideal: Shares by axis and attribute.
        reference: Counts by axis and attribute.
        judged: See `Ideal`.

    Raises:
        InputError: An axis or attribute does not exist, shares are negative or do not sum to 1
            within 1e-6, an axis is given twice, or it or its ideal does not admit the metric.
    """
    ideal, reference = ideal or {}, reference or {}
    names = [variable.name for variable in variables]
    for name in (*ideal, *reference):
        if name not in names:
            raise InputError(
                f"The ideal names an unknown axis: {printable(str(name))}."
                f"{did_you_mean(str(name), names)}"
            )
    twice = sorted(set(ideal) & set(reference))
    if twice:
        raise InputError(f"{twice[0]} has both an ideal and a reference; give one of them.")
    return [
        _resolve(each, metric, ideal.get(each.name), reference.get(each.name), judged)
        for each in variables
    ]


def _resolve(
    variable: Variable,
    metric: MetricName | None,
    ideal: Mapping[str, float] | None,
    reference: Mapping[str, int] | None,
    judged: bool,
) -> Ideal:
    counts = None
    shares = np.full(variable.size, 1 / max(variable.size, 1))
    uniform = True
    if ideal is not None:
        shares = _given_shares(variable, ideal)
        uniform = bool(np.ptp(shares) <= SUM_TOLERANCE)
    if reference is not None:
        counts = _given_counts(variable, reference)
        shares = counts / counts.sum()
        uniform = False  # even a level reference stops being level when it is resampled
    chosen: MetricName = metric or variable.metric
    _check_metric(variable, chosen, uniform)
    return Ideal(chosen, shares, variable.cost if chosen == "cost" else None, counts, judged)


def _given_shares(variable: Variable, ideal: Mapping[str, float]) -> Floats:
    shares = np.array(_in_order(variable, ideal), dtype=float)
    if not (np.isfinite(shares).all() and (shares >= 0).all()):
        raise InputError(
            f"The ideal of {variable.name} has an invalid share: shares are numbers of at least 0."
        )
    if abs(shares.sum() - 1) > SUM_TOLERANCE:
        raise InputError(f"The ideal of {variable.name} sums to {shares.sum():.6g} instead of 1.")
    return np.asarray(shares / shares.sum())


def _given_counts(variable: Variable, reference: Mapping[str, int]) -> Counts:
    values = _in_order(variable, reference)
    whole = all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in values)
    if not whole or min(values, default=0) < 0 or sum(values) == 0:
        raise InputError(f"The reference of {variable.name} needs whole counts, not all zero.")
    return np.array(values, dtype=np.int64)


def _in_order(variable: Variable, given: Mapping[str, float]) -> list[float]:
    for attribute in given:
        if attribute not in variable.attributes:
            raise InputError(
                f"The ideal of {variable.name} names an unknown attribute: "
                f"{printable(str(attribute))}.{did_you_mean(str(attribute), variable.attributes)}"
            )
    values = [given.get(attribute, 0) for attribute in variable.attributes]
    if not all(
        isinstance(value, (int, float, np.integer, np.floating)) and not abs(value) > LARGEST
        for value in values
    ):
        raise InputError(
            f"The ideal of {variable.name} has an invalid share: shares are numbers of at least 0."
        )
    return values


def _check_metric(variable: Variable, metric: MetricName, uniform: bool) -> None:
    if metric in ("ordinal", "index") and variable.metric != "ordinal":
        raise InputError(
            f"The metric {metric} needs ordered attributes, but {variable.name} "
            "does not declare any order."
        )
    if metric == "values" and not uniform:
        raise InputError(
            f"The metric values ignores which attribute is which, so it cannot compare "
            f"{variable.name} with an ideal that is not uniform; choose --metric nominal."
        )
    k = variable.size
    if metric == "cost" and (variable.cost is None or np.shape(variable.cost) != (k, k)):
        raise InputError(f"The metric cost needs a {k} x {k} cost matrix for {variable.name}.")
