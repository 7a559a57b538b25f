"""What happened in a search, as it is told on the way and as mined.json holds it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from biasgraph.audits.mining.genetic_search import Candidate, best
from biasgraph.audits.mining.population import Budget
from biasgraph.audits.mining.prompt_writer import DroppedPrompt
from biasgraph.causal.best_of import expected_best
from biasgraph.prompts.tokens import excerpt

Record = dict[str, Any]


@dataclass
class SearchRecord:
    """A search in the making.

    Attributes:
        iterations: How many there are to be.
        lower: Whether low scores are searched for.
        budget: How many images may be made.
        candidates: All prompts that were scored.
        rounds: What was found after each iteration.
        dropped: Proposed prompts that could not be used.
    """

    iterations: int
    lower: bool
    budget: Budget
    candidates: list[Candidate] = field(default_factory=list)
    rounds: list[Record] = field(default_factory=list)
    dropped: list[Record] = field(default_factory=list)

    def add(self, now: Sequence[Candidate], dropped: Sequence[DroppedPrompt]) -> None:
        """A population that was scored, and the prompts that were dropped for it."""
        self.candidates += now
        self.drop(dropped, now[0].iteration)
        first = best(self.candidates, 1, lower=self.lower)
        self.rounds.append(
            {
                "iteration": now[0].iteration,
                "n_prompts": len(self.candidates),
                "n_images": self.budget.spent,
                "best_score": first[0].scored.value if first else None,
                "best_prompt": first[0].prompt if first else None,
            }
        )

    def drop(self, dropped: Sequence[DroppedPrompt], iteration: int) -> None:
        """Prompts that were dropped for an iteration."""
        self.dropped += [{**asdict(one), "iteration": iteration} for one in dropped]

    @property
    def done(self) -> int:
        """How many iterations there were."""
        return len(self.rounds)

    def latest(self) -> str | None:
        """Where the search stands, in a sentence; None before the first score."""
        now = self.rounds[-1]
        if now["best_score"] is None:
            return None
        return (
            f"Iteration {now['iteration']} of {self.iterations}: best so far "
            f"{now['best_score']:.3f}, '{excerpt(now['best_prompt'])}'"
        )

    def why_nothing(self) -> str:
        """Why no prompt has a score."""
        reasons = [one.scored.reason for one in self.candidates]
        reasons += [one["reason"] for one in self.dropped]
        if not reasons:
            spent = "--max-images allows no prompt's images"
            return spent if self.budget.exhausted else "nobody proposed a prompt"
        return f"most often: {Counter(reasons).most_common(1)[0][0]}"

    def record(self) -> Record:
        """Everything mined.json holds of the search itself."""
        parents = {candidate.parent for candidate in self.candidates}
        early = "prompts" if self.done < self.iterations else "iterations"
        return {
            "stopped": "max_images" if self.budget.exhausted else early,
            "iterations": self.rounds,
            "candidates": [
                {
                    "number": candidate.number,
                    "prompt": candidate.prompt,
                    "iteration": candidate.iteration,
                    "origin": candidate.origin,
                    "parent": candidate.parent,
                    "score": candidate.scored.value,
                    "reason": candidate.scored.reason,
                    "n_images": candidate.images,
                    "selected": candidate.number in parents,
                }
                for candidate in self.candidates
            ],
            "dropped": self.dropped,
            "random": self._random(),
        }

    def _random(self) -> Record:
        """What the search's own random prompts say that chance would find."""
        scores = [
            candidate.scored.value
            for candidate in self.candidates
            if candidate.origin != "mutation" and candidate.scored.value is not None
        ]
        expected = expected_best(scores, lower=self.lower).tolist() if scores else []
        return {"n_prompts": len(scores), "expected_best": expected}
