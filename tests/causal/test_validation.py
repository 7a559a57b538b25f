"""Correlations within prompts, with intervals over prompts."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from biasgraph.causal.mitigation_trials import Moments, Trial
from biasgraph.causal.validation import (
    ALIKE,
    FEW_PAIRS,
    FEW_PROMPTS,
    NO_CASE,
    UNREPEATED,
    correlations,
    summarize_trials,
)

MOMENTS = Moments(
    pairs=6, predicted=4.0, observed=1.0, disjoint=1.0, shared=1.6, predicted_again=2.0,
    observed_again=0.72,
)  # fmt: skip
TRIAL = Trial(
    prompt="a nurse", kind="fresh", axes=8, edges=6, along_edges=MOMENTS, along_all=MOMENTS,
    at_once=Moments(), signs=4, signs_kept=3, clear_signs=2, clear_signs_kept=2, pairs=56,
    harmed=14, harmed_clearly=7, before=2.0, after=0.4,
)  # fmt: skip


def test_the_numbers_of_one_prompt() -> None:
    found = {name: estimate.value for name, estimate in correlations(MOMENTS).items()}
    assert found == {
        "r": pytest.approx(0.5),
        "ceiling": pytest.approx(0.6),  # the root of 2 / 4 times .72 / 1
        "r_of_ceiling": pytest.approx(0.5 / 0.6),
        "slope": pytest.approx(0.5),
        "r_shared": pytest.approx(0.8),
    }


def test_one_prompt_has_numbers_and_no_intervals() -> None:
    found = summarize_trials([TRIAL], 0)
    assert (found.edges.pairs, found.edges.prompts) == (6, 1)
    assert found.edges.r_mean.value == found.edges.r.value == pytest.approx(0.5)
    assert found.signs_kept.value == pytest.approx(0.75)
    assert (found.clear_signs, found.clear_signs_kept.value) == (2, 1)
    assert (found.harmed.value, found.harmed_clearly.value) == (0.25, 0.125)
    assert (found.before, found.after) == (pytest.approx(0.25), pytest.approx(0.05))
    for estimate in (found.edges.r, found.edges.ceiling, found.signs_kept, found.harmed):
        assert (estimate.low, estimate.high, estimate.reason) == (None, None, FEW_PROMPTS)


def test_several_prompts_are_resampled() -> None:
    others = [replace(MOMENTS, disjoint=value) for value in (0.2, 0.6, 1.0, 1.4, 1.8)]
    trials = [replace(TRIAL, along_edges=one) for one in others]
    found = summarize_trials(trials, 0).edges
    assert found.r.value == found.r_mean.value == pytest.approx(0.5)
    assert found.r.low is not None and found.r.high is not None
    assert 0.1 < found.r.low < 0.4 < 0.6 < found.r.high < 0.9
    assert found.ceiling.low == found.ceiling.high == pytest.approx(0.6)
    assert summarize_trials(trials, 0).edges == found


def test_a_share_that_all_prompts_agree_on_has_no_interval_of_no_width() -> None:
    found = summarize_trials([replace(TRIAL, harmed_clearly=0)] * 6, 0)
    assert (found.harmed_clearly.value, found.harmed_clearly.low) == (0, None)
    assert found.harmed_clearly.reason == ALIKE


def test_what_is_undefined_says_why_and_is_never_nan() -> None:
    noise = replace(MOMENTS, predicted_again=-0.1)
    found = summarize_trials([replace(TRIAL, along_edges=noise, signs=0, signs_kept=0)], 0)
    assert found.edges.r.value == pytest.approx(0.5)
    assert found.edges.ceiling.reason == found.edges.slope.reason == UNREPEATED
    assert (found.signs_kept.value, found.signs_kept.reason) == (None, NO_CASE)
    few = replace(TRIAL, along_edges=Moments(), along_all=Moments(), pairs=0, harmed=0, axes=0)
    empty = summarize_trials([few] * 6, 0)
    assert (empty.edges.prompts, empty.edges.r.value, empty.edges.r.reason) == (0, None, FEW_PAIRS)
    assert (empty.before, empty.harmed.value) == (None, None)
    for one in (found, empty):
        text = json.dumps(asdict(one), allow_nan=False)
        assert "NaN" not in text


def test_a_prompt_with_too_few_edges_changes_nothing() -> None:
    trials = [TRIAL] * 3
    more = [*trials, replace(TRIAL, along_edges=Moments())]
    assert summarize_trials(more, 0).edges.r.value == summarize_trials(trials, 0).edges.r.value
    assert np.isclose(summarize_trials(more, 0).edges.r_mean.value or 0, 0.5)
