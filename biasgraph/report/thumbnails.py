"""The pictures of the images behind a graph: which ones a page shows, and where they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from biasgraph.data.result import run_directory
from biasgraph.report.embedding import ROOM, EmbeddedPictures, embed
from biasgraph.runs.directory import IMAGES, read_run
from biasgraph.runs.image_store import ImageStore

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.runs.ledger_rows import ImageRow

PER_SET = 12

Set = tuple[str, str]
"""The axis and attribute of an intervention; both empty for the initial images."""
CONTROLS: Set = ("", "control")
"""The images of neutral rewordings."""


@dataclass(frozen=True)
class Pictures:
    """The images of a run by their id, and the files that hold them; none without a run."""

    rows: Mapping[str, ImageRow] = field(default_factory=dict)
    store: ImageStore = field(default_factory=lambda: ImageStore(Path()))

    @classmethod
    def of(cls, directory: Path | None) -> Pictures:
        """Those behind the result in `directory`."""
        root = run_directory(directory)
        if root is None:
            return cls()
        with closing(read_run(root)) as run:
            return cls({row.id: row for row in run.ledger.images()}, ImageStore(root / IMAGES))

    def hashes(self, images: Iterable[str]) -> dict[str, str]:
        """The SHA-256 of the files that are there, by image; no file is read."""
        rows = (self.rows[image] for image in images if image in self.rows)
        return {
            row.id: row.file.sha256 for row in rows if self.store.path(row.file.sha256).is_file()
        }

    def from_page(self, folder: Path) -> str:
        """Where a page in `folder` finds the files: relative, percent-encoded, with a slash."""
        return f"{quote(Path(os.path.relpath(self.store.folder, folder)).as_posix())}/"


@dataclass(frozen=True)
class Thumbnails:
    """The images that a page shows.

    Attributes:
        chosen: Image ids by set.
        others: Those that are shown besides.
        pictures: Where they are.
    """

    chosen: Mapping[Set, list[str]] = field(default_factory=dict)
    others: Sequence[str] = ()
    pictures: Pictures = field(default_factory=Pictures)

    @classmethod
    def of(
        cls, answers: pd.DataFrame, pictures: Pictures, others: Sequence[str] = ()
    ) -> Thumbnails:
        """The first images of every set of an answers table, and the images `others`."""
        return cls(choose(answers), others, pictures) if pictures.rows else cls()

    @property
    def images(self) -> list[str]:
        """The ids of all of them, once each: the first of every set, the second of every set ..."""
        turns = chain.from_iterable(zip_longest(*self.chosen.values()))
        return list(dict.fromkeys([*(image for image in turns if image), *self.others]))

    def embed(self, room: int = ROOM) -> EmbeddedPictures:
        """Those that are there as data URIs; see `embedding.embed`."""
        there = self.pictures.hashes(self.images)
        rows = [self.pictures.rows[image] for image in there]
        return embed(self.pictures.store, rows, room) if rows else EmbeddedPictures()


def choose(answers: pd.DataFrame) -> dict[Set, list[str]]:
    """The first images of every set; of several prompts, each prompt's first before any second.

    Where there are more prompts than pictures, they are taken evenly from all of them.

    Args:
        answers: The hinge table.
    """
    columns = ["prompt", "axis", "attribute"]
    images = _images(answers)
    images["rank"] = images.groupby(columns, sort=False).cumcount()
    prompts = images["prompt"].nunique()
    first = images[images["rank"] < PER_SET].sort_values("rank", kind="stable")
    return {
        (str(axis), str(attribute)): _evenly(list(group["image"])[: max(PER_SET, prompts)])
        for (axis, attribute), group in first.groupby(["axis", "attribute"], sort=False)
    }


def set_names(answers: pd.DataFrame) -> dict[str, Set]:
    """The set of every image of an answers table."""
    images = _images(answers)
    sets = zip(images["axis"].astype(str), images["attribute"].astype(str), strict=True)
    return dict(zip(images["image"].astype(str), sets, strict=True))


def _images(answers: pd.DataFrame) -> pd.DataFrame:
    """prompt, axis, attribute and image of every image; axis and attribute name its set."""
    columns = ["prompt", "axis", "attribute", "image"]
    images = answers[columns].astype(object).where(answers[columns].notna(), "")
    images.loc[(answers["role"] == "control").to_numpy(), ["axis", "attribute"]] = CONTROLS
    return images.drop_duplicates("image")


def _evenly(images: Sequence[str]) -> list[str]:
    count = min(PER_SET, len(images))
    return [images[i * len(images) // count] for i in range(count)]
