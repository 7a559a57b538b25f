"""How well Intersectional Sensitivity predicts mitigations (BiasConnect sec. 5.3, table 1, A.7).

Prompts are what is resampled: the pairs of one prompt share its images.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np

from biasgraph.causal.intervals import ROUNDING, middle
from biasgraph.causal.mitigation_trials import FEWEST_EDGES, Moments, Trial
from biasgraph.causal.settings import generator
from biasgraph.causal.tables import Counts, Floats

RESAMPLES = 2000  # of prompts
FEWEST_PROMPTS = 5  # that an interval is made of
DEFINED = 0.95  # of the resamples, without which there is no interval

FEW_PAIRS = f"no prompt has {FEWEST_EDGES} measured pairs of this kind"
FEW_PROMPTS = f"an interval needs {FEWEST_PROMPTS} prompts"
UNREPEATED = "noise: the two halves do not repeat each other"
NO_SPREAD = "all pairs have the same number"
ALIKE = "all prompts are alike"
NO_CASE = "there is no such case"
UNSTABLE = "undefined in too many resamples for an interval"


@dataclass(frozen=True)
class Estimate:
    """A number with its interval over prompts.

    Attributes:
        value: None where it is undefined.
        low: Lower end of the 95 % interval.
        high: Its upper end.
        reason: Why the number or its interval is undefined.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Agreement:
    """How predictions and observations agree over some pairs of axes, within prompts.

    Attributes:
        pairs: How many pairs.
        prompts: How many prompts have enough of them.
        r_mean: Mean over prompts of each one's correlation.
        r: Correlation within prompts, of all prompts together.
        ceiling: The root of the product of both sides' reliabilities: what r would be if
            prediction and truth were one, and all else noise.
        r_of_ceiling: r / ceiling.
        slope: Of the observed changes on the predicted ones, without the noise of the latter.
        r_shared: r if both sides had the same initial images, for comparison.
    """

    pairs: int
    prompts: int
    r_mean: Estimate
    r: Estimate
    ceiling: Estimate
    r_of_ceiling: Estimate
    slope: Estimate
    r_shared: Estimate


@dataclass(frozen=True)
class Validation:
    """What became of one mitigation in all prompts.

    Attributes:
        prompts: How many.
        axes: Axes it was tried on, over all prompts.
        before: Mean distance of these axes themselves to their ideals.
        after: The same when they are mitigated.
        edges: The agreement along discovered edges.
        all_pairs: The agreement over all pairs of axes.
        at_once: Of another model, which changes several axes at once: the agreement over the
            others when the predicted shifts of all axes that it brings closer are added.
        signs: Claimed directions of edges.
        signs_kept: Share of them that came true.
        clear_signs: Those where the mitigation has a clear direction, too.
        clear_signs_kept: Share of these in which both are the same.
        pairs: Mitigated pairs of axes.
        harmed: Share of them in which the other axis moved away from its ideal ...
        harmed_clearly: ... by more than resampling its images explains.
    """

    prompts: int
    axes: int
    before: float | None
    after: float | None
    edges: Agreement
    all_pairs: Agreement
    at_once: Agreement
    signs: int
    signs_kept: Estimate
    clear_signs: int
    clear_signs_kept: Estimate
    pairs: int
    harmed: Estimate
    harmed_clearly: Estimate


def summarize_trials(trials: Sequence[Trial], seed: int) -> Validation:
    """The trials of one mitigation in several prompts, with intervals over prompts."""
    rng = generator(seed, "validation", trials[0].kind)
    weights = rng.multinomial(len(trials), np.full(len(trials), 1 / len(trials)), RESAMPLES)

    def share(hits: str, of: str) -> Estimate:
        table = np.array([[getattr(one, hits), getattr(one, of)] for one in trials], dtype=float)
        found = _estimate(_ratio, table, weights, NO_CASE)
        if found.value is None:
            return Estimate(None, reason=NO_CASE)
        if found.low == found.high and found.low is not None:  # no resample is unlike another
            return Estimate(found.value, reason=ALIKE)
        return found

    axes = sum(one.axes for one in trials)
    return Validation(
        prompts=len(trials),
        axes=axes,
        before=sum(one.before for one in trials) / axes if axes else None,
        after=sum(one.after for one in trials) / axes if axes else None,
        edges=_agreement([one.along_edges for one in trials], weights),
        all_pairs=_agreement([one.along_all for one in trials], weights),
        at_once=_agreement([one.at_once for one in trials], weights),
        signs=sum(one.signs for one in trials),
        signs_kept=share("signs_kept", "signs"),
        clear_signs=sum(one.clear_signs for one in trials),
        clear_signs_kept=share("clear_signs_kept", "clear_signs"),
        pairs=sum(one.pairs for one in trials),
        harmed=share("harmed", "pairs"),
        harmed_clearly=share("harmed_clearly", "pairs"),
    )


def correlations(moments: Moments) -> dict[str, Estimate]:
    """The numbers of an `Agreement` for a single prompt, without intervals."""
    sums = np.array([astuple(moments)])
    none = np.zeros((0, 1), dtype=np.int64)
    return {name: _estimate(of, sums, none, why) for name, (of, why) in STATISTICS.items()}


def _agreement(moments: Sequence[Moments], weights: Counts) -> Agreement:
    table = np.array([astuple(one) for one in moments], dtype=float)
    own = _r(table)
    known = np.isfinite(own)
    means = np.stack([np.where(known, own, 0), known], axis=-1)
    return Agreement(
        pairs=sum(one.pairs for one in moments),
        prompts=int(known.sum()),
        r_mean=_estimate(_ratio, means, weights, FEW_PAIRS),
        **{name: _estimate(of, table, weights, why) for name, (of, why) in STATISTICS.items()},
    )


def _estimate(
    statistic: Callable[[Floats], Floats], table: Floats, weights: Counts, why: str
) -> Estimate:
    """A statistic of the sums over prompts of a table (P, C), its prompts resampled by weights.

    why: it is undefined, where that is so.
    """
    value = float(statistic(table.sum(axis=0)))
    if not np.isfinite(value):
        return Estimate(None, reason=why if table.any() else FEW_PAIRS)
    if np.count_nonzero(table.any(axis=1)) < FEWEST_PROMPTS:
        return Estimate(value, reason=FEW_PROMPTS)
    draws = statistic(weights @ table)
    if np.isfinite(draws).mean() < DEFINED:
        return Estimate(value, reason=UNSTABLE)
    return Estimate(value, *middle(draws))


def _ratio(sums: Floats) -> Floats:
    """(...) the first of (..., 2) numbers by the second, undefined where that is not positive."""
    return _divide(sums[..., 0], sums[..., 1])


def _divide(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(below > ROUNDING, above / below, np.nan))


def _root(one: Floats, other: Floats) -> Floats:
    """The root of the product of two numbers, undefined unless both are positive."""
    both = (one > ROUNDING) & (other > ROUNDING)
    return np.sqrt(np.where(both, one * other, np.nan))


def _moment(sums: Floats, name: str) -> Floats:
    return np.asarray(sums[..., NAMES.index(name)])


def _r(sums: Floats, together: str = "disjoint") -> Floats:
    spread = _root(_moment(sums, "predicted"), _moment(sums, "observed"))
    return _divide(_moment(sums, together), spread)


def _ceiling(sums: Floats) -> Floats:
    spread = _root(_moment(sums, "predicted"), _moment(sums, "observed"))
    return _divide(_again(sums), spread)


def _again(sums: Floats) -> Floats:
    return _root(_moment(sums, "predicted_again"), _moment(sums, "observed_again"))


def _r_of_ceiling(sums: Floats) -> Floats:
    return _divide(_moment(sums, "disjoint"), _again(sums))


NAMES = [moment.name for moment in fields(Moments)]
STATISTICS: Mapping[str, tuple[Callable[[Floats], Floats], str]] = {
    "r": (_r, NO_SPREAD),
    "ceiling": (_ceiling, UNREPEATED),
    "r_of_ceiling": (_r_of_ceiling, UNREPEATED),
    "slope": (
        lambda sums: _divide(_moment(sums, "disjoint"), _moment(sums, "predicted_again")),
        UNREPEATED,
    ),
    "r_shared": (lambda sums: _r(sums, "shared"), NO_SPREAD),
}
"""Name -> what it is of sums (..., moments), and why it may be undefined."""
