"""Changes between audits: recomputed directly, zero for equal audits, at common sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from biasgraph.causal.comparing import (
    CLASSES,
    Comparing,
    Sizes,
    change_p,
    first_shares,
)
from biasgraph.causal.resampling import image_counts
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Pool
from biasgraph.causal.transport import resolve_ideals
from tests.causal.worlds import audit, codes, independent, variables

SETTINGS = AnalysisSettings.resolve(bootstrap=400)


def comparing(*audits: CodedImages | Sequence[CodedImages], **given: Any) -> Comparing:
    prompts = [[one] if isinstance(one, CodedImages) else list(one) for one in audits]
    settings = AnalysisSettings.resolve(**({"bootstrap": 400} | given))
    ideals = resolve_ideals(prompts[0][0].variables, settings.metric, None, None)
    return Comparing([Pool.of("test", one) for one in prompts], ideals, settings)


def no_edges(n: int) -> dict[tuple[int, int], bool]:
    return {(x, y): False for x in range(n) for y in range(n) if x != y}


def pulled(share: float, n: int = 48, seed: int = 0) -> CodedImages:
    """a is at its ideal; b is all b0, but b1 in `share` of the images of a1."""
    ones = round(share * n)
    half = n // 2
    initial = codes([[half, n - half], [n, 0]])
    arms = {
        (0, 0): codes([[n, 0], [n, 0]]),
        (0, 1): codes([[0, n], [n - ones, ones]]),
        (1, 0): codes([[half, n - half], [n, 0]]),
        (1, 1): codes([[half, n - half], [0, n]]),
    }
    return audit(initial, arms, variables(2, 2))


def test_a_change_is_the_difference_of_the_two_sensitivities() -> None:
    first, second = independent((2, 3), seed=1), independent((2, 3), seed=2)
    [found] = comparing(first, second).pairs([no_edges(2)] * 2)
    for pair in found:
        x, y = pair["source"], pair["target"]
        values = []
        for images in (first, second):
            k = images.variables[y].size

            def shares(column: np.ndarray, k: int = k) -> np.ndarray:
                return np.bincount(column[column >= 0], minlength=k) / (column >= 0).sum()

            start = shares(images.initial[:, y])
            mix = np.mean([shares(images.arms[arm][:, y]) for arm in images.arms_of(x)], axis=0)
            values.append(0.5 * np.abs(start - 1 / k).sum() - 0.5 * np.abs(mix - 1 / k).sum())
        assert [pair["is_baseline"], pair["is_run"]] == pytest.approx(values)
        assert pair["difference"] == pytest.approx(values[1] - values[0])
        low, high = pair["difference_ci"]
        assert low <= pair["difference"] <= high
        assert not pair["at_common_size"]


def test_an_audit_does_not_differ_from_itself() -> None:
    one = independent((2, 3, 2), lost=0.1)
    comparison = comparing(one, one)
    [found] = comparison.pairs([no_edges(3)] * 2)
    assert {pair["difference"] for pair in found} == {0.0}
    assert {pair["p"] for pair in found} == {1.0}
    assert {pair["class"] for pair in found} == {"in neither"}
    for axis in comparison.distances():
        assert axis[1]["growth"] == 0
        assert axis[1]["growth_ci"][0] <= 0 <= axis[1]["growth_ci"][1]
        assert [one["probability_closest"] for one in axis] == pytest.approx([0.5, 0.5], abs=0.1)


def test_a_large_change_is_found_and_a_missing_edge_is_no_change() -> None:
    pair = 0, 1
    edge = no_edges(2) | {pair: True}
    [found] = comparing(pulled(0.0), pulled(1.0)).pairs([no_edges(2), edge])
    changed = found[0]
    assert (changed["source"], changed["target"], changed["class"]) == (0, 1, "changed")
    assert changed["difference"] == pytest.approx(0.5)
    [found] = comparing(pulled(0.4), pulled(0.45)).pairs([no_edges(2), edge])
    assert found[0]["class"] == "undecided in the other"
    [found] = comparing(pulled(0.4), pulled(0.45)).pairs([edge, edge])
    assert found[0]["class"] == "in both"
    assert {pair["class"] for pair in found} <= {*CLASSES}


def test_p_is_adjusted_over_the_pairs_that_can_be_compared() -> None:
    first, second = independent((2, 3, 4), seed=3), independent((2, 3, 4), seed=4)
    lost = second.initial.copy()
    lost[:, 2] = -1
    second = audit(lost, second.arms, second.variables)
    [found] = comparing(first, second).pairs([no_edges(3)] * 2)
    gone = [pair for pair in found if pair["target"] == 2]
    assert {pair["reason"] for pair in gone} == {"too few valid answers"}
    assert {(pair["p"], pair["p_adjusted"], pair["class"]) for pair in gone} == {(None,) * 3}
    kept = [pair for pair in found if pair["target"] != 2]
    assert [pair["p_adjusted"] for pair in kept] == pytest.approx(
        false_discovery_control([pair["p"] for pair in kept])
    )


def test_different_interventions_are_not_compared() -> None:
    one = independent((3, 2))
    other = audit(
        one.initial, {arm: c for arm, c in one.arms.items() if arm != (0, 2)}, one.variables
    )
    [found] = comparing(one, other).pairs([no_edges(2)] * 2)
    assert found[0]["reason"] == "the interventions on the source differ"
    assert found[1]["reason"] is None
    none = audit(one.initial, {a: c for a, c in one.arms.items() if a[0] == 1}, one.variables)
    [found] = comparing(none, none).pairs([no_edges(2)] * 2)
    assert found[0]["reason"] == "there is no intervention on the source"


def test_unequal_audits_are_reckoned_at_the_smaller_number() -> None:
    small, large = independent((2, 4), n=40, seed=5), independent((2, 4), n=400, seed=6)
    comparison = comparing(small, large)
    [found] = comparison.pairs([no_edges(2)] * 2)
    for pair in found:
        arms = 2 if pair["source"] == 0 else 4
        assert (pair["n_initial"], pair["n_interventions"]) == (40, 40 * arms)
        assert pair["at_common_size"]
    # The mean over subsets of 40 images of each set, by drawing them.
    rng = np.random.default_rng(0)
    images, ideal = comparison.pools[1].prompts[0], comparison.ideals[1]

    def shares(c: np.ndarray) -> np.ndarray:
        return image_counts(c, [2, 4], 40, 4000, rng, replace=False)[1] / 40

    before = ideal.distance(shares(images.initial))
    after = ideal.distance(np.mean([shares(images.arms[0, a]) for a in (0, 1)], axis=0))
    assert found[0]["is_run"] == pytest.approx(before.mean() - after.mean(), abs=0.01)
    [_, measured] = comparison.distances()[1]
    assert measured["w1"] == pytest.approx(before.mean(), abs=0.005)
    assert measured["n"] == 40


def test_a_few_lost_answers_do_not_cut_anything() -> None:
    first, second = independent((2, 3), lost=0.0), independent((2, 3), lost=0.04, seed=9)
    [found] = comparing(first, second).pairs([no_edges(2)] * 2)
    assert not any(pair["at_common_size"] for pair in found)


def test_prompts_are_resampled_one_by_one_and_summed() -> None:
    prompts = [independent((2, 3), seed=seed) for seed in range(3)]
    prompts = [
        CodedImages(f"prompt {i}", one.variables, one.initial, one.arms)
        for i, one in enumerate(prompts)
    ]
    whole = CodedImages(
        "all",
        prompts[0].variables,
        np.concatenate([one.initial for one in prompts]),
        {arm: np.concatenate([one.arms[arm] for one in prompts]) for arm in prompts[0].arms},
    )
    [found] = comparing(prompts, prompts[::-1]).pairs([no_edges(2)] * 2)
    [once] = comparing(whole, whole).pairs([no_edges(2)] * 2)
    for pair, pooled in zip(found, once, strict=True):
        assert pair["difference"] == 0
        assert pair["is_run"] == pytest.approx(pooled["is_run"])
        assert pair["n_initial"] == 144
        # Skews that differ between prompts do not count as noise.
        width = np.ptp(pair["difference_ci"])
        assert width <= np.ptp(pooled["difference_ci"]) * 1.2


def test_deterministic_answers_are_smoothed() -> None:
    one, other = pulled(0.0), pulled(0.02)  # one image of 48 is another
    [found] = comparing(one, other).pairs([no_edges(2)] * 2)
    assert found[0]["difference"] > 0
    assert found[0]["p"] > 0.05
    assert np.ptp(found[0]["difference_ci"]) > 0
    assert comparing(one, one).distances()[1][1]["growth_ci"][1] > 0


def test_common_sizes() -> None:
    one, two = np.array([[3, 7], [4, 6]]), np.array([[5, 5], [1, 1]])
    arms = np.array([[[5, 5], [3, 5]], [[9, 1], [9, 1]]])
    sizes = Sizes.common([one, two], [arms, arms])
    assert sizes.initial.tolist() == [10, 2]
    assert sizes.cut
    assert sizes.per_arm.tolist() == [[8, 8], [10, 10]]
    assert not Sizes.common([one, one], [arms, arms]).cut


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=8), st.integers(-4, 4))
def test_p_counts_all_differences(values: list[int], shift: int) -> None:
    first = np.array(values, dtype=float)
    second = first[::-1] + shift
    differences = (second[:, None] - first).ravel()
    n = differences.size
    smaller = min((differences <= 0).sum(), (differences >= 0).sum())
    assert change_p(first, second) == pytest.approx(min(1, 2 * (smaller + 1) / (n + 1)))
    assert change_p(first, second) == pytest.approx(change_p(second, first))


def test_first_places_are_shared_by_ties() -> None:
    scores = np.array([[1.0, 2.0, 3.0, 0.0], [1.0, 3.0, 1.0, 0.0]])
    assert first_shares(scores).tolist() == [0.5, 0.5]
    assert first_shares(scores[:, 1:3]).tolist() == [0.5, 0.5]
    assert first_shares(scores[:1]).tolist() == [1.0]


def test_too_few_answers_have_no_distance_and_no_change() -> None:
    [first, _] = comparing(pulled(0.5), pulled(0.5, n=12)).distances()
    assert [run["w1"] for run in first] == [run["growth"] for run in first] == [None, None]
    assert first[0]["n"] == 12


def test_arms_too_small_to_be_matched_are_not_compared() -> None:
    uneven = audit(
        codes([[1, 0], [1, 0]]),
        {(0, 0): codes([[9, 0], [9, 0]]), (0, 1): codes([[0, 1], [0, 1]])},
        variables(2, 2),
    )
    [found] = comparing(uneven, uneven, min_valid=1).pairs([no_edges(2)] * 2)
    [pair] = [pair for pair in found if (pair["source"], pair["target"]) == (0, 1)]
    assert pair["reason"] == "too few valid answers to match sample sizes"
    assert pair["class"] is None and pair["difference"] is None
