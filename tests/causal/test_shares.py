"""Shares of pictures before and after, and between arms: chosen ones, and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from biasgraph.causal.settings import TAIL
from biasgraph.causal.shares import largest_change, widest_gap
from biasgraph.causal.tables import mix_arms

TRIALS = 1500
WORLDS = {
    "two answers, arms alike": ([0.96, 0.04], [[0.74, 0.26]] * 6, [16] * 6),
    "two answers, one rare": ([0.99, 0.01], [[0.97, 0.03]] * 2, [24] * 2),
    "two answers, arms unlike": ([0.9, 0.1], [[0.98, 0.02], [0.3, 0.7]], [48, 48]),
    "six answers, no change": ([1 / 6] * 6, [[1 / 6] * 6] * 3, [24] * 3),
    "six answers, most one": ([0.9] + [0.02] * 5, [[0.8] + [0.04] * 5] * 3, [16] * 3),
    "arms of unequal size": ([0.6, 0.4], [[0.5, 0.5], [0.02, 0.98]], [16, 100]),
}


def test_a_change_is_that_of_the_mixture_the_distance_is_of() -> None:
    initial, arms = np.array([23, 1, 0]), np.array([[8, 8, 0], [30, 1, 1]])
    for mix in ("equal", "pooled"):
        change = largest_change(initial, arms, mix, TAIL)
        after = mix_arms(arms, mix)
        assert change.attribute == int(np.abs(after - initial / 24).argmax())
        assert change.after.value == pytest.approx(after[change.attribute])
        assert change.before.value == pytest.approx(initial[change.attribute] / 24)
        for share in (change.before, change.after):
            assert 0 <= share.ends[0] <= share.value <= share.ends[1] <= 1
    pooled = largest_change(initial, arms, "pooled", TAIL).after.ends
    assert pooled == pytest.approx(proportion_confint(38, 48, 2 * TAIL / 3, "beta"))


def test_of_two_answers_the_one_that_more_initial_images_show_is_told() -> None:
    change = largest_change(np.array([1, 23]), np.array([[8, 8]]), "equal", TAIL)
    assert change.attribute == 1
    assert change.before.ends == pytest.approx(proportion_confint(23, 24, 2 * TAIL, "wilson"))


def test_a_share_that_nothing_was_seen_against_ends_where_shares_do() -> None:
    change = largest_change(np.array([24, 0]), np.array([[0, 16], [0, 16]]), "equal", TAIL)
    assert change.after.value == 0 and change.after.ends[0] == 0
    assert change.after.ends == pytest.approx(proportion_confint(0, 32, 2 * TAIL, "beta"))


def test_the_widest_gap_is_between_the_two_arms_furthest_apart() -> None:
    gap = widest_gap(np.array([[10, 10, 4], [22, 1, 1], [16, 8, 0]]), TAIL)
    assert (gap.attribute, gap.lowest[0], gap.highest[0]) == (0, 0, 1)
    assert [round(share.value, 3) for _, share in (gap.lowest, gap.highest)] == [0.417, 0.917]
    wide = proportion_confint(22, 24, 2 * TAIL / 9, "beta")
    assert gap.highest[1].ends == pytest.approx(wide)


@pytest.mark.slow(reason="hundreds of audits")
@pytest.mark.parametrize("world", WORLDS)
def test_whichever_share_is_chosen_its_interval_covers(world: str) -> None:
    start, rows, sizes = WORLDS[world]
    rng, truth = np.random.default_rng(0), np.mean(rows, axis=0)
    held = np.zeros(2)
    for _ in range(TRIALS):
        initial = rng.multinomial(48, start)
        arms = np.array([rng.multinomial(n, row) for n, row in zip(sizes, rows, strict=True)])
        change, gap = largest_change(initial, arms, "equal", TAIL), widest_gap(arms, TAIL)
        low, high = change.after.ends
        held += (
            low <= truth[change.attribute] <= high,
            all(
                share.ends[0] <= rows[arm][gap.attribute] <= share.ends[1]
                for arm, share in (gap.lowest, gap.highest)
            ),
        )
    print(world, held / TRIALS)
    assert (held / TRIALS >= 0.94).all()
