"""Training pictures: scenes drawn from a world, with captions and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biasgraph.sandbox.scene_captions import EMPTY_SCENES
from biasgraph.sandbox.training.caption_writing import (
    attributes_of,
    random_scene,
    write,
    write_empty,
)
from biasgraph.sandbox.training.drawing import SIZE, draw_empty, draw_person
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS, sample, world

EMPTY_SHARE = 0.04
NOBODY = -1
"""The label of every axis in a picture without a person."""


@dataclass(frozen=True)
class Drawings:
    """Drawn pictures and what is true of them.

    Attributes:
        images: (n, 64, 64, 3) uint8.
        captions: one a picture.
        shown: (n, 8) int64 attribute indices in the order of ``AXES``, or ``NOBODY``.
        occupation: (n,) int64 index, or ``NOBODY``.
        context: (n, 16) bool, the context phrases of the scene.
        revealed: (n, 8) bool, the axes that the caption names.
        named: (n,) bool, whether the caption names the occupation.
    """

    images: np.ndarray
    captions: list[str]
    shown: np.ndarray
    occupation: np.ndarray
    context: np.ndarray
    revealed: np.ndarray
    named: np.ndarray

    def __len__(self) -> int:
        return len(self.captions)


def draw_pictures(
    world_name: str, n: int, seed: int, progress: Callable[[int], None] | None = None
) -> Drawings:
    """Draw ``n`` captioned pictures from a world; picture i depends on (seed, i) alone."""
    model = world(world_name)
    phrases = list(CONTEXTS)
    images = np.empty((n, SIZE, SIZE, 3), dtype=np.uint8)
    people = np.full((n, len(AXES)), NOBODY, dtype=np.int64)
    occupation = np.full(n, NOBODY, dtype=np.int64)
    context = np.zeros((n, len(CONTEXTS)), dtype=bool)
    revealed = np.zeros((n, len(AXES)), dtype=bool)
    named = np.zeros(n, dtype=bool)
    captions = []
    for i in range(n):
        rng = np.random.default_rng([seed, i])
        if rng.random() < EMPTY_SHARE:
            what = EMPTY_SCENES[rng.integers(len(EMPTY_SCENES))]
            images[i] = np.asarray(draw_empty(what, rng))
            captions.append(write_empty(what, rng))
        else:
            scene = random_scene(rng)
            captions.append(write(scene, rng))
            named[i] = scene.occupation is not None
            occupation[i] = (
                OCCUPATIONS.index(scene.occupation)
                if scene.occupation
                else rng.integers(len(OCCUPATIONS))
            )
            job = OCCUPATIONS[occupation[i]]
            people[i] = sample(model, type(scene)(job, scene.do, scene.contexts), 1, rng)[0]
            for phrase in scene.contexts:
                context[i, phrases.index(phrase)] = True
            revealed[i] = [axis in scene.do for axis in AXES]
            images[i] = np.asarray(
                draw_person(attributes_of(people[i : i + 1])[0], job, scene.contexts, rng)
            )
        if progress and i % 500 == 499:
            progress(500)
    return Drawings(images, captions, people, occupation, context, revealed, named)
