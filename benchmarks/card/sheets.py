"""Pictures for people: every attribute drawn, and generated images with what the judges said."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from benchmarks.card.generated import AUDIT, wanted_audits
from benchmarks.card.harvest import Harvest, draw
from benchmarks.card.replies import JUDGES
from benchmarks.exact import VARIABLES
from biasgraph.causal.tables import GATED, UNKNOWN
from biasgraph.sandbox.drawing import SIZE, draw_person
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS

INK, PAPER, ALARM = (30, 30, 40), (255, 255, 255), (200, 0, 0)
ZOOM = 2
PLAIN = {
    "ethnicity": "white",
    "gender": "male",
    "age": "middle",
    "bodytype": "slim",
    "disability": "fit",
    "environment": "indoor",
    "clothing": "formal",
    "emotion": "serious",
}
"""The person in whom one thing at a time is changed."""


def icon_sheet() -> Image.Image:
    """Every attribute of every axis, then the occupations' badges and the phrases' props."""
    rows: list[tuple[str, list[tuple[str, Image.Image]]]] = [
        (axis, [(value, _drawn({**PLAIN, axis: value})) for value in values])
        for axis, values in AXES.items()
    ]
    jobs = [(job, _drawn(PLAIN, job).crop((48, 48, SIZE, SIZE))) for job in OCCUPATIONS]
    props = [
        (phrase, _drawn(PLAIN, contexts=[phrase]).crop((4, 18, 22, 36))) for phrase in CONTEXTS
    ]
    width, row, small = 150 + 6 * 150, SIZE * ZOOM + 26, 58
    sheet = Image.new("RGB", (width, len(rows) * row + 20 + (7 + 4) * small), PAPER)
    pen = ImageDraw.Draw(sheet)
    for line, (axis, icons) in enumerate(rows):
        top = 8 + line * row
        pen.text((10, top + 54), axis, INK, ImageFont.load_default(18))
        for column, (value, icon) in enumerate(icons):
            left = 150 + column * 150
            sheet.paste(_larger(icon, ZOOM), (left, top))
            pen.text((left, top + SIZE * ZOOM + 2), value, INK, ImageFont.load_default(14))
    top = 8 + len(rows) * row
    for title, glyphs, columns in (("occupation", jobs, 4), ("context", props, 4)):
        pen.text((10, top + 16), title, INK, ImageFont.load_default(18))
        for place, (name, glyph) in enumerate(glyphs):
            left, down = 150 + place % columns * 225, top + place // columns * small
            sheet.paste(_larger(glyph, 3), (left, down))
            pen.text((left + 62, down + 16), name, INK, ImageFont.load_default(13))
        top += -(-len(glyphs) // columns) * small
    return sheet


def _drawn(
    person: dict[str, str], occupation: str = "librarian", contexts: Sequence[str] = ()
) -> Image.Image:
    return draw_person(person, occupation, contexts, np.random.default_rng(3))


def _larger(icon: Image.Image, times: int) -> Image.Image:
    return icon.resize((icon.width * times, icon.height * times), Image.Resampling.NEAREST)


def contact_sheets(harvest: Harvest, folder: Path, count: int = 200, page: int = 40) -> None:
    """Generated images with both judges' labels, to be checked by eye.

    Writes ``contact-1.png`` ... and ``contact.csv``, whose column ``wrong`` is to be filled in
    with the axes that a label got wrong.
    """
    harvest.make(wanted_audits(OCCUPATIONS, AUDIT))
    texts = list(wanted_audits(OCCUPATIONS, AUDIT))
    rng = np.random.default_rng(0)
    chosen = rng.choice(len(texts) * AUDIT, count, replace=False).tolist()
    items = [(texts[number // AUDIT], number % AUDIT) for number in chosen]
    labels = [_labels(harvest, text, place) for text, place in items]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "contact.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["page", "cell", "prompt", "place", *(v.name for v in VARIABLES), "wrong"])
        for number, ((text, place), lines) in enumerate(zip(items, labels, strict=True)):
            spot = [number // page + 1, number % page + 1]
            writer.writerow([*spot, text, place, *(line for line, _ in lines), ""])
    pictures = draw(harvest.world, items)
    for start in range(0, count, page):
        cells = range(start, min(start + page, count))
        sheet = _page([(items[i][0], pictures[i], labels[i]) for i in cells])
        sheet.save(folder / f"contact-{start // page + 1}.png")


def _labels(harvest: Harvest, text: str, place: int) -> list[tuple[str, bool]]:
    """What the judges say of each axis, and whether they agree."""
    both = [harvest.codes(text, judge, AUDIT)[place] for judge in JUDGES]
    lines = []
    for y, variable in enumerate(VARIABLES):
        words = {**dict(enumerate(variable.attributes)), UNKNOWN: "unknown", GATED: "gated"}
        first, second = (words[int(codes[y])] for codes in both)
        agree = first == second
        lines.append((first if agree else f"{first} / {second}", agree))
    return lines


def _page(cells: Sequence[tuple[str, Image.Image, list[tuple[str, bool]]]]) -> Image.Image:
    width, height, columns = 250, SIZE * ZOOM + 30, 5
    rows = -(-len(cells) // columns)
    sheet = Image.new("RGB", (columns * width, rows * height), PAPER)
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(11)
    for number, (text, picture, lines) in enumerate(cells):
        left, top = number % columns * width, number // columns * height
        pen.text((left + 4, top + 2), f"{number + 1}. {text}", INK, font)
        sheet.paste(_larger(picture, ZOOM), (left + 4, top + 18))
        for line, (label, agree) in enumerate(lines):
            colour = INK if agree else ALARM
            pen.text((left + SIZE * ZOOM + 10, top + 18 + 15 * line), label, colour, font)
    return sheet
