"""Every ordered pair of axes: its test, its sensitivity, and what to know about both."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from biasgraph.causal.independence import Independence, adjusted
from biasgraph.causal.intervals import ROUNDING
from biasgraph.causal.nodes import FEW_ANSWERS
from biasgraph.causal.rows import PairRow, flag
from biasgraph.causal.sensitivity import TargetDraws, measure_sensitivity
from biasgraph.causal.settings import FDR_LEVEL, AnalysisSettings, EdgeRule, generator
from biasgraph.causal.shift import compare_strata, shift_p
from biasgraph.causal.tables import Counts, Pool
from biasgraph.causal.transport import Ideal
from biasgraph.causal.verdicts import judge
from biasgraph.causal.wording import Wording

WEAK_V = 0.3
LOSS_ALPHA = 0.01


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
    wording: Wording

    def rows(self) -> list[PairRow]:
        """Every ordered pair, by source and target, edges decided."""
        indices = range(len(self.pool.variables))
        intervened = [x for x in indices if self.pool.total.arms_of(x)]
        # An axis's own pair is a manipulation check, no edge, and so not in the family of tests.
        alpha = self.rule.level(len(intervened) * (len(indices) - 1))
        rows = [self._row(x, y, alpha) for x in indices for y in indices]
        return judge(self._mark_weak(self._decide(rows)), self.settings, self.rule)

    def _row(self, x: int, y: int, alpha: float) -> PairRow:
        variables, total = self.pool.variables, self.pool.total
        source, target = variables[x].name, variables[y].name
        row = PairRow(source=source, target=target, metric=self.ideals[y].metric)
        row = replace(row, **self.wording.undefined)
        arms = total.arms_of(x)
        if not arms:
            return flag(row, "no_intervention")
        strata = self.pool.strata(x, y)
        test = self._test(strata, "test", x, y, alpha)
        initial = self.pool.initial(y)
        conditions = {
            "expected_low": test.expected_low,
            "missing_arms": len(arms) < variables[x].size,
            "differential_loss": self._differential_loss(x, y),
        }
        flags = [name for name, holds in conditions.items() if holds]
        within, rng = self.rule.stratified, self._rng("shift", x, y)
        moved = shift_p(initial, strata, self.settings, rng, stratified=within)
        row = replace(flag(row, *flags), **test.numbers(), shift_p=moved)
        draws = self.draws[y]
        fewest = min(int(initial.sum()), int(strata.sum(axis=(0, 2)).min()))
        if draws is None or fewest < self.settings.min_valid:
            return row
        if fewest < FEW_ANSWERS:
            row = flag(row, "small_sample")
        if self.near_ideal[y]:
            row = flag(row, "near_ideal")
        row = replace(
            row,
            status="degenerate" if test.method is None else "ok",
            **self.wording.about_pair(x, y, self.ideals[y]),
        )
        sets = np.concatenate([initial.sum(axis=0)[None], strata.sum(axis=0)])
        if x != y and (sets.max(axis=1) == sets.sum(axis=1)).any():
            row = flag(row, "single_answer")
        rng = self._rng("bootstrap", x, y)
        return measure_sensitivity(row, initial, strata, self.ideals[y], draws, self.settings, rng)

    def _test(self, strata: Counts, what: str, x: int, y: int, alpha: float) -> Independence:
        """Rows against columns of (prompts, rows, columns) counts, within prompts or summed."""
        rng = self._rng(what, x, y)
        return compare_strata(strata, self.settings, rng, alpha, stratified=self.rule.stratified)

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

    def _decide(self, rows: list[PairRow]) -> list[PairRow]:
        """Adjust p over the tested pairs x != y, and let p or its adjustment decide on edges."""
        family = {
            place: row.p
            for place, row in enumerate(rows)
            if row.source != row.target and row.p is not None
        }
        p = list(family.values())
        # p <= alpha, as BiasConnect sec. 3.3 prunes what exceeds alpha. Without --fdr the adjusted
        # p stands beside it and decides nothing (STATISTICS (b)).
        deciding = p if self.rule.fdr is None else adjusted(p, self.rule.fdr)
        level = self.rule.alpha if self.rule.fdr is None else FDR_LEVEL
        decided = list(rows)
        for place, value, own in zip(family, adjusted(p), deciding, strict=True):
            row = replace(rows[place], p_adjusted=float(value))
            if own <= level and row.status == "ok" and row.is_ is not None:
                # Arms may differ from one another without moving the mean: several prompts make
                # a significant p of next to nothing, hence the cut in |IS| (supp. A.8).
                edge = abs(row.is_) >= self.rule.min_is - ROUNDING
                row = replace(row, edge=True) if edge else flag(row, "below_min_is")
            decided[place] = row
        return decided

    def _mark_weak(self, rows: list[PairRow]) -> list[PairRow]:
        """Flag all that leaves an axis whose own counterfactuals hardly changed it."""
        weak = {row.source for row in rows if row.source == row.target and self._is_weak(row)}
        return [
            flag(row, "weak_intervention")
            if row.source in weak and row.source != row.target
            else row
            for row in rows
        ]

    def _is_weak(self, diagonal: PairRow) -> bool:
        unseen = diagonal.status == "insufficient" and diagonal.cramers_v is None
        if diagonal.p is None or unseen:
            return False
        # A manipulation that cannot be seen in its own axis says nothing of others: V < .3 or not
        # significant (STATISTICS (d)).
        weak_v = diagonal.cramers_v is None or diagonal.cramers_v < WEAK_V
        return weak_v or diagonal.p > self.rule.alpha
