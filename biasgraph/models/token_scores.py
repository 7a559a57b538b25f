"""How much a judge's answer about an image owes to each token of its prompt (GradBias, eqs. 7-8).

The loss is the cross-entropy of the judge's answer about the clean image that a step predicts,
against its likeliest answer about the final image; its gradient is taken to the embedding of each
token, as a text encoder gives it.  Equation 8 leaves open what the absolute value of a vector is:
`SCORES` are the readings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from biasgraph.models.base import DifferentiableJudge, Question
from biasgraph.models.prompt_trace import EncodedPrompt, PromptTrace
from biasgraph.models.token_spans import Span

RELEASED = "released"
SCORES: Mapping[str, str] = {
    "l1": "the sum of absolute partial derivatives",
    "l2": "the length of the gradient",
    "input-times-gradient": "the absolute value of gradient times embedding",
    RELEASED: "the absolute value of the mean partial derivative, of the next noisy latents",
}
"""Readings of eq. 8. `released` is what the authors' code does, as far as it is known: signs cancel
in the mean, the noisy latents are decoded, and the softmax is taken twice."""

_TINY = 1e-300
"""In the place of 1 - p where p is 1, and the gradient 0."""

LIKELIEST, RANDOM = "likeliest", "random"
"""The answer that the loss is about: the judge's own about the final image, or one drawn evenly."""


_Sums = dict[str, dict[str, np.ndarray]]
"""Reading -> text encoder -> one a token."""


@dataclass(frozen=True)
class TokenScores:
    """One image and one axis.

    Attributes:
        spans: By text encoder, the characters of the prompt behind each token.
        scores: By reading of eq. 8 and by text encoder, one a token, the mean over the examined
            steps. An encoder whose tokens reach the image only through a vector of the whole
            prompt is left out.
    """

    spans: Mapping[str, tuple[Span, ...]]
    scores: Mapping[str, Mapping[str, tuple[float, ...]]]

    @classmethod
    def of_sums(cls, encodings: Sequence[EncodedPrompt], sums: _Sums) -> TokenScores:
        """What the examined steps come to, of an image's prompt as its encoders read it."""
        scores = {
            reading: {name: tuple(values.tolist()) for name, values in own.items()}
            for reading, own in sums.items()
        }
        return cls({one.encoder: one.spans for one in encodings}, scores)

    def record(self) -> dict[str, Any]:
        """In JSON types."""
        return {"spans": self.spans, "scores": self.scores}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> TokenScores:
        """What `record` gave, read back from JSON."""
        spans = {
            name: tuple((start, end) for start, end in own) for name, own in record["spans"].items()
        }
        scores = {
            reading: {name: tuple(values) for name, values in own.items()}
            for reading, own in record["scores"].items()
        }
        return cls(spans, scores)


def examined_steps(steps: int, every: int) -> list[int]:
    """Every `every`-th of the steps, the last one of each stretch; the last one at least."""
    return list(range(min(every, steps) - 1, steps, every))


def score_tokens(
    trace: PromptTrace,
    judge: DifferentiableJudge,
    axes: Mapping[str, Sequence[Question]],
    *,
    every: int = 1,
    released: bool = False,
) -> list[dict[str, dict[str, TokenScores]]]:
    """Scores of the tokens of each image's prompt.

    Args:
        trace: The images.
        judge: Answers.
        axes: By axis, its questions; the losses of several are summed.
        every: Examine every N-th step.
        released: Decode noisy latents and take the softmax twice, for the reading `released`;
            all other readings else.

    Returns:
        For each image, by axis, by `LIKELIEST` and `RANDOM`.
    """
    import torch

    with torch.no_grad():
        final = _answers(judge, axes, trace.images)
    wanted = {LIKELIEST: _likeliest(final), RANDOM: _draw(final, trace.seeds)}
    # Of two choices the one's gradient is a multiple of the other's: no second way back is needed.
    twofold = [axis for axis in axes if not released and _is_twofold(final[axis])]
    keys = [
        (axis, kind) for axis in axes for kind in wanted if not (kind == RANDOM and axis in twofold)
    ]
    encodings = trace.encodings
    steps = examined_steps(trace.steps, every)
    readings = [RELEASED] if released else [reading for reading in SCORES if reading != RELEASED]
    sums: dict[tuple[int, str, str], _Sums] = {}
    for step in steps:
        images = trace.predict(step, noisy=released)
        logs = _answers(judge, axes, images)
        losses = [_loss(logs[axis], wanted[kind][axis], twice=released) for axis, kind in keys]
        for (axis, kind), rows in zip(keys, trace.gradients(losses), strict=True):
            times = {kind: [1 / len(steps)] * len(rows)}
            if axis in twofold:
                multiples = _multiples(logs[axis][0], wanted[LIKELIEST][axis], wanted[RANDOM][axis])
                times[RANDOM] = [one / len(steps) for one in multiples]
            for place, (pairs, own) in enumerate(zip(rows, encodings, strict=True)):
                for about, factors in times.items():
                    one = sums.setdefault((place, axis, about), {})
                    _add(one, pairs, own, readings, factors[place])
    return [
        {
            axis: {kind: TokenScores.of_sums(own, sums[place, axis, kind]) for kind in wanted}
            for axis in axes
        }
        for place, own in enumerate(encodings)
    ]


def _answers(
    judge: DifferentiableJudge, axes: Mapping[str, Sequence[Question]], images: Any
) -> dict[str, list[Any]]:
    """By axis, for each of its questions (n, choices) log-probabilities."""
    logs = iter(judge.log_probabilities(images, [one for own in axes.values() for one in own]))
    return {axis: [next(logs) for _ in own] for axis, own in axes.items()}


def _likeliest(final: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    return {axis: [logs.argmax(dim=1) for logs in own] for axis, own in final.items()}


def _draw(final: Mapping[str, Sequence[Any]], seeds: Sequence[int]) -> dict[str, list[Any]]:
    """Choices drawn evenly, for each image by its own seed."""
    import torch

    def draw(axis: str, place: int, choices: int) -> Any:
        names = [f"{seed}\n{axis}\n{place}" for seed in seeds]
        return torch.tensor([Random(name).randrange(choices) for name in names])

    return {
        axis: [draw(axis, place, logs.shape[1]).to(logs.device) for place, logs in enumerate(own)]
        for axis, own in final.items()
    }


def _loss(logs: Sequence[Any], wanted: Sequence[Any], *, twice: bool) -> Any:
    """(n,) cross-entropies, summed over an axis's questions (eq. 7)."""
    import torch

    total: Any = 0
    for own, choice in zip(logs, wanted, strict=True):
        own = torch.log_softmax(own.exp(), dim=1) if twice else own
        total = total - own.gather(1, choice[:, None])[:, 0]
    return total


def _is_twofold(own: Sequence[Any]) -> bool:
    return [logs.shape[1] for logs in own] == [2]


def _multiples(logs: Any, one: Sequence[Any], other: Sequence[Any]) -> list[float]:
    """How much longer the gradient of an answer of two is than that of the other, for each image.

    That of the cross-entropy to the score of an answer with probability p is 1 - p.
    """
    shares = logs.detach().exp()
    left = [1 - shares.gather(1, choice[0][:, None])[:, 0] for choice in (one, other)]
    return [float(b) / max(float(a), _TINY) for a, b in zip(*left, strict=True)]


def _add(
    sums: _Sums,
    pairs: Sequence[Any],
    encodings: Sequence[EncodedPrompt],
    readings: Sequence[str],
    factor: float,
) -> None:
    """Add one step's part of the mean of one image and loss."""
    for reading in readings:
        own = sums.setdefault(reading, {})
        for pair, encoded in zip(pairs, encodings, strict=True):
            if pair is not None:
                values = _REDUCE[reading](*pair).double().cpu().numpy() * factor
                own[encoded.encoder] = own.get(encoded.encoder, 0) + values


_REDUCE: Mapping[str, Callable[[Any, Any], Any]] = {
    "l1": lambda gradient, _: gradient.abs().sum(dim=1),
    "l2": lambda gradient, _: gradient.norm(dim=1),
    "input-times-gradient": lambda gradient, embedding: (gradient * embedding).sum(dim=1).abs(),
    RELEASED: lambda gradient, _: gradient.mean(dim=1).abs(),
}
