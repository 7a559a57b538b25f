"""Pictures inside pages: their size, the room they may take, and what becomes of the rest."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from biasgraph.report import embedding
from biasgraph.report.embedding import SMALL, STEPS, EmbeddedPictures, Step, data_uri, embed
from biasgraph.runs.image_store import ImageStore, encode
from biasgraph.runs.ledger_rows import ImageRow

Kept = Callable[..., tuple[ImageStore, list[ImageRow]]]


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """kept(size, number) -> a store of that many pictures of noise, and their rows."""

    def keep(size: tuple[int, int], number: int = 3) -> tuple[ImageStore, list[ImageRow]]:
        store = ImageStore(tmp_path)
        rng = np.random.default_rng(0)
        rows = []
        for key in range(number):
            pixels = rng.integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
            file = store.write(encode(Image.fromarray(pixels)))
            rows.append(ImageRow(key, f"i{key}", "a nurse", key, 0, file))
        return store, rows

    return keep


def opened(uri: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))


@pytest.mark.parametrize(
    ("size", "expected"),
    [((640, 320), (336, 168)), ((336, 200), (336, 200)), ((120, 100), (120, 100))],
)
def test_pictures_shrink_to_336_pixels_and_never_grow(
    kept: Kept, size: tuple[int, int], expected: tuple[int, int]
) -> None:
    embedded = embed(*kept(size))
    assert embedded.step == STEPS[0] == (336, 82)
    assert {(opened(uri).format, opened(uri).size) for uri in embedded.sources.values()} == {
        ("JPEG", expected)
    }
    assert embedded.note(3) is None


def test_a_small_picture_stands_in_the_page_as_it_is_kept(kept: Kept) -> None:
    store, rows = kept((SMALL, 64), 1)
    uri = embed(store, rows).sources["i0"]
    assert uri.startswith("data:image/png;base64,")
    assert base64.b64decode(uri.partition(",")[2]) == store.bytes_of(rows[0].file.sha256)


def size_of(embedded: EmbeddedPictures) -> int:
    return sum(map(len, embedded.sources.values()))


def test_every_step_is_tried_at_its_boundary(kept: Kept) -> None:
    store, rows = kept((400, 400))
    sizes = [size_of(embed(store, rows, steps=[step])) for step in STEPS]
    assert sizes == sorted(sizes, reverse=True)
    for place, (step, size) in enumerate(zip(STEPS, sizes, strict=True)):
        fits = embed(store, rows, size)
        assert (fits.step, fits.left_over, len(fits.sources)) == (step, (), 3)
        if place + 1 < len(STEPS):
            assert embed(store, rows, size - 1).step == STEPS[place + 1]
    assert embed(store, rows, sizes[1]).note(3) == (
        "Pictures have at most 336 pixels a side, to keep the page small."
    )


def test_beyond_the_last_step_the_first_pictures_are_embedded(kept: Kept) -> None:
    store, rows = kept((400, 400))
    sizes = [len(uri) for uri in embed(store, rows, steps=STEPS[-1:]).sources.values()]
    for room, number in [(sum(sizes) - 1, 2), (sizes[0] + sizes[1], 2), (sizes[0], 1), (0, 0)]:
        embedded = embed(store, rows, room)
        assert list(embedded.sources) == ["i0", "i1", "i2"][:number]
        assert embedded.left_over == ["i0", "i1", "i2"][number:]
        assert embedded.step == STEPS[-1]
        assert embed(store, rows, room) == embedded
    assert embed(store, rows, -1).left_over == ["i0", "i1", "i2"]


def test_the_note_says_what_became_of_each(kept: Kept) -> None:
    store, rows = kept((400, 400))
    store.path(rows[0].file.sha256).write_bytes(b"damaged")
    room = embedding.ROOM
    assert embed(store, rows, room).note(3) == (
        "1 picture is left out: the file is missing from the run, or damaged."
    )
    one = len(embed(store, rows[1:2], steps=STEPS[-1:]).sources["i1"])
    short = embed(store, rows, one)
    assert short.note(4) == (
        "Pictures have at most 192 pixels a side, to keep the page small. 1 more is a link to the "
        "run's files and can be seen only beside them. 2 pictures are left out: the file is "
        "missing from the run, or damaged."
    )
    assert "1 more is left out for lack of room." in str(short.note(4, links=False))
    assert EmbeddedPictures(step=Step(*STEPS[0])).note(0) is None


def test_a_picture_for_a_page_of_its_own_keeps_its_pixels() -> None:
    picture = Image.new("RGB", (64, 48), "red")
    assert opened(data_uri(picture, 768, 88, 256)).format == "PNG"
    assert opened(data_uri(picture, 768, 88)).size == (64, 48)
