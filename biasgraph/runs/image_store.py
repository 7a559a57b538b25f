"""The image files of a run, named by the SHA-256 of their bytes."""

from __future__ import annotations

import errno
import hashlib
import io
import stat
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from biasgraph.io.writing import TEMPORARY, write_atomically
from biasgraph.runs.ledger_rows import FileRow

if TYPE_CHECKING:
    from PIL.Image import Image

    from biasgraph.models.base import Picture


class EncodedPicture(NamedTuple):
    """A picture as it is kept: the bytes of its file, and what `Picture` says besides."""

    png: bytes
    withheld: str | None
    revised_prompt: str | None

    @classmethod
    def of(cls, picture: Picture) -> EncodedPicture:
        """A generator's picture."""
        return cls(encode(picture.image), picture.withheld, picture.revised_prompt)


def encode(image: Image) -> bytes:
    """The file of a picture: an RGB PNG."""
    buffer = io.BytesIO()
    # The slower settings cost more time than a small model needs to draw the image; run lengths
    # suit what PNG's filters leave of a picture better than level 1 alone does.
    (image if image.mode == "RGB" else image.convert("RGB")).save(
        buffer, "PNG", compress_level=1, compress_type=zlib.Z_RLE
    )
    return buffer.getvalue()


class ImageStore:
    """PNG files in one folder. Raises OSError as the file system does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, sha256: str) -> Path:
        """Where the file with this hash is kept."""
        return self.folder / f"{sha256}.png"

    def write(self, data: bytes) -> FileRow:
        """Write the file of a picture (`encode`); identical pictures share one file."""
        sha256 = hashlib.sha256(data).hexdigest()
        write_atomically(self.path(sha256), data)
        return self._row(sha256)

    def read(self, sha256: str) -> Image | None:
        """The picture, or None when its file is missing or its bytes have another hash."""
        from PIL import Image

        data = self.bytes_of(sha256)
        if data is None:
            return None
        image = Image.open(io.BytesIO(data), formats=["PNG"])
        image.load()
        return image

    def bytes_of(self, sha256: str) -> bytes | None:
        """The file's bytes, or None when it is missing or they have another hash."""
        try:
            self._row(sha256)
            data = self.path(sha256).read_bytes()
        except FileNotFoundError:
            return None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def check(self, file: FileRow) -> FileRow | None:
        """`file` if it is whole, with its present time stamp; None when missing or damaged.

        A file whose size and time stamp are the recorded ones is not read again.
        """
        try:
            found = self._row(file.sha256)
        except FileNotFoundError:
            return None
        if found == file or self.bytes_of(file.sha256) is not None:
            return found
        return None

    def sweep(self) -> None:
        """Remove what a process that died left half written."""
        for leftover in self.folder.glob(f"*{TEMPORARY}"):
            leftover.unlink()

    def _row(self, sha256: str) -> FileRow:
        path = self.path(sha256)
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # who reads a pipe waits for a writer
            raise FileNotFoundError(errno.ENOENT, "no regular file", str(path))
        return FileRow(sha256, found.st_size, found.st_mtime_ns)
