"""A model that a plan names and this machine cannot load: a plan needs none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasgraph.errors import ModelError
from biasgraph.models.base import Answer, Picture, Question, Setting
from biasgraph.models.inference_options import ModelOptions


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


def load_or_name(
    plans_only: bool, load: Callable[..., Any], spec: str, options: ModelOptions, journal: Path
) -> Any:
    """A model by its loader; for a plan, one that cannot be loaded or identified is named."""
    try:
        model = load(spec, options, journal)
        if plans_only:
            model.fingerprint  # noqa: B018  may have to ask the hub
    except ModelError as error:
        if not plans_only:
            raise
        return UnloadedModel(spec, str(error))
    return model
