from __future__ import annotations

import numpy as np
import pytest

from biasgraph.causal import resampling
from biasgraph.causal.aggregate import amplification, strongest
from biasgraph.causal.resampling import image_counts, one_hot
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Pool, Tallies
from biasgraph.causal.transport import Ideal, resolve_ideals
from tests.causal.worlds import audit, codes, column, independent, variables

SETTINGS = AnalysisSettings(noise_draws=200)


Edge = tuple[str, str, float]


def sources(edges: list[Edge]) -> list[tuple[str, float]]:
    return [(source, value) for source, _, value in edges]


def targets(edges: list[Edge]) -> list[tuple[str, float]]:
    return [(target, value) for _, target, value in edges]


def test_the_strongest_axis_has_the_most_edges() -> None:
    edges = [("age", "gender", 0.01), ("age", "emotion", 0.02), ("gender", "age", 0.9)]
    assert strongest(sources(edges)) == {
        "axis": "age",
        "edges": 2,
        "strength": pytest.approx(0.03),
        "tied": [],
    }


def test_ties_go_to_the_stronger_and_are_listed() -> None:
    edges = [("age", "gender", 0.1), ("body", "gender", -0.3), ("cloth", "age", 0.1)]
    found = strongest(sources(edges))
    assert found is not None and found["axis"] == "body" and found["tied"] == ["age", "cloth"]
    influenced = strongest(targets(edges))
    assert influenced is not None and influenced["axis"] == "gender" and influenced["tied"] == []


def test_equal_ties_go_by_name_and_nothing_is_strongest_of_nothing() -> None:
    edges = [("b", "c", 0.1), ("a", "c", -0.1)]
    found = strongest(sources(edges))
    assert found is not None and found["axis"] == "a" and found["tied"] == ["b"]
    assert strongest([]) is None


def uniform(images: CodedImages) -> list[Ideal]:
    return resolve_ideals(images.variables, None, None, None)


def pool(images: CodedImages) -> Pool:
    return Pool.of(images.prompt, [images])


def values_of(images: CodedImages, ideals: list[Ideal]) -> dict[tuple[int, int], float | None]:
    tallies = Tallies.of(images)
    found: dict[tuple[int, int], float | None] = {}
    for x in range(len(images.variables)):
        for y in range(len(images.variables)):
            if x != y:
                arms = np.mean([tallies.arms[arm][y].shares for arm in tallies.arms_of(x)], axis=0)
                before = ideals[y].distance(tallies.initial[y].shares)
                found[x, y] = float(before - ideals[y].distance(arms))
    return found


def test_the_amplification_is_the_sum_over_all_pairs() -> None:
    images = independent([2, 3, 2])
    values = values_of(images, uniform(images))
    found = amplification(pool(images), uniform(images), values, SETTINGS)
    assert found["value"] == pytest.approx(sum(abs(v) for v in values.values() if v is not None))
    assert (found["pairs"], found["pairs_defined"], found["metrics"]) == (6, 6, ["nominal"])
    floor = found["noise_floor"]
    assert floor["mean"] < floor["q95"]
    assert found["above_floor"] == pytest.approx(found["value"] - floor["mean"])


def test_no_effect_at_all_stays_below_the_noise_floor() -> None:
    below = 0
    for seed in range(20):
        images = independent([2, 3, 4], seed=seed)
        ideals = uniform(images)
        found = amplification(pool(images), ideals, values_of(images, ideals), SETTINGS)
        below += found["value"] <= found["noise_floor"]["q95"]
    assert below >= 16


@pytest.mark.slow(reason="200 audits; benchmarks/floors.py measures the same")
def test_the_noise_floor_is_what_audits_without_any_effect_show() -> None:
    images = independent([2, 3, 6, 3, 2, 2, 4, 4], seed=2)
    ideals = uniform(images)
    rng = np.random.default_rng(0)
    totals = []
    for _ in range(500):
        sets = [images.initial[rng.integers(0, 48, 48)] for _ in range(27)]
        same = audit(sets[0], dict(zip(images.arms, sets[1:], strict=True)), images.variables)
        totals.append(sum(abs(v) for v in values_of(same, ideals).values() if v is not None))
    floor = amplification(pool(images), ideals, values_of(images, ideals), AnalysisSettings())[
        "noise_floor"
    ]
    assert floor["mean"] == pytest.approx(np.mean(totals), abs=0.15)
    assert floor["q95"] == pytest.approx(np.quantile(totals, 0.95), abs=0.35)


def test_undefined_pairs_are_left_out_and_counted() -> None:
    images = independent([2, 3, 2])
    ideals = uniform(images)
    values = values_of(images, ideals)
    fewer = values | {(0, 1): None, (2, 1): None}
    found = amplification(pool(images), ideals, fewer, SETTINGS)
    everything = amplification(pool(images), ideals, values, SETTINGS)
    assert (found["pairs"], found["pairs_defined"]) == (6, 4)
    assert found["value"] < everything["value"]
    assert found["noise_floor"]["mean"] < everything["noise_floor"]["mean"]


def test_nothing_defined_is_no_number() -> None:
    images = independent([2, 2])
    found = amplification(pool(images), uniform(images), {(0, 1): None, (1, 0): None}, SETTINGS)
    assert found["value"] is None and found["above_floor"] is None
    assert found["noise_floor"] == {"mean": None, "q95": None}


def test_the_noise_floor_can_be_left_out() -> None:
    images = independent([2, 2])
    off = AnalysisSettings(noise_draws=0)
    ideals = uniform(images)
    found = amplification(pool(images), ideals, values_of(images, ideals), off)
    assert found["value"] is not None and found["above_floor"] is None
    assert found["noise_floor"] == {"mean": None, "q95": None}


def test_replicates_that_lose_every_answer_give_no_number() -> None:
    # The only valid answers about b are nowhere but in the arms: no initial image can be drawn.
    initial = column(0, repeat=5)
    initial = np.concatenate([initial, np.full_like(initial, -1)], axis=1)
    initial[0, 1] = 0
    arm = codes([[5, 0], [3, 2]])
    images = audit(initial, {(0, 0): arm, (0, 1): arm}, variables(2, 2))
    ideals = uniform(images)
    found = amplification(pool(images), ideals, {(0, 1): 0.2}, SETTINGS)
    assert np.isfinite(found["noise_floor"]["mean"])  # some replicates kept the one answer
    none = np.full_like(initial, -1)
    emptied = audit(none, dict(images.arms), images.variables)
    found = amplification(pool(emptied), ideals, {(0, 1): 0.2}, SETTINGS)
    assert found["above_floor"] is None and found["noise_floor"]["mean"] is None


def test_replicates_keep_what_axes_share() -> None:
    same = np.repeat(np.arange(2, dtype=np.int16), 24)
    images = np.stack([same, same, np.full(48, -1, dtype=np.int16)], axis=1)
    a, b = image_counts(images[:, :2], [2, 2], 30, 50, np.random.default_rng(0), pseudo=0)
    assert (a == b).all() and (a.sum(axis=1) == 30).all()
    assert a[:, 0].std() > 1
    # Pseudo images are of each axis by itself: two of fifty answers.
    a, b, c = image_counts(images, [2, 2, 3], 30, 2000, np.random.default_rng(0))
    assert (a.sum(axis=1) == 30).all() and (b.sum(axis=1) == 30).all()
    assert np.corrcoef(a[:, 0], b[:, 0])[0, 1] > 0.9
    assert (c == 0).all()


def test_blocks_change_nothing_but_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    images = independent([2, 3], n=20).initial
    whole = image_counts(images, [2, 3], 20, 7, np.random.default_rng(0))
    monkeypatch.setattr(resampling, "BLOCK", 60)
    pieces = image_counts(images, [2, 3], 20, 7, np.random.default_rng(0))
    for one, other in zip(whole, pieces, strict=True):
        assert (one == other).all()


def test_one_hot_columns_are_the_attributes() -> None:
    found = one_hot(np.array([[1, -1], [0, 2], [-2, 0]], dtype=np.int16), [2, 3])
    assert found.tolist() == [[0, 1, 0, 0, 0], [1, 0, 0, 0, 1], [0, 0, 1, 0, 0]]
