"""Ranking the interventions that could bring an axis closer to its ideal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from biasgraph.causal.graph import measure_axes
from biasgraph.causal.planning import rank_strategies
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Pool
from biasgraph.causal.transport import resolve_ideals
from tests.causal.worlds import audit, codes, independent, variables

SIZES = (2, 3, 2)


def ranked(prompts: Sequence[CodedImages], **options: Any) -> dict[str, Any]:
    settings = AnalysisSettings.resolve(**{"bootstrap": 1000, **options})
    pool = Pool.of("prompts", prompts)
    ideals = resolve_ideals(pool.variables, settings.metric, None, None)
    rows = measure_axes(pool, ideals, settings, settings.prompt_rule)
    nodes, pairs = ([row.record() for row in part] for part in rows)
    plan = rank_strategies(pool, ideals, nodes, pairs, settings)
    by_name = {(pair["source"], pair["target"]): pair for pair in pairs}
    for axis in plan["axes"]:
        shares = [one["p_best"] for one in axis["strategies"]]
        assert shares == sorted(shares, reverse=True)
        assert not shares or sum(shares) == pytest.approx(1)
        for one in axis["strategies"]:
            pair = by_name[one["axis"], axis["axis"]]
            assert (one["is"], one["sign"]) == (pair["is"], pair["sign"]), "taken over"
            assert one["direct"] == (one["axis"] == axis["axis"])
    return plan


def two_axes(
    initial: Sequence[Sequence[int]], by_a: Sequence[Sequence[int]], by_b: Sequence[Sequence[int]]
) -> CodedImages:
    """Axes a and b of two attributes; counts of b in the initial images and in the arms of each.

    The arms of a obey: their images show the attribute that was asked for. a itself is at 9 of 10.
    """
    n = sum(initial[1])
    arms = {
        **{(0, i): codes([[n, 0] if i == 0 else [0, n], counts]) for i, counts in enumerate(by_a)},
        **{(1, i): codes([initial[0], counts]) for i, counts in enumerate(by_b)},
    }
    return audit(codes(initial), arms, variables(2, 2))


def test_without_a_claimed_direction_nothing_helps_or_moves() -> None:
    images = two_axes([[90, 10], [80, 20]], [[95, 5], [25, 75]], [[100, 0], [0, 100]])
    settings = AnalysisSettings.resolve(bootstrap=200)
    pool = Pool.of("prompts", [images])
    ideals = resolve_ideals(pool.variables, settings.metric, None, None)
    rows = measure_axes(pool, ideals, settings, settings.prompt_rule)
    nodes, pairs = ([row.record() for row in part] for part in rows)
    plan = rank_strategies(pool, ideals, nodes, pairs, settings)
    assert plan["interventions"][0]["towards"] == ["b"]
    unsaid = [
        {**pair, "sign": None} if pair["source"] != pair["target"] else pair for pair in pairs
    ]
    plan = rank_strategies(pool, ideals, nodes, unsaid, settings)
    assert plan["interventions"][0] == {
        "axis": "a", "recommended_for": ["a"], "towards": [], "away": [], "undetermined": ["b"]
    }  # fmt: skip
    [by_a] = [one for one in axis(plan, "b")["strategies"] if one["axis"] == "a"]
    assert (by_a["sign"], by_a["helps"]) == (None, False)
    assert axis(plan, "b")["recommended"] == "b" and axis(plan, "b")["brought_by"] == []


def axis(plan: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in plan["axes"] if one["axis"] == name)


def test_the_obeyed_direct_intervention_is_recommended() -> None:
    images = two_axes([[90, 10], [80, 20]], [[80, 20], [80, 20]], [[100, 0], [0, 100]])
    plan = ranked([images])
    for name in "ab":
        one = axis(plan, name)
        assert (one["verdict"], one["recommended"], one["contenders"]) == (
            "recommended", name, [name]
        )  # fmt: skip
        assert one["strategies"][0]["p_best"] == 1
        assert one["strategies"][0]["helps"]
        assert not one["strategies"][1]["helps"]
        assert one["brought_by"] == []
    assert plan["interventions"] == [
        {"axis": "a", "recommended_for": ["a"], "towards": [], "away": [], "undetermined": ["b"]},
        {"axis": "b", "recommended_for": ["b"], "towards": [], "away": [], "undetermined": ["a"]},
    ]
    assert plan["comparisons"] == 4


def test_a_hidden_strategy_beats_the_direct_one() -> None:
    """BiasConnect sec. 6.3: clothing is best diversified by diversifying ethnicity."""
    images = two_axes([[90, 10], [95, 5]], [[80, 20], [20, 80]], [[99, 1], [70, 30]])
    plan = ranked([images])
    b = axis(plan, "b")
    assert (b["verdict"], b["recommended"]) == ("recommended", "a")
    assert [one["axis"] for one in b["strategies"]] == ["a", "b"]
    assert b["brought_by"] == [{"axis": "a", "w1_after": 0.0, "all_the_way": True}]
    assert plan["interventions"][0]["recommended_for"] == ["a", "b"]


def test_an_axis_brought_along_but_not_all_the_way() -> None:
    images = two_axes([[90, 10], [95, 5]], [[90, 10], [60, 40]], [[100, 0], [0, 100]])
    b = axis(ranked([images]), "b")
    assert b["recommended"] == "b"
    assert b["brought_by"] == [{"axis": "a", "w1_after": 0.25, "all_the_way": False}]


def test_strategies_that_cannot_be_told_apart() -> None:
    images = two_axes([[90, 10], [95, 5]], [[90, 10], [14, 86]], [[95, 5], [7, 93]])
    b = axis(ranked([images]), "b")
    assert (b["verdict"], b["recommended"]) == ("any", None)
    assert sorted(b["contenders"]) == ["a", "b"]


def test_nothing_and_undecided() -> None:
    same = two_axes([[90, 10], [80, 20]], [[80, 20], [80, 20]], [[80, 20], [80, 20]])
    assert axis(ranked([same]), "b")["verdict"] == "nothing"
    unclear = two_axes([[90, 10], [80, 20]], [[98, 2], [36, 64]], [[100, 0], [45, 55]])
    b = axis(ranked([unclear]), "b")
    assert (b["verdict"], b["contenders"]) == ("undecided", ["a", "b"])
    worse = two_axes([[90, 10], [70, 30]], [[95, 5], [95, 5]], [[95, 5], [95, 5]])
    b = axis(ranked([worse]), "b")
    assert b["verdict"] == "nothing"
    assert not any(one["helps"] for one in b["strategies"])
    alike = two_axes([[90, 10], [80, 20]], [[100, 0], [0, 100]], [[100, 0], [0, 100]])
    b = axis(ranked([alike]), "b")
    assert [one["p_best"] for one in b["strategies"]] == pytest.approx([0.5, 0.5], abs=0.05)
    assert b["verdict"] == "any"


def test_replicates_that_tie_are_split_evenly() -> None:
    one = audit(
        codes([[50, 50], [100]]),
        {(0, 0): codes([[100, 0], [100]]), (1, 0): codes([[50, 50], [100]])},
        variables(2, 1),
    )
    b = axis(ranked([one]), "b")  # of a single attribute: always at its ideal
    assert [strategy["p_best"] for strategy in b["strategies"]] == [0.5, 0.5]


def test_an_axis_at_its_ideal_needs_nothing() -> None:
    images = two_axes([[90, 10], [52, 48]], [[50, 50], [50, 50]], [[100, 0], [0, 100]])
    b = axis(ranked([images]), "b")
    assert (b["verdict"], b["recommended"], b["brought_by"]) == ("near_ideal", None, [])
    assert b["w1"] <= b["by_chance"]


def test_too_few_answers_and_no_interventions() -> None:
    images = independent(SIZES, n=10)
    plan = ranked([images])
    assert {one["verdict"] for one in plan["axes"]} == {"insufficient"}
    assert plan["interventions"] == []
    assert plan["comparisons"] == 0
    no_arms = audit(independent(SIZES).initial, {}, variables(*SIZES))
    assert {one["verdict"] for one in ranked([no_arms])["axes"]} <= {"insufficient"}


@pytest.mark.slow(reason="hundreds of plans; benchmarks/planning.py measures the same")
def test_more_arms_are_no_advantage() -> None:
    """Six arms hold thrice the images of two, so their plain distance leans less upwards."""
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(40):
        n = 24

        def draw(size: int, n: int = n) -> np.ndarray:
            return np.stack(
                [rng.integers(0, 2, n), rng.integers(0, 6, n), rng.random(n) < 0.5], axis=1
            ).astype(np.int16)

        start = draw(n)
        start[:, 2] = 0
        arms = {(0, a): draw(n) for a in range(2)} | {(1, a): draw(n) for a in range(6)}
        images = audit(start, arms, variables(2, 6, 2))
        c = axis(ranked([images], bootstrap=100), "c")
        shares.append({one["axis"]: one["p_best"] for one in c["strategies"]}["b"])
    assert np.mean(shares) == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow(reason="hundreds of plans; benchmarks/planning.py measures the same")
def test_arms_that_lost_answers_are_no_disadvantage() -> None:
    """Weighed evenly, arms of 48 and 16 are worth 32 images: so many of 48 and 48 must count."""
    rng = np.random.default_rng(4)
    shares = []
    for _ in range(60):

        def draw(n: int) -> np.ndarray:
            return rng.integers(0, 2, (n, 3)).astype(np.int16)

        start = draw(48)
        start[:, 2] = 0
        sizes = {(0, 0): 48, (0, 1): 48, (1, 0): 48, (1, 1): 16}
        images = audit(start, {arm: draw(n) for arm, n in sizes.items()}, variables(2, 2, 2))
        c = axis(ranked([images], bootstrap=100), "c")
        shares.append({one["axis"]: one["p_best"] for one in c["strategies"]}["b"])
    assert np.mean(shares) == pytest.approx(0.5, abs=0.12)


@pytest.mark.slow(reason="hundreds of plans; benchmarks/planning.py measures the same")
def test_with_no_structure_it_hardly_ever_recommends() -> None:
    claims = weighed = helping = 0
    for seed in range(30):
        obeyed = independent((2, 3, 6, 2), seed=seed)
        rng = np.random.default_rng(seed)
        # Deal all images out anew, so that no intervention does anything, not even to its own axis.
        images = audit(
            obeyed.initial,
            {arm: obeyed.initial[rng.integers(0, 48, 48)] for arm in obeyed.arms},
            obeyed.variables,
        )
        for one in ranked([images], bootstrap=150)["axes"]:
            if one["near_ideal"] is False:
                weighed += 1
                claims += one["verdict"] in ("recommended", "any")
                helping += any(strategy["helps"] for strategy in one["strategies"])
    assert weighed > 50
    assert claims / weighed <= 0.05
    assert helping / weighed <= 0.1


def test_several_prompts_are_summed_and_resampled_each_by_itself() -> None:
    one = two_axes([[90, 10], [80, 20]], [[80, 20], [80, 20]], [[100, 0], [0, 100]])
    other = CodedImages("a nurse", one.variables, one.initial, one.arms)
    plan = ranked([one, other])
    b = axis(plan, "b")
    assert b["recommended"] == "b"
    assert b["n_valid"] == 200


def test_lost_answers_and_other_metrics() -> None:
    images = independent(SIZES, n=60, lost=0.2)
    for metric in ("nominal", "values"):
        assert ranked([images], metric=metric)["axes"]
    uneven = CodedImages(
        images.prompt,
        images.variables,
        images.initial,
        {arm: codes[: 60 - 20 * (arm[1] == 0)] for arm, codes in images.arms.items()},
    )
    assert ranked([uneven])["comparisons"] >= 3
    assert ranked([uneven], mix="pooled")["comparisons"] >= 3


def test_the_same_seed_gives_the_same_ranking() -> None:
    images = independent(SIZES)
    assert ranked([images], seed=5) == ranked([images], seed=5)
