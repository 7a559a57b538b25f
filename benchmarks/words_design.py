"""The prompts on which word influence is measured: 26 occupations, each with two context phrases.

A unit of a prompt is its occupation or one of its context phrases.  Leaving a context phrase out
leaves the rest; leaving the occupation out leaves "a person", which the worlds know.
"""

from __future__ import annotations

from dataclasses import dataclass

from biasgraph.prompts.grammar import indefinite_article
from biasgraph.sandbox.world import CONTEXTS, OCCUPATIONS

PHRASES = tuple(CONTEXTS)


@dataclass(frozen=True)
class UnitPrompt:
    """A prompt of the design.

    Attributes:
        occupation: One of the 26.
        contexts: Its two context phrases.
    """

    occupation: str
    contexts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The prompt in words."""
        return _sentence(self.occupation, self.contexts)

    @property
    def units(self) -> tuple[str, ...]:
        """The occupation and the context phrases, in their order."""
        return (self.occupation, *self.contexts)

    def without(self, unit: str) -> str:
        """The prompt with one of its units left out."""
        if unit == self.occupation:
            return _sentence("person", self.contexts)
        return _sentence(self.occupation, tuple(own for own in self.contexts if own != unit))


def _sentence(noun: str, contexts: tuple[str, ...]) -> str:
    return " ".join((indefinite_article(noun), noun, *contexts))


def design() -> list[UnitPrompt]:
    """The 26 prompts; every context phrase stands in three or four of them."""
    prompts = []
    for place, occupation in enumerate(OCCUPATIONS):
        first, second = place % len(PHRASES), (3 * place + 7) % len(PHRASES)
        if first == second:
            second = (second + 1) % len(PHRASES)
        prompts.append(UnitPrompt(occupation, (PHRASES[first], PHRASES[second])))
    return prompts


def sets_of(prompts: list[UnitPrompt]) -> list[str]:
    """Every prompt that has to be drawn: the whole ones, and those without a unit; each once."""
    texts = [text for one in prompts for text in (one.text, *map(one.without, one.units))]
    return list(dict.fromkeys(texts))
