"""Reads the two small glyphs of a picture, the occupation's badge and the phrase's prop.

Neither judge was made for them: the second knows the eight axes only, and the CLIP is poor at
props.  A glyph is whichever drawn one its pixels are nearest to, on average over its jitter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from PIL import Image

from biasgraph.sandbox.drawing import draw_person
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS

BADGE_OF = {job: place for place, job in enumerate(OCCUPATIONS)}
NO_PROP = len(CONTEXTS)
DRAWN = 25
"""Drawings a template is the mean of."""

_BADGE, _PROP = (49, 49, 64, 64), (7, 21, 18, 33)


@dataclass(frozen=True)
class GlyphReader:
    """Nearest templates: pixels (templates, values), and the glyph of each."""

    box: tuple[int, int, int, int]
    templates: np.ndarray
    glyphs: np.ndarray

    def read(self, pictures: Sequence[Image.Image]) -> np.ndarray:
        """(n,) int16 places of the glyphs in their list."""
        seen = np.stack([_cut(picture, self.box) for picture in pictures])
        distances = ((seen[:, None] - self.templates) ** 2).sum(axis=2)
        return self.glyphs[distances.argmin(axis=1)].astype(np.int16)


def _cut(picture: Image.Image, box: tuple[int, int, int, int]) -> np.ndarray:
    return np.asarray(picture.crop(box), dtype=np.float32).ravel() / 255


@cache
def badges() -> GlyphReader:
    """Reads the occupation."""
    rng = np.random.default_rng(1)
    return _reader(_BADGE, [(job, "") for job in OCCUPATIONS], rng)


@cache
def props() -> GlyphReader:
    """Reads the context phrase, or ``NO_PROP``."""
    rng = np.random.default_rng(2)
    return _reader(_PROP, [("", phrase) for phrase in (*CONTEXTS, "")], rng)


def _reader(
    box: tuple[int, int, int, int], glyphs: Sequence[tuple[str, str]], rng: np.random.Generator
) -> GlyphReader:
    """Templates apart for what stands behind a glyph: the surroundings and the hair."""
    behind = list(product(AXES["environment"], AXES["gender"]))
    templates = [
        np.mean([_cut(_drawn(*glyph, *around, rng), box) for _ in range(DRAWN)], axis=0)
        for glyph in glyphs
        for around in behind
    ]
    return GlyphReader(box, np.stack(templates), np.repeat(np.arange(len(glyphs)), len(behind)))


def _drawn(
    job: str, phrase: str, environment: str, gender: str, rng: np.random.Generator
) -> Image.Image:
    person = {axis: str(rng.choice(values)) for axis, values in AXES.items()}
    person |= {"environment": environment, "gender": gender}
    return draw_person(person, job or str(rng.choice(OCCUPATIONS)), [phrase] if phrase else [], rng)
