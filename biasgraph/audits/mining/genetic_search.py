"""The genetic search (MineTheGap sec. 3), over protocols: it knows no model and no image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from biasgraph.audits.mining.prompt_writer import Proposal
from biasgraph.errors import InputError

if TYPE_CHECKING:
    from biasgraph.audits.mining.prompt_writer import Origin
    from biasgraph.methods.mining_objectives import PromptScore


@dataclass(frozen=True)
class SearchSettings:
    """How the population lives (sec. 3; app. A.1 varies it).

    Attributes:
        iterations: Populations, the initial one among them.
        population: Prompts of each, the paper's b.
        selected: Prompts of a population that are mutated, the paper's s.
        mutations: Of each selected prompt, the paper's m.

    Raises:
        InputError: More mutations than the population holds.
    """

    iterations: int = 25
    population: int = 15
    selected: int = 5
    mutations: int = 2

    def __post_init__(self) -> None:
        if self.random < 0:
            raise InputError(
                f"--selected {self.selected} times --mutations {self.mutations} is more than "
                f"--population {self.population}"
            )

    @property
    def random(self) -> int:
        """Random prompts of every population after the first, the paper's r."""
        return self.population - self.selected * self.mutations


@dataclass(frozen=True)
class Candidate:
    """A prompt of a population, scored.

    Attributes:
        number: Over all iterations, from 0.
        prompt: The prompt.
        iteration: From 1.
        origin: Where it comes from.
        parent: The number of the candidate that it is a mutation of.
        scored: How it fares.
        images: How many images were made for it.
    """

    number: int
    prompt: str
    iteration: int
    origin: Origin
    parent: int | None
    scored: PromptScore
    images: int


class Writer(Protocol):
    """Where prompts come from."""

    def random(self, count: int, origin: Origin) -> list[Proposal]:
        """At most so many new prompts."""

    def mutations(self, prompt: str, parent: int, count: int) -> list[Proposal]:
        """At most so many new prompts that vary one."""


class Population(Protocol):
    """What scores prompts."""

    def score(self, prompts: Sequence[str]) -> Sequence[tuple[PromptScore, int]]:
        """How the first prompts fare, and the images of each.

        All prompts, unless no more images may be made.
        """


def search(
    writer: Writer, population: Population, settings: SearchSettings, *, lower: bool
) -> Iterator[list[Candidate]]:
    """Yield one population after the other until the last, or until no prompt or image is left.

    The `selected` best of a population are mutated; random prompts fill the next one up. Parents
    are no members of it.

    Args:
        writer: Where prompts come from.
        population: What scores them.
        settings: How many of what.
        lower: Whether the lowest scores are selected, rather than the highest.
    """
    number = 0
    parents: list[Candidate] = []
    for iteration in range(1, settings.iterations + 1):
        if iteration == 1:
            proposals = writer.random(settings.population, "initial")
        else:
            proposals = [
                proposal
                for parent in parents
                for proposal in writer.mutations(parent.prompt, parent.number, settings.mutations)
            ]
            proposals += writer.random(settings.population - len(proposals), "random")
        scores = population.score([proposal.prompt for proposal in proposals])
        now = [
            Candidate(
                number + place, proposal.prompt, iteration, proposal.origin, proposal.parent, *found
            )
            for place, (proposal, found) in enumerate(zip(proposals, scores, strict=False))
        ]
        if now:
            yield now
        if len(now) < len(proposals) or not proposals:
            return
        number += len(now)
        parents = best(now, settings.selected, lower=lower)


def best(candidates: Sequence[Candidate], count: int, *, lower: bool) -> list[Candidate]:
    """The best of those that have a score, the best first; the earlier one of two alike."""

    def rank(candidate: Candidate) -> tuple[float, int]:
        value = candidate.scored.value or 0.0
        return (value if lower else -value, candidate.number)

    known = [candidate for candidate in candidates if candidate.scored.value is not None]
    return sorted(known, key=rank)[:count]
