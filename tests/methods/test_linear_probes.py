"""Training of probes: the regression, its penalty, and what held-out prompts may not touch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from biasgraph.causal.intervals import wilson
from biasgraph.methods.linear_probes import (
    LabelledImages,
    accuracy_by_step,
    fit_logistic,
    probe_of,
    train_heads,
)
from biasgraph.models.middle_activations import MiddleActivations

PROMPTS, EACH, D = 10, 60, 12


def images(k: int = 3, strength: float = 2.0, seed: int = 0) -> LabelledImages:
    """Classes whose means differ at the second step; a shift of its own for each prompt."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, PROMPTS * EACH)
    prompts = np.repeat(np.arange(PROMPTS), EACH)
    centres = rng.normal(size=(k, D)) * strength
    noise = rng.normal(size=(len(labels), D)) + rng.normal(size=(PROMPTS, D))[prompts]
    values = np.stack([noise, noise + centres[labels]], axis=1)
    seen = MiddleActivations(torch.from_numpy(values).float(), (0, 5), 10)
    named = np.arange(len(labels)) % 2 == 0
    attributes = tuple("abcdef"[:k])
    return LabelledImages(attributes, seen, labels, labels, named, prompts, prompts >= 7)


@pytest.mark.parametrize("k", [2, 3])
def test_the_regression_is_where_torch_finds_it(k: int) -> None:
    rng = np.random.default_rng(1)
    values, labels, penalty = rng.normal(size=(60, 4)), rng.integers(0, k, 60), 0.05
    found = fit_logistic(values, labels, k, penalty)
    weights = torch.zeros(k, 5, dtype=torch.float64, requires_grad=True)
    x, y = torch.from_numpy(values), torch.from_numpy(labels)
    solver = torch.optim.LBFGS([weights], max_iter=500, tolerance_grad=1e-10, line_search_fn=None)

    def loss() -> Any:
        solver.zero_grad()
        logits = x @ weights[:, :-1].T + weights[:, -1]
        own = torch.nn.functional.cross_entropy(logits, y)
        own = own + penalty / 2 * (weights[:, :-1] ** 2).sum()
        own.backward()
        return own

    solver.step(loss)
    expected = weights.detach().numpy()
    assert np.allclose(found[:, :-1], expected[:, :-1], atol=1e-3)
    biases = found[:, -1] - expected[:, -1]  # known up to a number that all share
    assert np.allclose(biases, biases.mean(), atol=1e-3)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_what_is_there_is_found_and_what_is_not_is_not(k: int) -> None:
    given = images(k)
    heads = list(train_heads(given))
    probe = probe_of("axis", given, heads)
    assert probe.weight.shape == (2, k, D) and probe.fractions == (0.0, 0.5)
    noise, signal = accuracy_by_step(given, probe, heads, np.random.default_rng(0))
    assert signal["unnamed"]["accuracy"] > 0.9
    assert noise["unnamed"]["accuracy"] < 1 / k + 0.15
    assert signal["unnamed"]["ece"] < 0.1
    assert (signal["step"], signal["fraction"]) == (5, 0.5)
    assert signal["unnamed"]["n_images"] + signal["named"]["n_images"] == 3 * EACH
    assert signal["unnamed"]["n_prompts"] == 3
    low, high = signal["unnamed"]["low"], signal["unnamed"]["high"]
    assert low is None or low <= signal["unnamed"]["accuracy"] <= high
    # Where nothing is to be seen, the probe is not sure of anything either.
    assert noise["unnamed"]["ece"] < 0.3


def test_an_interval_of_few_prompts_is_no_narrower_than_that_of_as_many_images() -> None:
    given = images(strength=1.5)
    heads = list(train_heads(given))
    found = accuracy_by_step(given, probe_of("x", given, heads), heads, np.random.default_rng(0))
    one = found[1]["unnamed"]
    assert one["how"] == "bootstrap" and one["accuracy"] < 1
    low, high = wilson(round(one["accuracy"] * one["n_images"]), one["n_images"]).tolist()
    assert one["low"] <= low < one["accuracy"] < high <= one["high"]
    # Where every image is right, prompts count: each may be a case of its own.
    sure = replace(given, seen=replace(given.seen, values=given.seen.values.clone()))
    sure.seen.values[:, 1, :3] += 50 * torch.eye(3)[torch.from_numpy(given.labels)]
    heads = list(train_heads(sure))
    found = accuracy_by_step(sure, probe_of("x", sure, heads), heads, np.random.default_rng(0))
    low, high = wilson(3, 3).tolist()
    assert found[1]["unnamed"]["accuracy"] == 1
    assert (found[1]["unnamed"]["low"], found[1]["unnamed"]["high"]) == pytest.approx((low, high))


def test_held_out_prompts_change_nothing_but_the_accuracy() -> None:
    given = images()
    values = given.seen.values.clone()
    values[torch.from_numpy(given.held_out)] *= -3
    wrong = np.where(given.held_out, (given.labels + 1) % 3, given.labels)
    other = replace(given, seen=replace(given.seen, values=values), labels=wrong, truth=wrong)
    for one, two in zip(train_heads(given), train_heads(other), strict=True):
        assert np.array_equal(one.weight, two.weight) and one.temperature == two.temperature
    heads = list(train_heads(other))
    found = accuracy_by_step(other, probe_of("x", other, heads), heads, np.random.default_rng(0))
    assert found[1]["unnamed"]["accuracy"] < 0.6


def test_unknown_answers_are_left_out() -> None:
    given = images()
    rng = np.random.default_rng(2)
    unknown = rng.random(len(given.labels)) < 0.3
    values = given.seen.values.clone()
    values[torch.from_numpy(unknown)] = 1e6
    labels = np.where(unknown, -1, given.labels)
    left = replace(given, seen=replace(given.seen, values=values), labels=labels, truth=labels)
    heads = list(train_heads(left))
    found = accuracy_by_step(left, probe_of("x", left, heads), heads, rng)
    assert found[1]["unnamed"]["accuracy"] > 0.9
    assert found[1]["unnamed"]["n_images"] < 1.5 * EACH


def test_nothing_held_out_to_look_at_has_a_reason() -> None:
    given = images()
    none = replace(given, truth=np.where(given.named, given.truth, -1))
    heads = list(train_heads(none))
    found = accuracy_by_step(none, probe_of("x", none, heads), heads, np.random.default_rng(0))
    assert found[1]["unnamed"]["accuracy"] is None and found[1]["unnamed"]["ece"] is None
    assert found[1]["unnamed"]["reason"] and found[1]["named"]["accuracy"] > 0.9


def test_a_channel_that_never_moves_is_no_trouble() -> None:
    given = images()
    values = given.seen.values.clone()
    values[:, :, 3] = 1000.0
    still = replace(given, seen=replace(given.seen, values=values))
    heads = list(train_heads(still))
    assert np.isfinite(heads[1].weight).all() and heads[1].scale[3] == 1
    found = accuracy_by_step(still, probe_of("x", still, heads), heads, np.random.default_rng(0))
    assert found[1]["unnamed"]["accuracy"] > 0.9
