"""The prompts of a search, one by one: by beams over words, or along a gradient."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from biasgraph.audits.search.beam_search import BeamSearch, BeamSettings, WrittenPrompt
from biasgraph.audits.search.kept_prompts import FoundPrompt
from biasgraph.audits.search.scoring import BiasScores, Lookout, Target
from biasgraph.models.base import Message
from biasgraph.models.pez import write_hard_prompt
from biasgraph.runs.wanted_images import seed_for

if TYPE_CHECKING:
    from biasgraph.models.base import NextTokens, ObservableGenerator

Method = Literal["lm", "search", "lm-biased", "pez", "curated"]
NOTHING_NEW = "none of the last beams was an allowed text that had not been found before"


@dataclass(frozen=True)
class PromptSearch:
    """How prompts are searched for.

    Attributes:
        writer: Writes.
        generator: Is looked at.
        model: Its spec.
        targets: What images are to show, all of it.
        opening: How every prompt begins.
        neutral: The prompt that latents are shared with; None to denoise each text's own.
        step: Of denoising, that is looked at.
        latents: K.
        race: Whether hopeless candidates get no more passes.
        beam: How wide the search is.
        allowed: Which texts may be written.
        seed: Of all that is drawn.
    """

    writer: NextTokens
    generator: ObservableGenerator
    model: str
    targets: Sequence[Target]
    opening: str
    neutral: str | None
    step: int
    latents: int
    race: bool
    beam: BeamSettings
    allowed: Callable[[str], bool]
    seed: int

    def find(
        self, instruction: str, weight: float, number: int, taken: Collection[str]
    ) -> FoundPrompt:
        """The best prompt of a search that is not among those taken.

        Args:
            instruction: What the language model is told.
            weight: lambda; 0 leaves the image model out.
            number: Of the prompt, from 1; the draws of different weights and instructions are
                the same.
            taken: Prompts that there are.
        """
        lookout = self.lookout(number)
        scores = BiasScores(len(self.targets), lookout.look, self.latents, weight, race=self.race)
        rng = np.random.default_rng([self.seed, number])
        search = BeamSearch(self.beam, scores, self.allowed, rng, taken)
        start = self.writer.continuations([Message("user", instruction)], self.opening)
        best = next(iter(search.prompts(start)), None)
        if best is None:
            return FoundPrompt(prompt=None, passes=lookout.passes, reason=NOTHING_NEW)
        return self._record(best, scores, lookout.passes)

    def hard_prompt(self, number: int) -> FoundPrompt:
        """A prompt by gradients of the probes (PEZ; app. B); it may be hard to read."""
        shared = self.generator.shared_latents(self.opening, self.lookout(number).seeds, self.step)
        targets = [(target.probe, target.attribute) for target in self.targets]
        seed = seed_for(self.seed, self.model, "hard prompt", number)
        made = write_hard_prompt(shared, self.opening, targets, seed=seed % 2**32)
        return FoundPrompt(
            prompt=made.text, probabilities=dict(made.probabilities), passes=shared.passes
        )

    def lookout(self, number: int) -> Lookout:
        """What looks at the texts of a prompt's search, with latents of its own."""
        seeds = [
            seed_for(self.seed, self.model, f"latents of prompt {number}", latent)
            for latent in range(self.latents)
        ]
        return Lookout(self.generator, self.targets, self.step, seeds, self.neutral)

    def _record(self, best: WrittenPrompt, scores: BiasScores, passes: int) -> FoundPrompt:
        seen = scores.probabilities(best.text)
        shares = None if seen is None else dict(zip(self._axes, seen.tolist(), strict=True))
        return FoundPrompt(
            prompt=best.text.strip(),
            score=best.score,
            log_probability=best.log_probability,
            n_tokens=best.n_tokens,
            probabilities=shares,
            passes=passes,
        )

    @property
    def _axes(self) -> list[str]:
        return [target.axis for target in self.targets]
