"""Errors of distances whose truth may lie at the ideal."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from biasgraph.causal.intervals import Interval
from biasgraph.causal.near_ideal import Errors, move_to_ideal
from biasgraph.causal.resampling import smooth
from biasgraph.causal.rows import PairRow
from biasgraph.causal.sensitivity import TargetDraws, measure_sensitivity
from biasgraph.causal.settings import AnalysisSettings, MetricName
from biasgraph.causal.tables import Counts, Floats, Variable
from biasgraph.causal.transport import Ideal, resolve_ideals

THIRDS = np.full(3, 1 / 3)


def nominal(*shares: float) -> Ideal:
    return Ideal("nominal", np.array(shares))


def test_shares_far_from_the_ideal_stay() -> None:
    assert move_to_ideal(np.array([0.8, 0.2]), 48, nominal(0.5, 0.5)) is None
    # Two standard errors of 48 images are .144.
    assert move_to_ideal(np.array([0.645, 0.355]), 48, nominal(0.5, 0.5)) is None
    assert move_to_ideal(np.array([0.643, 0.357]), 48, nominal(0.5, 0.5)) is not None
    assert move_to_ideal(np.array([0.643, 0.357]), 60, nominal(0.5, 0.5)) is None


def test_those_near_it_are_moved_and_the_others_keep_their_proportions() -> None:
    found = move_to_ideal(np.array([0.35, 0.55, 0.10]), 48, nominal(*THIRDS))
    assert found == pytest.approx([1 / 3, 0.55 * (2 / 3) / 0.65, 0.10 * (2 / 3) / 0.65])
    assert move_to_ideal(np.array([0.35, 0.3, 0.35]), 48, nominal(*THIRDS)) == pytest.approx(THIRDS)


@pytest.mark.parametrize("metric", ["ordinal", "index"])
def test_along_an_order_cumulated_shares_are_moved(metric: MetricName) -> None:
    found = move_to_ideal(np.array([0.34, 0.60, 0.06]), 48, Ideal(metric, THIRDS))
    assert found == pytest.approx([1 / 3, 0.94 - 1 / 3, 0.06])
    # Share by share all three are near; cumulated the first is, and the second is not.
    assert move_to_ideal(np.array([0.45, 0.40, 0.15]), 400, Ideal(metric, THIRDS)) is None
    # What is moved stays a distribution: cumulated shares never fall.
    below = move_to_ideal(np.array([0.6, 0.02, 0.38]), 48, Ideal(metric, np.array([0.2, 0.3, 0.5])))
    assert below == pytest.approx([0.6, 0.0, 0.4])


def test_shares_that_the_ideal_lacks() -> None:
    ideal = nominal(0.7, 0.3, 0.0)
    found = move_to_ideal(smooth(np.array([34, 14, 0])), 48, ideal)
    assert found == pytest.approx(ideal.shares)
    half = move_to_ideal(smooth(np.array([20, 28, 0])), 48, ideal)
    assert half is not None and half[2] == 0 and half.sum() == pytest.approx(1)
    assert move_to_ideal(smooth(np.array([48, 0])), 48, nominal(1.0, 0.0)) == pytest.approx([1, 0])
    assert move_to_ideal(np.array([1.0]), 48, nominal(1.0)) == pytest.approx([1])


def test_an_ideal_from_few_images_is_near_from_farther_away() -> None:
    shares, half = np.array([0.7, 0.3]), np.array([0.5, 0.5])
    assert move_to_ideal(shares, 48, Ideal("nominal", half)) is None
    few = Ideal("nominal", half, reference=np.array([10, 10]))
    assert move_to_ideal(shares, 48, few) == pytest.approx(half)
    many = Ideal("nominal", half, reference=np.array([1000, 1000]))
    assert move_to_ideal(shares, 48, many) is None


def test_an_order_whose_last_attribute_is_not_wanted() -> None:
    age = Variable("age", ("young", "middle-aged", "old", "ageless"), "ordinal")
    wanted = dict(zip(age.attributes, (0.2, 0.7, 0.1, 0.0), strict=True))
    (ideal,) = resolve_ideals((age,), None, {"age": wanted}, None)
    assert ideal.shares.cumsum()[2] > 1  # by rounding
    counts = np.array([[6, 36, 6, 0]])
    draws = TargetDraws.of(counts, ideal, 100, np.random.default_rng(0))
    assert np.isfinite(draws.distances).all()


def errors(counts: list[int], ideal: Ideal, replicates: int = 4000) -> Errors:
    return TargetDraws.of(np.array([counts]), ideal, replicates, np.random.default_rng(0)).errors


def test_errors_far_from_the_ideal_are_even() -> None:
    found = errors([40, 8], nominal(0.5, 0.5))
    assert found.at_ideal is None and len(found.cases) == 1
    assert found.plain.mean() == pytest.approx(0, abs=0.003)
    assert found.plain.std() == pytest.approx(np.sqrt(0.82 * 0.18 / 48), rel=0.05)


@pytest.mark.parametrize("k", [2, 6])
def test_errors_at_the_ideal_go_upwards_by_what_chance_shows(k: int) -> None:
    found = errors([48 // k] * k, nominal(*np.full(k, 1 / k)))
    exact = 0.5 * k * (binom.pmf(np.arange(49), 48, 1 / k) @ np.abs(np.arange(49) / 48 - 1 / k))
    assert found.at_ideal is not None and len(found.cases) == 2
    assert found.at_ideal.min() >= 0
    assert found.at_ideal.mean() == pytest.approx(exact, abs=0.003)


def test_the_ideal_is_resampled_with_the_images() -> None:
    even = np.array([0.5, 0.5])
    sure = errors([24, 24], Ideal("nominal", even))
    unsure = errors([24, 24], Ideal("nominal", even, reference=np.array([24, 24])))
    assert sure.at_ideal is not None and unsure.at_ideal is not None
    assert unsure.at_ideal.mean() == pytest.approx(np.sqrt(2) * sure.at_ideal.mean(), rel=0.06)


def audits(
    before: Floats, arms: Floats, ideal: Ideal, count: int, n: int = 48, seed: int = 0
) -> list[PairRow]:
    """Sensitivities of audits with these true shares: (k,) at first, (J, k) in the arms."""
    rng = np.random.default_rng(seed)
    fast, row = AnalysisSettings(bootstrap=200), PairRow(source="x", target="y", metric="nominal")
    found = []
    for _ in range(count):
        initial: Counts = rng.multinomial(n, before)[None]
        mitigated: Counts = np.stack([rng.multinomial(n, p) for p in arms])[None]
        draws = TargetDraws.of(initial, ideal, 200, rng)
        found.append(measure_sensitivity(row, initial, mitigated, ideal, draws, fast, rng))
    return found


def coverage(rows: list[PairRow], truth: float) -> tuple[float, float]:
    """Of the headline interval, and of the hull of percentile and basic alone."""
    whole = plain = 0
    for row in rows:
        whole += row.is_ci_low - 1e-9 <= truth <= row.is_ci_high + 1e-9
        lows = row.ci_percentile_low, row.ci_basic_low
        highs = row.ci_percentile_high, row.ci_basic_high
        plain += min(lows) - 1e-9 <= truth <= max(highs) + 1e-9
    return whole / len(rows), plain / len(rows)


MARGIN = 2 * np.sqrt(0.93 * 0.07 / 180)


@pytest.mark.slow(reason="hundreds of audits")
def test_intervals_cover_where_only_the_initial_images_are_at_the_ideal() -> None:
    """Six attributes, six arms, a mixture that moved away by .1: IS leans upwards by .12."""
    sixths = np.full(6, 1 / 6)
    moved = sixths + np.array([0.1, *[-0.02] * 5])
    ideal = nominal(*sixths)
    whole, plain = coverage(audits(sixths, np.tile(moved, (6, 1)), ideal, 180), -0.1)
    assert whole >= 0.93 - MARGIN
    assert plain < 0.93 - MARGIN


def test_intervals_cover_a_rare_share_at_its_ideal() -> None:
    rare = np.array([0.98, 0.02])
    whole, _ = coverage(audits(rare, np.tile(rare, (2, 1)), nominal(*rare), 180), 0.0)
    assert whole >= 0.93 - MARGIN


def test_intervals_cover_far_from_the_ideal_and_not_always() -> None:
    before, arms = np.array([0.85, 0.15]), np.array([[0.8, 0.2], [0.7, 0.3]])
    whole, plain = coverage(audits(before, arms, nominal(0.5, 0.5), 180), 0.1)
    assert 0.93 - MARGIN <= whole <= 0.98 + MARGIN
    assert plain <= whole


def test_the_headline_holds_every_case() -> None:
    row = audits(THIRDS, np.tile(THIRDS, (2, 1)), nominal(*THIRDS), 1)[0]
    basic, percentile = row.ci_basic_high, row.ci_percentile_high
    assert row.is_ci_high >= max(basic, percentile)
    draws = np.linspace(-0.1, 0.1, 101)
    cases = [draws + 0.1, draws - 0.1]
    assert Interval.of(0.0, draws, cases).hull == pytest.approx((-0.195, 0.195))
