"""Every ordered pair of axes: its test, its sensitivity, and what to know about both."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np

from biasgraph.causal.fields import change
from biasgraph.causal.independence import (
    ENOUGH_HITS,
    Independence,
    adjust_p,
    highest_v_resampled,
)
from biasgraph.causal.intervals import ROUNDING
from biasgraph.causal.nodes import FEW_ANSWERS, measure_node
from biasgraph.causal.rows import NodeRow, PairRow, flag
from biasgraph.causal.sensitivity import TargetDraws, distances_to_ideal, measure_sensitivity
from biasgraph.causal.settings import FDR_LEVEL, AnalysisSettings, EdgeRule, generator
from biasgraph.causal.shares import largest_change
from biasgraph.causal.shift import compare_strata, shift_p
from biasgraph.causal.tables import Counts, Pool
from biasgraph.causal.transport import Ideal
from biasgraph.causal.verdicts import judge
from biasgraph.causal.wording import Wording

Ends = tuple[str, str]
WEAK_V = 0.3
LOSS_ALPHA = 0.01


def draw_initial(
    pool: Pool, y: int, ideal: Ideal, settings: AnalysisSettings
) -> TargetDraws | None:
    """The bootstrap of the initial images of y; None where they have too few valid answers."""
    counts = pool.initial(y)
    if counts.sum() < settings.min_valid:
        return None
    rng = generator(settings.seed, pool.name, "initial", pool.variables[y].name)
    return TargetDraws.of(counts, ideal, settings.bootstrap, rng)


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

    @classmethod
    def prepare(
        cls, pool: Pool, ideals: Sequence[Ideal], settings: AnalysisSettings, rule: EdgeRule
    ) -> tuple[list[NodeRow], Pairs]:
        """The nodes, and what tests and measures their pairs."""
        draws = [draw_initial(pool, y, ideal, settings) for y, ideal in enumerate(ideals)]
        wording = Wording(pool, settings, rule.stratified)
        nodes = []
        for y, variable in enumerate(pool.variables):
            answers = pool.total.initial[y], ideals[y], draws[y]
            node = measure_node(pool.name, variable, *answers, settings)
            nodes.append(wording.beside(node, y, ideals[y]))
        near_ideal = [node.near_ideal for node in nodes]
        return nodes, cls(pool, list(ideals), draws, near_ideal, settings, rule, wording)

    def rows(self) -> list[PairRow]:
        """Every ordered pair, by source and target, edges decided."""
        indices = range(len(self.pool.variables))
        rows = [self.row(x, y) for x in indices for y in indices]
        return judge(self.mark_weak(self.decide(rows)), self.settings, self.rule)

    def claims(self) -> list[PairRow]:
        """The pairs of two axes with V, IS, edge and verdict as in `rows`, and little else.

        p is as fine, and intervals are there, only where a verdict hangs on them.
        """
        places = list(permutations(range(len(self.pool.variables)), 2))
        hits = 1 if self.rule.fdr is None else ENOUGH_HITS
        rows = [self._with_plain_sensitivity(self._test_pair(x, y, hits), x, y) for x, y in places]
        rows = [
            self._measure(row, x, y) if row.edge or "below_min_is" in row.flags else row
            for row, (x, y) in zip(self.decide(rows), places, strict=True)
        ]
        return judge(rows, self.settings, self.rule)

    def row(self, x: int, y: int, hits: int = ENOUGH_HITS) -> PairRow:
        """One ordered pair, tested and measured, without what depends on the others.

        Args:
            x: The source.
            y: The target.
            hits: See `monte_carlo_p`; 1 where p is wanted for its decision alone.
        """
        row = self._test_pair(x, y, hits)
        arms = self.pool.total.arms_of(x)
        conditions = {
            "missing_arms": 0 < len(arms) < self.pool.variables[x].size,
            "differential_loss": bool(arms) and self._differential_loss(x, y),
        }
        flags = [name for name, holds in conditions.items() if holds]
        return self._measure(flag(row, *flags), x, y)

    @cached_property
    def _alpha(self) -> float:
        """The strictest level that a pair may have to pass."""
        indices = range(len(self.pool.variables))
        intervened = [x for x in indices if self.pool.total.arms_of(x)]
        # An axis's own pair is a manipulation check, no edge, and so not in the family of tests.
        return self.rule.level(len(intervened) * (len(indices) - 1))

    def _test_pair(self, x: int, y: int, hits: int = ENOUGH_HITS) -> PairRow:
        """The pair with its tests; its status says whether there is enough to measure it."""
        variables, total = self.pool.variables, self.pool.total
        source, target = variables[x].name, variables[y].name
        row = PairRow(source=source, target=target, metric=self.ideals[y].metric)
        row = change(row, **self.wording.undefined)
        if not total.arms_of(x):
            return flag(row, "no_intervention")
        strata, initial = self.pool.strata(x, y), self.pool.initial(y)
        test = self._test(strata, "test", x, y, self._alpha, hits)
        if test.expected_low:
            row = flag(row, "expected_low")
        within, rng = self.rule.stratified, self._rng("shift", x, y)
        moved = shift_p(initial, strata, self.settings, rng, stratified=within, thrifty=True)
        row = change(row, **test.numbers(), shift_p=moved)
        if self.settings.looks and row.v_high is None:
            rng = self._rng("bound", x, y)
            highest = highest_v_resampled(strata.sum(axis=0), self.settings, rng)
            row = change(row, v_high=highest)
        if self.draws[y] is None or self._fewest(x, y) < self.settings.min_valid:
            return row
        return change(row, status="degenerate" if test.method is None else "ok")

    def _fewest(self, x: int, y: int) -> int:
        """Valid answers of the smallest set of images."""
        initial, strata = self.pool.initial(y), self.pool.strata(x, y)
        return min(int(initial.sum()), int(strata.sum(axis=(0, 2)).min()))

    def _with_plain_sensitivity(self, row: PairRow, x: int, y: int) -> PairRow:
        if row.status == "insufficient":
            return row
        sets = self.pool.initial(y), self.pool.strata(x, y)
        before, after = distances_to_ideal(*sets, self.ideals[y], self.settings.mix)
        return change(row, is_=before - after)

    def _measure(self, row: PairRow, x: int, y: int) -> PairRow:
        """The pair with its sensitivity and its intervals, where there is enough to measure it."""
        draws = self.draws[y]
        if row.status == "insufficient" or draws is None:
            return row
        initial, strata = self.pool.initial(y), self.pool.strata(x, y)
        if self._fewest(x, y) < FEW_ANSWERS:
            row = flag(row, "small_sample")
        if self.near_ideal[y]:
            row = flag(row, "near_ideal")
        row = change(row, **self.wording.about_pair(x, y, self.ideals[y]))
        row = self._with_shares(row, initial.sum(axis=0), strata.sum(axis=0), y)
        sets = np.concatenate([initial.sum(axis=0)[None], strata.sum(axis=0)])
        if x != y and (sets.max(axis=1) == sets.sum(axis=1)).any():
            row = flag(row, "single_answer")
        rng = self._rng("bootstrap", x, y)
        return measure_sensitivity(row, initial, strata, self.ideals[y], draws, self.settings, rng)

    def _with_shares(self, row: PairRow, initial: Counts, arms: Counts, y: int) -> PairRow:
        """The pair with what its mixture does in shares of pictures."""
        moved = largest_change(initial, arms, self.settings.mix, self.settings.tail)
        return change(
            row,
            moved=self.pool.variables[y].attributes[moved.attribute],
            share_before=moved.before.value,
            share_before_ci_low=moved.before.ends[0],
            share_before_ci_high=moved.before.ends[1],
            share_after=moved.after.value,
            share_after_ci_low=moved.after.ends[0],
            share_after_ci_high=moved.after.ends[1],
        )

    def _test(
        self, strata: Counts, what: str, x: int, y: int, alpha: float, hits: int = ENOUGH_HITS
    ) -> Independence:
        """Rows against columns of (prompts, rows, columns) counts, within prompts or summed."""
        rng, within = self._rng(what, x, y), self.rule.stratified
        return compare_strata(
            strata, self.settings, rng, alpha, stratified=within, hits=hits, thrifty=True
        )

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
        if not split[..., 1].any():  # nothing was lost
            return False
        return self._test(split, "loss", x, y, LOSS_ALPHA, hits=1).p < LOSS_ALPHA

    def decide(self, rows: list[PairRow], known: Collection[Ends] = ()) -> list[PairRow]:
        """Adjust p over the tested pairs x != y, and let p or its adjustment decide on edges.

        Those of the `known` pairs, by source and target, were different at an earlier look.
        """
        family = {
            place: row.p
            for place, row in enumerate(rows)
            if row.source != row.target and row.p is not None
        }
        p = list(family.values())
        # p <= alpha, as BiasConnect sec. 3.3 prunes what exceeds alpha. Without --fdr the adjusted
        # p stands beside it and decides nothing (STATISTICS (b)).
        deciding = p if self.rule.fdr is None else adjust_p(p, self.rule.fdr)
        if self.rule.fdr is not None and self.settings.looks:  # e-values do: see `known`
            deciding = [np.inf] * len(p)
        level = self.rule.alpha if self.rule.fdr is None else FDR_LEVEL
        decided = list(rows)
        by_looks = adjust_p(p, looks=self.settings.shared)
        for place, value, own in zip(family, by_looks, deciding, strict=True):
            row = change(rows[place], p_adjusted=float(value))
            different = own <= level or (row.source, row.target) in known
            if different and row.status == "ok" and row.is_ is not None:
                # Arms may differ from one another without moving the mean: several prompts make
                # a significant p of next to nothing, hence the cut in |IS| (supp. A.8).
                edge = abs(row.is_) >= self.rule.min_is - ROUNDING
                row = change(row, edge=True) if edge else flag(row, "below_min_is")
            decided[place] = row
        return decided

    def mark_weak(self, rows: list[PairRow]) -> list[PairRow]:
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
