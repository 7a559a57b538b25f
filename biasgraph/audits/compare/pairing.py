"""Whether the images of several runs belong together one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from biasgraph.errors import InputError, printable
from biasgraph.runs.pictures.inspection import PICTURES, read_paths

if TYPE_CHECKING:
    from biasgraph.data.result import Result

NOTE = (
    "Images are paired: distances use the initial images for which every run has a valid answer, "
    "resampled together; changes of IS and of sums are computed as for independent runs"
)


def refuse_unpaired(results: Sequence[Result], names: Sequence[str]) -> None:
    """Raise InputError where a run has other initial images than the first.

    They have the same ids and, where a run was given pictures, files of the same names.
    """
    first, *others = map(_initial_images, results)
    for name, other in zip(names[1:], others, strict=True):
        lone = sorted(first.keys() ^ other.keys())
        if lone:
            raise InputError(
                f"--paired: {len(lone):,} initial images are only in {names[0]} or only in {name} "
                f"(first: {printable(lone[0])}); paired images have the same id: the same prompt "
                "and number"
            )
        for image, file in first.items():
            if file and other[image] and file != other[image]:
                raise InputError(
                    f"--paired: image {printable(image)} is {printable(file)} in {names[0]} and "
                    f"{printable(other[image])} in {name}: give the two files of a pair the same "
                    "name"
                )


def _initial_images(result: Result) -> dict[str, str]:
    """The ids of the initial images, and of given pictures what their files are called."""
    files: dict[str, str] = {}
    if result.directory is not None and (result.directory / PICTURES).exists():
        files = read_paths(result.directory)
    rows = result.answers
    initial = rows.loc[(rows["role"] == "initial").to_numpy(), "image"].unique()
    return {str(image): PurePosixPath(files.get(str(image), "")).stem for image in initial}
