"""Pictures of a page that open larger, each with words for those who do not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biasgraph.report import words
from biasgraph.report.thumbnails import Thumbnails


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
    """Data URIs, or links to the run's files, by image; each picture is on the page once."""

    sources: Mapping[str, str]
    linked: bool = False
    note: str | None = None

    @classmethod
    def of(cls, thumbnails: Thumbnails) -> Gallery:
        """The pictures of a page in the run's own directory."""
        embedded, hashes = thumbnails.embed(), thumbnails.pictures.hashes(thumbnails.images)
        store = thumbnails.pictures.store
        files = thumbnails.pictures.from_page(store.folder.parent)
        links = {image: f"{files}{hashes[image]}.png" for image in embedded.left_over}
        note = embedded.note(len(thumbnails.images)) if thumbnails.pictures.rows else None
        return cls({**embedded.sources, **links}, bool(links), note)

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
