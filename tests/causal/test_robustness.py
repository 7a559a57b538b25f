"""Audits of fewer images: how they are drawn, compared and counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.causal.graph import measure_axes, measure_claims
from biasgraph.causal.robustness import (
    MEASURES,
    Auditor,
    Claims,
    FewerImages,
    compare,
    differences,
    split,
    spread,
    verdict_stability,
)
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Pool
from biasgraph.causal.transport import resolve_ideals
from tests.causal.worlds import chain, codes, variables

QUICK = AnalysisSettings(bootstrap=200, noise_draws=0)


def auditor_of(images: CodedImages, settings: AnalysisSettings = QUICK) -> Auditor:
    ideals = resolve_ideals(images.variables, None, None, None)
    return Auditor(images.prompt, ideals, settings, settings.prompt_rule)


def fewer(images: CodedImages, draws: int = 3, seed: int = 0, **given: object) -> FewerImages:
    auditor = auditor_of(images)
    whole = auditor.claims([images])
    return FewerImages(auditor, [images], whole, draws, seed, **given)  # type: ignore[arg-type]


def claims(**fields: object) -> Claims:
    """Three pairs without an edge."""
    usual = {
        "pairs": (("a", "b"), ("a", "c"), ("b", "a")),
        "sensitivity": np.array([0.3, 0.0, -0.1]),
        "strength": np.array([0.7, 0.2, 0.05]),
        "edge": np.array([False] * 3),
        "verdict": np.array(["undecided"] * 3),
    }
    return Claims(**{**usual, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize("images", [24, 60])
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_claims_say_what_the_whole_analysis_says(images: int, preset: str) -> None:
    drawn = chain(images, 5)
    worded = replace(drawn, controls=drawn.initial[::-1][: images // 2])
    settings = AnalysisSettings.resolve(preset, bootstrap=200, noise_draws=0)
    ideals = resolve_ideals(worded.variables, None, None, None)
    pool = Pool.of(worded.prompt, [worded])
    _, rows = measure_axes(pool, ideals, settings, settings.prompt_rule)
    whole = [row for row in rows if row.source != row.target]
    brief = measure_claims(pool, ideals, settings, settings.prompt_rule)
    same = ("source", "target", "shift_p_adjusted", "cramers_v", "is_", "edge",
            "status", "sign", "verdict")  # fmt: skip
    assert [[getattr(row, name) for name in same] for row in brief] == [
        [getattr(row, name) for name in same] for row in whole
    ]
    assert any(row.edge for row in brief)


@given(st.integers(1, 24), st.integers(0, 99))
def test_two_parts_share_no_image(n: int, seed: int) -> None:
    numbers = np.arange(24, dtype=np.int16)[:, None]
    each = variables(24)
    images = CodedImages("p", each, numbers, {(0, 1): numbers[:12], (0, 2): numbers}, numbers[:20])
    first, second = split(images, n, np.random.default_rng(seed), 24)
    for one, other, size in (
        (first.initial, second.initial, 24),
        (first.arms[0, 1], second.arms[0, 1], 12),
        (first.arms[0, 2], second.arms[0, 2], 24),
        (first.controls, second.controls, 20),
    ):
        taken, left = one[:, 0].tolist(), other[:, 0].tolist()
        assert len(taken) == len({*taken}) == size * n // 24
        assert len(left) == min(len(taken), size - len(taken))
        assert not {*taken} & {*left}


def test_differences_are_counted_pair_by_pair() -> None:
    reference = claims(
        edge=np.array([True, False, True]), verdict=np.array(["towards", "undecided", "away"])
    )
    found = claims(
        sensitivity=np.array([0.15, 0.0, -0.05]),
        edge=np.array([True, True, False]),
        verdict=np.array(["away", "edge_undetermined", "undecided"]),
    )
    said = differences(found, reference)
    counted = {name: said[name] for name in ("missed", "false", "changed", "verdicts", "opposed")}
    assert counted == {"missed": 1, "false": 1, "changed": 2, "verdicts": 3, "opposed": 1}
    assert said["is_change"] == pytest.approx(0.5)
    assert said["slope"] == pytest.approx(0.5)
    assert said["rank"] == pytest.approx(1)


def test_what_is_undefined_counts_nowhere() -> None:
    nothing = claims(sensitivity=np.full(3, np.nan), verdict=np.array([""] * 3))
    said = differences(nothing, claims(edge=np.array([True, False, False])))
    assert (said["missed"], said["verdicts"]) == (1, 3)
    assert (said["is_change"], said["slope"], said["rank"]) == (None, None, None)
    level = differences(claims(), claims(sensitivity=np.zeros(3)))
    assert (level["is_change"], level["slope"]) == (None, None)
    assert spread([None, None]) == {"mean": None, "low": None, "high": None, "draws": 0}
    assert spread([1.0, None, 3.0]) == {"mean": 2, "low": 1, "high": 3, "draws": 2}
    assert spread([2.0]) == {"mean": 2, "low": None, "high": None, "draws": 1}


def test_edges_are_sorted_by_the_strength_of_the_whole_run() -> None:
    whole = claims(strength=np.array([0.7, 0.2, np.nan]), edge=np.array([True, False, False]))
    found = claims(edge=np.array([False, True, True]))
    bins = {one["v_from"]: one for one in compare([(found, whole)], whole)["by_strength"]}
    assert [one["pairs"] for one in bins.values()] == [0, 1, 0, 1]
    assert (bins[0.5]["missed"]["mean"], bins[0.5]["false"]["mean"]) == (1, 0)
    assert (bins[0.1]["missed"]["mean"], bins[0.1]["false"]["mean"]) == (0, 1)


def test_a_verdict_is_stable_from_where_it_stays() -> None:
    whole = claims(verdict=np.array(["towards", "undecided", "away"]))
    lost = claims(verdict=np.array(["undecided", "undecided", "away"]))
    apart = {
        24: [whole] * 10, 16: [whole, lost] * 5, 12: [whole] * 10, 32: [whole] * 10, 48: [lost],
    }  # fmt: skip
    towards, undecided, away = verdict_stability(whole, apart)
    assert [one["images"] for one in towards["same"]] == [12, 16, 24, 32, 48]
    assert [one["share"] for one in towards["same"]] == [1, 0.5, 1, 1, 0]
    assert (towards["stable_from"], undecided["stable_from"]) == (24, 12)
    assert verdict_stability(whole, {24: [lost] * 10})[0]["stable_from"] is None
    few = verdict_stability(whole, {24: [whole] * 9})[0]
    assert (few["same"][0]["audits"], few["stable_from"]) == (9, None)
    assert away["cramers_v"] == 0.05


def test_sizes_beyond_half_have_no_second_audit() -> None:
    work = fewer(chain(48, 1))
    calls: list[None] = []
    rows, apart = work.measure(24, lambda: calls.append(None))
    assert [row["kind"] for row in rows] == ["nested", "independent"]
    assert len(apart) == len(calls) == work.audits([24]) == 6
    rows, apart = work.measure(25, lambda: None)
    assert [row["kind"] for row in rows] == ["nested", "independent"]
    assert rows[1]["status"] == "two audits of 25 need 50 images, and the run has 48"
    assert rows[1]["changed"] == spread([])
    assert not apart


def test_too_few_images_are_null_with_a_reason() -> None:
    work = fewer(chain(48, 1))
    rows, apart = work.measure(8, lambda: pytest.fail("nothing is to be analysed"))
    assert [row["kind"] for row in rows] == ["nested", "independent"]
    for row in rows:
        assert "8 images are fewer than the 16" in row["status"]
        assert all(row[name]["mean"] is None for name in MEASURES)
    assert not apart
    assert work.audits([8]) == 0


def test_fresh_images_are_compared_with_the_runs() -> None:
    work = fewer(chain(24, 1), fresh=[chain(24, 2)])
    rows, apart = work.measure(24, lambda: None)
    assert [(row["kind"], row["draws"]) for row in rows] == [("fresh", 1), ("independent", 0)]
    assert len(apart) == 1
    other = work.auditor.claims([chain(24, 2)])
    assert rows[0]["is_change"]["mean"] == pytest.approx(
        differences(other, work.whole)["is_change"]
    )
    rows, apart = work.measure(20, lambda: None)
    assert [row["kind"] for row in rows] == ["nested", "fresh", "independent"]
    assert len(apart) == 3


def test_seeds_repeat() -> None:
    one, same, other = (
        fewer(chain(48, 1), seed=seed).measure(20, lambda: None)[0] for seed in (3, 3, 4)
    )
    assert one == same != other


def test_nested_parts_flatter() -> None:
    rows, _ = fewer(chain(48, 1), draws=10).measure(24, lambda: None)
    nested, independent = (row["is_change"]["mean"] for row in rows)
    assert nested < independent


def test_a_set_without_images_is_no_arm() -> None:
    images = CodedImages("p", variables(2, 2), codes([[20, 20], [10, 30]]), {})
    first, _ = split(images, 10, np.random.default_rng(0), 40)
    assert first.arms == {}
