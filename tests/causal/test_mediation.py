from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import chi2
from statsmodels.stats.contingency_tables import StratifiedTable, Table

from biasgraph.causal.mediation import (
    CONSISTENT,
    LEAST,
    LEVEL,
    UNDETERMINED,
    UNEXPLAINED,
    Mediation,
    natural_effects,
    stratified_test,
    verdict,
)
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Tallies
from tests.causal.worlds import audit, chain, codes, variables

SETTINGS = AnalysisSettings()
OFF = AnalysisSettings(fallback="off")


def checks(images: CodedImages) -> Mediation:
    return Mediation(images, Tallies.of(images), SETTINGS)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_candidate_has_both_edges() -> None:
    mediation = checks(chain(50))
    edges = [(0, 1), (1, 2), (0, 2)]
    assert mediation.candidates(edges, 0, 2) == [1]
    assert mediation.candidates(edges, 0, 1) == []
    assert mediation.candidates([(0, 1), (0, 2)], 0, 2) == []
    assert mediation.candidates([(1, 2), (0, 2)], 0, 2) == []


def test_a_pure_chain_is_consistent_with_mediation() -> None:
    verdicts = Counter(checks(chain(400, seed)).check(0, 1, 2)["verdict"] for seed in range(40))
    # All three checks pass by chance in about .95^3 = 86 % of audits.
    assert verdicts["consistent with mediation by b"] >= 28
    assert verdicts["not explained by b"] <= 2


def test_a_direct_effect_is_not_explained() -> None:
    verdicts = Counter(
        checks(chain(400, seed, direct=0.5, noise=0.3)).check(0, 1, 2)["verdict"]
        for seed in range(20)
    )
    assert verdicts["not explained by b"] >= 18


def test_what_a_check_says_is_plain_and_complete() -> None:
    found = checks(chain(200, 1)).check(0, 1, 2)
    checked = ["stratified", "chain", "explained", "falsifier"]
    assert list(found) == ["through", "verdict", *checked, "effects"]
    assert found["through"] == "b"
    assert list(found["stratified"]) == ["statistic", "dof", "p", "method"]
    assert list(found["chain"]) == list(found["falsifier"]) == ["residual", "band"]
    assert list(found["explained"]) == ["share", "low"]
    assert [effect["attribute"] for effect in found["effects"]] == ["a0", "a1"]
    for effect in found["effects"]:
        for name in ("c0", "c1"):
            assert effect["nde"][name] + effect["nie"][name] == pytest.approx(
                effect["total"][name], abs=1e-12
            )


def test_the_chain_by_hand() -> None:
    # P(b|a0) = (.75, .25), P(b|a1) = (.25, .75); P(c|do b0) = (.8, .2), P(c|do b1) = (.3, .7).
    images = audit(
        codes([[60, 40], [50, 50], [55, 45]]),
        {
            (0, 0): codes([[40, 0], [30, 10], [30, 10]]),
            (0, 1): codes([[0, 40], [10, 30], [20, 20]]),
            (1, 0): codes([[20, 20], [40, 0], [32, 8]]),
            (1, 1): codes([[20, 20], [0, 40], [12, 28]]),
        },
        variables(2, 2, 2),
    )
    found = checks(images).check(0, 1, 2)
    first = 30 / 40 - (0.75 * 0.8 + 0.25 * 0.3)
    second = 20 / 40 - (0.25 * 0.8 + 0.75 * 0.3)
    assert found["chain"]["residual"] == pytest.approx((abs(first) + abs(second)) / 2)
    assert found["falsifier"]["residual"] == pytest.approx(0.55 - (0.5 * 0.8 + 0.5 * 0.3))
    # Between the arms, P(c) differs by .25 and the chain's prediction by .5 x .5.
    assert found["explained"]["share"] == pytest.approx(1)
    assert 0 < found["explained"]["low"] < 1


@pytest.mark.parametrize("direct", [0.0, 0.25, 0.7, 1.0])
def test_the_share_that_the_chain_explains(direct: float) -> None:
    # a sets c itself with probability d; otherwise c copies b, and b copies a, with noise .1 each:
    # the arms differ by d + (1 - d) .64, and (1 - d) .64 of it goes through b.
    found = [
        checks(chain(2000, seed, direct=direct)).check(0, 1, 2)["explained"] for seed in range(5)
    ]
    expected = (1 - direct) * 0.64 / (direct + (1 - direct) * 0.64)
    assert np.mean([one["share"] for one in found]) == pytest.approx(expected, abs=0.04)
    assert all(one["low"] < one["share"] for one in found)


@pytest.mark.slow(reason="hundreds of audits")
def test_a_mediator_of_less_than_half_is_not_named() -> None:
    # Most of the effect (.61) is direct; the other checks reject that in two audits of five alone.
    verdicts = Counter(
        checks(chain(48, seed, direct=0.2, noise=0.3)).check(0, 1, 2)["verdict"]
        for seed in range(100)
    )
    assert verdicts["consistent with mediation by b"] <= 5


@pytest.mark.slow(reason="hundreds of audits")
def test_the_band_holds_what_chance_does() -> None:
    inside = [
        found["chain"]["residual"] <= found["chain"]["band"]
        for found in (checks(chain(100, seed, noise=0.2)).check(0, 1, 2) for seed in range(100))
    ]
    assert 0.88 <= np.mean(inside) <= 1


def test_naming_the_mediator_that_shifts_the_target_by_itself_fails_the_falsifier() -> None:
    images = chain(400, 3)
    spoilt = {arm: one.copy() for arm, one in images.arms.items()}
    for value in (0, 1):
        spoilt[(1, value)][:, 2] = 0  # the word itself, not the attribute, sets c
    found = checks(audit(images.initial, spoilt, images.variables)).check(0, 1, 2)
    assert found["falsifier"]["residual"] > found["falsifier"]["band"]
    assert found["verdict"] != "consistent with mediation by b"


def test_a_mediator_without_all_its_interventions_is_undetermined() -> None:
    images = chain(200, 1)
    fewer = {arm: one for arm, one in images.arms.items() if arm != (1, 1)}
    found = checks(audit(images.initial, fewer, images.variables)).check(0, 1, 2)
    assert found["chain"] == found["falsifier"] == {"residual": None, "band": None}
    assert found["explained"] == {"share": None, "low": None}
    assert found["verdict"] == "undetermined"


def test_sets_without_answers_are_undetermined() -> None:
    images = chain(200, 1)
    for arm, variable in (((1, 1), 2), ((0, 1), 2), ((0, 1), 1)):
        arms = {key: one.copy() for key, one in images.arms.items()}
        arms[arm][:, variable] = -1
        found = checks(audit(images.initial, arms, images.variables)).check(0, 1, 2)
        assert found["chain"]["residual"] is None and found["verdict"] == "undetermined"
    blind = np.full_like(images.initial, -1)
    found = checks(audit(blind, dict(images.arms), images.variables)).check(0, 1, 2)
    assert found["falsifier"]["residual"] is None and found["verdict"] == "undetermined"
    assert found["effects"][0]["total"] is None


def test_a_mediator_fixed_by_the_arm_leaves_nothing_to_stratify() -> None:
    found = checks(chain(100, 1, noise=0.0)).check(0, 1, 2)
    assert found["stratified"] == {"statistic": 0.0, "dof": 0, "p": None, "method": None}
    assert found["verdict"] == "undetermined"
    # Every initial b is not seen in each arm of a: no direct effect can be standardised.
    assert all(effect["nde"] is None and effect["nie"] is None for effect in found["effects"])
    assert all(effect["total"] is not None for effect in found["effects"])


def test_replicates_are_drawn_once_and_depend_on_their_set_alone() -> None:
    mediation = checks(chain(100, 2))
    first = mediation.check(0, 1, 2)
    assert mediation.check(0, 1, 2) == first
    fresh = checks(chain(100, 2))
    fresh.check(1, 0, 2)
    assert fresh.check(0, 1, 2) == first


tables = hnp.arrays(np.int64, st.just((3, 2, 2)), elements=st.integers(5, 40))


@given(tables)
def test_strata_add_up_as_statsmodels_tables_do(strata: np.ndarray) -> None:
    together = StratifiedTable([table for table in strata], shift_zeros=False)
    each = [
        Table(together.table[:, :, i], shift_zeros=False).test_nominal_association()
        for i in range(3)
    ]
    found = stratified_test(list(strata), OFF, rng())
    assert found["statistic"] == pytest.approx(sum(one.statistic for one in each), abs=1e-8)
    assert found["dof"] == sum(one.df for one in each) == 3
    assert found["p"] == pytest.approx(chi2.sf(found["statistic"], 3), rel=1e-6)
    assert found["method"] == "asymptotic"


def test_sparse_strata_are_drawn_and_agree_where_both_hold() -> None:
    strata = [np.array([[4, 2], [1, 5]]), np.array([[3, 3], [2, 4]])]
    drawn = stratified_test(strata, SETTINGS, rng())
    assert drawn["method"] == "monte_carlo"
    dense = [np.array([[24, 20], [18, 30]]), np.array([[30, 13], [25, 24]])]
    plain = stratified_test(dense, SETTINGS, rng())
    assert plain["method"] == "asymptotic"
    mixture = stratified_test([*dense, np.array([[40, 3], [42, 2]])], SETTINGS, rng())
    assert mixture["method"] == "monte_carlo"
    asymptotic = stratified_test([*dense, np.array([[40, 3], [42, 2]])], OFF, rng())
    assert mixture["p"] == pytest.approx(asymptotic["p"], abs=0.05)


joint = hnp.arrays(np.int64, st.just((3, 4)), elements=st.integers(0, 20)).filter(
    lambda table: table.sum() > 0
)


@given(joint, joint)
def test_direct_and_indirect_add_up_to_the_total(before: np.ndarray, after: np.ndarray) -> None:
    found = natural_effects(before, after)
    total = after.sum(axis=0) / after.sum() - before.sum(axis=0) / before.sum()
    assert found["total"] == pytest.approx(total)
    lost = ((before.sum(axis=1) > 0) & (after.sum(axis=1) == 0)).any()
    if lost:
        assert found["nde"] is None and found["nie"] is None
    else:
        assert found["nde"] + found["nie"] == pytest.approx(total, abs=1e-9)


def test_natural_effects_by_hand() -> None:
    # z moves from (.5, .5) to (.25, .75); y given z does not change: all of it is indirect.
    before, after = np.array([[16, 4], [4, 16]]), np.array([[16, 4], [12, 48]])
    found = natural_effects(before, after)
    assert found["nde"] == pytest.approx([0, 0])
    assert found["nie"] == pytest.approx([-0.15, 0.15])
    # z stays; y given z changes: all of it is direct.
    found = natural_effects(before, np.array([[10, 10], [4, 16]]))
    assert found["nde"] == pytest.approx([-0.15, 0.15])
    assert found["nie"] == pytest.approx([0, 0])


@given(joint)
def test_no_change_is_no_effect(counts: np.ndarray) -> None:
    found = natural_effects(counts, counts)
    for vector in found.values():
        assert vector == pytest.approx(np.zeros(4), abs=1e-12)


def test_effects_need_answers_on_both_sides() -> None:
    empty, full = np.zeros((2, 2), dtype=int), np.ones((2, 2), dtype=int)
    nothing = {"total": None, "nde": None, "nie": None}
    assert natural_effects(empty, full) == natural_effects(full, empty) == nothing


INSIDE, OUTSIDE = {"residual": 0.1, "band": 0.2}, {"residual": 0.3, "band": 0.2}
MISSING = {"residual": None, "band": None}
MOST, LESS, UNSAID = ({"share": 0.9, "low": low} for low in (LEAST, LEAST - 1e-9, None))


@pytest.mark.parametrize(
    ("p", "residual", "falsifier", "expected"),
    [
        (0.5, INSIDE, INSIDE, CONSISTENT),
        (LEVEL, INSIDE, INSIDE, UNDETERMINED),
        (0.5, INSIDE, OUTSIDE, UNDETERMINED),
        (0.5, INSIDE, MISSING, UNDETERMINED),
        (0.5, OUTSIDE, INSIDE, UNDETERMINED),
        (0.01, INSIDE, INSIDE, UNDETERMINED),
        (0.01, OUTSIDE, INSIDE, UNEXPLAINED),
        (LEVEL, OUTSIDE, OUTSIDE, UNEXPLAINED),
        (None, OUTSIDE, INSIDE, UNDETERMINED),
        (0.01, MISSING, INSIDE, UNDETERMINED),
        (0.5, {"residual": 0.2, "band": 0.2}, INSIDE, CONSISTENT),
    ],
)
def test_the_verdict(
    p: float | None,
    residual: dict[str, float | None],
    falsifier: dict[str, float | None],
    expected: str,
) -> None:
    assert verdict(p, residual, falsifier, MOST) == expected
    named = expected == CONSISTENT
    for explained in (LESS, UNSAID):
        assert verdict(p, residual, falsifier, explained) == (UNDETERMINED if named else expected)
