"""Large pictures that were decoded once, kept as small as models see them for who asks next.

Decoding photographs is most of what an audit of them costs, and both who looks for damage and who
copies them into a run has to.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
import weakref
from contextlib import suppress
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_BYTES = 2**31
"""On the disk, and never more than a part of what is free there."""
PART_OF_FREE = 4


class KeptPictures:
    """RGB pictures by their seeds, in a temporary file that has no name and ends with the process.

    Which are kept depends on the disk: who asks for one that is not has to decode it again.
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._places: dict[int, tuple[int, tuple[int, int]]] = {}
        self._left, self._end = most_bytes, 0

    def keep(self, seed: int, picture: Image) -> None:
        """Keep a picture, if there is room."""
        pixels = picture.tobytes()
        with self._lock:
            if len(pixels) > self._left:
                return
            try:
                if self._file is None:
                    self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
                    weakref.finalize(self, self._file.close)
                    free = shutil.disk_usage(tempfile.gettempdir()).free
                    self._left = min(self._left, free // PART_OF_FREE)
                self._file.seek(self._end)
                whole = self._file.write(pixels) == len(pixels)
            except OSError:
                whole = False
            if not whole:
                self._left = 0
                return
            self._places[seed] = self._end, picture.size
            self._left -= len(pixels)
            self._end += len(pixels)

    def get(self, seed: int) -> Image | None:
        """The picture with this seed, if it was kept."""
        from PIL import Image

        with self._lock, suppress(OSError):
            if seed in self._places and self._file is not None:
                start, size = self._places[seed]
                self._file.seek(start)
                length = size[0] * size[1] * 3
                pixels = self._file.read(length)
                if len(pixels) == length:
                    return Image.frombytes("RGB", size, pixels)
        return None
