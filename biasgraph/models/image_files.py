"""Reads an image file of somebody else's: whole, upright and RGB, or not at all, with the reason.

Transparent pixels lie on white; of an animation, or of several pages, the first counts; 16 bits
become 8. Colour profiles are not applied. A picture of more than `MOST_KEPT` pixels, more than any
judge reads, is halved until it has at most `KEPT_PIXELS`, by the decoder itself where the format
allows that, so that a folder of photographs costs neither their memory nor their time.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.errors import printable

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "AVIF", "GIF", "BMP", "TIFF", "PPM")
"""What is decoded: formats of photographs and of what models give; no documents, no scripts."""
UNREAD = frozenset((".heic", ".heif"))
"""What pictures' names end in that cannot be read: telling so is better than silence."""
SUFFIXES = UNREAD | {
    *(".png", ".apng", ".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".webp", ".avif", ".gif"),
    *(".bmp", ".dib", ".tif", ".tiff", ".ppm", ".pgm", ".pnm"),
}
MAX_PIXELS = 100_000_000
MOST_KEPT, KEPT_PIXELS = 2**21, 2**20
"""Pixels of the largest picture that is kept as it is, and of a larger one when it was halved."""
THREADS = min(8, os.cpu_count() or 1)
"""Files that are read at a time: decoding and hashing release the interpreter lock."""
LARGE = 2**23
"""Pixels from which on pictures are decoded one at a time, whatever the number of threads."""
ORIENTATION = 0x0112
"""The EXIF tag that says how the camera was held."""
LONGEST_REASON = 80

ANIMATED = "animated or of several pages: the first counts"
TURNED = "turned upright as its EXIF data says"
SCALED = "of 16 bits a channel, brought to 8"
CMYK = "in CMYK, brought to RGB"
TRANSPARENT = "transparent, laid on white"
REDUCED = "over 2 megapixels, halved to at most 1"

_one_large = threading.Lock()


@dataclass(frozen=True)
class Look:
    """What a look at a file showed.

    Attributes:
        sha256: Of its bytes, in hex; None where they cannot be read.
        width: In pixels, upright; 0 where not known.
        height: In pixels, upright; 0 where not known.
        problem: What is wrong with it ("empty", "cut off"); None for a picture.
        remarks: What was done to it.
    """

    sha256: str | None = None
    width: int = 0
    height: int = 0
    problem: str | None = None
    remarks: tuple[str, ...] = ()

    @property
    def seed(self) -> int:
        """What stands for these bytes where a generator would have a seed, in [0, 2**63)."""
        return seed_of(str(self.sha256))

    def record(self) -> dict[str, Any]:
        """In JSON types."""
        return {**asdict(self), "remarks": list(self.remarks)}


def seed_of(sha256: str) -> int:
    """A file's hash as a seed, in [0, 2**63)."""
    return int(sha256[:16], 16) >> 1


def hash_of(path: Path) -> str:
    """The SHA-256 (hex) of a file's bytes. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def natural_order(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """The order in which a person counts: 2.png before 10.png, whatever the case."""
    parts = re.findall(r"([0-9]+)|([^0-9]+)", name)
    return [
        (0, int(digits), "") if digits else (1, 0, text.casefold()) for digits, text in parts
    ], name


class _PixelLimit:
    """Pillow's limit of pixels, which is global: lifted by the first block, set by the last."""

    def __init__(self) -> None:
        self.lock, self.blocks, self.before = threading.Lock(), 0, ExitStack()

    def lift(self) -> None:
        from PIL import Image

        with self.lock:
            self.blocks += 1
            if self.blocks == 1:
                Image.init()  # all formats by name
                self.before.enter_context(warnings.catch_warnings())
                warnings.simplefilter("ignore")
                self.before.callback(setattr, Image, "MAX_IMAGE_PIXELS", Image.MAX_IMAGE_PIXELS)
                Image.MAX_IMAGE_PIXELS = None

    def restore(self) -> None:
        with self.lock:
            self.blocks -= 1
            if self.blocks == 0:
                self.before.close()


_pixel_limit = _PixelLimit()


@contextmanager
def lift_pixel_limit() -> Iterator[None]:
    """For as long as the block runs, our limit of pixels counts, not Pillow's.

    Pillow's warnings about what it puts right go unheard.
    """
    _pixel_limit.lift()
    try:
        yield
    finally:
        _pixel_limit.restore()


def read_picture(path: Path, max_pixels: int = MAX_PIXELS) -> tuple[Look, Image | None]:
    """A file's picture, None where there is none to be had; call it within `lift_pixel_limit`."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return Look(problem="not a plain file"), None
        with path.open("rb") as file:
            return _read(file, path.suffix.lower(), max_pixels)
    except OSError as error:
        return Look(problem=f"unreadable ({error.strerror or error})"), None


def _read(file: BufferedReader, suffix: str, max_pixels: int) -> tuple[Look, Image | None]:
    from PIL import Image, UnidentifiedImageError

    look = Look(hashlib.file_digest(file, "sha256").hexdigest())
    if file.tell() == 0:
        return replace(look, problem="empty"), None
    file.seek(0)
    try:
        with Image.open(file, formats=FORMATS) as image:
            look = replace(look, width=image.width, height=image.height)
            if image.width * image.height > max_pixels:
                size = f"{image.width:,} x {image.height:,} pixels"
                problem = f"of more than {max_pixels:,} pixels (--max-pixels)"
                return replace(look, problem=problem, remarks=(size,)), None
            picture, remarks = turn_upright(image, reduced=True)
            if (look.width > look.height) != (picture.width > picture.height):
                look = replace(look, width=look.height, height=look.width)
    except UnidentifiedImageError:
        unread = f"in a format that is not read ({suffix[1:].upper()}; convert it to JPEG or PNG)"
        return replace(look, problem=unread if suffix in UNREAD else "no picture"), None
    except MemoryError:
        return replace(look, problem="larger than memory"), None
    except Exception as error:  # decoders raise many kinds about somebody else's bytes
        return replace(look, problem=_damage(error)), None
    return replace(look, remarks=remarks), picture


def turn_upright(image: Image, *, reduced: bool = False) -> tuple[Image, tuple[str, ...]]:
    """An opened file's picture as it is meant to be seen, in RGB, and what was done to it.

    Args:
        image: The file, opened and not yet decoded.
        reduced: Whether a large picture is halved.

    Raises whatever decoders raise.
    """
    from PIL import ImageOps

    remarks = []
    if getattr(image, "is_animated", False) and image.format != "MPO":
        remarks.append(ANIMATED)
        image.seek(0)
    factor, width = halving(image) if reduced else 1, image.width
    image.draft(image.mode, (width // factor, image.height // factor))
    left = factor // round(width / image.width)
    with _one_large if image.width * image.height > LARGE else nullcontext():
        image.load()
        pixels, done = _rgb(image, left)
    if image.getexif().get(ORIENTATION, 1) not in (0, 1):
        remarks.append(TURNED)
    pixels.info = dict(image.info)
    ImageOps.exif_transpose(pixels, in_place=True)
    pixels.info = {}
    return pixels, (*remarks, *done, *([REDUCED] if factor > 1 else []))


def halving(image: Image) -> int:
    """By how much the sides of an image are divided: 1, or for a large one a power of 2."""
    if image.width * image.height <= MOST_KEPT:
        return 1
    factor = 2
    while -(-image.width // factor) * -(-image.height // factor) > KEPT_PIXELS:
        factor *= 2
    return factor


def reduce_to_kept(image: Image) -> Image:
    """A picture as models are shown it: a large one is halved."""
    factor = halving(image)
    return image.reduce(factor) if factor > 1 else image


def _rgb(image: Image, factor: int) -> tuple[Image, tuple[str, ...]]:
    from PIL import Image

    if image.mode == "F":
        raise ValueError("floating-point pixels, whose white level is unknown")
    if image.mode.startswith("I"):
        wide = image.convert("I")
        low, high = (int(value) for value in wide.getextrema())  # type: ignore[arg-type]
        deep = image.mode != "I" or high > 0xFF
        if low < 0 or high > 0xFFFF:
            raise ValueError("32-bit pixels, whose white level is unknown")
        scaled = wide.point(lambda value: value * (1 / 257)) if deep else wide
        return scaled.convert("L").reduce(factor).convert("RGB"), (SCALED,) if deep else ()
    if image.has_transparency_data:
        over = image.convert("RGBA").reduce(factor)
        if over.getchannel("A").getextrema() == (255, 255):
            return over.convert("RGB"), ()
        white = Image.new("RGBA", over.size, "white")
        return Image.alpha_composite(white, over).convert("RGB"), (TRANSPARENT,)
    done = (CMYK,) if image.mode == "CMYK" else ()
    if factor > 1:
        image = image.convert("L" if image.mode in ("1", "L") else "RGB").reduce(factor)
    return image.convert("RGB"), done


def _damage(error: Exception) -> str:
    text = printable(str(error)) or type(error).__name__
    if "truncated" in text.lower():
        return "cut off"
    return f"damaged ({text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + '…'})"
