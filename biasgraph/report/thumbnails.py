"""Small pictures of the images behind a graph: which ones, where they are, and as data URIs."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from biasgraph.report.files import PROMPTS
from biasgraph.run import read_run
from biasgraph.runrecord import RECORD

if TYPE_CHECKING:
    import pandas as pd
    from PIL.Image import Image

    from biasgraph.ledger import ImageRow
    from biasgraph.run import Run

PER_SET = 12
LONGEST_SIDE = 112
QUALITY = 80

Set = tuple[str, str]
"""The axis and attribute of an intervention; both empty for the initial images."""


@dataclass(frozen=True)
class Thumbnails:
    """The chosen images of each set and their pictures.

    chosen: image ids by set; others: images that are shown besides. prompts: what each image's
    prompt says, and hashes: the SHA-256 of its file, for those that the run has. directory: the
    run, None where there are no pictures.
    """

    chosen: Mapping[Set, list[str]] = field(default_factory=dict)
    others: Sequence[str] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    directory: Path | None = None

    @property
    def images(self) -> list[str]:
        """All of them, once each."""
        chosen = (image for images in self.chosen.values() for image in images)
        return list(dict.fromkeys([*chosen, *self.others]))

    def encode(self) -> dict[str, str]:
        """image id -> JPEG as a data URI; missing and damaged files are left out."""
        if self.directory is None:
            return {}
        with closing(read_run(self.directory)) as run:
            rows = _rows(run, self.images)

            def one(row: ImageRow) -> tuple[str, str | None]:
                return row.id, _data_uri(run, row)

            # Decoding and hashing release the interpreter lock.
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                found = dict(pool.map(one, rows))
        return {image: uri for image, uri in found.items() if uri is not None}


def thumbnails_of(
    answers: pd.DataFrame, directory: Path | None, others: Sequence[str] = ()
) -> Thumbnails:
    """The pictures behind an answers table, where `directory` or the run it belongs to has them.

    others: ids of further images. No file is read but the run's ledger.
    """
    root = run_directory(directory)
    if root is None:
        return Thumbnails()
    plain = Thumbnails(choose(answers), others, directory=root)
    with closing(read_run(root)) as run:
        rows = _rows(run, plain.images)
        there = [row for row in rows if run.image_path(row).is_file()]
    return replace(
        plain,
        prompts={row.id: row.text for row in rows},
        hashes={row.id: row.file.sha256 for row in there},
    )


def _rows(run: Run, images: Sequence[str]) -> list[ImageRow]:
    wanted = set(images)
    return [row for row in run.images() if row.id in wanted]


def run_directory(directory: Path | None) -> Path | None:
    """The run that holds a result's images: its directory, or, for one prompt of many, the root."""
    if directory is None:
        return None
    folder = directory.absolute()
    candidates = [folder, *([folder.parent.parent] if folder.parent.name == PROMPTS else [])]
    return next((one for one in candidates if (one / RECORD).is_file()), None)


def choose(answers: pd.DataFrame) -> dict[Set, list[str]]:
    """The first images of every set; of several prompts, each prompt's first before any second.

    answers: the hinge table. Where there are more prompts than pictures, they are taken evenly
    from all of them.
    """
    columns = ["prompt", "axis", "attribute", "image"]
    images = answers[columns].astype(object).where(answers[columns].notna(), "")
    images = images.drop_duplicates("image")
    images["rank"] = images.groupby(columns[:3], sort=False).cumcount()
    prompts = images["prompt"].nunique()
    first = images[images["rank"] < PER_SET].sort_values("rank", kind="stable")
    return {
        (str(axis), str(attribute)): _evenly(list(group["image"])[: max(PER_SET, prompts)])
        for (axis, attribute), group in first.groupby(["axis", "attribute"], sort=False)
    }


def _evenly(images: Sequence[str]) -> list[str]:
    count = min(PER_SET, len(images))
    return [images[i * len(images) // count] for i in range(count)]


def _data_uri(run: Run, row: ImageRow) -> str | None:
    picture = run.read_image(row)
    return None if picture is None else data_uri(picture)


def data_uri(picture: Image) -> str:
    """A JPEG of at most `LONGEST_SIDE` pixels a side; a smaller picture keeps its size."""
    from PIL.Image import Resampling

    small = picture if picture.mode == "RGB" else picture.convert("RGB")
    small.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Resampling.LANCZOS, reducing_gap=2.0)
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
