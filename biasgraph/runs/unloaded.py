"""A model that a plan names and this machine cannot load: a plan needs none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from biasgraph.errors import ModelError
from biasgraph.models.base import Answer, Picture, Question, Setting


@dataclass(frozen=True)
class UnloadedModel:
    """Stands for a generator or a judge where nothing is made or asked.

    Attributes:
        spec: What the user typed.
        why: Why it cannot be loaded, in a sentence.
    """

    spec: str
    why: str
    fingerprint: str = ""
    batch_size: int = 1
    seconds_per_image: float | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def check_prompts(self, prompts: Sequence[str]) -> None:
        """Raise ModelError: its limits are not known."""
        raise ModelError(self.why)

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        """No words: what it has seen is not known."""
        return []

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        """Raise ModelError."""
        raise ModelError(self.why)

    def answer(self, images: object, questions: Sequence[Question]) -> list[list[Answer]]:
        """Raise ModelError."""
        raise ModelError(self.why)
