"""The validation benchmark's own arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.exact import VARIABLES, draw_audit, planted_truth
from benchmarks.resuming import measure_cases
from benchmarks.validating import (
    IDEALS,
    NAMES,
    audit,
    models,
    planned,
    true_changes,
)
from benchmarks.validating_summary import markdown, summarise
from biasgraph.causal.mitigation_trials import Mitigation, _Scale, _whole
from biasgraph.causal.settings import AnalysisSettings


def test_the_true_changes_are_those_of_very_many_images() -> None:
    rng = np.random.default_rng(0)
    images = draw_audit("stereotyped", "nurse", 20_000, rng)
    other = draw_audit("debiased", "nurse", 20_000, rng)
    truth = true_changes("stereotyped", "nurse")
    scale = _Scale.of(images, IDEALS, AnalysisSettings.resolve())
    for mitigation in (
        Mitigation("fresh", arms=images.arms),
        Mitigation("reweighted"),
        Mitigation("other_model", plain=other.initial),
    ):
        predicted, change = scale.both(images, mitigation, _whole)
        assert predicted[0] == pytest.approx(truth["predicted"], abs=0.02)
        # An attribute that one image in 300 shows is weighed from few of them.
        assert change[0] == pytest.approx(truth[mitigation.kind], abs=0.06)
        assert np.abs(change[0] - truth[mitigation.kind]).mean() < 0.01


def test_what_is_predicted_is_the_planted_sensitivity() -> None:
    truth = true_changes("debiased", "farmer")["predicted"]
    for pair in planted_truth("debiased", "farmer").pairs:
        x, y = NAMES.index(pair.source), NAMES.index(pair.target)
        assert truth[x, y] == pytest.approx(pair.sensitivity)


def test_a_model_that_changes_one_axis_is_foreseen_best() -> None:
    found = {title: one["r"] for title, one in models().items()}
    pairs, edges, alone, both, dropped, at_once, at_once_dropped = found.values()
    assert edges > 0.95 > 0.7 > pairs > 0.6
    assert alone > 0.95 > at_once > at_once_dropped > both > dropped > 0


def test_audits_are_done_once_and_summed_up(tmp_path: Path) -> None:
    path = tmp_path / "validating.jsonl"
    first = measure_cases(planned(48, 1), audit, path)
    assert measure_cases(planned(48, 1), audit, path) == first
    assert [record["audit"][0] for record in first] == ["stereotyped", "debiased"]
    assert [len(record["trials"]) for record in first] == [3, 2]
    summary = summarise(first)
    assert summary["audits"] == 2
    assert summary["kinds"]["fresh"]["pairs"] == 2 * len(VARIABLES) * (len(VARIABLES) - 1)
    assert summary["kinds"]["fresh"]["r_without_noise"]["value"] == pytest.approx(1)
    idle = summary["no_effect"]["all_pairs"]
    assert idle["r_shared"]["value"] > 0.4 > abs(idle["r"]["value"])
    text = markdown({"48": summary}, models())
    assert "| n = 48 | fresh prompts | reweighting | other model |" in text
    assert "None" not in text
    assert "nan" not in text
