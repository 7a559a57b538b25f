"""Pictures made elsewhere, behind the protocol of generators.

A picture's seed comes from the bytes of its file. So a copy that a run has lost is made again like
any other image, and a file that was renamed is found again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from biasgraph.errors import InputError, ModelError, printable
from biasgraph.models.base import Picture, Setting
from biasgraph.models.image_files import (
    MAX_PIXELS,
    SUFFIXES,
    THREADS,
    hash_of,
    lift_pixel_limit,
    read_picture,
    seed_of,
)
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.kept_pictures import KeptPictures

if TYPE_CHECKING:
    from PIL.Image import Image

BACKEND = "folder"
BATCH = 16
"""Few at a time: pictures of other people's may be large."""


def generator(spec: Spec, options: ModelOptions) -> FolderGenerator:
    """``folder:DIR``, or ``folder:FILE.csv`` for a manifest of the pictures beside it.

    Whether it is there is seen when pictures are read: a run has copies and may not need it.
    Raises InputError for a spec without a name.
    """
    if not spec.rest.strip():
        raise InputError("--model 'folder:' names no folder: give, for example, folder:pictures")
    path = Path(spec.rest).expanduser()
    root = path.parent if path.suffix.lower() == ".csv" else path
    return FolderGenerator(
        spec=f"{BACKEND}:{os.path.normpath(spec.rest)}",
        root=root,
        max_pixels=options.max_pixels or MAX_PIXELS,
    )


def withheld_seed(reason: str) -> int:
    """What stands for a picture that is withheld for this reason."""
    return seed_of(hashlib.sha256(f"withheld: {reason}".encode()).hexdigest())


@dataclass
class FolderGenerator:
    """Finds pictures by their seeds.

    Attributes:
        spec: What the user typed, with its path normalized.
        root: The folder that they are in.
        max_pixels: Pictures with more pixels are refused.
        files: Where pictures are, by seed; a seed that is not among them is looked for in all
            picture files below `root`.
        withheld: Why a picture with a seed is not to be seen.
        kept: Those that need not be decoded again.
    """

    spec: str
    root: Path
    max_pixels: int = MAX_PIXELS
    files: Mapping[int, Path] = field(default_factory=dict)
    withheld: Mapping[int, str] = field(default_factory=dict)
    kept: KeptPictures = field(default_factory=KeptPictures)
    fingerprint: str = BACKEND
    batch_size: int = BATCH
    seconds_per_image: float | None = None
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def check_prompts(self, prompts: Sequence[str]) -> None:
        """Raise InputError: there is nothing here that makes images of prompts."""
        raise InputError(
            f"{printable(self.spec)} contains existing pictures and cannot make new ones"
        )

    def unseen_words(self, prompts: Sequence[str]) -> list[str]:
        """Words that the model is known never to have met."""
        return []

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        """The pictures with these seeds. Raises ModelError for one that is not there any more."""
        wanted = list(dict.fromkeys(seeds))
        if set(wanted) - {*self.files, *self.withheld}:
            self.files = {**self._below(), **self.files}
        with lift_pixel_limit(), ThreadPoolExecutor(THREADS) as pool:
            pictures = dict(zip(wanted, pool.map(self._picture, wanted), strict=True))
        return [Picture(pictures[seed], self.withheld.get(seed)) for seed in seeds]

    def sample(self) -> Picture:
        """One picture, to try a judge on. Raises InputError where there is none."""
        if not self.root.is_dir():
            raise InputError(f"{printable(self.spec)}: no such folder")
        paths = {path: seed for seed, path in self._below().items()}
        if not paths:
            raise InputError(f"{printable(self.spec)}: no picture files in this folder")
        return self.generate([""], [paths[min(paths)]])[0]

    def _picture(self, seed: int) -> Image:
        if seed in self.withheld:
            from PIL import Image

            return Image.new("RGB", (64, 64))
        path = self.files.get(seed)
        if path is None:
            raise ModelError(
                f"a picture of this run is missing from {printable(str(self.root))}: put it back, "
                "or start over with --fresh"
            )
        if (kept := self.kept.get(seed)) is not None:
            return kept
        look, picture = read_picture(path, self.max_pixels)
        if picture is None or look.seed != seed:
            reason = look.problem or "changed while it was being read"
            raise ModelError(
                f"{printable(str(path))} has changed ({reason}): rerun the same command"
            )
        return picture

    def _below(self) -> dict[int, Path]:
        """All picture files below the folder by their seeds."""
        paths: dict[int, Path] = {}
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = Path(folder, name)
                if path.suffix.lower() in SUFFIXES and path.is_file() and not path.is_symlink():
                    try:
                        paths[seed_of(hash_of(path))] = path
                    except OSError:
                        continue  # not ours to judge: only what is looked for need be there
        return paths
