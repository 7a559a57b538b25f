"""Saving a result: its files and its reports, all of them or none."""

from __future__ import annotations

from pathlib import Path

from biasgraph.data.file_names import GRAPH, PROMPTS, RECORD, REPORT
from biasgraph.data.result import Result, prompt_folders
from biasgraph.errors import InputError, shown
from biasgraph.io.writing import remove_stale, write_files, writing_to
from biasgraph.report.page import report_files


def save(result: Result, directory: str | Path) -> list[Path]:
    """Write all files of a result into `directory`, or none; returns their paths.

    Raises:
        InputError: the directory holds something else, or a run with images of its own.
        ModelError: it cannot be written.
    """
    folder = Path(directory)
    with writing_to(folder):
        _refuse_foreign(folder)
    return write(result, folder)


def write(result: Result, directory: Path) -> list[Path]:
    """Write all files and the reports into `directory`, or none, over an earlier result's.

    What that one left about prompts that this one does not have is removed; a report that
    would come out the same is left alone. Returns the paths. Raises ModelError when they
    cannot be written.
    """
    files = result.files() | report_files(result, directory=directory, only_changed=True)
    paths = write_files(directory, files)
    own = [REPORT, *(name for name in files if "/" not in name)]
    kept = {folder.removeprefix(f"{PROMPTS}/") for folder in prompt_folders(result.document)}
    remove_stale(directory / PROMPTS, own, kept)
    return paths


def _refuse_foreign(folder: Path) -> None:
    """Never overwrite what an answers table's result did not put there."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{shown(folder)} is a file, not a directory; give another -o")
    if (folder / RECORD).exists():
        raise InputError(f"{shown(folder)} holds a run with images of its own; give another -o")
    if folder.is_dir() and not (folder / GRAPH).exists() and any(folder.iterdir()):
        raise InputError(
            f"{shown(folder)} is not empty and holds no result of biasgraph's; nothing in it was "
            "touched: give another -o"
        )
