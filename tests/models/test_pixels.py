from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from biasgraph.models.pixels import pixels_digest


@pytest.fixture
def picture() -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (7, 5, 3), dtype=np.uint8))


@pytest.mark.parametrize(
    ("kind", "options"),
    [("PNG", {"compress_level": 0}), ("PNG", {"compress_level": 9}), ("BMP", {}), ("TIFF", {}),
     ("WEBP", {"lossless": True})],
)  # fmt: skip
def test_a_picture_is_the_same_in_any_lossless_file(
    picture: Image.Image, kind: str, options: dict[str, object]
) -> None:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    assert pixels_digest(Image.open(buffer)) == pixels_digest(picture)


def test_an_opaque_alpha_channel_does_not_count(picture: Image.Image) -> None:
    assert pixels_digest(picture.convert("RGBA")) == pixels_digest(picture)


def test_every_pixel_and_the_shape_count(picture: Image.Image) -> None:
    other = picture.copy()
    red, green, blue = other.getpixel((4, 6))
    other.putpixel((4, 6), (red ^ 1, green, blue))
    turned = Image.frombytes("RGB", (7, 5), picture.tobytes())
    digests = {pixels_digest(one) for one in (picture, other, turned)}
    assert len(digests) == 3
    assert all(digest.startswith("sha256:") and len(digest) == 71 for digest in digests)
