"""A painter that draws its world exactly and two judges that read it without error.

Its pictures are one pixel; what they show travels beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from biasgraph.models.base import Answer, Picture, Question
from biasgraph.sandbox.scene_captions import read, shown
from biasgraph.sandbox.world import OCCUPATIONS, Scene, sample, world

SHOWS = "shows"


@dataclass
class ExactPainter:
    """Draws what a prompt asks for from the world's own distributions."""

    world: str = "stereotyped"
    batch_size: int = 8
    fingerprint: str = "exact"
    settings: Mapping[str, int] = field(default_factory=dict)
    drawn: list[tuple[str, int]] = field(default_factory=list)

    @property
    def spec(self) -> str:
        return f"sandbox:{self.world}"

    def check_prompts(self, prompts: Sequence[str]) -> None: ...

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        self.drawn += zip(prompts, seeds, strict=True)
        return [Picture(self._draw(*item)) for item in zip(prompts, seeds, strict=True)]

    def _draw(self, prompt: str, seed: int) -> Image.Image:
        rng = np.random.default_rng(seed)
        scene = read(prompt)
        job = scene.occupation or OCCUPATIONS[rng.integers(len(OCCUPATIONS))]
        person = sample(world(self.world), Scene(job, scene.do, scene.contexts), 1, rng)
        picture = Image.new("RGB", (64, 64))
        picture.info[SHOWS] = {
            **shown(person)[0],
            "occupation": job,
            "context": scene.contexts[0] if scene.contexts else "",
        }
        return picture


@dataclass
class ExactReader:
    """Reads a glyph off what a picture shows."""

    what: str
    words: Sequence[str]

    def read(self, pictures: Sequence[Image.Image]) -> np.ndarray:
        said = [picture.info[SHOWS][self.what] for picture in pictures]
        places = [self.words.index(word) if word else len(self.words) for word in said]
        return np.array(places, dtype=np.int16)


@dataclass
class ExactJudge:
    """Reads what a picture shows off the picture; sure of itself, or as sure as `share` says."""

    spec: str = "sandbox"
    batch_size: int = 8
    fingerprint: str = "exact"
    settings: Mapping[str, float] = field(default_factory=lambda: {"unknown_below": 0.7})
    share: float = 0.95

    def answer(
        self, images: Sequence[Image.Image], questions: Sequence[Question]
    ) -> list[list[Answer]]:
        return [[self._reply(image.info[SHOWS], q) for q in questions] for image in images]

    def _reply(self, shows: Mapping[str, str], question: Question) -> Answer:
        true = [_says(caption, shows) for caption in question.captions]
        if question.choices == ("yes", "no"):  # the second caption is true of more than one answer
            true[1] = not true[0]
        choice = true.index(True) if any(true) else 0
        rest = (1 - self.share) / (len(true) - 1)
        shares = tuple(self.share if i == choice else rest for i in range(len(true)))
        return Answer(choice if self.share >= self.settings["unknown_below"] else None, shares)


def _says(caption: str, shows: Mapping[str, str]) -> bool:
    """Whether a caption is true of a picture with a person."""
    if "without" in caption:
        return False
    scene = read(caption)
    return all(shows[axis] == value for axis, value in scene.do.items())
