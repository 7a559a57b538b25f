"""Pictures inside a page: as large as its room allows, decided once for all of them."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from biasgraph.report.words import count_noun
from biasgraph.runs.storage import storing

if TYPE_CHECKING:
    from PIL.Image import Image

    from biasgraph.runs.image_store import ImageStore
    from biasgraph.runs.ledger_rows import ImageRow

PAGE = 20_000_000
"""Bytes that a page with all its pictures has at most."""
ROOM = 18_000_000
"""Bytes for the pictures of a page that draws no graph."""
SMALL = 96
"""Pixels of the longer side up to which a picture stands in a page as it is kept."""
BATCH = 64


class Step(NamedTuple):
    """How pictures are reduced: pixels of the longer side, and the quality of the JPEG."""

    longest: int
    quality: int


STEPS = (Step(336, 82), Step(336, 62), Step(256, 62), Step(192, 62))
"""From the first, at which a face can be judged, to the last before pictures become links."""


@dataclass(frozen=True)
class EmbeddedPictures:
    """What became of a page's pictures.

    Attributes:
        sources: Data URIs by image.
        step: How they were reduced.
        left_over: Images, in their order, for which there was no room even at the last step.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    step: Step = STEPS[0]
    left_over: Sequence[str] = ()

    def note(self, wanted: int, links: bool = True) -> str | None:
        """What became of pictures that are not shown at their best; None where all of them are.

        Args:
            wanted: How many the page was to show.
            links: Whether those left over are links to the run's files, or left out.
        """
        said, more = [], len(self.left_over)
        missing = wanted - len(self.sources) - more
        if self.step != STEPS[0] or more:
            pixels = self.step.longest
            said.append(f"Pictures have at most {pixels} pixels a side, to keep the page small.")
        if more and links:
            are = count_noun(more, "more is a link", "more are links")
            said.append(f"{are} to the run's files and can be seen only beside them.")
        elif more:
            said.append(f"{count_noun(more, 'more is', 'more are')} left out for lack of room.")
        if missing:
            are = count_noun(missing, "picture is", "pictures are")
            said.append(f"{are} left out: the file is missing from the run, or damaged.")
        return " ".join(said) or None


def embed(
    store: ImageStore, rows: Sequence[ImageRow], room: int = ROOM, steps: Sequence[Step] = STEPS
) -> EmbeddedPictures:
    """Embed all of a page's pictures at the first step at which they fit, or as many as fit.

    At the last step pictures are taken in their order until the next one would pass the room.
    Missing and damaged files are nowhere in the result.

    Args:
        store: Where they are kept.
        rows: The images, those to embed first first.
        room: Bytes that their data URIs may take together.
        steps: Reductions to try, one after the other.
    """
    for step in steps:
        sources: dict[str, str] = {}
        taken, whole = 0, True
        for image, uri in _encode(store, rows, step):
            taken += len(uri)
            if taken > room:
                whole = False
                break
            sources[image] = uri
        if whole:
            return EmbeddedPictures(sources, step)
    ids = [row.id for row in rows]
    return EmbeddedPictures(sources, step, ids[ids.index(image) :])


def _encode(store: ImageStore, rows: Sequence[ImageRow], step: Step) -> Iterator[tuple[str, str]]:
    def encode(row: ImageRow) -> str | None:
        stored = store.bytes_of(row.file.sha256)
        return None if stored is None else _uri_of(stored, step)

    # Decoding and hashing release the interpreter lock.
    with storing(store.folder), ThreadPoolExecutor(os.cpu_count()) as pool:
        for first in range(0, len(rows), BATCH):
            batch = rows[first : first + BATCH]
            for row, uri in zip(batch, pool.map(encode, batch), strict=True):
                if uri is not None:
                    yield row.id, uri


def _uri_of(stored: bytes, step: Step) -> str:
    from PIL import Image

    with Image.open(io.BytesIO(stored), formats=["PNG"]) as picture:
        if max(picture.size) <= SMALL:
            return _uri("png", stored)
        return data_uri(picture, step.longest, step.quality)


def data_uri(picture: Image, longest: int, quality: int, lossless: int = 0) -> str:
    """A picture to stand in a page; a small one keeps its size.

    Args:
        picture: May be made smaller in place.
        longest: Pixels that a side of the JPEG has at most.
        quality: Of the JPEG.
        lossless: Pixels of the longer side up to which it is a PNG instead.
    """
    from PIL.Image import Resampling

    small = picture if picture.mode == "RGB" else picture.convert("RGB")
    kind = "png" if max(picture.size) <= lossless else "jpeg"
    small.thumbnail((longest, longest), Resampling.LANCZOS, reducing_gap=2.0)
    buffer = io.BytesIO()
    small.save(buffer, kind, **({"quality": quality, "optimize": True} if kind == "jpeg" else {}))
    return _uri(kind, buffer.getvalue())


def _uri(kind: str, encoded: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(encoded).decode('ascii')}"
