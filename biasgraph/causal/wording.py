"""How far wording alone moves an axis, and whether what an intervention does goes beyond it.

An intervention changes the prompt's words, and any words may change pictures. Neutral rewordings
put words that name no attribute where counterfactuals put theirs; their images are what the
interventions' are compared with here, in the place of the initial ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from biasgraph.causal.fields import UNSET, Unset
from biasgraph.causal.rows import ControlAnswers, NodeRow, PairRow, flag
from biasgraph.causal.sensitivity import TargetDraws, claim_direction, measure_sensitivity
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.shift import shift_p
from biasgraph.causal.tables import Counts, Pool
from biasgraph.causal.transport import Ideal

MOVED = 0.05
"""The level, shared by all axes, from which on wording alone is said to move an axis."""
CONTROLLED = (
    "is_controlled",
    "is_controlled_ci_low",
    "is_controlled_ci_high",
    "sign_controlled",
    "shift_p_controlled",
)


@dataclass(frozen=True)
class Wording:
    """The neutral rewordings' images of one prompt, or of several.

    Attributes:
        pool: The images.
        settings: Of the analysis.
        stratified: Whether to test within prompts.
        _draws: The bootstrap of their answers by axis, shared by every intervention.
    """

    pool: Pool
    settings: AnalysisSettings
    stratified: bool
    _draws: dict[int, TargetDraws] = field(default_factory=dict)

    @property
    def asked(self) -> bool:
        """Whether there are any."""
        return any(len(images.controls) for images in self.pool.prompts)

    def beside(self, node: NodeRow, y: int, ideal: Ideal) -> NodeRow:
        """The node of axis y with what rewordings alone do to it, and a flag where they do."""
        control = self.about_axis(y, ideal)
        p = None if control is UNSET else control.shift_p
        node = replace(node, control=control)
        if p is None or p > MOVED / (len(self.pool.variables) * self.settings.shared):
            return node
        return flag(node, "moved_by_wording")

    def about_axis(self, y: int, ideal: Ideal) -> ControlAnswers | Unset:
        """What the rewordings alone do to an axis, in the prompts that have some."""
        if not self.asked:
            return UNSET
        counts = self.pool.controls(y)
        total = counts.sum(axis=0)
        answers = ControlAnswers(counts=tuple(total.tolist()), n_valid=int(total.sum()))
        worded = counts.any(axis=1)
        initial = self.pool.initial(y)[worded]
        if min(answers.n_valid, initial.sum()) < self.settings.min_valid:
            return answers
        rng = self._rng("axis", y)
        draws = TargetDraws.of(initial, ideal, self.settings.bootstrap, rng)
        row = self._measure(initial, counts[worded][:, None], ideal, draws, rng)
        return replace(
            answers,
            w1=row.w1_after,
            is_=row.is_,
            is_ci_low=row.is_ci_low,
            is_ci_high=row.is_ci_high,
            shift_p=row.shift_p,
        )

    @property
    def undefined(self) -> dict[str, Any]:
        """`CONTROLLED` of a pair that is not compared; none without rewordings."""
        return dict.fromkeys(CONTROLLED) if self.asked else {}

    def about_pair(self, x: int, y: int, ideal: Ideal) -> dict[str, Any]:
        """`CONTROLLED` of a pair, in the prompts that have rewordings."""
        if not self.asked:
            return {}
        counts = self.pool.controls(y)
        worded = counts.any(axis=1)
        arms = self.pool.strata(x, y)[worded]
        if min(counts.sum(), arms.sum(axis=(0, 2)).min()) < self.settings.min_valid:
            return self.undefined
        start = counts[worded]
        if y not in self._draws:
            rng = self._rng("draws", y)
            self._draws[y] = TargetDraws.of(start, ideal, self.settings.bootstrap, rng)
        row = self._measure(start, arms, ideal, self._draws[y], self._rng("pair", x, y))
        sign = claim_direction(row, self.settings.sign, self.settings.shift_alpha)
        numbers = (row.is_, row.is_ci_low, row.is_ci_high, sign, row.shift_p)
        return dict(zip(CONTROLLED, numbers, strict=True))

    def _measure(
        self,
        start: Counts,
        arms: Counts,
        ideal: Ideal,
        draws: TargetDraws,
        rng: np.random.Generator,
    ) -> PairRow:
        p = shift_p(start, arms, self.settings, rng, stratified=self.stratified)
        row = PairRow(source="", target="", metric=ideal.metric, shift_p=p)
        return measure_sensitivity(row, start, arms, ideal, draws, self.settings, rng)

    def _rng(self, what: str, *places: int) -> np.random.Generator:
        names = (self.pool.variables[place].name for place in places)
        return generator(self.settings.seed, self.pool.name, "wording", what, *names)
