"""The calibration script: audits, resuming, and what the summary counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import calibration, calibration_summary
from benchmarks.calibration import FIELDS, Audit, audit, planned
from benchmarks.calibration_summary import correlations, markdown, summarise
from benchmarks.exact import (
    AXIS_SET,
    chain_residual,
    cut_audit,
    draw_audit,
    measured_truth,
    mediation_kind,
    planted_truth,
    sensitivities,
)
from benchmarks.resuming import measure_cases
from benchmarks.shares import clustered, mean, number, shown, wilson


def _record(world: str = "stereotyped", replicate: int = 0, **given: Any) -> dict[str, Any]:
    """An audit that finds no edge."""
    truth = planted_truth(world, "librarian")
    pairs = []
    for pair in truth.pairs:
        told = {"p": 0.5, "p_adjusted": 0.9, "status": "ok"} | given
        pairs.append([pair.source, pair.target, *(told[name] for name in FIELDS)])
    return {"audit": [world, "librarian", replicate], "pairs": pairs, "mediation": []}


def test_two_audits_are_done_once_and_summed_up(tmp_path: Path) -> None:
    path = tmp_path / "audits.jsonl"
    audits = [Audit("stereotyped", "librarian", 0, 20), Audit("debiased", "nurse", 0, 20)]
    first = measure_cases(audits[:1], audit, path)
    with path.open("a") as file:
        file.write('{"audit": ["debiased", "nur')  # cut short
    both = measure_cases(audits, audit, path)
    assert both[0] == first[0]
    assert [record["audit"] for record in both] == [
        ["stereotyped", "librarian", 0],
        ["debiased", "nurse", 0],
    ]
    lines = path.read_text()
    assert measure_cases(audits, audit, path) == both
    assert path.read_text() == lines
    summary = summarise(both, 20)
    json.dumps(summary, allow_nan=False)
    assert "2 audits, 20 images a prompt" in markdown(summary)


def test_an_audit_depends_on_its_own_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(calibration, "analyze", lambda images, _: seen.append(images) or _Nothing)
    for one in (Audit("debiased", "chef", 3, 10), Audit("debiased", "chef", 4, 10)) * 2:
        calibration.audit(one)
    assert np.array_equal(seen[0].initial, seen[2].initial)
    assert not np.array_equal(seen[0].initial, seen[1].initial)


class _Nothing:
    pairs: tuple[Any, ...] = ()
    links: tuple[Any, ...] = ()


def test_the_plan_covers_every_occupation_of_both_worlds() -> None:
    plan = planned(20, 48)
    assert len(plan) == 1040
    assert len({(one.world, one.occupation, one.replicate) for one in plan}) == 1040


def test_edges_everywhere_are_false_where_nothing_was_planted() -> None:
    found = summarise([_record(p=1e-5, p_adjusted=1e-4)], 48)
    truth = planted_truth("stereotyped", "librarian")
    independent = sum(pair.cramers_v == 0 for pair in truth.pairs)
    strong = sum((pair.cramers_v or 0) >= 0.3 for pair in truth.pairs)
    rule = found["edges"]["alpha 1e-4"]
    assert rule["per_independent_pair"] == wilson(independent, independent)
    assert rule["any_in_an_audit"]["value"] == 1
    assert rule["false_discovery_rate"]["value"] == pytest.approx(independent / 56)
    assert rule["recall"]["0.3"]["value"] == 1
    assert rule["precision"]["0.3"]["value"] == pytest.approx(strong / 56)
    assert found["independent"]["0.0001"]["value"] == 1
    nothing = summarise([_record()], 48)["edges"]["BH q .05"]
    assert nothing["edges_per_audit"]["value"] == 0
    assert nothing["false_discovery_rate"]["value"] == 0
    assert nothing["precision"]["0.1"]["value"] is None


def test_a_pair_without_enough_answers_is_no_edge() -> None:
    found = summarise([_record(p=1e-5, status="insufficient")], 48)
    assert found["edges"]["alpha 1e-4"]["edges_per_audit"]["value"] == 0


@pytest.mark.parametrize(
    ("world", "x", "z", "y", "kind"),
    [
        ("stereotyped", "gender", "age", "disability", "clean"),
        ("debiased", "age", "disability", "environment", "clean"),
        ("stereotyped", "age", "disability", "environment", "other"),  # age -> bodytype -> ...
        ("stereotyped", "bodytype", "clothing", "emotion", "confounded"),  # by ethnicity
        ("debiased", "disability", "clothing", "emotion", "clean"),
        ("stereotyped", "ethnicity", "gender", "clothing", "direct"),
        ("stereotyped", "clothing", "emotion", "gender", "none"),
    ],
)
def test_mediation_is_read_off_the_links(world: str, x: str, z: str, y: str, kind: str) -> None:
    assert mediation_kind(world, x, z, y) == kind


def test_a_clean_chain_has_no_residual_and_a_direct_link_has() -> None:
    clean = chain_residual("debiased", "librarian", "age", "disability", "environment")
    assert mediation_kind("debiased", "age", "disability", "environment") == "clean"
    assert clean == pytest.approx(0, abs=1e-12)
    assert chain_residual("stereotyped", "nurse", "gender", "age", "bodytype") > 0.02


def test_exact_draws_come_back_as_the_truth() -> None:
    images = draw_audit("stereotyped", "librarian", 4000, np.random.default_rng(1))
    found = sensitivities(measured_truth(images))
    true = sensitivities(planted_truth("stereotyped", "librarian"))
    assert np.abs(found - true).max() < 0.05
    assert np.corrcoef(found, true)[0, 1] > 0.95
    names = [axis.name for axis in AXIS_SET.axes]
    shares = planted_truth("stereotyped", "librarian").initial["gender"]
    assert (images.initial[:, names.index("gender")] == 1).mean() == pytest.approx(
        shares[1], abs=0.03
    )
    half = cut_audit(images, np.tile(np.arange(2000), (27, 1)))
    assert {len(codes) for codes in (half.initial, *half.arms.values())} == {2000}


def test_correlations_stand_beside_their_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration_summary, "OCCUPATIONS", ("librarian", "nurse"))
    found = correlations(replicates=1, sizes=(100,))
    assert set(found) == {"stereotyped 100", "debiased 100"}
    assert found["stereotyped 100"]["truth"]["n"] == 4
    assert found["stereotyped 100"]["truth"]["value"] > 0.3


def test_shares_and_their_intervals() -> None:
    share = wilson(9, 10)
    assert (share["value"], round(share["low"], 3), round(share["high"], 3)) == (0.9, 0.596, 0.982)
    assert wilson(0, 0)["value"] is None
    grouped = clustered([10, 0, 10, 0], [10, 10, 10, 10])
    assert grouped["high"] - grouped["low"] > wilson(20, 40)["high"] - wilson(20, 40)["low"]
    assert clustered([3, 3], [3, 3]) == wilson(6, 6)
    assert mean([1.0, 1.0, None])["n"] == 2
    assert mean([])["value"] is None


def test_numbers_are_written_the_statistician_s_way() -> None:
    assert shown(wilson(9, 10), 2) == ".90 [.60, .98]"
    assert shown(wilson(0, 0)) == "-"
    assert [number(one) for one in (0.99999, -0.25, 10.5, 8e-5, 0.0, None)] == [
        "1.000",
        "-.250",
        "10.500",
        "8.0e-05",
        ".000",
        "-",
    ]
