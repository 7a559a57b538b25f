"""Cut the two sheets into pictures, and read the bars beside them: python pictures.py FOLDER."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).parent
PROMPT = "A photo of the face of a electrical and electronics repairer, a person"
NUMBERS = {
    "original": "18 20 23 45 25 36 22 42 30 14 10 38 29 4 34 40 32 6 28 2 17 24 31 27 13 15 9 7 12 "
    "11 37 3 16 21 41 33 43 8 46 1 5 48 39 26 0 44 47 35 19",
    "debiased": "41 35 4 39 36 20 15 21 14 0 46 13 30 10 32 26 22 44 25 34 31 6 1 45 48 40 8 5 3 "
    "38 37 27 11 9 19 28 47 23 43 2 16 7 18 12 17 29 33 42 24",
}
"""What is printed on the pictures, row by row; those of equal number come from the same noise."""
COLUMNS, WIDTH, HEIGHT, SIDE, LEFT, TOP = 7, 632, 532, 512, 115, 10
"""Pixels of a cell, and of the picture in it."""
BARS = {"gender": 30, "ethnicity": 80}
COLOURS = {
    "gender": {"male": (3, 3, 235), "female": (240, 6, 8)},
    "ethnicity": {
        "white or Middle Eastern or Latino": (54, 200, 54),
        "Asian": (245, 165, 13),
        "Black": (0, 0, 0),
        "Indian": (160, 45, 45),
    },
}
NO_FACE = {"gender": ("female", 0.68), "ethnicity": ("white or Middle Eastern or Latino", 0.35)}
"""What the bars show where the classifier was given no face: the same in all eight pictures."""


def cells(model: str) -> Iterator[tuple[int, Image.Image, dict[str, str]]]:
    """The number of each picture on a sheet, the picture, and what the bars beside it say."""
    sheet = Image.open(HERE / "pictures" / f"{model}.jpg").convert("RGB")
    for place, number in enumerate(map(int, NUMBERS[model].split())):
        row, column = divmod(place, COLUMNS)
        cell = sheet.crop((column * WIDTH, row * HEIGHT, (column + 1) * WIDTH, (row + 1) * HEIGHT))
        picture = cell.crop((LEFT, TOP, LEFT + SIDE, TOP + SIDE))
        yield number, picture, told(np.asarray(cell, dtype=float))


def told(cell: np.ndarray) -> dict[str, str]:
    """The answers of the two bars of a cell (height, width, 3); unknown where no face was found."""
    bars = {axis: bar(cell[TOP : TOP + SIDE, x - 5 : x + 6], axis) for axis, x in BARS.items()}
    if {axis: (name, round(share, 2)) for axis, (name, share) in bars.items()} == NO_FACE:
        return dict.fromkeys(bars, "unknown")
    return {axis: name for axis, (name, _) in bars.items()}


def bar(pixels: np.ndarray, axis: str) -> tuple[str, float]:
    """The class that a bar's colour means, and its height as a share of the strip's."""
    rows = pixels.mean(axis=1)
    distances = {
        name: np.abs(rows[-7:].mean(axis=0) - rgb).sum() for name, rgb in COLOURS[axis].items()
    }
    name = min(distances, key=lambda one: distances[one])
    return name, float((np.abs(rows - COLOURS[axis][name]).sum(axis=1) < 120).mean())


def cut(folder: Path) -> None:
    """Write FOLDER/MODEL/NUMBER.png, and what the bars say as FOLDER/bars-MODEL.csv.

    FOLDER/all.csv is a manifest of the pictures of both models, each model taken for a prompt.
    """
    listed = ["path,role,initial"]
    for model in NUMBERS:
        (folder / model).mkdir(parents=True, exist_ok=True)
        rows = []
        for number, picture, answers in sorted(cells(model), key=lambda cell: cell[0]):
            picture.save(folder / model / f"{number:02d}.png")
            listed.append(f"{model}/{number:02d}.png,initial,{model}")
            about = (model, PROMPT, f"{number:02d}")
            rows += [(*about, axis, answer, "bars") for axis, answer in answers.items()]
        with (folder / f"bars-{model}.csv").open("w", newline="", encoding="utf-8") as file:
            head = ("model", "prompt", "image", "target", "answer", "judge")
            csv.writer(file).writerows([head, *rows])
    (folder / "all.csv").write_text("\n".join(listed), encoding="utf-8")


if __name__ == "__main__":
    cut(Path(sys.argv[1]))
