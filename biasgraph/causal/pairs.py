"""Every ordered pair of axes: its test, its sensitivity, and what to know about both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgraph.causal.independence import Independence, adjusted, independence
from biasgraph.causal.nodes import FEW_ANSWERS
from biasgraph.causal.sensitivity import TargetDraws, sensitivity
from biasgraph.causal.settings import FDR_LEVEL, AnalysisSettings, EdgeRule, generator
from biasgraph.causal.stratified import stratified_independence
from biasgraph.causal.tables import Counts, Pool
from biasgraph.causal.transport import Ideal

WEAK_V = 0.3
LOSS_ALPHA = 0.01
SHIFT_ALPHA = 0.05
ROUNDING = 1e-12

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
    """Tests and measures the pairs of axes in the images of one prompt, or of several.

    draws[y]: the bootstrap of y's initial images, None where they have too few valid answers;
    near_ideal[y]: whether those images cannot be told from the ideal.
    """

    pool: Pool
    ideals: list[Ideal]
    draws: list[TargetDraws | None]
    near_ideal: list[bool | None]
    settings: AnalysisSettings
    rule: EdgeRule

    def rows(self) -> list[dict[str, Any]]:
        """One dict per ordered pair, by source and target, edges decided."""
        indices = range(len(self.pool.variables))
        intervened = [x for x in indices if self.pool.total.arms_of(x)]
        alpha = self.rule.level(len(intervened) * (len(indices) - 1))
        rows = [self._row(x, y, alpha) for x in indices for y in indices]
        self._decide(rows)
        self._mark_weak(rows)
        return rows

    def _row(self, x: int, y: int, alpha: float) -> dict[str, Any]:
        variables, total = self.pool.variables, self.pool.total
        row: dict[str, Any] = {
            "source": variables[x].name,
            "target": variables[y].name,
            "metric": self.ideals[y].metric,
        }
        arms = total.arms_of(x)
        if not arms:
            return row | _test_fields(None) | _ending("insufficient", ["no_intervention"])
        initial, strata = self.pool.initial(y), self.pool.strata(x, y)
        test = self._test(strata, "test", x, y, alpha)
        row |= _test_fields(test)
        flags = ["expected_low"] if test.expected_low else []
        if len(arms) < variables[x].size:
            flags.append("missing_arms")
        if self._differential_loss(x, y):
            flags.append("differential_loss")
        row["shift_p"] = self._shift_p(initial, strata, x, y)
        draws = self.draws[y]
        fewest = min(int(initial.sum()), int(strata.sum(axis=(0, 2)).min()))
        if draws is None or fewest < self.settings.min_valid:
            return row | _ending("insufficient", flags)
        if fewest < FEW_ANSWERS:
            flags.append("small_sample")
        if self.near_ideal[y]:
            flags.append("near_ideal")
        rng = self._rng("bootstrap", x, y)
        measured = sensitivity(initial, strata, self.ideals[y], draws, self.settings, rng)
        row |= measured.fields
        status = "degenerate" if test.method is None else "ok"
        return row | _ending(status, flags + measured.flags)

    def _test(self, strata: Counts, what: str, x: int, y: int, alpha: float) -> Independence:
        """Rows against columns of (prompts, rows, columns) counts, within prompts or summed."""
        rng = self._rng(what, x, y)
        if self.rule.stratified:
            return stratified_independence(strata, self.settings, rng, alpha)
        return independence(strata.sum(axis=0), self.settings, rng, alpha)

    def _rng(self, what: str, x: int, y: int) -> np.random.Generator:
        names = (self.pool.variables[v].name for v in (x, y))
        return generator(self.settings.seed, self.pool.name, what, *names)

    def _differential_loss(self, x: int, y: int) -> bool:
        """Whether valid and invalid answers split unevenly over the arms (chi-square p < .01)."""
        arms = self.pool.total.arms_of(x)
        split = np.array(
            [
                [[t.n_valid, t.n_total - t.n_valid] for t in tallies.of_arms(arms, y)]
                for tallies in self.pool.tallies
            ]
        )
        return self._test(split, "loss", x, y, LOSS_ALPHA).p < LOSS_ALPHA

    def _shift_p(self, initial: Counts, strata: Counts, x: int, y: int) -> float | None:
        """p of the initial images against all images of the intervention together."""
        both = np.stack([initial, strata.sum(axis=1)], axis=1)
        if (both.sum(axis=(0, 2)) == 0).any():
            return None
        return self._test(both, "shift", x, y, SHIFT_ALPHA).p

    def _decide(self, rows: list[dict[str, Any]]) -> None:
        """Adjust p over the tested pairs x != y, and let p or its adjustment decide on edges."""
        family = [row for row in rows if row["source"] != row["target"] and row["p"] is not None]
        p = [row["p"] for row in family]
        for row, value in zip(family, adjusted(p), strict=True):
            row["p_adjusted"] = float(value)
        if self.rule.fdr is None:
            passed = [value <= self.rule.alpha for value in p]
        else:
            passed = [value <= FDR_LEVEL for value in adjusted(p, self.rule.fdr)]
        for row, small in zip(family, passed, strict=True):
            if bool(small) and row["status"] == "ok":
                row["edge"] = abs(row["is"]) >= self.rule.min_is - ROUNDING
                if not row["edge"]:
                    row["flags"].append("below_min_is")

    def _mark_weak(self, rows: list[dict[str, Any]]) -> None:
        """Flag all that leaves an axis whose own counterfactuals hardly changed it."""
        diagonal = [row for row in rows if row["source"] == row["target"]]
        weak = {row["source"] for row in diagonal if self._is_weak(row)}
        for row in rows:
            if row["source"] in weak and row["source"] != row["target"]:
                row["flags"].append("weak_intervention")

    def _is_weak(self, diagonal: dict[str, Any]) -> bool:
        unseen = diagonal["status"] == "insufficient" and diagonal["cramers_v"] is None
        if diagonal["p"] is None or unseen:
            return False
        weak_v = diagonal["cramers_v"] is None or diagonal["cramers_v"] < WEAK_V
        return weak_v or diagonal["p"] > self.rule.alpha


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
