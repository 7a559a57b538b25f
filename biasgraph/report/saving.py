"""Saving a result: its files and its reports, all of them or none."""

from __future__ import annotations

from itertools import chain, product
from pathlib import Path

from biasgraph.data.file_names import ANSWERS, BY_PROMPT, GRAPH, PROMPTS, RECORD, REPORT, TABLES
from biasgraph.data.result import Result, prompt_folders
from biasgraph.io.writing import is_folder_of, refuse_foreign, remove_stale, write_files, writing_to
from biasgraph.report.page import each_report

OF_RUNS = (ANSWERS, TABLES, "graph.graphml")
"""What earlier versions wrote for each of several prompts, too."""


def save(result: Result, directory: str | Path) -> list[Path]:
    """Write all files of a result into `directory`, or none; returns their paths.

    Raises:
        InputError: the directory holds something else, or a run with images of its own.
        ModelError: it cannot be written.
    """
    folder, is_ours = Path(directory), is_folder_of(GRAPH)
    refuse_foreign(
        folder,
        lambda folder: is_ours(folder) and not (folder / RECORD).exists(),
        "the result of an answers table",
    )
    return write(result, folder)


def write(result: Result, directory: Path) -> list[Path]:
    """Write all files and the reports into `directory`, or none, over an earlier result's.

    What that one left about prompts that this one does not have is removed; a report that
    would come out the same is left alone.

    Returns:
        The paths.

    Raises:
        ModelError: they cannot be written.
    """
    reports = each_report(result, directory=directory, only_changed=True)
    paths = write_files(directory, chain(result.each_file(), reports))
    own = {REPORT, *(path.name for path in paths if path.parent == directory)}
    if not result.prompts:
        with writing_to(directory):
            (directory / BY_PROMPT).unlink(missing_ok=True)
    folders = prompt_folders(result.document)
    remove_stale(directory / PROMPTS, own, [Path(folder).name for folder in folders])
    with writing_to(directory):
        for folder, name in product(folders, OF_RUNS):
            (directory / folder / name).unlink(missing_ok=True)
    return paths
