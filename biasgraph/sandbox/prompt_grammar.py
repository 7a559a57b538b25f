"""The prompts that the sandbox proposes: an occupation, and up to two context phrases.

Both come from the planted world, so that the truth of every prompt is known. The phrases stand in
the order of the world's list: a prompt and the same words in another order are one.

===============  ==================  =====================
context phrases  prompts             of at most eight words
===============  ==================  =====================
none             26                  26
one              416 (26 x 16)       414
two              3,120 (26 x 120)    769
===============  ==================  =====================

With at most one phrase there are 442, with at most two 3,562; of at most eight words
1,209. One step leads from a prompt of at most eight words to 32 to 54 others.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import combinations

from biasgraph.prompts.grammar import indefinite_article
from biasgraph.sandbox.world import CONTEXTS, OCCUPATIONS

PHRASES = 2
MOST_WORDS = 8


@dataclass(frozen=True)
class WordedPrompt:
    """What a prompt is made of.

    Attributes:
        occupation: One of the 26.
        phrases: Of the 16 context phrases, in the order of the world's list.
    """

    occupation: str
    phrases: tuple[str, ...] = ()

    @functools.cached_property
    def text(self) -> str:
        """The prompt: "a chef holding a bouquet at night"."""
        return " ".join((indefinite_article(self.occupation), self.occupation, *self.phrases))

    def is_next_to(self, other: WordedPrompt) -> bool:
        """Whether one step leads from one to the other.

        A step is another occupation, or one phrase that is exchanged, added or left out.
        """
        if self.occupation != other.occupation:
            return self.phrases == other.phrases
        mine, others = set(self.phrases), set(other.phrases)
        return max(len(mine - others), len(others - mine)) == 1


@functools.cache
def every_prompt(phrases: int = PHRASES, most_words: int = MOST_WORDS) -> tuple[WordedPrompt, ...]:
    """Every prompt of at most so many context phrases and words; fewer phrases first."""
    made = (
        WordedPrompt(occupation, chosen)
        for count in range(phrases + 1)
        for chosen in combinations(CONTEXTS, count)
        for occupation in OCCUPATIONS
    )
    return tuple(prompt for prompt in made if len(prompt.text.split()) <= most_words)


def neighbours(prompt: WordedPrompt, most_words: int = MOST_WORDS) -> tuple[WordedPrompt, ...]:
    """Every prompt that one step leads to from a prompt, in the order of `every_prompt`."""
    return tuple(other for other in every_prompt(PHRASES, most_words) if prompt.is_next_to(other))
