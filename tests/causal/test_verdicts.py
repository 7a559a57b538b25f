"""What may be said of a pair: each verdict from counts, and what lies between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from scipy.stats import false_discovery_control, ncx2

from biasgraph.causal.flags import VERDICT_WORDS
from biasgraph.causal.graph import measure_axes
from biasgraph.causal.independence import independence
from biasgraph.causal.rows import PairRow, Verdict
from biasgraph.causal.sensitivity import TargetDraws, claim_direction, measure_sensitivity
from biasgraph.causal.settings import AnalysisSettings, EdgeRule
from biasgraph.causal.shift import shift_p
from biasgraph.causal.tables import Pool
from biasgraph.causal.transport import Ideal, resolve_ideals
from biasgraph.causal.verdicts import judge
from biasgraph.errors import InputError
from tests.causal.worlds import audit, codes, variables

QUICK = AnalysisSettings(bootstrap=400, noise_draws=0)
RULE = QUICK.prompt_rule
Table = Sequence[Sequence[int]]


def pairs(
    before: Sequence[int],
    arms: Table,
    settings: AnalysisSettings = QUICK,
    rule: EdgeRule | None = None,
    ideal: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, PairRow]:
    """The pairs a-a and a-b, by target: each arm of a shows its attribute and these counts of b."""
    sets = {
        (0, a): codes([[sum(one) * (a == i) for i in range(len(arms))], one])
        for a, one in enumerate(arms)
    }
    start = codes([[sum(before), *[0] * (len(arms) - 1)], before])
    pool = Pool.of("p", [audit(start, sets, variables(len(arms), len(before)))])
    ideals = resolve_ideals(pool.variables, settings.metric, ideal, None)
    _, rows = measure_axes(pool, ideals, settings, rule or settings.prompt_rule)
    return {row.target: row for row in rows if row.source == "a"}


def judged(
    before: Sequence[int],
    arms: Table,
    settings: AnalysisSettings = QUICK,
    rule: EdgeRule | None = None,
    ideal: Mapping[str, Mapping[str, float]] | None = None,
) -> PairRow:
    return pairs(before, arms, settings, rule, ideal)["b"]


@pytest.mark.parametrize(
    ("before", "arms", "edge", "sign", "verdict"),
    [
        ([46, 2], [[40, 8], [12, 36]], True, "towards", "towards"),
        ([26, 22], [[48, 0], [32, 16]], True, "away", "away"),
        ([400, 100], [[450, 50], [350, 150]], True, "undetermined", "below_delta"),
        ([24, 24], [[44, 4], [4, 44]], True, "undetermined", "edge_undetermined"),
        ([70, 30], [[10, 90], [50, 50]], True, "undetermined", "edge_undetermined"),  # mirrored
        ([30, 18], [[44, 4], [43, 5], [45, 3]], False, "away", "common_shift"),
        ([70, 30], [[30, 70], [32, 68]], False, "undetermined", "common_shift"),
        ([24, 24], [[24, 24], [25, 23]], False, None, "below_min_v"),
        ([24, 24], [[30, 18], [20, 28]], False, None, "undecided"),
        ([48, 0], [[48, 0], [48, 0]], False, None, "undecided"),  # degenerate
        ([48, 0], [[0, 48], [0, 48]], False, "undetermined", "common_shift"),  # degenerate, moved
        ([10, 5], [[24, 24], [24, 24]], False, None, None),  # insufficient
    ],
)
def test_each_verdict(
    before: list[int], arms: list[list[int]], edge: bool, sign: str | None, verdict: str | None
) -> None:
    row = judged(before, arms)
    assert (row.edge, row.sign, row.verdict) == (edge, sign, verdict)


def test_every_verdict_has_its_words() -> None:
    assert set(VERDICT_WORDS) == set(get_args(Verdict))


def test_one_unlike_arm_of_six_is_no_direction() -> None:
    """48 of 48 at first, in five arms too, and 39 in the sixth: IS is .031, and chance."""
    row = judged([0, 48], [*[[0, 48]] * 5, [9, 39]])
    assert row.is_ == pytest.approx(9 / 288) and row.edge
    assert row.shift_p == pytest.approx(0.36, abs=0.05)
    assert (row.sign, row.verdict) == ("undetermined", "edge_undetermined")
    assert row.is_matched_ci_low < 0 < row.is_matched_ci_high
    assert "single_answer" in row.flags


def test_equivalence_needs_the_whole_interval_inside() -> None:
    given = [24, 24], [[44, 4], [4, 44]]
    assert judged(*given).verdict == "edge_undetermined"
    assert judged(*given, replace(QUICK, delta=0.2)).verdict == "below_delta"
    row = judged(*given)
    widest = max(-row.is_ci_low, row.is_ci_high)
    assert judged(*given, replace(QUICK, delta=widest)).verdict == "edge_undetermined"
    assert judged(*given, replace(QUICK, delta=widest + 1e-9)).verdict == "below_delta"


def test_a_claimed_direction_goes_before_equivalence() -> None:
    assert judged([46, 2], [[40, 8], [12, 36]], replace(QUICK, delta=1.0)).verdict == "towards"


def test_a_common_shift_is_no_edge() -> None:
    row = judged([30, 18], [[44, 4], [43, 5], [45, 3]])
    assert row.p > 0.3 and row.shift_p < 2e-5
    assert row.shift_p_adjusted == row.shift_p  # the only pair
    assert row.is_matched_ci_high < 0


def test_the_ideal_decides_where_a_common_shift_leads() -> None:
    given = [30, 18], [[44, 4], [43, 5], [45, 3]]
    skewed = {"b": {"b0": 0.95, "b1": 0.05}}
    row = judged(*given, ideal=skewed)
    assert (row.verdict, row.sign) == ("common_shift", "towards")


def test_a_strength_is_bounded_by_the_noncentral_chi_square() -> None:
    for table in ([[30, 18], [20, 28]], [[24, 24], [25, 23]], [[44, 4], [4, 44]]):
        test = independence(np.array(table), QUICK, np.random.default_rng(0), 1e-4)
        assert test.v_high is not None and test.cramers_v is not None
        assert test.cramers_v < test.v_high <= 1
        if test.v_high < 1:  # so weak a statistic has a probability of 5 %
            n = np.sum(table)
            assert ncx2.cdf(max(test.statistic, 1), 1, n * test.v_high**2) == pytest.approx(
                0.05, abs=1e-6
            )
    low = independence(np.array([[46, 2], [47, 1]]), QUICK, np.random.default_rng(0), 1e-4)
    assert low.expected_low and low.v_high is None


@pytest.mark.parametrize("table", [[[20, 28]] * 3 + [[21, 27]] * 3, [[24, 24], [24, 24]]])
def test_a_strength_is_never_bounded_below_itself(table: Table) -> None:
    test = independence(np.array(table), QUICK, np.random.default_rng(0), 1e-4)
    assert test.v_high is not None and test.cramers_v is not None
    assert test.v_high > max(test.cramers_v, 1e-9)


def test_the_bound_of_v_holds_in_95_percent() -> None:
    rng, hits, count = np.random.default_rng(0), 0, 400
    true = np.array([[0.65, 0.35], [0.35, 0.65]])  # V is .3
    for _ in range(count):
        table = np.stack([rng.multinomial(48, p) for p in true])
        high = independence(table, QUICK, rng, 1e-4).v_high
        hits += high is not None and high < 0.3
    assert hits / count <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / count)


def test_a_low_bound_is_asked_for() -> None:
    given = [24, 24], [[30, 18], [20, 28]]
    assert judged(*given, replace(QUICK, min_v=0.5)).verdict == "below_min_v"
    nothing = [24, 24], [[24, 24], [25, 23]]
    assert judged(*nothing, replace(QUICK, min_v=0.1)).verdict == "undecided"
    rare = judged([46, 2], [[46, 2], [47, 1]])
    assert rare.v_high is None and rare.verdict == "undecided"


def test_arms_that_differ_below_the_cut_are_no_edge() -> None:
    cut = EdgeRule(1e-4, None, min_is=0.03)
    given = [24, 24], [[44, 4], [4, 44]]
    row = judged(*given, rule=cut)
    assert not row.edge and "below_min_is" in row.flags and row.sign is None
    assert row.verdict == "undecided"
    assert judged(*given, replace(QUICK, delta=0.2), cut).verdict == "below_delta"
    # Their mixture moved, and around the ideal; what differs among arms is no common shift.
    mirrored = judged([70, 30], [[10, 90], [50, 50]], rule=cut)
    assert mirrored.shift_p < 1e-6 and mirrored.verdict == "undecided"


def test_an_axis_s_own_pair_has_a_direction_and_no_verdict() -> None:
    own = pairs([46, 2], [[40, 8], [12, 36]])["a"]
    assert own.source == own.target and not own.edge
    assert (own.sign, own.verdict, own.shift_p_adjusted) == ("towards", None, None)
    # Naming a, which nothing showed in the images: no test passed, no direction.
    sets = {(0, a): codes([[48, 0]]) for a in (0, 1)}
    pool = Pool.of("p", [audit(codes([[24, 24]]), sets, variables(2))])
    ideals = resolve_ideals(pool.variables, None, None, None)
    (stuck,) = measure_axes(pool, ideals, QUICK, RULE)[1]
    assert stuck.shift_p < 1e-6 and stuck.sign is None and stuck.verdict is None


def test_an_axis_without_interventions_has_no_verdict() -> None:
    sets = {(0, a): codes([[48 * (a == 0), 48 * (a == 1)], [24, 24]]) for a in (0, 1)}
    pool = Pool.of("p", [audit(codes([[24, 24], [24, 24]]), sets, variables(2, 2))])
    ideals = resolve_ideals(pool.variables, None, None, None)
    rows = [row for row in measure_axes(pool, ideals, QUICK, RULE)[1] if row.source == "b"]
    assert [(row.sign, row.verdict, row.shift_p_adjusted) for row in rows] == [(None,) * 3] * 2


def test_the_literal_reading_claims_every_edge() -> None:
    paper = AnalysisSettings.resolve("paper", bootstrap=200, noise_draws=0)
    row = judged([0, 48], [*[[0, 48]] * 5, [9, 39]], paper)
    assert (row.sign, row.verdict) == ("towards", "towards")
    row = judged([26, 22], [[44, 4], [6, 42]], paper)
    assert (row.sign, row.verdict) == ("towards", "towards")
    row = judged([24, 24], [[44, 4], [5, 43]], paper)
    assert (row.sign, row.verdict) == ("away", "away")
    row = judged([24, 24], [[44, 4], [4, 44]], paper)
    assert (row.sign, row.verdict) == ("undetermined", "edge_undetermined")
    row = judged([24, 24], [[30, 18], [20, 28]], paper)  # no edge, no shift
    assert (row.sign, row.verdict) == (None, "undecided")


def made(source: str, target: str, **values: Any) -> PairRow:
    row = {"is_": -0.2, "is_ci_low": -0.3, "is_ci_high": -0.1, "p": 0.5} | values
    ends = {"is_matched_ci_low": -0.3, "is_matched_ci_high": -0.1}
    return PairRow(source=source, target=target, metric="nominal", status="ok", **(ends | row))


def test_shifts_are_adjusted_over_the_pairs_of_different_axes() -> None:
    p = {("a", "b"): 0.02, ("a", "c"): 0.04, ("b", "a"): 0.5, ("c", "b"): 0.001}
    rows = [made("a", "a", shift_p=1e-9), *(made(*names, shift_p=one) for names, one in p.items())]
    rows += [made("b", "b", shift_p=None), made("c", "a", shift_p=None, is_=None)]
    found = {(row.source, row.target): row for row in judge(rows, QUICK, RULE)}
    expected = dict(zip(p, false_discovery_control(list(p.values())), strict=True))
    for names, value in expected.items():
        assert found[names].shift_p_adjusted == pytest.approx(value)
        assert found[names].shift_p == p[names]
    for names in (("a", "a"), ("b", "b"), ("c", "a")):
        assert found[names].shift_p_adjusted is None
    shifted = {names for names, row in found.items() if row.verdict == "common_shift"}
    assert shifted == {("a", "b"), ("c", "b")}  # .04 and .004; a-c is at .0533
    assert found["a", "c"].sign is None and found["a", "b"].sign == "away"


def test_edges_and_others_are_judged_apart() -> None:
    edge = made("a", "b", edge=True, p=1e-9, shift_p=0.2)
    assert judge([edge], QUICK, RULE)[0].sign == "undetermined"
    edge = replace(edge, shift_p=0.05)
    (row,) = judge([edge], QUICK, RULE)
    assert (row.sign, row.verdict) == ("away", "away")
    (row,) = judge([replace(edge, edge=False, shift_p=0.051)], QUICK, RULE)
    assert (row.sign, row.verdict) == (None, "undecided")
    assert judge([], QUICK, RULE) == []


@pytest.mark.parametrize("name", ["delta", "min_v"])
@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), "0.1", True])
def test_bounds_that_are_no_numbers_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} must be a number of at least 0"):
        AnalysisSettings(**{name: value})


def claims(
    before: float,
    arms: Sequence[float],
    ideal: float = 0.5,
    audits: int = 150,
    initial: Sequence[int] | None = None,
) -> dict[str, float]:
    """How often each direction is claimed by both witnesses, whether or not the pair is an edge.

    Args:
        before: True share of the first attribute in the initial images.
        arms: The same in each arm.
        ideal: The same in the ideal.
        audits: How many, of 48 images a set.
        initial: What the initial images show; drawn unless given.
    """
    rng, goal = np.random.default_rng(2), Ideal("nominal", np.array([ideal, 1 - ideal]))
    fast, row = AnalysisSettings(bootstrap=200), PairRow(source="a", target="b", metric="nominal")
    found = []
    for _ in range(audits):
        start = rng.multinomial(48, [before, 1 - before]) if initial is None else np.array(initial)
        sets = np.stack([rng.multinomial(48, [p, 1 - p]) for p in arms])
        one, all_arms = start[None], sets[None]
        p = shift_p(one, all_arms, fast, rng, stratified=False)
        draws = TargetDraws.of(one, goal, 200, rng)
        measured = measure_sensitivity(
            replace(row, shift_p=p), one, all_arms, goal, draws, fast, rng
        )
        found.append(claim_direction(measured, "matched"))
    return {sign: found.count(sign) / audits for sign in ("towards", "away")}


LEVEL = 0.025 + 2 * np.sqrt(0.025 * 0.975 / 150)


@pytest.mark.slow(reason="hundreds of audits; benchmarks/validity.py measures the same")
@pytest.mark.parametrize(
    ("before", "arms", "ideal", "initial"),
    [
        (0.97, [0.97] * 6, 0.5, None),
        (0.97, [0.97] * 6, 0.5, [48, 0]),  # a single answer
        (0.97, [1, 1, 1, 1, 1, 0.82], 0.5, None),  # an edge whose IS is 0
        (0.97, [1, 1, 1, 1, 1, 0.82], 0.5, [48, 0]),
        (0.8, [0.4, 0.4], 0.6, None),  # a real shift from one side of the ideal to the other
        (0.5, [0.5, 0.5], 0.5, None),
    ],
)
def test_no_direction_is_claimed_beyond_its_level_where_is_is_zero(
    before: float, arms: list[float], ideal: float, initial: list[int] | None
) -> None:
    found = claims(before, arms, ideal, initial=initial)
    assert max(found.values()) <= LEVEL


@pytest.mark.slow(reason="hundreds of audits")
def test_real_moves_are_found() -> None:
    assert claims(0.9, [0.6, 0.55])["towards"] > 0.9
    assert claims(0.6, [0.95, 0.9])["away"] > 0.9


def test_common_shifts_without_any_effect_are_rare() -> None:
    rng, audits, wrong = np.random.default_rng(0), 200, 0
    for _ in range(audits):
        rows = []
        for target in "bcd":  # two axes move each of three, whose initial images they share
            start = rng.multinomial(48, [0.6, 0.4])[None]
            for source in "xy":
                arms = rng.multinomial(48, [0.6, 0.4], size=2)[None]
                p = shift_p(start, arms, QUICK, rng, stratified=False)
                rows.append(made(source, target, shift_p=p))
        wrong += any(row.verdict == "common_shift" for row in judge(rows, QUICK, RULE))
    assert wrong / audits <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / audits)
