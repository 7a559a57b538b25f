"""Which picture is which, whatever its file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image


def pixels_digest(image: Image) -> str:
    """``sha256:`` and the hash (hex) of an image's mode, size and bytes as RGB.

    The same for a picture however its file is encoded, as long as no pixel is lost; an alpha
    channel does not count.
    """
    pixels = image.convert("RGB")
    digest = hashlib.sha256(f"RGB {pixels.width}x{pixels.height} ".encode())
    digest.update(pixels.tobytes())
    return f"sha256:{digest.hexdigest()}"
