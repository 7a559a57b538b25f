"""Training pictures: scenes drawn from a world, with captions and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.sandbox.scene_captions import EMPTY_SCENES
from biasgraph.sandbox.training.caption_writing import (
    attributes_of,
    random_scene,
    write,
    write_empty,
)
from biasgraph.sandbox.training.drawing import SIZE, draw_empty, draw_person
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS, World, sample, world

if TYPE_CHECKING:
    import torch

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
    captions: Sequence[str]
    shown: np.ndarray
    occupation: np.ndarray
    context: np.ndarray
    revealed: np.ndarray
    named: np.ndarray

    def __len__(self) -> int:
        return len(self.captions)


def draw_pictures(world_name: str, n: int, seed: int) -> Drawings:
    """Draw ``n`` captioned pictures from a world; picture i depends on (seed, i) alone."""
    from tqdm import tqdm

    model = world(world_name)
    images = np.empty((n, SIZE, SIZE, 3), dtype=np.uint8)
    rows = []
    for i in tqdm(range(n), "pictures", mininterval=10, delay=10):
        rng = np.random.default_rng([seed, i])
        draw = _draw_nobody if rng.random() < EMPTY_SHARE else _draw_somebody
        images[i], *row = draw(model, rng)
        rows.append(row)
    captions, *labels = zip(*rows, strict=True)
    return Drawings(images, captions, *map(np.array, labels))


def _draw_nobody(model: World, rng: np.random.Generator) -> tuple[Any, ...]:
    what = EMPTY_SCENES[rng.integers(len(EMPTY_SCENES))]
    axes = [False] * len(AXES)
    contexts = [False] * len(CONTEXTS)
    picture = draw_empty(what, rng)
    return picture, write_empty(what, rng), [NOBODY] * len(AXES), NOBODY, contexts, axes, False


def _draw_somebody(model: World, rng: np.random.Generator) -> tuple[Any, ...]:
    """A picture with its caption and labels, in the order of the fields of `Drawings`."""
    scene = random_scene(rng)
    caption = write(scene, rng)
    job = scene.occupation or OCCUPATIONS[rng.integers(len(OCCUPATIONS))]
    shown = sample(model, replace(scene, occupation=job), 1, rng)
    return (
        draw_person(attributes_of(shown)[0], job, scene.contexts, rng),
        caption,
        shown[0],
        OCCUPATIONS.index(job),
        [phrase in scene.contexts for phrase in CONTEXTS],
        [axis in scene.do for axis in AXES],
        scene.occupation is not None,
    )


def pixels(images: np.ndarray) -> torch.Tensor:
    """(n, 64, 64, 3) uint8 to (n, 3, 64, 64) float in [-1, 1]."""
    import torch

    return torch.from_numpy(images).permute(0, 3, 1, 2).float().div_(127.5).sub_(1.0)
