"""The validity script: its worlds' truth, and what its table counts as false."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.exact import planted_truth
from benchmarks.validity import PART, Part, World, measure, regular, truth
from benchmarks.validity_design import ROWS, Row, mirrored, skewed, uniform
from benchmarks.validity_summary import COLUMNS, Found, limits, markdown

PAIRS = {"axis 0": 2, "axis 2": 3, "axis 4": 6}


def test_the_design_has_at_most_sixty_rows_of_different_names() -> None:
    assert len({(row.name, row.images) for row in ROWS}) == len(ROWS) <= 60


@pytest.mark.parametrize("target", PAIRS)
def test_truth_of_a_world_by_hand(target: str) -> None:
    k = PAIRS[target]
    moved = Row("", 48, skewed(0.2), skewed(0.5))
    is_, shift, v = truth(World(moved, 0), "axis 1", target)
    goal = 1 / k
    before, after = 0.8 - goal, abs(0.5 - goal)
    assert (is_, shift, v) == pytest.approx((before - after, 0.3, 0.0))
    mirror = Row("", 48, skewed(0.3), mirrored(0.3))
    is_, shift, _ = truth(World(mirror, 0), "axis 1", target)
    assert is_ == pytest.approx(0, abs=1e-12)
    assert shift > 0.1


def test_one_arm_apart_has_no_mean_effect_but_a_strength() -> None:
    row = Row("", 48, skewed(0.03), odd=(1.0, None))
    is_, shift, v = truth(World(row, 0), "axis 4", "axis 0")
    assert (is_, shift) == pytest.approx((0, 0), abs=1e-12)
    phi = ((1 - 0.97) ** 2 * 5 + (0.82 - 0.97) ** 2) / 6
    assert v == pytest.approx(np.sqrt(phi / 0.97 + phi / 0.03))


def test_regular_pairs_are_far_from_edges_and_the_ideal() -> None:
    def among(row: Row) -> bool:
        return regular(World(row, 0), "axis 1", "axis 0")

    assert among(Row("", 48, skewed(0.2)))
    assert not among(Row("", 16, skewed(0.2)))
    assert not among(Row("", 48, skewed(0.05)))
    assert not among(Row("", 48, skewed(0.2), uniform))


def test_the_sandbox_row_takes_its_truth_from_the_planted_one() -> None:
    row = next(row for row in ROWS if row.sandbox)
    world = World(row, 30)
    name, occupation = world.place
    assert name == "debiased"
    pair = planted_truth(name, occupation).by_name["gender", "age"]
    is_, _, v = truth(world, "gender", "age")
    assert is_ == pytest.approx(pair.sensitivity, abs=1e-9)
    assert v == pytest.approx(pair.cramers_v or 0, abs=1e-9)


@pytest.mark.parametrize("name", ["no effect, 30.0% rare", "no effect, reference of 48: 97%"])
def test_a_part_is_measured_and_told(name: str) -> None:
    place = next(i for i, row in enumerate(ROWS) if (row.name, row.images) == (name, 48))
    record = measure(Part(place, 0))
    assert len(record["pairs"]) == PART * 30
    assert all(len(pair) == len(COLUMNS) for pair in record["pairs"])
    assert measure(Part(place, 0)) == record
    assert f"| {name} | 48 | {PART * 30} |" in markdown([record])


def _found(row: Row, **given: Any) -> Found:
    """100 audits of one pair without effect, told nothing, but for what is given."""
    usual: dict[str, Any] = {
        "k": 2, "arms": 2, "regular": 1, "is": 0.0, "moved": 0.0, "v": 0.0, "alone": 0, "both": 0,
        "told": 0, "verdict": "undecided", "low": -0.1, "high": 0.1, "matched": 0.0,
        "matched_low": -0.1, "matched_high": 0.1,
    }  # fmt: skip
    pairs = [
        [{"audit": audit, **usual, **{key: of(audit) for key, of in given.items()}}[c]
         for c in COLUMNS]
        for audit in range(100)
    ]  # fmt: skip
    return Found.of(row, [{"pairs": pairs, "nodes": [[2, 1, 0]] * 100}])


def test_what_fails_is_named() -> None:
    row = Row("", 48, skewed(0.2))

    def faults(row: Row = row, **given: Any) -> list[str]:
        return list(_found(row, **given).faults())

    covered = {"low": lambda a: -0.1 if a % 20 else 0.05}
    assert faults(**covered) == []
    assert faults(both=lambda a: 1, **covered) == ["towards without effect 1.0000"]
    assert faults(both=lambda a: -1, **covered) == ["away without effect 1.0000"]
    assert faults(low=lambda a: -0.1 if a % 5 else 0.05)[0].startswith("coverage of IS at k = 2")
    assert faults() == ["coverage of IS where it is regular: 1.0000"]
    shift = faults(verdict=lambda a: "common_shift", **covered)
    assert shift == ["audits with a false common_shift: 1.0000"]
    known = Row("", 48, skewed(0.2), reference=48)
    assert faults(known, **covered) == ["not near its own reference: 1.0000"]


def test_exact_limits() -> None:
    assert limits(0, 100) == pytest.approx((0, 0.0362), abs=1e-4)
    assert limits(100, 100) == pytest.approx((0.9638, 1), abs=1e-4)
