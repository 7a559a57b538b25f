"""The generator of a run that nobody loads, because no image is to be made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasgraph.errors import ModelError, show_path
from biasgraph.models.base import Picture


@dataclass(frozen=True)
class RecordedGenerator:
    """A run's generator as run.json describes it; it makes no images."""

    directory: Path
    spec: str
    fingerprint: str
    settings: Mapping[str, Any]
    batch_size: int = 1
    seconds_per_image: float | None = None

    def check_prompts(self, prompts: Sequence[str]) -> None:
        """Accept every prompt: none is drawn."""

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        """No words: what the model never saw is in the run already."""
        return []

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        """Raise ModelError: no image can be made."""
        raise self.missing(len(prompts))

    def missing(self, count: int) -> ModelError:
        """The error about so many images."""
        what = "image is" if count == 1 else "images are"
        return ModelError(
            f"{count:,} {what} missing from {show_path(self.directory)} or damaged: rerun its "
            "build command to make them again"
        )
