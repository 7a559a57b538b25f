"""Small pictures that can be told apart, and folders of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PIL import Image


def picture(number: int, size: tuple[int, int] = (4, 3)) -> Image.Image:
    """A picture of one colour, another one for each number."""
    return Image.new("RGB", size, (number % 256, number // 256 % 256, 77))


def folder_of(root: Path, sets: Mapping[str, int], suffix: str = ".png") -> Path:
    """A folder of sets with so many pictures each, no two of them alike."""
    number = 0
    for name, count in sets.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        for place in range(count):
            picture(number).save(root / name / f"{place}{suffix}")
            number += 1
    return root
