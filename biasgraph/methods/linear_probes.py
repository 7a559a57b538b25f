"""Training of linear probes on activations, and how right they are about unseen prompts.

A head is a multinomial logistic regression with an L2 penalty on standardised activations (BGPS,
sec. 3 and app. A.5, for two attributes and more). Its penalty is chosen, and its probabilities are
brought to scale (temperature, Guo et al. 2017), by leaving out training prompts in turn; prompts
that were held out play no part in either.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.causal.expected_calibration import expected_calibration_error
from biasgraph.causal.intervals import wilson
from biasgraph.causal.tables import Floats
from biasgraph.causal.word_accuracy import mean_hits
from biasgraph.models.probe import Probe

if TYPE_CHECKING:
    from biasgraph.models.middle_activations import MiddleActivations

PENALTIES = (1.0, 0.1, 0.01, 0.001)
FOLDS = 3
ITERATIONS = 300
LEAST, MOST = 0.05, 20.0
"""Temperatures tried."""
Record = dict[str, Any]


@dataclass(frozen=True)
class LabelledImages:
    """The images of an axis.

    Attributes:
        attributes: The k answers.
        seen: Activations of the n images.
        labels: (n,) what each is to be taken for while training; -1 where that is not known.
        truth: (n,) what each is to be taken for while checking; -1 where that is not known.
        named: (n,) whether its prompt names the axis.
        prompts: (n,) the number of the prompt that it goes back to.
        held_out: (n,) whether that prompt is held out.
    """

    attributes: tuple[str, ...]
    seen: MiddleActivations
    labels: np.ndarray
    truth: np.ndarray
    named: np.ndarray
    prompts: np.ndarray
    held_out: np.ndarray

    @property
    def training(self) -> np.ndarray:
        """(n,) the images to train on."""
        return np.asarray(~self.held_out & (self.labels >= 0))


@dataclass(frozen=True)
class Head:
    """One step's; weight (k, d), bias (k,), mean and scale (d,)."""

    penalty: float
    temperature: float
    weight: np.ndarray
    bias: np.ndarray
    mean: np.ndarray
    scale: np.ndarray

    def logits(self, values: np.ndarray) -> np.ndarray:
        """(n, k) of (n, d)."""
        return np.asarray((values - self.mean) / self.scale @ self.weight.T + self.bias)


def train_heads(images: LabelledImages) -> Iterator[Head]:
    """A head for each step that was looked at, in their order; every attribute has an image."""
    rows = images.training
    values = images.seen.values.numpy()
    # Penalty and scale are to suit prompts that do not name the axis, where there are such images.
    counted = ~images.named[rows] if (~images.named[rows]).any() else images.named[rows]
    for place in range(len(images.seen.steps)):
        own = values[rows, place].astype(np.float64)
        yield _head(own, images.labels[rows], images.prompts[rows], counted, images.attributes)


def _head(
    values: np.ndarray,
    labels: np.ndarray,
    prompts: np.ndarray,
    counted: np.ndarray,
    attributes: Sequence[str],
) -> Head:
    k = len(attributes)
    mean, scale = values.mean(axis=0), values.std(axis=0)
    scale = np.where(scale > 1e-6 * (1 + np.abs(mean)), scale, 1.0)
    values = (values - mean) / scale
    numbers = {prompt: place for place, prompt in enumerate(np.unique(prompts).tolist())}
    folds = np.array([numbers[prompt] % FOLDS for prompt in prompts.tolist()])
    left_out = np.zeros((len(PENALTIES), len(labels), k))
    for fold in range(FOLDS):
        own = folds == fold
        found = None
        for place, penalty in enumerate(PENALTIES):
            found = fit_logistic(values[~own], labels[~own], k, penalty, found)
            left_out[place, own] = values[own] @ found[:, :-1].T + found[:, -1]
    losses = [_loss(logits[counted], labels[counted]) for logits in left_out]
    best = int(np.argmin(losses))
    temperature = _temperature(left_out[best][counted], labels[counted])
    found = fit_logistic(values, labels, k, PENALTIES[best]) / temperature
    return Head(PENALTIES[best], temperature, found[:, :-1], found[:, -1], mean, scale)


def fit_logistic(
    values: np.ndarray, labels: np.ndarray, k: int, penalty: float, start: np.ndarray | None = None
) -> np.ndarray:
    """(k, d + 1) weights and biases of a multinomial logistic regression.

    They minimise the mean cross-entropy plus penalty / 2 times the sum of squared weights.

    Args:
        values: (n, d) standardised.
        labels: (n,) from 0 to k - 1.
        k: How many classes.
        penalty: Above 0.
        start: Where to begin; zeros unless given.
    """
    from scipy.optimize import minimize

    ones = np.hstack([values, np.ones((len(values), 1))])
    wanted = np.eye(k)[labels]

    def objective(flat: Any) -> tuple[float, Floats]:
        found = flat.reshape(k, -1)
        logs = _log_softmax(ones @ found.T)
        slope = (np.exp(logs) - wanted).T @ ones / len(ones)
        slope[:, :-1] += penalty * found[:, :-1]
        loss = -(logs * wanted).sum() / len(ones) + penalty / 2 * (found[:, :-1] ** 2).sum()
        return float(loss), slope.ravel()

    first: Floats = np.zeros(k * ones.shape[1]) if start is None else start.ravel()
    made = minimize(
        objective, first, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS, "gtol": 1e-4}
    )
    return np.asarray(made.x).reshape(k, -1)


def _log_softmax(logits: np.ndarray) -> np.ndarray:
    logits = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))


def _loss(logits: np.ndarray, labels: np.ndarray) -> float:
    """The mean cross-entropy."""
    return -float(np.take_along_axis(_log_softmax(logits), labels[:, None], axis=1).mean())


def _temperature(logits: np.ndarray, labels: np.ndarray) -> float:
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda log: _loss(logits / math.exp(log), labels),
        bounds=(math.log(LEAST), math.log(MOST)),
        method="bounded",
    )
    return float(math.exp(found.x))


def probe_of(axis: str, images: LabelledImages, heads: Sequence[Head]) -> Probe:
    """The heads as a probe."""
    import torch

    parts = (
        torch.from_numpy(np.stack([getattr(head, name) for head in heads])).float()
        for name in ("weight", "bias", "mean", "scale")
    )
    return Probe(axis, images.attributes, images.seen.steps, images.seen.of, *parts)


def accuracy_by_step(
    images: LabelledImages, probe: Probe, heads: Sequence[Head], rng: np.random.Generator
) -> list[Record]:
    """For each step, in JSON types, how right the probe is about held-out prompts.

    `unnamed` is about prompts that do not name the axis, and what a search relies on; `named` about
    those that do, whose word a probe may read instead of the image.
    """
    rows = []
    for place, (step, head) in enumerate(zip(images.seen.steps, heads, strict=True)):
        found = probe.probabilities(images.seen.values[:, place], step).numpy()
        rows.append(
            {
                "step": step,
                "fraction": step / images.seen.of,
                "penalty": head.penalty,
                "temperature": head.temperature,
                "unnamed": _accuracy(images, found, ~images.named, rng),
                "named": _accuracy(images, found, images.named, rng),
            }
        )
    return rows


def _accuracy(
    images: LabelledImages, found: np.ndarray, among: np.ndarray, rng: np.random.Generator
) -> Record:
    rows = images.held_out & among & (images.truth >= 0)
    truth, found = images.truth[rows], found[rows]
    if not len(truth):
        nothing = dict.fromkeys(("accuracy", "low", "high", "ece", "largest_share"))
        reason = "no image of a held-out prompt has an answer"
        return {**nothing, "n_images": 0, "n_prompts": 0, "how": "", "reason": reason}
    right = (found.argmax(axis=1) == truth).astype(np.float64)
    mean = mean_hits(right, images.prompts[rows].tolist(), rng)
    shares = np.bincount(truth, minlength=len(images.attributes)) / len(truth)
    ends = [end for end in (mean.low, mean.high) if end is not None]
    if mean.how == "bootstrap":  # few prompts that are nearly all right hardly vary
        ends += wilson(right.sum(), len(right)).tolist()
    return {
        "accuracy": mean.value,
        "low": min(ends, default=None),
        "high": max(ends, default=None),
        "ece": expected_calibration_error(found, truth),
        "largest_share": float(shares.max()),
        "n_images": mean.pairs,
        "n_prompts": mean.prompts,
        "how": mean.how,
        "reason": mean.reason,
    }
