"""Every ordered pair of axes: its test, its sensitivity, and what to know about both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgraph.causal.independence import (
    Independence,
    adjusted,
    decision_alpha,
    independence,
)
from biasgraph.causal.nodes import FEW_ANSWERS
from biasgraph.causal.sensitivity import TargetDraws, sensitivity
from biasgraph.causal.settings import FDR_LEVEL, AnalysisSettings, generator
from biasgraph.causal.tables import CodedImages, Counts, Tallies
from biasgraph.causal.transport import Ideal

WEAK_V = 0.3
LOSS_ALPHA = 0.01
SHIFT_ALPHA = 0.05

SENSITIVITY_FIELDS = (
    "w1_before",
    "w1_after",
    "is",
    "is_matched",
    "is_matched_ci_low",
    "is_matched_ci_high",
    "is_ci_low",
    "is_ci_high",
    "ci_percentile_low",
    "ci_percentile_high",
    "ci_basic_low",
    "ci_basic_high",
    "sign",
    "sign_probability",
)


@dataclass(frozen=True)
class Pairs:
    """Tests and measures the pairs of one prompt's axes.

    draws[y]: the bootstrap of y's initial images, None where they have too few valid answers;
    near_ideal[y]: whether those images cannot be told from the ideal.
    """

    images: CodedImages
    tallies: Tallies
    ideals: list[Ideal]
    draws: list[TargetDraws | None]
    near_ideal: list[bool | None]
    settings: AnalysisSettings

    def rows(self) -> list[dict[str, Any]]:
        """One dict per ordered pair, by source and target, edges decided."""
        indices = range(len(self.images.variables))
        intervened = [x for x in indices if self.tallies.arms_of(x)]
        family = len(intervened) * (len(self.images.variables) - 1)
        alpha = decision_alpha(self.settings, family)
        rows = [self._row(x, y, alpha) for x in indices for y in indices]
        self._decide(rows)
        self._mark_weak(rows)
        return rows

    def _row(self, x: int, y: int, alpha: float) -> dict[str, Any]:
        variables = self.images.variables
        row: dict[str, Any] = {
            "source": variables[x].name,
            "target": variables[y].name,
            "metric": self.ideals[y].metric,
        }
        arms = self.tallies.arms_of(x)
        if not arms:
            return row | _test_fields(None) | _ending("insufficient", ["no_intervention"])
        table = self.tallies.contingency(x, y)
        test = independence(table, self.settings, self._rng("test", x, y), alpha)
        row |= _test_fields(test)
        flags = ["expected_low"] if test.expected_low else []
        if len(arms) < variables[x].size:
            flags.append("missing_arms")
        if self._differential_loss(x, y):
            flags.append("differential_loss")
        row["shift_p"] = self._shift_p(table, x, y)
        draws = self.draws[y]
        fewest = min(self.tallies.initial[y].n_valid, int(table.sum(axis=1).min()))
        if draws is None or fewest < self.settings.min_valid:
            return row | _ending("insufficient", flags)
        if fewest < FEW_ANSWERS:
            flags.append("small_sample")
        if self.near_ideal[y]:
            flags.append("near_ideal")
        measured = sensitivity(
            self.tallies.initial[y].counts,
            table,
            self.ideals[y],
            draws,
            self.settings,
            self._rng("bootstrap", x, y),
        )
        row |= measured.fields
        status = "degenerate" if test.method is None else "ok"
        return row | _ending(status, flags + measured.flags)

    def _rng(self, what: str, x: int, y: int) -> np.random.Generator:
        names = (self.images.variables[v].name for v in (x, y))
        return generator(self.settings.seed, self.images.prompt, what, *names)

    def _differential_loss(self, x: int, y: int) -> bool:
        """Whether valid and invalid answers split unevenly over the arms (chi-square p < .01)."""
        tallies = [self.tallies.arms[arm][y] for arm in self.tallies.arms_of(x)]
        split = np.array([[t.n_valid, t.n_gated + t.n_unknown] for t in tallies])
        test = independence(split, self.settings, self._rng("loss", x, y), LOSS_ALPHA)
        return test.p < LOSS_ALPHA

    def _shift_p(self, table: Counts, x: int, y: int) -> float | None:
        """p of the initial images against all images of the intervention together."""
        both = np.stack([self.tallies.initial[y].counts, table.sum(axis=0)])
        if (both.sum(axis=1) == 0).any():
            return None
        return independence(both, self.settings, self._rng("shift", x, y), SHIFT_ALPHA).p

    def _decide(self, rows: list[dict[str, Any]]) -> None:
        """Adjust p over the tested pairs x != y, and let p or its adjustment decide on edges."""
        family = [row for row in rows if row["source"] != row["target"] and row["p"] is not None]
        p = [row["p"] for row in family]
        for row, value in zip(family, adjusted(p), strict=True):
            row["p_adjusted"] = float(value)
        if self.settings.fdr is None:
            passed = [value <= self.settings.alpha for value in p]
        else:
            passed = [value <= FDR_LEVEL for value in adjusted(p, self.settings.fdr)]
        for row, small in zip(family, passed, strict=True):
            row["edge"] = bool(small) and row["status"] == "ok"

    def _mark_weak(self, rows: list[dict[str, Any]]) -> None:
        """Flag all that leaves an axis whose own counterfactuals hardly changed it."""
        diagonal = [row for row in rows if row["source"] == row["target"]]
        weak = {row["source"] for row in diagonal if self._is_weak(row)}
        for row in rows:
            if row["source"] in weak and row["source"] != row["target"]:
                row["flags"].append("weak_intervention")

    def _is_weak(self, diagonal: dict[str, Any]) -> bool:
        if diagonal["p"] is None:
            return False
        weak_v = diagonal["cramers_v"] is None or diagonal["cramers_v"] < WEAK_V
        return weak_v or diagonal["p"] > self.settings.alpha


def _test_fields(test: Independence | None) -> dict[str, Any]:
    """Every field of a pair in order; what the sensitivity or the family gives is still None."""
    return {
        "statistic": test and test.statistic,
        "dof": test and test.dof,
        "p": test and test.p,
        "p_adjusted": None,
        "method": test and test.method,
        "cramers_v": test and test.cramers_v,
        "cramers_v_corrected": test and test.cramers_v_corrected,
        "detectable_v": test and test.detectable_v,
        "detectable_v_80": test and test.detectable_v_80,
        **dict.fromkeys(SENSITIVITY_FIELDS),
        "shift_p": None,
    }


def _ending(status: str, flags: list[str]) -> dict[str, Any]:
    return {"edge": False, "status": status, "flags": flags}
