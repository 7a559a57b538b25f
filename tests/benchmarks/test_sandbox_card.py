"""The card's figures for audits of a generator and a judge that make no mistake."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.exact import draw_audit
from benchmarks.sandbox_card import distances, judge_accuracy, obedience
from biasgraph.sandbox.world import AXES


def test_an_exact_generator_obeys_and_is_as_far_from_planted_as_noise() -> None:
    rng = np.random.default_rng(0)
    audits = {job: draw_audit("debiased", job, 60, rng) for job in ("librarian", "mechanic")}
    obeyed = obedience(list(audits.values()))
    assert set(obeyed) == set(AXES)
    assert {share["value"] for share in obeyed.values()} == {1.0}
    far = distances("debiased", audits)
    for kind in ("plain prompts", "counterfactuals"):
        assert far[kind]["value"] == pytest.approx(far[f"{kind}, noise alone"]["value"], rel=0.35)


def test_the_shipped_judges_read_drawings() -> None:
    accuracy = judge_accuracy("sandbox:judge2", 30)
    assert set(accuracy) == set(AXES)
    assert min(share["value"] for share in accuracy.values()) > 0.9
