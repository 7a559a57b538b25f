"""Sums of |IS| across audits, by direct recomputation and at common sizes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from biasgraph.causal.graph import analyze
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.strengths import Strengths
from biasgraph.causal.tables import CodedImages, Pool
from biasgraph.causal.transport import resolve_ideals
from tests.causal.worlds import audit, independent

ALL = list(itertools.permutations(range(3), 2))


def strengths(*audits: CodedImages, pairs: Any = ALL) -> Any:
    settings = AnalysisSettings.resolve()
    ideals = resolve_ideals(audits[0].variables, None, None, None)
    pools = [Pool.of("test", [one]) for one in audits]
    return Strengths(pools, ideals, pairs, settings, replicates=300, noise_draws=100).fields()


def test_strengths_are_sums_of_absolute_sensitivities() -> None:
    audits = independent((2, 3, 2), seed=1), independent((2, 3, 2), seed=2)
    axes, totals = strengths(*audits)
    for run, images in enumerate(audits):
        found = analyze(images, AnalysisSettings.resolve(bootstrap=100))
        sizes = {(p.source, p.target): abs(p.is_) for p in found.pairs if p.source != p.target}
        for axis, name in enumerate("abc"):
            incoming = sum(size for (_, y), size in sizes.items() if y == name)
            outgoing = sum(size for (x, _), size in sizes.items() if x == name)
            assert axes[axis][run]["in"]["value"] == pytest.approx(incoming)
            assert axes[axis][run]["out"]["value"] == pytest.approx(outgoing)
        total = totals[run]
        assert total["value"] == pytest.approx(found.graph["amplification"]["value"])
        floor = found.graph["amplification"]["noise_floor"]
        assert total["floor"]["mean"] == pytest.approx(floor["mean"], rel=0.15)
    assert totals[0]["growth"] is None
    assert totals[1]["growth"] == pytest.approx(totals[1]["value"] - totals[0]["value"])


def test_probabilities_of_being_first_sum_to_one() -> None:
    axes, totals = strengths(*(independent((2, 3, 2), seed=seed) for seed in range(3)))
    for run in range(3):
        for end in ("in", "out"):
            assert sum(axis[run][end]["first_of_axes"] for axis in axes) == pytest.approx(1)
    for axis in axes:
        for end in ("in", "out"):
            assert sum(one[end]["lowest_of_runs"] for one in axis) == pytest.approx(1)
    assert sum(one["lowest_of_runs"] for one in totals) == pytest.approx(1)


def test_an_audit_of_ten_times_the_images_has_no_smaller_sum_for_that() -> None:
    small, large = independent((2, 4, 3), n=40, seed=5), independent((2, 4, 3), n=400, seed=5)
    _, together = strengths(small, large)
    _, alone = strengths(large)
    assert together[1]["at_common_size"]
    assert not alone[0]["at_common_size"]
    # Without any effect every |IS| is noise, and there is more of it with fewer images.
    assert together[1]["value"] > 1.4 * alone[0]["value"]
    assert together[1]["floor"]["mean"] > 2 * alone[0]["floor"]["mean"]
    low, high = together[1]["growth_ci"]
    assert low <= together[1]["growth"] <= high


def test_pairs_that_are_not_defined_do_not_count() -> None:
    one = independent((2, 3, 2))
    axes, [total] = strengths(one, pairs=[(0, 1)])
    assert total["value"] == pytest.approx(axes[0][0]["out"]["value"])
    assert axes[2][0]["in"]["value"] is None
    assert axes[1][0]["out"]["above_floor"] is None
    axes, [total, _] = strengths(one, one, pairs=[])
    assert total["value"] is None
    assert total["growth_ci"] is None
    assert axes[0][0]["in"]["first_of_axes"] is None


def test_a_prompt_without_images_of_a_set_adds_nothing() -> None:
    one = independent((2, 3, 2))
    empty = audit(one.initial[:0], {(0, 0): one.arms[0, 0]}, one.variables, prompt="a nurse")
    settings = AnalysisSettings.resolve()
    ideals = resolve_ideals(one.variables, None, None, None)
    pools = [Pool.of("test", [one, empty])] * 2
    _, totals = Strengths(pools, ideals, [(1, 2)], settings, 50, 50).fields()
    _, [alone] = strengths(one, pairs=[(1, 2)])
    assert totals[0]["value"] == pytest.approx(alone["value"])
