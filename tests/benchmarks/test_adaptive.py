"""The worlds of stopping early are what they say, and the tables count what was claimed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.adaptive import Claims, Occupation, Strength, measure
from benchmarks.adaptive_summary import markdown
from benchmarks.adaptive_worlds import SIZES, WORLDS, World
from benchmarks.resuming import measure_cases
from biasgraph.sandbox.planted_truth import population_v


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_worlds_have_the_v_and_is_that_they_say(world: World) -> None:
    for k in SIZES:
        for count in SIZES:
            arms = world.arms(k, count)
            assert arms.sum(axis=1) == pytest.approx(1) and arms.min() >= 0
            assert arms.mean(axis=0) == pytest.approx(world.mixture(k))
            assert population_v(arms) == pytest.approx(world.v, abs=1e-9)
        before, after = (np.abs(p - 1 / k).sum() / 2 for p in (world.before(k), world.mixture(k)))
        assert before - after == pytest.approx(world.is_)


def test_what_is_out_of_reach_is_refused() -> None:
    with pytest.raises(ValueError, match="out of reach for 6 x 6"):
        replace(WORLDS[4], v=0.9).arms(6, 6)


def test_tables_follow_from_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.adaptive.PART", 1)
    monkeypatch.setattr("benchmarks.adaptive.MOST", 24)
    monkeypatch.setattr("benchmarks.adaptive.LOOKS", (24,))
    cases = [Claims(0, 0), Strength(5, 0), Occupation("stereotyped", "librarian", "edges")]
    records = measure_cases(cases, measure, tmp_path / "adaptive.jsonl")
    text = markdown(records)
    assert "| no effect, 30% rare | 1 |" in text and "| both | edges | 1 | 648 | 1.00 |" in text
    assert text.count("| 24 [24, 24] |") >= 1
    assert measure_cases(cases, measure, tmp_path / "adaptive.jsonl") == records
