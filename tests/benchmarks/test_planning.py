"""The planning benchmark's own arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.exact import planted_truth
from benchmarks.planning import audit, planned, true_after, true_before, true_joint
from benchmarks.planning_summary import markdown, summarise
from benchmarks.resuming import measure_cases
from biasgraph.sandbox.world import AXES


def test_the_truth_of_a_direct_intervention_is_the_ideal() -> None:
    for axis in AXES:
        assert true_after("stereotyped", "nurse", axis, axis) == pytest.approx(0, abs=1e-12)


def test_the_truth_of_other_interventions_is_the_planted_one() -> None:
    truth = planted_truth("stereotyped", "nurse")
    for pair in truth.pairs:
        after = true_after("stereotyped", "nurse", pair.source, pair.target)
        before = true_before("stereotyped", "nurse", pair.target)
        assert before - after == pytest.approx(pair.sensitivity)


def test_joint_truth() -> None:
    truth = planted_truth("stereotyped", "nurse")
    single = true_joint("stereotyped", "nurse", ("gender",))
    both = true_joint("stereotyped", "nurse", ("gender", "clothing"))
    arms = [truth.arms["gender", value]["age"] for value in AXES["gender"]]
    assert single["age"] == pytest.approx(np.mean(arms, axis=0))
    assert both["age"] == pytest.approx(single["age"]), "clothing does not act on age"
    for axis in ("gender", "clothing"):
        assert both[axis] == pytest.approx(np.full(len(AXES[axis]), 1 / len(AXES[axis])))


def test_audits_are_done_once_and_summed_up(tmp_path: Path) -> None:
    path = tmp_path / "planning.jsonl"
    first = measure_cases(planned(48, 1), audit, path)
    written = path.read_bytes()
    path.write_bytes(written + b'{"audit": ["cut sh')
    assert measure_cases(planned(48, 1), audit, path) == first
    assert path.read_bytes().count(b'"null"') == 2
    summary = summarise(first)
    verdicts = summary["axes"]["all"]["verdicts"]
    assert summary["audits"] == 2
    assert sum(share["value"] for share in verdicts.values()) == pytest.approx(1)
    assert summary["axes"]["all"]["moves_away"]["value"] == 0
    text = markdown({"48": summary})
    assert "| axes with a recommendation |" in text
