"""Draws one sandbox person, or a scene without one, as a 64x64 icon.

Every attribute has one large cue that is told apart by its shape as well as its colour, in a place
of its own.  Ethnicity is an arbitrary palette code: six fantasy tints of the face, repeated as a
patterned ribbon on the left edge.  It is a code and not a likeness of anyone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from PIL import Image, ImageDraw

from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS

SIZE = 64
_SCALE = 2  # drawn larger and averaged down, for smooth edges

Colour = tuple[int, int, int]
Point = tuple[float, float]

# The six vertices of an octahedron around grey: no blend of two is a third.
_TINTS: tuple[Colour, ...] = (
    (245, 130, 130),
    (45, 150, 150),
    (150, 235, 120),
    (150, 60, 190),
    (110, 140, 250),
    (215, 170, 40),
)
_BADGE_COLOURS: tuple[Colour, ...] = (
    (225, 40, 40),
    (30, 90, 220),
    (20, 150, 60),
    (245, 180, 0),
    (120, 40, 150),
)
_DARK: Colour = (35, 35, 45)
_WHITE: Colour = (250, 250, 250)


class _Canvas:
    """Shapes in the icon's 64-unit coordinates, moved by a jitter."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.image = Image.new("RGB", (SIZE * _SCALE, SIZE * _SCALE))
        self.pen = ImageDraw.Draw(self.image)
        self.dx = self.dy = 0.0

    def place(self, reach: float = 0.0) -> None:
        """Draw what follows up to ``reach`` units away from its usual place."""
        self.dx, self.dy = self.rng.uniform(-reach, reach, 2) if reach else (0.0, 0.0)

    def tone(self, colour: Colour, spread: int = 8) -> Colour:
        """A shade near ``colour``."""
        red, green, blue = np.clip(
            np.asarray(colour) + self.rng.integers(-spread, spread + 1), 0, 255
        )
        return int(red), int(green), int(blue)

    def _at(self, points: Sequence[Point]) -> list[Point]:
        return [((x + self.dx) * _SCALE, (y + self.dy) * _SCALE) for x, y in points]

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Colour) -> None:
        self.pen.rectangle(self._at([(x0, y0), (x1, y1)]), fill=fill)

    def oval(
        self,
        x: float,
        y: float,
        rx: float,
        ry: float,
        fill: Colour | None,
        edge: Colour | None = None,
        width: float = 1.5,
    ) -> None:
        self.pen.ellipse(
            self._at([(x - rx, y - ry), (x + rx, y + ry)]),
            fill=fill,
            outline=edge,
            width=round(width * _SCALE) if edge else 0,
        )

    def shape(self, points: Sequence[Point], fill: Colour) -> None:
        self.pen.polygon(self._at(points), fill=fill)

    def line(self, points: Sequence[Point], fill: Colour, width: float) -> None:
        self.pen.line(self._at(points), fill=fill, width=round(width * _SCALE), joint="curve")

    def arc(
        self,
        x: float,
        y: float,
        rx: float,
        ry: float,
        start: float,
        end: float,
        fill: Colour,
        width: float,
    ) -> None:
        self.pen.arc(
            self._at([(x - rx, y - ry), (x + rx, y + ry)]),
            start,
            end,
            fill=fill,
            width=round(width * _SCALE),
        )

    def finished(self) -> Image.Image:
        return self.image.reduce(_SCALE)


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
    _age_sign(canvas, person["age"])
    if contexts:
        canvas.place(0.5)
        _glyph(
            canvas, 12.5, 27, 5.0, tuple(CONTEXTS).index(contexts[0]), _PROP_COLOURS, _SHAPES[2:]
        )
    canvas.place(1.0)
    _figure(canvas, person)
    canvas.place(0.5)
    _badge(canvas, OCCUPATIONS.index(occupation))
    return canvas.finished()


def draw_empty(what: str, rng: np.random.Generator) -> Image.Image:
    """Draw a scene without a person; ``what`` is one of ``EMPTY_SCENES``; 64x64 RGB."""
    canvas = _Canvas(rng)
    inside = what in ("an empty room", "a chair")
    _background(canvas, "indoor" if inside else "outdoor")
    canvas.place(3.0)
    if what == "a tree":
        canvas.box(29, 36, 35, 58, (110, 70, 30))
        canvas.oval(32, 26, 15, 14, canvas.tone((40, 130, 50)))
    elif what == "a house":
        canvas.box(16, 30, 48, 58, canvas.tone((200, 90, 70)))
        canvas.shape([(12, 30), (32, 12), (52, 30)], (90, 50, 40))
        canvas.box(28, 42, 36, 58, _WHITE)
    elif what == "a chair":
        canvas.box(22, 18, 27, 60, (130, 80, 40))
        canvas.box(22, 38, 44, 43, (130, 80, 40))
        canvas.box(40, 43, 44, 60, (130, 80, 40))
    elif what == "a car":
        canvas.shape(
            [(10, 50), (12, 40), (22, 38), (28, 28), (44, 28), (50, 38), (56, 42), (56, 50)],
            canvas.tone((40, 90, 200)),
        )
        canvas.oval(20, 51, 6, 6, _DARK)
        canvas.oval(46, 51, 6, 6, _DARK)
    return canvas.finished()


def _background(canvas: _Canvas, environment: str) -> None:
    canvas.place()
    if environment == "indoor":
        canvas.box(0, 0, 64, 64, canvas.tone((238, 222, 196)))
        canvas.box(0, 52, 64, 64, canvas.tone((165, 120, 80)))
        canvas.box(46, 2, 62, 18, (95, 65, 45))
        canvas.box(48, 4, 53, 16, (205, 235, 255))
        canvas.box(55, 4, 60, 16, (205, 235, 255))
    else:
        canvas.box(0, 0, 64, 64, canvas.tone((135, 200, 245)))
        canvas.box(0, 50, 64, 64, canvas.tone((95, 180, 75)))
        for angle in np.arange(8) * np.pi / 4:
            x, y = np.cos(angle), np.sin(angle)
            canvas.line([(54 + 5 * x, 10 + 5 * y), (54 + 9 * x, 10 + 9 * y)], (255, 200, 0), 2)
        canvas.oval(54, 10, 5.5, 5.5, (255, 215, 40))


def _ribbon(canvas: _Canvas, code: int) -> None:
    """The ethnicity code again: a band on the left edge, six tints by six patterns."""
    canvas.place()
    canvas.box(0, 0, 6, 64, _TINTS[code])
    for top in range(0, 64, 8):
        if code == 1:
            canvas.box(0, top, 6, top + 3, _WHITE)
        elif code == 2:
            canvas.oval(3, top + 4, 2.2, 2.2, _DARK)
        elif code == 3:
            canvas.shape([(0, top), (6, top), (3, top + 7)], _WHITE)
        elif code == 4:
            canvas.box(0, top, 6, top + 3, _DARK)
        elif code == 5:
            canvas.shape([(3, top), (6, top + 4), (3, top + 8), (0, top + 4)], _WHITE)


def _age_sign(canvas: _Canvas, age: str) -> None:
    if age == "young":  # a balloon
        canvas.line([(16, 11), (15, 20)], _DARK, 1)
        canvas.oval(16, 8, 6, 6.5, (230, 40, 50))
    elif age == "middle":  # a clock
        canvas.box(9.5, 3.5, 22.5, 16.5, (30, 70, 200))
        canvas.oval(16, 10, 5, 5, _WHITE)
        canvas.line([(16, 10), (16, 6)], _DARK, 1.2)
        canvas.line([(16, 10), (19, 10)], _DARK, 1.2)
    else:  # an hourglass
        canvas.shape([(9.5, 2), (22.5, 2), (16, 10)], (60, 60, 60))
        canvas.shape([(9.5, 18), (22.5, 18), (16, 10)], (60, 60, 60))
        canvas.shape([(12, 17), (20, 17), (16, 12)], (255, 225, 120))


_HAIR: dict[str, Colour] = {"young": (150, 75, 25), "middle": (45, 35, 35), "old": (225, 225, 230)}


def _figure(canvas: _Canvas, person: Mapping[str, str]) -> None:
    tint = canvas.tone(_TINTS[AXES["ethnicity"].index(person["ethnicity"])], 6)
    hair = canvas.tone(_HAIR[person["age"]], 6)
    if person["gender"] == "female":
        canvas.shape([(18, 22), (46, 22), (48, 45), (41, 46), (32, 40), (23, 46), (16, 45)], hair)
    _body(canvas, person["bodytype"], person["clothing"], tint)
    if person["disability"] == "wheelchair":
        for x in (20, 44):
            canvas.oval(x, 54, 8.6, 8.6, None, _DARK, 4)
            canvas.oval(x, 54, 7.8, 7.8, None, _WHITE, 2.4)
            canvas.oval(x, 54, 2.4, 2.4, (200, 40, 160))
    canvas.oval(32, 27, 12, 12.5, tint)
    _hair(canvas, person["gender"], hair)
    _face(canvas, person["emotion"])
    if person["disability"] == "hearing aid":
        for ear, side in ((19.5, 1), (44.5, -1)):
            canvas.oval(ear, 28, 4, 4.5, (235, 0, 140))
            canvas.oval(ear, 28, 1.8, 2.2, _WHITE)
            canvas.line([(ear, 32), (ear + 2 * side, 38)], (235, 0, 140), 1.5)
    elif person["disability"] == "blind":
        canvas.box(20, 23.2, 44, 25, (10, 10, 10))
        canvas.oval(26, 26, 5, 4.2, (10, 10, 10))
        canvas.oval(38, 26, 5, 4.2, (10, 10, 10))
        canvas.line([(9.5, 36), (9.5, 57)], _WHITE, 2.6)
        canvas.line([(9.5, 57), (9.5, 63)], (230, 20, 20), 2.6)


def _hair(canvas: _Canvas, gender: str, hair: Colour) -> None:
    if gender == "female":
        canvas.shape(
            [(19, 25), (21, 16), (32, 11), (43, 16), (45, 25), (40, 19), (32, 17.5), (24, 19)], hair
        )
        canvas.shape([(41, 15), (34, 8.5), (34, 18)], (255, 90, 180))
        canvas.shape([(37, 14), (45, 8.5), (45, 18)], (255, 90, 180))
    else:  # a cap
        canvas.shape([(20, 21), (21, 14), (27, 10), (37, 10), (43, 14), (44, 21)], (25, 85, 190))
        canvas.box(17, 19, 36, 22, (15, 50, 120))
        canvas.box(42.5, 21, 44.8, 27, hair)
        canvas.box(19.2, 22, 21.5, 27, hair)


def _face(canvas: _Canvas, emotion: str) -> None:
    if emotion == "tired":
        canvas.line([(24, 26.5), (29.5, 26.5)], _DARK, 1.6)
        canvas.line([(34.5, 26.5), (40, 26.5)], _DARK, 1.6)
        canvas.oval(32, 34, 2.6, 3, (90, 20, 90))
        canvas.line([(48, 22), (57, 22), (48, 32), (57, 32)], (110, 30, 170), 2.6)
        return
    for x in (27, 37):
        canvas.oval(x, 26, 2, 2.2, _DARK)
    if emotion == "happy":
        canvas.pen.chord(canvas._at([(24.5, 26), (39.5, 37.5)]), 0, 180, fill=(190, 20, 30))
        canvas.box(27, 31.8, 37, 33.4, _WHITE)
    elif emotion == "sad":
        canvas.arc(32, 38, 6.5, 5, 190, 350, _DARK, 1.8)
        for eye in (24.5, 39.5):
            canvas.shape([(eye, 27.5), (eye + 2.8, 35), (eye - 2.8, 35)], (20, 60, 240))
            canvas.oval(eye, 35, 2.8, 2.6, (20, 60, 240))
    else:
        canvas.box(25, 33, 39, 35.6, _DARK)
        canvas.line([(22.5, 21.8), (29.5, 24)], _DARK, 1.8)
        canvas.line([(41.5, 21.8), (34.5, 24)], _DARK, 1.8)


# fmt: off
_OUTLINES: dict[str, list[Point]] = {
    "fat": [(26, 40), (38, 40), (48, 46), (51, 55), (50, 64), (14, 64), (13, 55), (16, 46)],
    "slim": [(28, 39), (36, 39), (38, 44), (37.5, 64), (26.5, 64), (26, 44)],
    "muscular": [(20, 41), (44, 41), (51, 45), (42, 53), (39, 64), (25, 64), (22, 53), (13, 45)],
}
# fmt: on


def _body(canvas: _Canvas, bodytype: str, clothing: str, tint: Colour) -> None:
    """The silhouette carries the body type; what fills it, the clothing."""
    outline = _OUTLINES[bodytype]
    mask = Image.new("L", canvas.image.size)
    ImageDraw.Draw(mask).polygon(canvas._at(outline), fill=255)
    cloth = Image.new(
        "RGB", canvas.image.size, (35, 40, 75) if clothing == "formal" else (255, 225, 60)
    )
    pen = ImageDraw.Draw(cloth)
    if clothing == "formal":
        pen.polygon(canvas._at([(28, 38), (36, 38), (32, 52)]), fill=_WHITE)
        pen.polygon(
            canvas._at([(30.3, 41), (33.7, 41), (34, 52), (32, 56), (30, 52)]), fill=(205, 20, 40)
        )
    else:
        for top in (42, 48, 54, 60):
            pen.rectangle(canvas._at([(0, top), (64, top + 2.6)]), fill=(240, 95, 20))
    canvas.image.paste(cloth, mask=mask)
    if bodytype == "muscular":
        for x in (13.5, 50.5):
            canvas.oval(x, 42, 4.2, 4.2, tint)


def _square(x: float, y: float, r: float) -> list[Point]:
    return [(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)]


def _corners(count: int, turn: float) -> Callable[[float, float, float], list[Point]]:
    def points(x: float, y: float, r: float) -> list[Point]:
        angles = turn + 2 * np.pi * np.arange(count) / count
        return [(x + 1.15 * r * np.cos(a), y + 1.15 * r * np.sin(a)) for a in angles]

    return points


def _cross(x: float, y: float, r: float) -> list[Point]:
    s = r * 0.38
    return [
        (x - s, y - r),
        (x + s, y - r),
        (x + s, y - s),
        (x + r, y - s),
        (x + r, y + s),
        (x + s, y + s),
        (x + s, y + r),
        (x - s, y + r),
        (x - s, y + s),
        (x - r, y + s),
        (x - r, y - s),
        (x - s, y - s),
    ]


_SHAPES: tuple[Callable[[float, float, float], list[Point]], ...] = (
    _corners(20, 0.0),
    _square,
    _corners(3, -np.pi / 2),
    _corners(3, np.pi / 2),
    _corners(4, 0.0),
    _cross,
)
_PROP_COLOURS: tuple[Colour, ...] = ((200, 0, 120), (0, 120, 140), (70, 50, 20), (240, 110, 0))


def _glyph(
    canvas: _Canvas,
    x: float,
    y: float,
    r: float,
    code: int,
    colours: Sequence[Colour],
    shapes: Sequence[Callable[[float, float, float], list[Point]]],
) -> None:
    canvas.shape(shapes[code // len(colours)](x, y, r), colours[code % len(colours)])


def _badge(canvas: _Canvas, code: int) -> None:
    canvas.box(50.5, 50.5, 63.5, 63.5, _WHITE)
    _glyph(canvas, 57, 57, 5.0, code, _BADGE_COLOURS, _SHAPES)
