"""Pictures of a page that open larger, each with words for those who do not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biasgraph.report import words

OPENED = 256
"""Pixels of the longer side of a picture that was opened."""
SMALL = 96
"""Pixels up to which a picture keeps every one of them."""


@dataclass(frozen=True)
class Shot:
    """An image on the page; `src` is None where its file is missing.

    Attributes:
        note: What stands below it.
        marked: Whether it is one of the least aligned.
    """

    src: str | None
    alt: str
    note: str = ""
    marked: bool = False


@dataclass(frozen=True)
class Gallery:
    """Data URIs by image; each picture is on the page once."""

    sources: Mapping[str, str]

    def shots(
        self, images: Sequence[str], about: str, marks: Mapping[str, float] | None = None
    ) -> list[Shot]:
        """The images with words for those who do not see them; none where no picture is there."""
        if not self.sources:
            return []
        found = []
        for number, image in enumerate(images, start=1):
            similarity = (marks or {}).get(image)
            note = "" if similarity is None else f"least aligned: {similarity:.3f}"
            alt = f"Image {number} of “{words.label(about, 160)}”" + (f", {note}" if note else "")
            found.append(Shot(self.sources.get(image), alt, note, similarity is not None))
        return found
