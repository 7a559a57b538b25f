"""What `biasgraph export` writes: a result in the formats that other tools read."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biasgraph.data import frames as tables
from biasgraph.data import graph_document as graphs
from biasgraph.errors import InputError, did_you_mean, printable, shown
from biasgraph.io.csv_files import to_csv
from biasgraph.io.writing import write_files, writing_to
from biasgraph.report.picture_folder import LaidOut

if TYPE_CHECKING:
    from biasgraph.data.result import Result

Files = dict[str, bytes]
LISTING = "export.json"
SCHEMA = "biasgraph-export/1"


def _html(result: Result, columns: int) -> Files:
    from biasgraph.data.file_names import REPORT
    from biasgraph.report.page import report_files, report_html

    if result.prompts:  # theirs too: the global report links to them
        return report_files(result)
    return {REPORT: report_html(result, links=False)}  # no other report goes with it


def _json(result: Result, columns: int) -> Files:
    return {"graph.json": graphs.to_json(result.document)}


def _graphml(result: Result, columns: int) -> Files:
    return {"graph.graphml": graphs.to_graphml(result.document)}


def _gexf(result: Result, columns: int) -> Files:
    from biasgraph.report.gexf import to_gexf

    return {"graph.gexf": to_gexf(result.document)}


def _csv(result: Result, columns: int) -> Files:
    nodes = tables.nodes_for_csv(result.document["nodes"])
    frames = {"pairs.csv": result.pairs, "nodes.csv": nodes, "tables.csv": result.tables}
    toy = result.document["graph"]["toy"]
    return {name: to_csv(tables.with_label(frame, toy)) for name, frame in frames.items()}


def _parquet(result: Result, columns: int) -> Files:
    from biasgraph.report.parquet import parquet_files

    return parquet_files(result)


def _dot(result: Result, columns: int) -> Files:
    from biasgraph.report.diagrams import to_dot

    return {"graph.dot": to_dot(result.document)}


def _mermaid(result: Result, columns: int) -> Files:
    from biasgraph.report.diagrams import to_mermaid

    return {"graph.mmd": to_mermaid(result.document)}


def _svg(result: Result, columns: int) -> Files:
    from biasgraph.report.figures import figure_files

    return figure_files(result.document, result.pair_records(), "svg", columns)


def _png(result: Result, columns: int) -> Files:
    from biasgraph.report.figures import figure_files

    return figure_files(result.document, result.pair_records(), "png", columns)


FORMATS: dict[str, Callable[[Result, int], Files]] = {
    "html": _html,
    "json": _json,
    "graphml": _graphml,
    "gexf": _gexf,
    "csv": _csv,
    "parquet": _parquet,
    "dot": _dot,
    "mermaid": _mermaid,
    "svg": _svg,
    "png": _png,
}
"""Of each format, what writes its files, by name; the number is the width of figures."""
DEFAULT = tuple(name for name in FORMATS if name != "parquet")
"""All that need no optional package."""
FOLDER = "folder"
"""The format that is pictures, too many to be held at once."""
NAMES = (*FORMATS, FOLDER)


def formats_in(text: str) -> list[str]:
    """The formats named in "svg,png", each once.

    Raises InputError for a format that is none of `NAMES`, and for no format at all.
    """
    names = list(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    if not names:
        raise InputError(f"--to names no format; there are {', '.join(NAMES)}")
    for name in names:
        if name not in NAMES:
            raise InputError(
                f"unknown format '{printable(name)}'.{did_you_mean(name, NAMES)} "
                f"There are {', '.join(NAMES)}"
            )
    return names


def export(
    result: Result,
    formats: Sequence[str] = DEFAULT,
    directory: str | Path | None = None,
    *,
    columns: int = 2,
) -> list[Path]:
    """Write a result in these formats, all files or none; returns their paths.

    directory: `export` in the result's own unless given. export.json in it lists what exports
    wrote there: these files are replaced by another export, any other file is left alone.
    columns: the width of figures in columns of a page, 1 or 2.
    The format `FOLDER` also copies a run's images into sets, with a manifest; these are not among
    the paths.

    Raises:
        InputError: the result was never saved and no directory is given; a file is in the way;
            images are asked for and there are none.
        MissingExtra: a format needs an optional package.
        ModelError: the directory cannot be written.
    """
    if directory is None and result.directory is None:
        raise InputError("the result has no directory of its own: say where to export it to")
    folder = Path(directory if directory is not None else Path(result.directory or "") / "export")
    with writing_to(folder):
        ours = _listed(folder)
    files: Files = {}
    for name in formats:
        if name != FOLDER:
            files |= FORMATS[name](result, columns)
    pictures = LaidOut.of(result) if FOLDER in formats else None
    with writing_to(folder):
        _refuse_foreign(folder, [*files, *(pictures.names if pictures else ())], ours)
    graph = result.document["graph"]
    names = {*files, *ours, *(pictures.names if pictures else ())}
    listing = {"schema": SCHEMA, "files": sorted(names), "graph": graph}
    files[LISTING] = (json.dumps(listing, indent=1) + "\n").encode()
    written = write_files(folder, files)  # first: an export that is cut short can be given again
    if pictures is not None:
        pictures.write(folder)
    return written


def _listed(folder: Path) -> list[str]:
    """The files that exports wrote into `folder`."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{shown(folder)} is a file, not a directory; give another -o")
    try:
        listing = json.loads((folder / LISTING).read_bytes())
    except FileNotFoundError:
        return []
    except (ValueError, RecursionError):
        listing = None
    names = listing.get("files") if isinstance(listing, dict) else None
    if not isinstance(names, list) or listing.get("schema") != SCHEMA:
        raise InputError(f"{shown(folder / LISTING)} is no list of exports; give another -o")
    return [str(name) for name in names]


def _refuse_foreign(folder: Path, names: Collection[str], ours: Collection[str]) -> None:
    for name in names:
        if name not in ours and (folder / name).exists():
            raise InputError(
                f"{shown(folder / name)} is there already and no export wrote it; nothing was "
                "written: give another -o"
            )
