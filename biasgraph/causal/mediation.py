"""Whether x moves y directly or through a third axis z (STATISTICS (h)).

The paper's graph is pairwise and cannot say. Here every image has an answer about z as well, and
the counterfactuals of z are real interventions on it, so three checks can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import chdtrc

from biasgraph.causal.independence import expected_low, monte_carlo_p, null_statistics, pearson
from biasgraph.causal.intervals import ROUNDING
from biasgraph.causal.resampling import image_counts
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import Arm, CodedImages, Codes, Counts, Floats, Tallies, reduce_table

Check = dict[str, float | None]
"""A number and its bound: the residual and the band it should stay in, or the share explained."""

LEVEL = 0.05
REPLICATES = 500

CONSISTENT = "consistent with mediation by {z}"
UNEXPLAINED = "not explained by {z}"
UNDETERMINED = "undetermined"
LEAST = 0.5
"""What the chain must reproduce of an effect, at the least, for its mediator to be named."""

ASSUMPTIONS = (
    "No unmeasured cause in an image acts on both the mediator and the target "
    "(stratified test and standardisation), or such causes and the mediator add up (chain).",
    "The answers about the mediator and the target are right.",
    "There is no second mediator.",
)


@dataclass(frozen=True)
class ChainPrediction:
    """What an intervention does to y, and what the chain through z predicts of it.

    Attributes:
        seen: (1, J, k) shares of y in each of J arms.
        predicted: (1, J, k) the chain's prediction.
        seen_draws: (B, J, k) whole-image replicates of `seen`.
        predicted_draws: (B, J, k) of `predicted`.
    """

    seen: Floats
    predicted: Floats
    seen_draws: Floats
    predicted_draws: Floats


@dataclass(frozen=True)
class Mediation:
    """The mediation checks of one prompt; whole-image replicates are drawn once for each set."""

    images: CodedImages
    tallies: Tallies
    settings: AnalysisSettings
    _replicates: dict[Arm | None, list[Counts]] = field(default_factory=dict)

    def candidates(self, edges: Sequence[tuple[int, int]], x: int, y: int) -> list[int]:
        """The axes z with edges x -> z and z -> y."""
        known = set(edges)
        others = (z for z in range(len(self.images.variables)) if z not in (x, y))
        return [z for z in others if (x, z) in known and (z, y) in known]

    def check(self, x: int, z: int, y: int) -> dict[str, Any]:
        """The three checks of x -> z -> y and their verdict, as plain JSON."""
        stratified = self._test_strata(x, z, y)
        chained = self._chain([*self.tallies.arms_of(x)], z, y)
        chain, explained = residual(chained), explained_share(chained)
        falsifier = residual(self._chain([None], z, y))
        name = self.images.variables[z].name
        return {
            "through": name,
            "verdict": verdict(stratified["p"], chain, falsifier, explained).format(z=name),
            "stratified": stratified,
            "chain": chain,
            "explained": explained,
            "falsifier": falsifier,
            "effects": [self._effects(arm, z, y) for arm in self.tallies.arms_of(x)],
        }

    def _codes(self, arm: Arm | None) -> Codes:
        return self.images.initial if arm is None else self.images.arms[arm]

    def _joint(self, arm: Arm | None, z: int, y: int) -> Counts:
        """(k_z, k_y) counts of the images with a valid answer to both."""
        codes = self._codes(arm)
        k_z, k_y = (self.images.variables[v].size for v in (z, y))
        valid = codes[(codes[:, z] >= 0) & (codes[:, y] >= 0)].astype(np.int64)
        return np.bincount(valid[:, z] * k_y + valid[:, y], minlength=k_z * k_y).reshape(k_z, k_y)

    def _test_strata(self, x: int, z: int, y: int) -> dict[str, Any]:
        """Whether y is independent of x within every answer about z; chi-square and dof summed."""
        joint = np.stack([self._joint(arm, z, y) for arm in self.tallies.arms_of(x)])
        strata = [reduce_table(joint[:, stratum])[0] for stratum in range(joint.shape[1])]
        strata = [table for table in strata if min(table.shape) >= 2]
        names = [self.images.variables[v].name for v in (x, z, y)]
        rng = generator(self.settings.seed, self.images.prompt, "stratified", *names)
        return stratified_test(strata, self.settings, rng)

    def _chain(self, arms: Sequence[Arm | None], z: int, y: int) -> ChainPrediction | None:
        """P(y|x) of the arms, and the chain's sum_z P(y|do z) P(z|x); None where a set lacks both.

        A z that an arm shows and nobody intervened on leaves it undefined, too.
        """
        seen = sum(self._tally(arm, z) for arm in arms) > 0
        do = [(z, int(value)) for value in np.flatnonzero(seen)]
        if any(arm not in self.tallies.arms for arm in do):
            return None
        sets: list[Arm | None] = [*arms, *do]
        answers = [*(self._tally(arm, y) for arm in sets), *(self._tally(arm, z) for arm in arms)]
        if not all(counts.any() for counts in answers):
            return None

        def chain(shares: Callable[[Arm | None, int], Floats]) -> tuple[Floats, Floats]:
            """(B, J, k_y) P(y|x) and the chain's prediction of it."""
            through = np.stack([shares(arm, z)[:, seen] for arm in arms], axis=1)
            done = np.stack([shares(arm, y) for arm in do], axis=1)
            return np.stack([shares(arm, y) for arm in arms], axis=1), through @ done

        point = chain(lambda arm, v: _shares(self._tally(arm, v)[None]))
        return ChainPrediction(*point, *chain(lambda arm, v: _shares(self._replicate(arm)[v])))

    def _tally(self, arm: Arm | None, variable: int) -> Counts:
        per_variable = self.tallies.initial if arm is None else self.tallies.arms[arm]
        return per_variable[variable].counts

    def _replicate(self, arm: Arm | None) -> list[Counts]:
        if arm not in self._replicates:
            codes = self._codes(arm)
            sizes = [variable.size for variable in self.images.variables]
            label = "initial" if arm is None else f"{arm[0]} {arm[1]}"
            rng = generator(self.settings.seed, self.images.prompt, "mediation", label)
            self._replicates[arm] = image_counts(codes, sizes, len(codes), REPLICATES, rng)
        return self._replicates[arm]

    def _effects(self, arm: Arm, z: int, y: int) -> dict[str, Any]:
        variables = self.images.variables
        attributes = variables[y].attributes
        effects = natural_effects(self._joint(None, z, y), self._joint(arm, z, y))
        named = {
            kind: None if vector is None else dict(zip(attributes, vector.tolist(), strict=True))
            for kind, vector in effects.items()
        }
        return {"attribute": variables[arm[0]].attributes[arm[1]], **named}


def residual(chained: ChainPrediction | None) -> Check:
    """Mean TV(P(y|x), the chain's prediction) over the arms, and its noise band.

    band: 95 % quantile of the same distance of whole-image replicates from the estimate.
    """
    if chained is None:
        return {"residual": None, "band": None}
    gaps, noisy = chained.seen - chained.predicted, chained.seen_draws - chained.predicted_draws
    # The band is of the distance from the estimate: the residual itself is a distance, never
    # below 0 and so above 0 by chance alone.
    noise = 0.5 * np.abs(noisy - gaps).sum(axis=2)
    band = np.quantile(noise.mean(axis=1), 1 - LEVEL)
    return {"residual": float(0.5 * np.abs(gaps).sum(axis=2).mean()), "band": float(band)}


def explained_share(chained: ChainPrediction | None) -> Check:
    """How much of what tells the arms apart the chain reproduces.

    share: the slope of the chain's differences between the arms on those that are there: 1 where
    all goes through z, 0 where nothing does; low: its lower 95 % bound, one-sided, over whole-image
    replicates. None where the arms do not differ.
    """
    if chained is None:
        return {"share": None, "low": None}
    share = _slope(chained.seen, chained.predicted)[0]
    draws = _slope(chained.seen_draws, chained.predicted_draws)
    draws = draws[np.isfinite(draws)]
    if not np.isfinite(share) or not len(draws):
        return {"share": None, "low": None}
    return {"share": float(share), "low": float(np.quantile(draws, LEVEL))}


def _slope(seen: Floats, predicted: Floats) -> Floats:
    """(B,) of predicted on seen (B, J, k), each less the mean of its arms."""
    apart, chained = (one - one.mean(axis=1, keepdims=True) for one in (seen, predicted))
    squares = (apart**2).sum(axis=(1, 2))
    with np.errstate(invalid="ignore"):
        return np.asarray(
            (apart * chained).sum(axis=(1, 2)) / np.where(squares > ROUNDING, squares, np.nan)
        )


def verdict(p: float | None, chain: Check, falsifier: Check, explained: Check) -> str:
    """Weigh the checks; what could not be computed leaves the verdict undetermined."""
    beyond = [_beyond(check) for check in (chain, falsifier)]
    if p is None or beyond[0] is None:
        return UNDETERMINED
    # Where one hidden cause acts on z and y, the stratified test rejects full mediation in 7-16 %
    # of cases at .05, and where it moderates both links the chain errs: neither decides alone. The
    # chain counts only if interventions on z leave the initial images as they are (STATISTICS (h)).
    # What no check rejects may yet be small: z is named only where the chain is seen to reproduce
    # half of the effect. Without that, .22 of the paths that go around z were laid to it.
    low = explained["low"]
    if p > LEVEL and beyond == [False, False] and low is not None and low >= LEAST:
        return CONSISTENT
    if p <= LEVEL and beyond[0]:
        return UNEXPLAINED
    return UNDETERMINED


def _beyond(check: Check) -> bool | None:
    residual, band = check["residual"], check["band"]
    return None if residual is None or band is None else residual > band + 1e-12


def stratified_test(
    strata: Sequence[Counts], settings: AnalysisSettings, rng: np.random.Generator
) -> dict[str, Any]:
    """Summed chi-square of reduced tables, one per stratum; p None when no stratum can tell.

    Where any stratum has low expected counts the null tables are drawn, margins kept within
    every stratum.

    Args:
        strata: Tables with at least two rows and columns, none of them empty.
        settings: Of the analysis; its fallback counts.
        rng: For drawing null tables.
    """
    if not strata:
        return {"statistic": 0.0, "dof": 0, "p": None, "method": None}
    statistics, expected = zip(*map(pearson, strata), strict=True)
    statistic = float(sum(statistics))
    dof = sum((rows - 1) * (columns - 1) for rows, columns in (table.shape for table in strata))
    drawn = settings.fallback == "auto" and any(map(expected_low, expected))
    if drawn:
        p = monte_carlo_p(statistic, null_statistics(strata, rng), LEVEL)
    else:
        p = float(chdtrc(dof, statistic))
    method = "monte_carlo" if drawn else "asymptotic"
    return {"statistic": statistic, "dof": dof, "p": p, "method": method}


def natural_effects(initial: Counts, intervened: Counts) -> dict[str, Floats | None]:
    """Total, natural direct and natural indirect effect on the shares of y.

    nde + nie = total, each (k_y,).

    Args:
        initial: (k_z, k_y) joint counts of the initial images.
        intervened: The same of the images of an intervention.
    """
    if initial.sum() == 0 or intervened.sum() == 0:
        return {"total": None, "nde": None, "nie": None}
    total = intervened.sum(axis=0) / intervened.sum() - initial.sum(axis=0) / initial.sum()
    z_before = initial.sum(axis=1) / initial.sum()
    z_after = intervened.sum(axis=1) / intervened.sum()
    # Positivity: of a z that the intervention never shows, no share of y can be standardised.
    if (z_after[z_before > 0] == 0).any():
        return {"total": total, "nde": None, "nie": None}
    given_before = initial / np.maximum(initial.sum(axis=1, keepdims=True), 1)
    given_after = intervened / np.maximum(intervened.sum(axis=1, keepdims=True), 1)
    return {
        "total": total,
        "nde": z_before @ (given_after - given_before),
        "nie": (z_after - z_before) @ given_after,
    }


def _shares(counts: Counts) -> Floats:
    """Shares along the last axis; a replicate that lost every answer counts as level."""
    n = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(n > 0, counts / np.maximum(n, 1), 1 / counts.shape[-1]))
