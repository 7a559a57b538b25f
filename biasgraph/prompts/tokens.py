"""A prompt's words and signs, each with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from biasgraph.errors import printable

# Titles with their stop, "6+girls", words with hyphens and the like inside, single signs.
_TOKEN = re.compile(
    r"\b(?:Dr|Mrs?|Ms|St|Jr|Sr|Prof)\.|\by\.o\.|\bPh\.D\.|\d+\+[a-z]+|\w+(?:[-'\u2019.&/]\w+)*(?:(?<=s)['\u2019](?=\s\w))?|[^\w\s]"
)


@dataclass(frozen=True)
class PromptToken:
    """A word or a sign of a prompt."""

    text: str
    lower: str
    start: int
    end: int

    @property
    def is_word(self) -> bool:
        """Whether it is a word, not a sign."""
        return self.text[0].isalnum() or self.text[0] == "_"


def tokenize(text: str) -> list[PromptToken]:
    """Split a text into words (with hyphens and apostrophes inside) and single signs."""
    matches = _TOKEN.finditer(text)
    return [PromptToken(m[0], m[0].lower().replace("\u2019", "'"), *m.span()) for m in matches]


def excerpt(text: str, most: int = 80) -> str:
    """The beginning of a prompt, as messages quote it."""
    visible = printable(text[: most + 1])
    return visible if len(visible) <= most else visible[:most] + "..."
