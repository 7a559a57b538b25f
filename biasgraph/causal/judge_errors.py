"""How a graph changes when its judge errs more (BiasConnect sec. 5.4, fig. 4; STATISTICS (f)).

Errors are added to the answers as they are: those that the judge made already stay in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from biasgraph.causal.robustness import Advance, DrawnAudits, agreement_of, compare
from biasgraph.causal.sensitivity import distances_to_ideal
from biasgraph.causal.settings import generator
from biasgraph.causal.tables import UNKNOWN, CodedImages, Codes, Counts, Floats, Pool, Variable

Errors = Literal["another", "unknown"]
RATES = (0.05, 0.10, 0.20, 0.30, 0.40)
"""Of all answers (BiasConnect fig. 4 goes from .05 to .40, too)."""


def destinations(variable: Variable, labelled: Counts | None, answers: int) -> Floats:
    """(k, k) what wrong answers of a judge are: rows by right answer, the diagonal 0.

    Args:
        variable: The axis.
        labelled: (answers, answers) counts[truth, answer] of this judge, if anybody has counted.
            An attribute that it never mistook is mistaken for any other, as all are without counts.
        answers: How many of the variable's attributes can be answered wrongly; one that stands for
            unknown answers comes after them.
    """
    found = np.zeros((variable.size, variable.size))
    if answers < 2:
        return found
    others = 1 - np.eye(answers)
    counts = np.zeros((answers, answers)) if labelled is None else labelled * others
    seen = counts.sum(axis=1, keepdims=True)
    shares = np.where(seen > 0, counts / np.maximum(seen, 1), others / (answers - 1))
    found[:answers, :answers] = shares
    return found


@dataclass(frozen=True)
class WorseJudge(DrawnAudits):
    """Audits of a run's images whose judge errs more than the run's.

    Attributes:
        labelled: counts[truth, answer] by axis, of the axes that somebody has checked.
    """

    labelled: Mapping[str, Counts]

    @property
    def audits(self) -> int:
        """How many audits `rows` analyses."""
        return self.draws * len(RATES) * 2

    def rows(self, advance: Advance) -> list[dict[str, Any]]:
        """What differs from the run at each rate and kind of error, as `compare` has it.

        slope_expected: the slope without chance, of the run's shares with as many errors on
        average. Uniform errors shrink distances to a uniform ideal by 1 - e k/(k-1).
        """
        kinds: tuple[Errors, ...] = ("another", "unknown")
        return [self._row(rate, kind, advance) for kind in kinds for rate in RATES]

    def _row(self, rate: float, kind: Errors, advance: Advance) -> dict[str, Any]:
        audits = []
        for draw in range(self.draws):
            names = ("errors", kind, f"{rate:g}", str(draw))
            rng = generator(self.seed, self.auditor.name, *names)
            wrong = [self.with_errors(images, rate, kind, rng) for images in self.run]
            audits.append((self.auditor.claims(wrong), self.whole))
            advance()
        expected = 1.0 if kind == "unknown" else self.expected_slope(rate)
        about = {"rate": rate, "kind": kind, "slope_expected": expected}
        return {**about, **compare(audits, self.whole)}

    def _answers(self, variable: Variable) -> int:
        """The attributes that are answers, without one that stands for unknown answers."""
        return variable.size - (self.auditor.settings.unknown == "class")

    def _destinations(self, variable: Variable) -> Floats:
        labelled = self.labelled.get(variable.name)
        return destinations(variable, labelled, self._answers(variable))

    def with_errors(
        self, images: CodedImages, rate: float, kind: Errors, rng: np.random.Generator
    ) -> CodedImages:
        """The images with so many of their valid answers wrong, or unknown."""
        tables = [self._destinations(variable) for variable in images.variables]
        unknown = [
            UNKNOWN if self._answers(one) == one.size else one.size - 1 for one in images.variables
        ]

        def err(codes: Codes) -> Codes:
            wrong = codes.copy()
            for y, (variable, table) in enumerate(zip(images.variables, tables, strict=True)):
                answered = (codes[:, y] >= 0) & (codes[:, y] < self._answers(variable))
                hit = np.flatnonzero(answered & (rng.random(len(codes)) < rate))
                if kind == "unknown":
                    wrong[hit, y] = unknown[y]
                elif table.any():
                    reach = table[codes[hit, y]].cumsum(axis=1)
                    drawn = rng.random(len(hit))[:, None] * reach[:, -1:]
                    wrong[hit, y] = (reach <= drawn).sum(axis=1)
            return wrong

        return replace(
            images,
            initial=err(images.initial),
            controls=err(images.controls),
            arms={arm: err(images.arms[arm]) for arm in sorted(images.arms)},
        )

    def expected_slope(self, rate: float) -> float | None:
        """The slope of IS on the run's where counts are what they are on average."""
        pool = Pool.of(self.auditor.name, self.run)
        index = {variable.name: y for y, variable in enumerate(pool.variables)}
        found = np.full(len(self.whole.pairs), np.nan)
        for place in np.flatnonzero(self.whole.defined):
            x, y = (index[name] for name in self.whole.pairs[place])
            size, table = pool.variables[y].size, self._destinations(pool.variables[y])
            mixing = np.eye(size) + rate * (table - np.diag(table.sum(axis=1)))
            sets = pool.initial(y) @ mixing, pool.strata(x, y) @ mixing
            ideal, mix = self.auditor.ideals[y], self.auditor.settings.mix
            before, after = distances_to_ideal(*sets, ideal, mix)
            found[place] = before - after
        known = self.whole.defined
        return agreement_of(found[known], self.whole.sensitivity[known])["slope"]
