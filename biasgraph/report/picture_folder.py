"""A run's images as a folder that `--model folder:DIR` reads: files in sets, and a manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasgraph.data.result import run_directory
from biasgraph.errors import InputError, ModelError, show_path
from biasgraph.io.writing import write_atomically, writing_to
from biasgraph.runs.directory import read_run
from biasgraph.runs.pictures.layouts import CONTROL, MANIFEST
from biasgraph.runs.pictures.picture_paths import Places, table_of

if TYPE_CHECKING:
    from biasgraph.data.result import Result


COLUMNS = ("path", "role", "axis", "attribute", "prompt", "initial", "image", "withheld")
"""Of the manifest."""


@dataclass(frozen=True)
class PictureFolder:
    """What goes into the folder.

    Attributes:
        files: Where each picture is kept, by its path in the folder.
        manifest: The table that says what they are, and which images have no file because they are
            withheld.
    """

    files: Mapping[str, Path]
    manifest: bytes

    @classmethod
    def of(cls, result: Result) -> PictureFolder:
        """The images behind a result. Raises InputError where it has none of its own."""
        root = run_directory(result.directory)
        if root is None:
            where = "the result" if result.directory is None else show_path(result.directory)
            raise InputError(f"{where} has no images: it was made from an answers table")
        columns = ["prompt", "role", "axis", "attribute", "image"]
        images = result.answers[columns].drop_duplicates("image").astype(object)
        images = images.replace({np.nan: ""})
        places = Places(list(images["prompt"].unique()))
        files: dict[str, Path] = {}
        rows: list[dict[str, str]] = []
        with closing(read_run(root)) as run:
            made = {image.id: image for image in run.ledger.images()}
            for prompt, role, axis, attribute, image in images.itertuples(index=False):
                row = made.get(image)
                if row is None:
                    continue
                control = row.text if role == CONTROL else ""
                path = "" if row.withheld else places.next(prompt, axis, attribute, control)
                if path:
                    files[path] = run.image_path(row)
                cells = (path, role, axis, attribute, row.text, prompt, image, row.withheld or "")
                rows.append(dict(zip(COLUMNS, cells, strict=True)))
        if not rows:
            raise InputError(f"{show_path(root)} has no images to lay out")
        if not any(row["withheld"] for row in rows):
            rows = [{name: row[name] for name in row if name != "withheld"} for row in rows]
        several = images["prompt"].nunique() > 1
        return cls(files, table_of(rows, several=several))

    @property
    def names(self) -> list[str]:
        """All files, the manifest last."""
        return [*self.files, MANIFEST]

    def write(self, folder: Path) -> None:
        """Copy the pictures, and write the manifest when all are there.

        Raises:
            ModelError: a picture is missing or damaged, or the folder cannot be written.
        """
        with writing_to(folder):
            for name, kept in self.files.items():
                content = _whole(kept)
                path = folder / name
                if path.is_file() and path.read_bytes() == content:
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, content)
            write_atomically(folder / MANIFEST, self.manifest, durable=True)


def _whole(path: Path) -> bytes:
    content = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(content).hexdigest() != path.stem:
        raise ModelError(
            f"{show_path(path)} is missing or damaged: the run's build command makes it again"
        )
    return content
