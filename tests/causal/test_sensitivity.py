from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from biasgraph.causal import resampling
from biasgraph.causal.intervals import Interval
from biasgraph.causal.rows import PairRow, Sign
from biasgraph.causal.sensitivity import (
    TargetDraws,
    claim_direction,
    measure_sensitivity,
    mix_arms,
)
from biasgraph.causal.settings import AnalysisSettings, MetricName, SignRule
from biasgraph.causal.shift import shift_p
from biasgraph.causal.transport import Ideal

QUICK = AnalysisSettings(bootstrap=400)
SIX = pytest.mark.slow(reason="six categories in six arms; two in two stay")


def uniform(k: int, metric: MetricName = "nominal") -> Ideal:
    cost = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / max(k - 1, 1)
    return Ideal(metric, np.full(k, 1 / k), cost if metric == "cost" else None)


def pair(ideal: Ideal) -> PairRow:
    return PairRow(source="x", target="y", metric=ideal.metric)


def measure(
    initial: list[int],
    arms: list[list[int]],
    ideal: Ideal | None = None,
    options: AnalysisSettings = QUICK,
    seed: int = 0,
) -> PairRow:
    ideal = ideal or uniform(len(initial))
    rng = np.random.default_rng(seed)
    before, after = np.array([initial]), np.array([arms])
    draws = TargetDraws.of(before, ideal, options.bootstrap, rng)
    return measure_sensitivity(pair(ideal), before, after, ideal, draws, options, rng)


def direction(
    initial: list[int],
    arms: list[list[int]],
    ideal: Ideal | None = None,
    options: AnalysisSettings = QUICK,
    seed: int = 0,
) -> Sign:
    """What may be claimed of these counts by both witnesses."""
    rng = np.random.default_rng(seed)
    p = shift_p(np.array([initial]), np.array([arms]), options, rng, stratified=False)
    row = replace(measure(initial, arms, ideal, options, seed), shift_p=p)
    return claim_direction(row, options.sign)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "index", "values", "cost"])
@pytest.mark.parametrize("images", [3, 90], ids=["few", "many"])
@pytest.mark.parametrize("lost", [0, 0.6], ids=["arms alike", "arms that lost answers"])
@pytest.mark.parametrize("initial", [1, 5], ids=["fewer initial images", "more initial images"])
@pytest.mark.parametrize("without", [0, 1, 4], ids=["all", "all but one", "two"])
def test_prompts_in_blocks_come_to_the_same(
    monkeypatch: pytest.MonkeyPatch,
    metric: MetricName,
    images: int,
    lost: float,
    initial: int,
    without: int,
) -> None:
    """Of subsets of few images the exact expectation is taken, of many the normal one."""
    rng = np.random.default_rng(3)
    shares = rng.dirichlet(np.ones(3), (6, 3))
    sizes = np.round(images * np.array([1, 1, 1 - lost])).astype(int)
    after = np.array(
        [[rng.multinomial(*one) for one in zip(sizes, arms, strict=True)] for arms in shares]
    )
    after[-without or len(after) :] = 0
    before = np.array([rng.multinomial(images * initial, arms[0]) for arms in shares])
    found = []
    for held in (10_000_000, 1):
        monkeypatch.setattr(resampling, "HELD", held)
        rng, ideal = np.random.default_rng(0), uniform(3, metric)
        draws = TargetDraws.of(before, ideal, QUICK.bootstrap, rng)
        assert draws.sets.is_held == (held > 1)
        row = measure_sensitivity(pair(ideal), before, after, ideal, draws, QUICK, rng)
        assert ("unequal_arms" in row.flags) == bool(lost)
        found.append([value for value in vars(row).values() if isinstance(value, float)])
    assert len(found[0]) == 13
    assert found[1] == pytest.approx(found[0], abs=1e-12)


# What BiasConnect prints in fig. 3, at 48 images for each prompt.
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "index", "values", "cost"])
def test_minus_0_198_is_minus_57_of_288_under_every_metric(metric: MetricName) -> None:
    arms = [[48, 0]] * 5 + [[21, 27]]  # 261 of 288, where 34 of 48 were before
    found = measure([34, 14], arms, uniform(2, metric)).is_
    assert found == pytest.approx(-57 / 288)
    assert round(found, 3) == -0.198


@pytest.mark.parametrize(
    ("metric", "arms"),
    [
        ("nominal", [[25, 8, 8, 7], [24, 8, 8, 8]]),  # 49 of 96 where 30 of 48 were before
        ("values", [[19, 10, 10, 9], [19, 10, 10, 9]]),  # 38 of 96: twice the change
    ],
)
def test_0_115_is_11_of_96_under_nominal_and_22_of_192_under_values(
    metric: MetricName, arms: list[list[int]]
) -> None:
    found = measure([30, 6, 6, 6], arms, uniform(4, metric)).is_
    assert found == pytest.approx(11 / 96)
    assert round(found, 3) == 0.115


def test_the_mix_of_the_arms() -> None:
    arms = np.array([[30, 10], [10, 10]])
    assert mix_arms(arms, "equal").tolist() == pytest.approx([0.625, 0.375])
    assert mix_arms(arms, "pooled").tolist() == pytest.approx([40 / 60, 20 / 60])
    even = np.array([[30, 10], [15, 25]])
    assert mix_arms(even, "equal") == pytest.approx(mix_arms(even, "pooled"))
    stacked = np.stack([arms, even])
    assert mix_arms(stacked, "equal")[0] == pytest.approx(mix_arms(arms, "equal"))
    assert mix_arms(stacked, "pooled")[1] == pytest.approx(mix_arms(even, "pooled"))


def test_pooling_weighs_the_arms_by_their_answers() -> None:
    arms = [[40, 0], [10, 10]]
    pooled = measure([30, 10], arms, options=AnalysisSettings(mix="pooled", bootstrap=400))
    assert pooled.w1_after == pytest.approx(50 / 60 - 0.5)
    assert measure([30, 10], arms).w1_after == pytest.approx(0.75 - 0.5)


@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=5).filter(any),
    st.integers(1, 4),
    st.sampled_from(["nominal", "ordinal", "index", "values"]),
)
@settings(max_examples=40)
def test_arms_that_answer_as_the_initial_images_change_nothing(
    initial: list[int], arms: int, metric: MetricName
) -> None:
    found = measure(initial, [initial] * arms, uniform(len(initial), metric)).record()
    assert found["is"] == pytest.approx(0, abs=1e-12)
    assert found["w1_before"] == pytest.approx(found["w1_after"])


@given(
    st.integers(2, 4).flatmap(
        lambda k: st.tuples(
            st.lists(st.integers(0, 20), min_size=k, max_size=k).filter(any),
            st.lists(
                st.lists(st.integers(0, 20), min_size=k, max_size=k).filter(any),
                min_size=1,
                max_size=4,
            ),
        )
    ),
    st.sampled_from(["nominal", "ordinal", "index", "values"]),
)
@settings(max_examples=60)
def test_the_hull_holds_both_intervals_and_the_probability_is_one(
    counts: tuple[list[int], list[list[int]]], metric: MetricName
) -> None:
    initial, arms = counts
    found = measure(initial, arms, uniform(len(initial), metric)).record()
    for kind in ("percentile", "basic"):
        assert found["is_ci_low"] <= found[f"ci_{kind}_low"] <= found[f"ci_{kind}_high"]
        assert found[f"ci_{kind}_high"] <= found["is_ci_high"]
    if max(sum(initial), len(arms), *map(sum, arms)) > 1:  # one image is always as far off
        assert found["is_ci_low"] < found["is_ci_high"]
    if found["is_matched"] is not None:
        assert 0 <= found["sign_probability"] <= 1
        assert found["is_matched_ci_low"] <= found["is_matched_ci_high"]


@given(st.permutations(range(4)))
@settings(max_examples=10)
def test_nominal_sensitivity_does_not_mind_relabelling(order: list[int]) -> None:
    initial, arms = np.array([30, 10, 6, 2]), np.array([[20, 10, 10, 8], [40, 4, 2, 2]])
    found = measure(initial.tolist(), arms.tolist()).record()
    moved = measure(initial[order].tolist(), arms[:, order].tolist()).record()
    assert moved["is"] == pytest.approx(found["is"])
    assert moved["is_matched"] == pytest.approx(found["is_matched"])


def test_basic_mirrors_percentile() -> None:
    interval = Interval.of(0.5, np.linspace(0.4, 0.8, 1001))
    assert interval.percentile == pytest.approx((0.41, 0.79))
    assert interval.basic == pytest.approx((0.21, 0.59))
    assert interval.hull == pytest.approx((0.21, 0.79))


def test_without_any_variety_the_interval_still_has_a_width() -> None:
    found = measure([48, 0], [[48, 0], [48, 0]])
    assert found.is_ == 0
    assert found.is_ci_low < 0 < found.is_ci_high
    assert found.is_matched_ci_low < 0 < found.is_matched_ci_high
    assert direction([48, 0], [[48, 0], [48, 0]]) == "undetermined"
    turned = [[0, 48], [0, 48]]  # from one corner to the other: no nearer
    assert measure([48, 0], turned).is_ == 0
    assert direction([48, 0], turned) == "undetermined"


def test_a_large_move_towards_the_ideal_is_claimed_and_away_too() -> None:
    towards = measure([46, 2], [[24, 24], [25, 23]]).record()
    assert direction([46, 2], [[24, 24], [25, 23]]) == "towards"
    assert towards["sign_probability"] > 0.975
    assert towards["is_ci_low"] > 0 and towards["is_matched_ci_low"] > 0
    away = measure([26, 22], [[48, 0], [46, 2]]).record()
    assert direction([26, 22], [[48, 0], [46, 2]]) == "away"
    assert away["sign_probability"] < 0.025
    assert away["is_ci_high"] < 0 and away["is_matched_ci_high"] < 0


@pytest.mark.parametrize(
    ("ends", "p", "expected"),
    [
        ((0.01, 0.2), 0.05, "towards"),
        ((-0.2, -0.01), 0.05, "away"),
        ((0.01, 0.2), 0.051, "undetermined"),  # the second witness is silent
        ((-0.2, -0.01), 0.051, "undetermined"),
        ((0.01, 0.2), None, "undetermined"),
        ((0.0, 0.2), 1e-9, "undetermined"),  # the first one is
        ((-0.2, 0.0), 1e-9, "undetermined"),
        ((1e-13, 0.2), 1e-9, "undetermined"),  # 0 but for rounding
        ((-0.1, 0.2), 1e-9, "undetermined"),
        ((None, None), 1e-9, "undetermined"),  # too few to match
    ],
)
def test_a_direction_needs_two_witnesses(
    ends: tuple[float | None, float | None], p: float | None, expected: Sign
) -> None:
    row = replace(pair(uniform(2)), is_=0.3, shift_p=p)  # its value has no say
    surely = {"towards": (0.1, 0.5), "away": (-0.5, -0.1), "undetermined": (0.1, 0.5)}[expected]
    for one, other in ((ends, surely), (surely, ends)):  # the intervals of both must agree
        row = replace(
            row,
            is_matched_ci_low=one[0],
            is_matched_ci_high=one[1],
            is_ci_low=other[0],
            is_ci_high=other[1],
        )
        assert claim_direction(row, "matched") == expected


def test_intervals_on_either_side_of_0_claim_nothing() -> None:
    row = replace(pair(uniform(2)), is_matched_ci_low=-0.3, is_matched_ci_high=-0.1, shift_p=0.01)
    assert claim_direction(replace(row, is_ci_low=0.1, is_ci_high=0.2), "matched") == "undetermined"
    assert claim_direction(replace(row, is_ci_low=-0.2, is_ci_high=-0.1), "matched") == "away"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.1, "towards"), (-0.1, "away"), (0.0, "undetermined"), (None, "undetermined")],
)
def test_the_literal_rule_takes_is_at_its_word(value: float | None, expected: Sign) -> None:
    rule: SignRule = "is"
    row = replace(pair(uniform(2)), is_=value, is_matched_ci_low=-1.0, is_matched_ci_high=1.0)
    assert claim_direction(row, rule) == expected


def test_the_paper_preset_takes_is_at_its_word() -> None:
    tiny = AnalysisSettings.resolve("paper", bootstrap=400)
    assert direction([25, 23], [[25, 23], [24, 24]], options=tiny) == "towards"
    assert direction([25, 23], [[25, 23], [24, 24]]) == "undetermined"


def bias_under_no_effect(k: int, arms: int) -> tuple[float, float]:
    """Mean IS and mean matched IS when nothing happens and all images follow the ideal."""
    rng = np.random.default_rng(k * 10 + arms)
    ideal = uniform(k)
    plain, matched = [], []
    for _ in range(400):
        counts = rng.multinomial(48, ideal.shares, size=arms + 1)
        draws = TargetDraws.of(counts[:1], ideal, 100, rng)
        fast = AnalysisSettings(bootstrap=100)
        found = measure_sensitivity(
            pair(ideal), counts[:1], counts[None, 1:], ideal, draws, fast, rng
        ).record()
        plain.append(found["is"])
        matched.append(found["is_matched"])
    return float(np.mean(plain)), float(np.mean(matched))


@pytest.mark.slow(reason="hundreds of draws")
@pytest.mark.parametrize(
    ("k", "arms", "bias"), [(2, 2, 0.017), pytest.param(6, 6, 0.075, marks=SIX)]
)
def test_matching_removes_the_lean_of_is_near_the_ideal(k: int, arms: int, bias: float) -> None:
    plain, matched = bias_under_no_effect(k, arms)
    assert plain == pytest.approx(bias, abs=0.007)
    assert matched == pytest.approx(0, abs=0.007)


@pytest.mark.slow(reason="thousands of draws")
@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_the_matched_distance_of_the_arms_is_that_of_as_few_images(k: int) -> None:
    """E over tables of E_m[TV] at m = 48 equals the tabled mean of TV at n = 48."""
    exact = 0.5 * k * (binom.pmf(np.arange(49), 48, 1 / k) @ np.abs(np.arange(49) / 48 - 1 / k))
    rng = np.random.default_rng(k)
    one = rng.multinomial(48, np.full(k, 1 / k))
    arms = rng.multinomial(48, np.full(k, 1 / k), size=(300, 3))
    fast = AnalysisSettings(bootstrap=100)
    draws = TargetDraws.of(one[None], uniform(k), 100, rng)
    found = []
    for arm in arms:
        row = pair(uniform(k))
        row = measure_sensitivity(row, one[None], arm[None], uniform(k), draws, fast, rng)
        found.append(row.w1_before - row.is_matched)
    assert np.mean(found) == pytest.approx(exact, abs=0.005)


def test_arms_of_unequal_size_are_cut_to_one_size() -> None:
    found = measure([30, 18], [[48, 0], [0, 24]])
    assert "unequal_arms" in found.flags
    # 24 images from each arm: always 24 and 24, at the ideal; 48 of 48 initial images.
    assert found.is_matched == pytest.approx(30 / 48 - 0.5)
    assert "unequal_arms" not in measure([30, 18], [[48, 0], [0, 44]]).flags
    assert "unequal_arms" in measure([30, 18], [[48, 0], [0, 43]]).flags
    assert "unequal_arms" not in measure([30, 18], [[50, 0], [0, 45]]).flags  # 10 %, not over


def test_more_initial_images_than_in_the_arms_are_cut_down_too() -> None:
    found = measure([60, 36], [[24, 24]])
    few = measure([30, 18], [[24, 24]])
    assert found.is_ == pytest.approx(few.is_)
    assert found.is_matched > few.is_matched


def test_too_few_answers_to_match_leave_the_direction_open() -> None:
    found = measure([2, 0], [[1, 0], [0, 2], [5, 5]])
    assert "too_few_to_match" in found.flags
    assert found.is_matched is None and found.sign_probability is None
    assert found.is_matched_ci_low is None and found.is_matched_ci_high is None
    assert direction([2, 0], [[1, 0], [0, 2], [5, 5]]) == "undetermined"
    assert found.is_ is not None


def test_one_image_on_each_side() -> None:
    found = measure([1, 0], [[1, 0], [0, 1]]).record()
    assert found["is"] == pytest.approx(0.5)
    assert found["is_matched"] == pytest.approx(0)  # one image is always half away from uniform


def test_a_cost_matrix_goes_all_the_way() -> None:
    found = measure([30, 10, 8], [[20, 14, 14], [16, 16, 16]], uniform(3, "cost")).record()
    plain = measure([30, 10, 8], [[20, 14, 14], [16, 16, 16]], uniform(3, "ordinal")).record()
    assert found["is"] == pytest.approx(plain["is"])
    assert found["is_matched"] == pytest.approx(plain["is_matched"], abs=0.01)
    assert found["is_ci_low"] == pytest.approx(plain["is_ci_low"], abs=0.02)
    assert found["sign_probability"] == pytest.approx(plain["sign_probability"], abs=0.06)
    # Where nothing lies near the ideal, neither by itself nor cumulated, all draws are the same.
    far = [40, 5, 3], [[35, 8, 5], [36, 8, 4]]
    found = measure(*far, uniform(3, "cost")).record()
    plain = measure(*far, uniform(3, "ordinal")).record()
    for end in ("is_ci_low", "is_ci_high", "ci_percentile_low", "ci_basic_high"):
        assert found[end] == pytest.approx(plain[end], abs=1e-9)


def test_an_ideal_from_few_images_widens_the_interval() -> None:
    shares = np.array([0.5, 0.5])
    arms = [[24, 24], [24, 24]]
    sure = measure([40, 8], arms, Ideal("nominal", shares)).record()
    unsure = measure([40, 8], arms, Ideal("nominal", shares, reference=np.array([10, 10]))).record()
    assert sure["is"] == unsure["is"]
    width = [f["is_ci_high"] - f["is_ci_low"] for f in (sure, unsure)]
    assert width[1] > 1.3 * width[0]


def test_before_and_after_are_compared_with_the_same_resampled_ideal() -> None:
    """Far on one side of the ideal its own uncertainty cancels out of the difference."""
    arms = [[44, 4], [44, 4]]
    sure = measure([44, 4], arms, Ideal("nominal", np.array([0.3, 0.7]))).record()
    reference = np.array([9, 21])
    unsure = measure([44, 4], arms, Ideal("nominal", reference / 30, reference=reference)).record()
    for kind in ("is_ci", "is_matched_ci"):
        widths = [f[f"{kind}_high"] - f[f"{kind}_low"] for f in (sure, unsure)]
        assert widths[1] == pytest.approx(widths[0], rel=0.15)


def test_where_nothing_can_change_either_direction_is_as_likely() -> None:
    found = measure([48], [[48], [48]])
    assert found.sign_probability == 0.5
    assert (found.is_ci_low, found.is_ci_high) == (0, 0)
    assert direction([48], [[48], [48]]) == "undetermined"


def test_the_same_generator_gives_the_same_numbers() -> None:
    given = [30, 10, 8], [[20, 14, 14], [16, 16, 16]]
    assert measure(*given, seed=5) == measure(*given, seed=5)
    assert measure(*given, seed=5) != measure(*given, seed=6)
