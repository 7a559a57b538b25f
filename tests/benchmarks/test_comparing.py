"""The script that counts false changes: its plan, resuming, and what the summary counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.comparing import PAIRS, Case, compared, markdown, planned, summarise, true_changes
from benchmarks.exact import planted_truth
from benchmarks.resuming import measure_cases
from benchmarks.shares import wilson

ONE = (("librarian",), ("librarian",))
SAME = Case(("stereotyped", "stereotyped"), (20, 20), ONE, 0)
OTHER = Case(("debiased", "stereotyped"), (20, 20), ONE, 0)


def record(case: Case, **given: Any) -> dict[str, Any]:
    """A comparison that estimates every change rightly and calls none of them one."""
    true = true_changes(case)
    pairs = [
        [given.get("p", 0.5), given.get("p_adjusted", 0.9), d, d - 0.01, d + 0.01]
        for d in true["pairs"]
    ]
    growths = [[d, d - 0.01, d + 0.01] for d in true["distances"]]
    return {
        "audit": case.name(),
        "kind": case.kind,
        "pairs": pairs,
        "distances": growths,
        "amplification": [0.0, given.get("low", -0.1), 0.1],
        "true": true,
    }


def test_cases_are_done_once_and_summed_up(tmp_path: Path) -> None:
    path = tmp_path / "comparing.jsonl"
    first = measure_cases([SAME], compared, path)
    with path.open("a") as file:
        file.write('{"audit": ["cut sh')
    both = measure_cases([SAME, OTHER], compared, path)
    assert both[0] == first[0]
    lines = path.read_text()
    assert measure_cases([SAME, OTHER], compared, path) == both
    assert path.read_text() == lines
    summary = summarise(both)
    json.dumps(summary, allow_nan=False)
    assert list(summary) == [
        "the same world, 1 prompt, 20 images",
        "the two worlds, 1 prompt, 20 images",
    ]
    assert "the same world, 1 prompt, 20 images | 1 |" in markdown(summary)


def test_the_plan_has_400_comparisons_of_single_prompts_of_one_world() -> None:
    cases = planned(200)
    kinds = [case.kind for case in cases]
    assert kinds.count("the same world, 1 prompt, 48 images") == 400
    assert kinds.count("the same world, 3 prompts, 48 images") == 200
    assert len({json.dumps(case.name()) for case in cases}) == len(cases)
    for case in cases:
        if case.kind.startswith("two occupations"):
            assert case.occupations[0] != case.occupations[1]


def test_the_true_change_is_that_of_the_enumerated_worlds() -> None:
    assert set(true_changes(SAME)["pairs"]) == {0.0}
    true = true_changes(OTHER)
    old = {(p.source, p.target): p for p in planted_truth("debiased", "librarian").pairs}
    new = {(p.source, p.target): p for p in planted_truth("stereotyped", "librarian").pairs}
    expected = [new[pair].sensitivity - old[pair].sensitivity for pair in old]
    assert sorted(true["pairs"]) == pytest.approx(sorted(expected))
    none = [not (old[pair].cramers_v or new[pair].cramers_v) for pair in old]
    assert sum(true["no_effect"]) == sum(none)
    assert len(PAIRS) == 56


def test_rates_are_counted() -> None:
    quiet = summarise([record(SAME), record(SAME, p_adjusted=0.01, low=0.01)])
    [found] = quiet.values()
    assert found["any_changed"] == wilson(1, 2)
    assert found["amplification_above_0"] == wilson(1, 2)
    assert found["interval_holds"]["value"] == 1
    assert found["worse_above_0"]["value"] == 0
    [found] = summarise([record(OTHER, p_adjusted=0.01)]).values()
    assert "worse_above_0" not in found
    sizes = found["changed_by_true_size"]
    assert sum(one["n"] for one in sizes.values()) == 56
    assert {one["value"] for one in sizes.values()} <= {1.0, None}
    assert found["worse_by_true_growth"]["0.05 to 0.1"]["value"] in (1.0, None)
