"""What `biasgraph export` writes: a result in the formats that other tools read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from biasgraph.data.file_names import BY_PROMPT
from biasgraph.data.frames import by_prompt_for_csv, nodes_for_csv, with_label
from biasgraph.errors import BiasgraphError, InputError, names_in, show_path
from biasgraph.io.csv_files import to_csv
from biasgraph.io.text_files import read_regular
from biasgraph.io.writing import refuse_foreign, write_files, writing_to
from biasgraph.report.export_formats import DEFAULT, FOLDER, FORMATS, NAMES, Files
from biasgraph.report.picture_folder import PictureFolder

if TYPE_CHECKING:
    from biasgraph.data.result import Result

LISTING = "export.json"
SCHEMA = "biasgraph-export/1"


def csv_files(result: Result) -> Files:
    """pairs, nodes, tables and, of many prompts, prompts .csv; a toy's have a column `toy`."""
    nodes, toy = nodes_for_csv(result.document["nodes"]), result.document["graph"]["toy"]
    frames = {"pairs.csv": result.pairs, "nodes.csv": nodes, "tables.csv": result.tables}
    if result.prompts:
        frames[BY_PROMPT] = by_prompt_for_csv(result.by_prompt)
    return {name: to_csv(with_label(frame, toy)) for name, frame in frames.items()}


def formats_in(text: str) -> list[str]:
    """The formats named in "svg,png", each once.

    Raises:
        InputError: a format is not in `NAMES`, or there is none at all.
    """
    return names_in(text, NAMES, option="--to", what="format")


@dataclass(frozen=True)
class ExportResult:
    """What an export has done.

    Attributes:
        paths: The files that it wrote, but for the images and their manifest.
        refused: Why each of the other formats could not be written.
    """

    paths: Sequence[Path]
    refused: Mapping[str, BiasgraphError]


def export(
    result: Result,
    formats: Sequence[str] = DEFAULT,
    directory: str | Path | None = None,
    *,
    columns: int = 2,
) -> ExportResult:
    """Write a result in those of these formats that it can be written in, all their files or none.

    The format `FOLDER` also copies a run's images into sets, with a manifest.

    Args:
        result: What is exported.
        formats: Names of `NAMES`.
        directory: Where the files go; `export` in the result's own unless given. export.json in it
            lists what exports wrote there: another export replaces these files and leaves any other
            alone.
        columns: The width of figures in columns of a page, 1 or 2.

    Raises:
        InputError: the result was never saved and no directory is given; a file is in the way.
        ModelError: the directory cannot be written.
        BiasgraphError: what the first format is refused with, where every one is: images are asked
            for and there are none, an optional package is missing.
    """
    if directory is None and result.directory is None:
        raise InputError("the result has no directory of its own: say where to export it to")
    folder = Path(directory if directory is not None else Path(result.directory or "") / "export")
    refuse_foreign(folder, Path.is_dir, "a directory")
    with writing_to(folder):
        ours = _list_files(folder)
    files: Files = {}
    pictures, refused = None, dict[str, BiasgraphError]()
    for name in formats:
        try:
            if name == FOLDER:
                pictures = PictureFolder.of(result)
            else:
                files |= FORMATS[name].files(result, columns)
        except BiasgraphError as error:
            refused[name] = error
    if refused and len(refused) == len({*formats}):
        raise next(iter(refused.values()))
    names = {*files, *(pictures.names if pictures else ())}
    for name in names.difference(ours):
        refuse_foreign(folder / name, what="an export")
    graph = result.document["graph"]
    listing = {"schema": SCHEMA, "files": sorted(names.union(ours)), "graph": graph}
    files[LISTING] = (json.dumps(listing, indent=1) + "\n").encode()
    written = write_files(folder, files)  # first: an export that is cut short can be given again
    if pictures is not None:
        pictures.write(folder)
    return ExportResult(written, refused)


def _list_files(folder: Path) -> list[str]:
    """The files that exports wrote into `folder`."""
    try:
        listing = json.loads(read_regular(folder / LISTING))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError):
        listing = None
    names = listing.get("files") if isinstance(listing, dict) else None
    if not isinstance(names, list) or listing.get("schema") != SCHEMA:
        raise InputError(f"{show_path(folder / LISTING)} is not a list of exports; give another -o")
    return [str(name) for name in names]
