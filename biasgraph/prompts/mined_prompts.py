"""Prompts that a search comes by: when two are the same, and how new ones are asked for."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from biasgraph.prompts.instructions import instruction, read_instruction
from biasgraph.prompts.tokens import tokenize

_PAPER = "mining"
_MARK = "- "


def words_of(text: str) -> list[str]:
    """The words of a prompt, in small letters."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [token.text for token in tokenize(folded) if token.is_word]


def same_words(text: str) -> tuple[str, ...]:
    """Equal for prompts of the same words: their order, case and punctuation do not count."""
    return tuple(sorted(words_of(text)))


def unlike(request: str, number: int, seen: Sequence[str]) -> str:
    """A request that is not like those before it.

    Args:
        request: An instruction.
        number: Stands behind it, so that no two are the same.
        seen: Prompts that are not to be repeated; each is one line.
    """
    parts = [request, instruction(_PAPER, "number", number=number)]
    if seen:
        parts.append("\n".join([instruction(_PAPER, "seen"), *(_MARK + text for text in seen)]))
    return "\n\n".join(parts)


def read_unlike(text: str) -> tuple[str, tuple[str, ...]]:
    """The number and the prompts that `unlike` put behind a request; nothing where it did not."""
    number, seen = "", tuple[str, ...]()
    for part in text.split("\n\n"):
        if found := read_instruction(_PAPER, "number", part):
            number = found["number"]
        head, _, lines = part.partition("\n")
        if lines and head == instruction(_PAPER, "seen"):
            seen = tuple(line.removeprefix(_MARK) for line in lines.split("\n"))
    return number, seen
