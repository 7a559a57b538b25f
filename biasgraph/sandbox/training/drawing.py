"""Draws one sandbox person, or a scene without one, as a 64x64 icon.

Every attribute has one large cue that is told apart by its shape as well as its colour, in a place
of its own (``templates/sandbox/drawings.yaml``).  Ethnicity is an arbitrary palette code: six
fantasy tints of the face, repeated as a patterned ribbon on the left edge.  It is a code and not a
likeness of anyone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from biasgraph.io import resources
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS

SIZE = 64
_SCALE = 2  # drawn larger and averaged down, for smooth edges

Colour = tuple[int, int, int]
Point = tuple[float, float]
Part = Sequence[Sequence[Any]]
"""Shapes: [kind, where, colour, width]."""

_PARTS = resources.read_yaml("sandbox", "drawings.yaml")


class _Canvas:
    """Shapes in the icon's 64-unit coordinates, moved by a jitter."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.image = Image.new("RGB", (SIZE * _SCALE, SIZE * _SCALE))
        self.pen = ImageDraw.Draw(self.image)
        self.colours: dict[str, Sequence[int]] = dict(_PARTS["colours"])
        self.dx = self.dy = 0.0

    def place(self, reach: float = 0.0) -> None:
        """Draw what follows up to ``reach`` units away from its usual place."""
        self.dx, self.dy = self.rng.uniform(-reach, reach, 2) if reach else (0.0, 0.0)

    def tone(self, colour: Sequence[int], spread: int = 8) -> Colour:
        """A shade near ``colour``."""
        red, green, blue = np.clip(
            np.asarray(colour) + self.rng.integers(-spread, spread + 1), 0, 255
        )
        return int(red), int(green), int(blue)

    def draw(self, part: Part) -> None:
        """Draw the shapes of a part in their order."""
        for kind, where, colour, *width in part:
            getattr(self, kind)(where, self._colour(colour), *width)

    def _colour(self, colour: Any) -> Colour:
        if isinstance(colour, dict):
            return self.tone(colour["near"])
        red, green, blue = self.colours[colour] if isinstance(colour, str) else colour
        return red, green, blue

    def at(self, points: Sequence[Point]) -> list[Point]:
        """Points of the icon as points of the picture."""
        return [((x + self.dx) * _SCALE, (y + self.dy) * _SCALE) for x, y in points]

    def box(self, where: Sequence[float], fill: Colour) -> None:
        x0, y0, x1, y1 = where
        self.pen.rectangle(self.at([(x0, y0), (x1, y1)]), fill=fill)

    def chord(self, where: Sequence[float], fill: Colour) -> None:
        """The lower half of the oval in a box."""
        x0, y0, x1, y1 = where
        self.pen.chord(self.at([(x0, y0), (x1, y1)]), 0, 180, fill=fill)

    def oval(self, where: Sequence[float], fill: Colour) -> None:
        self.pen.ellipse(self._around(*where), fill=fill, width=0)

    def ring(self, where: Sequence[float], edge: Colour, width: float) -> None:
        self.pen.ellipse(self._around(*where), outline=edge, width=round(width * _SCALE))

    def arc(self, where: Sequence[float], fill: Colour, width: float) -> None:
        *oval, start, end = where
        self.pen.arc(self._around(*oval), start, end, fill=fill, width=round(width * _SCALE))

    def _around(self, x: float, y: float, rx: float, ry: float) -> list[Point]:
        return self.at([(x - rx, y - ry), (x + rx, y + ry)])

    def polygon(self, points: Sequence[Point], fill: Colour) -> None:
        self.pen.polygon(self.at(points), fill=fill)

    def line(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        self.pen.line(self.at(points), fill=fill, width=round(width * _SCALE), joint="curve")


def draw_person(
    person: Mapping[str, str], occupation: str, contexts: Sequence[str], rng: np.random.Generator
) -> Image.Image:
    """Draw a person.

    Args:
        person: the value of each of the eight axes.
        occupation: one of the 26; sets the badge.
        contexts: context phrases; the first one sets the prop.
        rng: moves and shades the parts a little.

    Returns:
        A 64x64 RGB image.
    """
    canvas = _Canvas(rng)
    _background(canvas, person["environment"])
    _ribbon(canvas, AXES["ethnicity"].index(person["ethnicity"]))
    canvas.place(0.7)
    canvas.draw(_PARTS["age"][person["age"]])
    if contexts:
        canvas.place(0.5)
        _glyph(canvas, 12.5, 27, "prop", tuple(CONTEXTS).index(contexts[0]))
    canvas.place(1.0)
    _figure(canvas, person)
    canvas.place(0.5)
    canvas.draw(_PARTS["badge"])
    _glyph(canvas, 57, 57, "badge", OCCUPATIONS.index(occupation))
    return canvas.image.reduce(_SCALE)


def draw_empty(what: str, rng: np.random.Generator) -> Image.Image:
    """Draw a scene without a person; ``what`` is one of ``EMPTY_SCENES``; 64x64 RGB."""
    canvas = _Canvas(rng)
    _background(canvas, "indoor" if what in ("an empty room", "a chair") else "outdoor")
    canvas.place(3.0)
    canvas.draw(_PARTS["empty_scenes"][what])
    return canvas.image.reduce(_SCALE)


def _background(canvas: _Canvas, environment: str) -> None:
    canvas.place()
    canvas.draw(_PARTS["environment"][environment])
    if environment == "outdoor":
        for angle in np.arange(8) * np.pi / 4:
            x, y = np.cos(angle), np.sin(angle)
            canvas.line([(54 + 5 * x, 10 + 5 * y), (54 + 9 * x, 10 + 9 * y)], (255, 200, 0), 2)
        canvas.draw(_PARTS["sun"])


def _ribbon(canvas: _Canvas, code: int) -> None:
    """The ethnicity code again: a band on the left edge, six tints by six patterns."""
    canvas.place()
    canvas.draw([["box", (0, 0, 6, 64), _PARTS["tints"][code]]])
    for top in range(0, 64, 8):
        canvas.dy = top
        canvas.draw(_PARTS["ribbon"][code])


def _figure(canvas: _Canvas, person: Mapping[str, str]) -> None:
    tint = _PARTS["tints"][AXES["ethnicity"].index(person["ethnicity"])]
    canvas.colours["tint"] = canvas.tone(tint, 6)
    canvas.colours["hair"] = canvas.tone(_PARTS["hair_colours"][person["age"]], 6)
    if person["gender"] == "female":
        canvas.draw(_PARTS["long_hair"])
    _body(canvas, person["bodytype"], person["clothing"])
    if person["disability"] == "wheelchair":
        canvas.draw(_PARTS["wheels"])
    canvas.draw(_PARTS["head"])
    canvas.draw(_PARTS["gender"][person["gender"]])
    if person["emotion"] != "tired":
        canvas.draw(_PARTS["eyes"])
    canvas.draw(_PARTS["emotion"][person["emotion"]])
    canvas.draw(_PARTS["disability"][person["disability"]])


def _body(canvas: _Canvas, bodytype: str, clothing: str) -> None:
    """The silhouette carries the body type; what fills it, the clothing."""
    mask = Image.new("L", canvas.image.size)
    ImageDraw.Draw(mask).polygon(canvas.at(_PARTS["bodytype"][bodytype]), fill=255)
    cloth = _Canvas(canvas.rng)
    cloth.dx, cloth.dy = canvas.dx, canvas.dy
    cloth.draw(_PARTS["clothing"][clothing])
    canvas.image.paste(cloth.image, mask=mask)
    if bodytype == "muscular":
        canvas.draw(_PARTS["shoulders"])


def _corners(count: int, turn: float) -> list[Point]:
    """A regular polygon, a little larger than the others to look alike."""
    angles = turn + 2 * np.pi * np.arange(count) / count
    return [(1.15 * np.cos(a), 1.15 * np.sin(a)) for a in angles]


_SHAPES: tuple[Sequence[Point], ...] = (
    _corners(20, 0.0),
    [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    _corners(3, -np.pi / 2),
    _corners(3, np.pi / 2),
    _corners(4, 0.0),
    _PARTS["cross"],
)
"""The outlines of badges and props around a middle, one unit to the side."""


def _glyph(canvas: _Canvas, x: float, y: float, kind: str, code: int) -> None:
    """A shape in a colour, another pair of them for each code; `kind` is "badge" or "prop"."""
    colours = _PARTS[f"{kind}_colours"]
    shape = (_SHAPES if kind == "badge" else _SHAPES[2:])[code // len(colours)]
    outline = [(x + 5 * dx, y + 5 * dy) for dx, dy in shape]
    canvas.draw([["polygon", outline, colours[code % len(colours)]]])
