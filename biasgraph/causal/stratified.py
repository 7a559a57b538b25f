"""Whether an axis's distribution differs between the arms of another within the same prompt.

Summed over prompts, a table mixes what an intervention does with which prompts lost their answers
in which arm. The generalised Cochran-Mantel-Haenszel test compares arms within each prompt only
(Landis, Heyman and Koch 1978; STATISTICS (g)).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from biasgraph.causal.independence import (
    DEGENERATE,
    ENOUGH_HITS,
    Independence,
    expected_low,
    monte_carlo_p,
    pearson,
    with_strength,
)
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Counts, Floats, reduce_table
from biasgraph.errors import InputError

LARGEST = 2_500  # cells of a table whose covariance is still inverted in a few seconds


def stratified_independence(
    strata: Counts,
    settings: AnalysisSettings,
    rng: np.random.Generator,
    alpha: float,
    hits: int = ENOUGH_HITS,
) -> Independence:
    """Cochran-Mantel-Haenszel test of general association of rows and columns within strata.

    The degrees of freedom are the rank of the covariance. V is that of the summed table, and so is
    what could have been detected, as if it were one stratum. Where the summed expected counts are
    low, p is drawn from tables with the margins of every stratum fixed (`settings.fallback`).
    Yates does not apply.

    Args:
        strata: (S, r, c) counts, a table for each prompt; a table with fewer than two rows or
            columns that are not empty cannot tell and is left out.
        settings: Of the analysis; fallback counts.
        rng: For drawing null tables.
        alpha: The level that p is compared with.
        hits: See `monte_carlo_p`.

    Raises:
        InputError: The table is too large to compute the covariance of its cells.
    """
    pooled, rows, columns = reduce_table(strata.sum(axis=0))
    if pooled.size > LARGEST:
        raise InputError(
            f"A table of {pooled.shape[0]} x {pooled.shape[1]} attributes is too large for the "
            "test within prompts; use --global-test pooled, or choose fewer axes with --only."
        )
    association = _Association.of([table[np.ix_(rows, columns)] for table in strata])
    if association is None:
        return DEGENERATE
    statistic, dof = association.statistic, association.dof
    p, method = float(chdtrc(dof, statistic)), "cmh"
    low = expected_low(association.expected[association.expected > 0])
    if low and settings.fallback == "auto":
        p = monte_carlo_p(statistic, association.null_statistics(rng), alpha, hits)
        method = "cmh_monte_carlo"
    test = Independence(statistic, dof, p, method, expected_low=low)
    return with_strength(test, pooled, pearson(pooled)[0], alpha, settings.bound_level)


@dataclass(frozen=True)
class _Association:
    """What the strata that can tell come to.

    Attributes:
        tables: Theirs.
        expected: (r, c) the sum of their expected counts.
        whitening: (r * c, dof), so that the statistic is the squared length of the whitened
            deviation from the expected counts.
    """

    tables: list[Counts]
    expected: Floats
    whitening: Floats

    @classmethod
    def of(cls, strata: Sequence[Counts]) -> _Association | None:
        tables = [table for table in strata if min(reduce_table(table)[0].shape) >= 2]
        if not tables:
            return None
        cells = tables[0].size
        expected, covariance = np.zeros(tables[0].shape), np.zeros((cells, cells))
        for table in tables:
            row, column, n = table.sum(axis=1), table.sum(axis=0), int(table.sum())
            expected += np.outer(row, column) / n
            parts = [np.diag(margin) - np.outer(margin, margin) / n for margin in (row, column)]
            covariance += np.kron(*parts) / (n - 1)
        values, vectors = np.linalg.eigh(covariance)
        kept = values > values[-1] * cells * np.finfo(float).eps * 8
        return cls(tables, expected, vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def dof(self) -> int:
        return int(self.whitening.shape[1])

    @property
    def statistic(self) -> float:
        return float(self._statistics(np.sum(self.tables, axis=0).reshape(1, -1))[0])

    def _statistics(self, summed: npt.NDArray[np.number]) -> Floats:
        whitened = (summed - self.expected.ravel()) @ self.whitening
        return np.asarray((whitened**2).sum(axis=1))

    def null_statistics(self, rng: np.random.Generator) -> Callable[[int], Floats]:
        """A sampler of the statistic when rows and columns are independent in every stratum."""
        from scipy.stats import random_table

        nulls = []
        for table in self.tables:
            table, rows, columns = reduce_table(table)
            places = (rows[:, None] * self.expected.shape[1] + columns).ravel()
            nulls.append((random_table(table.sum(axis=1), table.sum(axis=0)), places))

        def draw(size: int) -> Floats:
            summed = np.zeros((size, self.expected.size))
            for null, places in nulls:
                drawn = null.rvs(size, method="patefield", random_state=rng)
                summed[:, places] += drawn.reshape(size, -1)
            return self._statistics(summed)

        return draw
