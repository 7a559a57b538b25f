"""What may be said of every pair of axes: one verdict of a closed list (STATISTICS (k), 4)."""

from __future__ import annotations

from collections.abc import Sequence

from biasgraph.causal.fields import UNSET, change
from biasgraph.causal.flags import CLAIMS
from biasgraph.causal.independence import adjust_p
from biasgraph.causal.rows import PairRow, Verdict, flag
from biasgraph.causal.sensitivity import claim_direction
from biasgraph.causal.settings import FDR_LEVEL, AnalysisSettings, EdgeRule


def judge(rows: Sequence[PairRow], settings: AnalysisSettings, rule: EdgeRule) -> list[PairRow]:
    """The pairs with adjusted shifts, directions and verdicts.

    A direction is claimed of edges and of common shifts only. The chi-square of an edge says that
    the arms differ; what diversifying does, that is their mixture, only the shift and the
    sensitivity can say. An axis's own pair gets a direction where naming it changed it.
    """
    judged = []
    for row in _with_adjusted_shifts(rows, settings.shared):
        if row.source == row.target:
            seen = row.p is not None and row.p <= rule.alpha and row.is_ is not None
            judged.append(_set_direction(row, settings) if seen else row)
            continue
        if row.is_ is not None:
            if row.edge or _is_common_shift(row):
                row = _set_direction(row, settings)
            row = change(row, verdict=_verdict(row, settings))
        judged.append(row)
    return judged


def _with_adjusted_shifts(rows: Sequence[PairRow], looks: int) -> list[PairRow]:
    """The rows with shift_p adjusted over looks and the pairs of different axes, as p is."""
    known = [row.shift_p for row in rows if row.source != row.target]
    values = iter(adjust_p([p for p in known if p is not None], looks=looks))
    return [
        row
        if row.source == row.target or row.shift_p is None
        else change(row, shift_p_adjusted=float(next(values)))
        for row in rows
    ]


def _is_common_shift(row: PairRow) -> bool:
    """Whether the arms look alike, and all of them unlike the initial images."""
    p = row.shift_p_adjusted
    return not row.edge and "below_min_is" not in row.flags and p is not None and p <= FDR_LEVEL


def _set_direction(row: PairRow, settings: AnalysisSettings) -> PairRow:
    """The row with its direction, which neutral rewordings have to confirm where there are any."""
    sign = claim_direction(row, settings.sign, settings.shift_alpha)
    unconfirmed = row.sign_controlled is not UNSET and row.sign_controlled != sign
    if sign in CLAIMS and unconfirmed:
        return change(flag(row, "wording"), sign="undetermined")
    return change(row, sign=sign)


def _verdict(row: PairRow, settings: AnalysisSettings) -> Verdict:
    different = row.edge or "below_min_is" in row.flags
    if row.edge and row.sign is not None and row.sign != "undetermined":
        return row.sign
    if different and _is_below(row, settings.delta):
        return "below_delta"
    if row.edge:
        return "edge_undetermined"
    if _is_common_shift(row):
        return "common_shift"
    bounded = row.v_high is not None and row.v_high < settings.min_v and not different
    return "below_min_v" if bounded else "undecided"


def _is_below(row: PairRow, delta: float) -> bool:
    """Whether the interval of IS lies between -delta and delta."""
    ends = (row.is_ci_low, row.is_ci_high)
    return all(end is not None and abs(end) < delta for end in ends)
