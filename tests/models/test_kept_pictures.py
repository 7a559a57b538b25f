"""Large pictures are kept as they were decoded, where there is room for them."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from biasgraph.models.kept_pictures import KeptPictures


def noise(number: int) -> Image.Image:
    pixels = np.random.default_rng(number).integers(0, 256, (20 + number, 30, 3), np.uint8)
    return Image.fromarray(pixels)


def test_they_come_back_as_they_were_whoever_keeps_them() -> None:
    kept = KeptPictures()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: kept.keep(number, noise(number)), range(50)))
        back = list(pool.map(kept.get, range(51)))
    assert [picture and picture.tobytes() for picture in back] == [
        *(noise(number).tobytes() for number in range(50)),
        None,
    ]
    assert back[7] is not None and back[7].size == (30, 27)


def test_what_does_not_fit_is_not_kept() -> None:
    kept = KeptPictures(most_bytes=len(noise(0).tobytes()) + len(noise(1).tobytes()))
    for number in (0, 3, 1, 2):
        kept.keep(number, noise(number))
    assert [kept.get(number) is not None for number in range(4)] == [True, True, False, False]


def test_a_disk_that_takes_no_files_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    kept = KeptPictures()
    kept.keep(0, noise(0))
    assert kept.get(0) is None


def test_no_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kept = KeptPictures()
    kept.keep(0, noise(0))
    assert kept.get(0) is not None
    del kept
    assert list(tmp_path.iterdir()) == []
