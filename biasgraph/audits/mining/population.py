"""From prompts to scores: what the objective needs is made, judged and embedded for all at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from biasgraph.causal.best_of import mean_interval
from biasgraph.methods.base import Media
from biasgraph.methods.minethegap import Varying
from biasgraph.methods.mining_objectives import Needs, Objective, PromptScore, Sample
from biasgraph.models.json_chat import ReplyError
from biasgraph.prompts.counterfactuals import Prompt


@dataclass
class Budget:
    """How many images may still be made.

    Attributes:
        most: Of the whole search; None for no limit.
        reserve: Images that the end of the search takes for each set that a prompt needs.
        beside: Images that it takes in any case.
        spent: Images that were made for the populations.
        dearest: Sets of images that the dearest prompt needed so far.
        exhausted: Whether a prompt was refused.
    """

    most: int | None
    reserve: int = 0
    beside: int = 0
    spent: int = 0
    dearest: int = 1
    exhausted: bool = False

    def take(self, images: int, sets: int) -> bool:
        """Whether so many images of one prompt, in so many sets, can be made; if so, they count."""
        dearest = max(self.dearest, sets)
        end = self.reserve * dearest + self.beside
        if self.most is not None and self.spent + images + end > self.most:
            self.exhausted = True
            return False
        self.spent, self.dearest = self.spent + images, dearest
        return True


@dataclass
class ScoredPrompts:
    """Scores prompts of a run (`biasgraph.audits.mining.genetic_search.Population`).

    Attributes:
        objective: What they are mined for.
        varying: How variations come about.
        media: The images of the open run.
        images: Of each prompt.
        budget: How many may be made.
        variations: Those of the prompts scored so far.
    """

    objective: Objective
    varying: Varying
    media: Media
    images: int
    budget: Budget
    variations: dict[str, tuple[Prompt, ...]] = field(default_factory=dict)

    def score(self, prompts: Sequence[str]) -> list[tuple[PromptScore, int]]:
        """How the first prompts fare, as many as the budget allows, and the images of each.

        A prompt for which the language model has no variations has no score, and no images.

        Raises:
            ReplyError: No prompt has variations, and none ever had.
            BiasgraphError: As models and the disk do.
        """
        failed: dict[str, ReplyError] = {}
        taken: dict[str, Needs] = {}
        for prompt in prompts:
            needs = self.objective.needs(prompt)
            sets = 1 + len(needs.prompts)
            if not self.budget.take(sets * self.images, sets):
                break
            taken[prompt] = needs
            try:
                if needs.variations:
                    self.variations[prompt] = self.varying.texts(prompt, self.media)
            except ReplyError as error:
                failed[prompt] = error
                self.budget.spent -= sets * self.images
        if failed and not self.variations:
            for one in failed.values():
                one.forget()
            raise next(iter(failed.values()))
        there = {prompt: needs for prompt, needs in taken.items() if prompt not in failed}
        samples = self.samples(there, self.images)
        found = dict(zip(there, self.objective.evaluate(samples, self.media), strict=True))
        return [
            (PromptScore(None, failed[prompt].in_run), 0)
            if prompt in failed
            else (found[prompt], (1 + len(needs.prompts)) * self.images)
            for prompt, needs in taken.items()
        ]

    def samples(self, needs: Mapping[str, Needs], count: int, first: int = 0) -> list[Sample]:
        """Images `first` and following of prompts, made and judged for all of them at once."""
        if not needs:
            return []
        plans = [[Prompt(prompt, "initial"), *own.prompts] for prompt, own in needs.items()]
        made = self.media.make_images(plans, count, first)
        asked = next(iter(needs.values())).asked
        answers = self.media.judge_images(plans, asked, count, first) if asked else {}
        return [
            Sample(
                prompt,
                {text: self.media.find_shown(ids) for text, ids in made[prompt].items()},
                self.variations.get(prompt, ()),
                answers.get(prompt, {}),
                count,
            )
            for prompt in needs
        ]

    def score_again(self, prompts: Sequence[str], batches: int) -> list[FreshScores]:
        """Score prompts of the search on fresh images: `batches` times as many as at first each."""
        needs = {prompt: self.objective.needs(prompt) for prompt in prompts}
        n = self.images
        every = self.samples(needs, n * batches, n)  # first: all are made in full batches
        by_batch = [self.samples(needs, n, n * (1 + batch)) for batch in range(batches)]
        flat = [sample for samples in by_batch for sample in samples]
        found = list(self.objective.evaluate([*every, *flat], self.media))
        k = len(prompts)
        return [
            FreshScores(
                replace(found[place], value=None),
                [one.value for one in found[k + place :: k]],
                sum(len(ids) for ids in every[place].images.values()),
                list(every[place].own),
                [text.text for text in every[place].variations],
            )
            for place in range(k)
        ]


@dataclass(frozen=True)
class FreshScores:
    """A prompt's scores on fresh images.

    Attributes:
        of_all: The evidence of all of these images together; its score is none of theirs.
        values: One for each batch; None where undefined.
        n_images: How many images there are in all sets, withheld ones left out.
        images: The ids of the prompt's own.
        variations: What the prompt may mean, where that was needed.
    """

    of_all: PromptScore
    values: list[float | None]
    n_images: int
    images: list[str]
    variations: list[str]

    def record(self) -> dict[str, Any]:
        """Their mean, its 95 % interval, and why either is undefined, in JSON types."""
        known = [value for value in self.values if value is not None]
        whole = len(known) == len(self.values)
        mean, low, high = mean_interval(known) if whole else (None, None, None)
        reason = "" if whole else "a batch of fresh images has no score"
        if whole and low is None:
            reason = "no interval: all batches of fresh images have the same score"
        return {
            "score": mean,
            "low": low,
            "high": high,
            "fresh_scores": self.values,
            "n_images": self.n_images,
            "n_batches": len(self.values),
            "reason": reason,
        }
