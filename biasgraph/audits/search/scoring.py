"""How probable an image model makes an attribute, before an image is there (BGPS, eq. 4).

Three ways, which differ in what they cost. ``full`` denoises each candidate's latents to the step
that is looked at, as Algorithm 1 prints. ``shared`` denoises them once, with a neutral prompt, and
gives each candidate one pass a latent, as the authors' code does. ``race`` does so, too, but latent
by latent, and gives no more passes to candidates that can no longer be among the best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from biasgraph.models.base import ObservableGenerator
    from biasgraph.models.probe import Probe
    from biasgraph.models.shared_latents import Condition, SharedLatents

Numbers = np.ndarray

FLOOR = 1e-12
"""The least mean probability, so that its logarithm is finite."""
GIVEN_UP = 2.0
"""Standard errors by which a candidate must fall short before it is given up."""
GROWTH = 1.6
"""By how much the latents that were looked at grow from one round of a race to the next."""
LEAST = 2
"""Latents of the first round."""
BORROWED = 4.0
"""Degrees of freedom that a candidate's spread borrows from that of all."""


@dataclass(frozen=True)
class Target:
    """An attribute that is wanted; place: its number in the axis."""

    axis: str
    attribute: str
    place: int
    probe: Probe


@dataclass
class BiasScores:
    """J of texts, for one search; nothing is looked at twice.

    Attributes:
        targets: What the images are to show, all of it.
        look: (n, targets) probabilities for pairs of a text and the number of a latent.
        latents: K.
        weight: lambda.
        race: Whether hopeless candidates get no more passes.
    """

    targets: int
    look: Callable[[Sequence[tuple[str, int]]], Numbers]
    latents: int
    weight: float
    race: bool
    _known: dict[str, Numbers] = field(default_factory=dict)

    def scores(self, texts: Sequence[str], logs: Numbers, keep: int) -> Numbers:
        """(n,) J of texts, -inf of those that were given up."""
        if not self.weight:
            return logs
        if not self.race:
            return self.final(texts, logs)
        alive = np.arange(len(texts))
        seen = 0
        while len(alive) > keep and seen < self.latents:
            seen = min(self.latents, max(LEAST, int(np.ceil(seen * GROWTH))))
            own = [texts[place] for place in alive.tolist()]
            self._measure(own, seen)
            shown = self._score_shown(own, seen)
            alive = alive[self._hopeful(shown, logs[alive], keep)]
        return self._of(texts, logs, alive)

    def final(self, texts: Sequence[str], logs: Numbers) -> Numbers:
        """(n,) J of texts by all latents."""
        if not self.weight:
            return logs
        self._measure(texts, self.latents)
        return self._of(texts, logs, np.arange(len(texts)))

    def probabilities(self, text: str) -> Numbers | None:
        """(targets,) means over the latents that a text was looked at with; None: with none."""
        known = self._known.get(text)
        return None if known is None or not len(known) else np.asarray(known.mean(axis=0))

    def _of(self, texts: Sequence[str], logs: Numbers, alive: Numbers) -> Numbers:
        scores = np.full(len(texts), -np.inf)
        for place in alive.tolist():
            means = self.probabilities(texts[place])
            scores[place] = logs[place] + (0 if means is None else self.weight * _log(means).sum())
        return scores

    def _measure(self, texts: Sequence[str], latents: int) -> None:
        """Look at texts with the first so many latents, as far as they were not yet."""
        none = np.empty((0, self.targets))
        new = {text: len(self._known.get(text, none)) for text in texts}
        pairs = [(text, number) for text, had in new.items() for number in range(had, latents)]
        if not pairs:
            return
        found = self.look(pairs)
        start = 0
        for text, had in new.items():
            end = start + max(0, latents - had)
            self._known[text] = np.concatenate([self._known.get(text, none), found[start:end]])
            start = end

    def _score_shown(self, texts: Sequence[str], latents: int) -> Numbers:
        """(n, latents, targets) probabilities."""
        return np.stack([self._known[text][:latents] for text in texts])

    def _hopeful(self, shown: Numbers, logs: Numbers, keep: int) -> Numbers:
        """(n,) which candidates may still be among the best `keep`.

        One is given up if even certainty with all other latents would leave it below what the
        best will have for sure, or if its score falls short of the last of the best by
        `GIVEN_UP` standard errors of their difference, latent by latent.
        """
        seen, left = shown.shape[1], self.latents - shown.shape[1]
        sums, means = shown.sum(axis=1), shown.mean(axis=1)
        scores = logs + self.weight * _log(means).sum(axis=1)
        least = logs + self.weight * _log(sums / self.latents).sum(axis=1)
        most = logs + self.weight * _log((sums + left) / self.latents).sum(axis=1)
        order = np.argsort(-scores, kind="stable")
        last = order[keep - 1]
        possible = most >= np.sort(least)[-keep]
        if left:
            # What each latent adds to a score, to first order.
            influence = self.weight * (shown / np.maximum(means[:, None], FLOOR)).sum(axis=2)
            apart = influence - influence[last]
            own = apart.var(axis=1, ddof=1)
            shared = (own * (seen - 1) + np.median(own) * BORROWED) / (seen - 1 + BORROWED)
            error = np.sqrt(shared / seen * (1 - seen / self.latents))
            possible &= scores + GIVEN_UP * error >= scores[last]
        else:
            possible &= scores >= scores[last]
        possible[order[:keep]] = True
        return np.asarray(possible)


def _log(probabilities: Numbers) -> Numbers:
    return np.asarray(np.log(np.maximum(probabilities, FLOOR)))


@dataclass
class Lookout:
    """Looks at texts in a generator, and counts what it costs.

    Attributes:
        generator: Shows what its denoiser's middle gives.
        targets: With their probes.
        step: That is looked at.
        seeds: Of the latents.
        neutral: The prompt that latents are shared with; None to denoise each text's own.
        passes: Images that went through the denoiser, one each time; with guidance, with and
            without the prompt count apart.
    """

    generator: ObservableGenerator
    targets: Sequence[Target]
    step: int
    seeds: Sequence[int]
    neutral: str | None
    _own: int = 0
    _shared: SharedLatents | None = None
    _conditions: dict[str, Condition] = field(default_factory=dict)

    @property
    def passes(self) -> int:
        """So far."""
        return self._own + (self._shared.passes if self._shared else 0)

    def look(self, pairs: Sequence[tuple[str, int]]) -> Numbers:
        """(n, targets) probabilities."""
        if self.neutral is None:
            texts, numbers = zip(*pairs, strict=True)
            seen = self.generator.middle_at(
                texts, [self.seeds[number] for number in numbers], self.step
            )
            self._own += seen.passes
            activations = seen.values[:, 0]
        else:
            if self._shared is None:
                self._shared = self.generator.shared_latents(self.neutral, self.seeds, self.step)
            new = list(dict.fromkeys(text for text, _ in pairs if text not in self._conditions))
            if new:
                self._conditions |= dict(zip(new, self._shared.encode(new), strict=True))
            activations = self._shared.activations(
                [(self._conditions[text], number) for text, number in pairs]
            )
        return np.stack(
            [
                target.probe.probabilities(activations, self.step)[:, target.place].numpy()
                for target in self.targets
            ],
            axis=1,
        )
