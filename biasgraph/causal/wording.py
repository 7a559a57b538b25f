"""How far wording alone moves an axis, and whether what an intervention does goes beyond it.

An intervention changes the prompt's words, and any words may change pictures. Neutral rewordings
put words that name no attribute where counterfactuals put theirs; their images are what the
interventions' are compared with here, in the place of the initial ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasgraph.causal.rows import UNSET, ControlAnswers, PairRow, Unset
from biasgraph.causal.sensitivity import TargetDraws, claim_direction, measure_sensitivity
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.shift import shift_p
from biasgraph.causal.tables import Counts, Pool
from biasgraph.causal.transport import Ideal

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
    """

    pool: Pool
    settings: AnalysisSettings
    stratified: bool

    @property
    def asked(self) -> bool:
        """Whether there are any."""
        return any(len(images.controls) for images in self.pool.prompts)

    def about_axis(self, y: int, ideal: Ideal, draws: TargetDraws | None) -> ControlAnswers | Unset:
        """What the rewordings alone do to an axis, given the bootstrap of its initial images."""
        if not self.asked:
            return UNSET
        counts, initial = self.pool.controls(y), self.pool.initial(y)
        total = counts.sum(axis=0)
        answers = ControlAnswers(counts=tuple(total.tolist()), n_valid=int(total.sum()))
        if draws is None or answers.n_valid < self.settings.min_valid:
            return answers
        row = self._measured(initial, counts[:, None], ideal, draws, self._rng("axis", y))
        return replace(
            answers,
            w1=row.w1_after,
            is_=row.is_,
            is_ci_low=row.is_ci_low,
            is_ci_high=row.is_ci_high,
            shift_p=row.shift_p,
        )

    def about_pair(self, x: int, y: int, ideal: Ideal) -> dict[str, Any]:
        """`CONTROLLED` of a pair whose interventions have enough valid answers."""
        if not self.asked:
            return {}
        counts = self.pool.controls(y)
        if counts.sum() < self.settings.min_valid:
            return dict.fromkeys(CONTROLLED)
        rng = self._rng("draws", y)
        draws = TargetDraws.of(counts, ideal, self.settings.bootstrap, rng)
        row = self._measured(counts, self.pool.strata(x, y), ideal, draws, self._rng("pair", x, y))
        sign = claim_direction(row, self.settings.sign)
        numbers = (row.is_, row.is_ci_low, row.is_ci_high, sign, row.shift_p)
        return dict(zip(CONTROLLED, numbers, strict=True))

    def _measured(
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
