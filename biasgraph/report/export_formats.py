"""The formats that `biasgraph export` writes: what each is, and what makes its files.

What makes them is named in text and imported when a format is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasgraph.data.result import Result

Files = dict[str, bytes]


@dataclass(frozen=True)
class Format:
    """What makes the files of a format.

    Attributes:
        writer: "module:function", of a result; it returns files by name.
        file: The name of the only file, where the function is one of the document instead and
            returns its content.
        figure: The kind of a picture, where the function takes it and the width in columns too.
        about: What it is, where its name does not say that.
        default: Whether it is written where no format is named: it needs no optional package and
            does not grow with every answer.
    """

    writer: str
    file: str = ""
    figure: str = ""
    about: str = ""
    default: bool = True

    def files(self, result: Result, columns: int) -> Files:
        """The files of a result by name; columns: the width of figures."""
        write = resolve_name(self.writer)
        if self.file:
            return {self.file: write(result.document)}
        files: Files = write(result, self.figure, columns) if self.figure else write(result)
        return files


FORMATS = {
    "html": Format("biasgraph.report.page:pages"),
    "json": Format("biasgraph.io.json_files:to_json", "graph.json"),
    "graphml": Format("biasgraph.data.graph_document:to_graphml", "graph.graphml"),
    "gexf": Format("biasgraph.report.gexf:to_gexf", "graph.gexf"),
    "csv": Format("biasgraph.report.exports:csv_files"),
    "parquet": Format("biasgraph.report.parquet:parquet_files", default=False),
    "pyvis": Format("biasgraph.report.pyvis_page:to_pyvis", "pyvis.html"),
    "dot": Format("biasgraph.report.diagrams:to_dot", "graph.dot"),
    "mermaid": Format("biasgraph.report.diagrams:to_mermaid", "graph.mmd"),
    "svg": Format("biasgraph.report.figures:export_figures", figure="svg"),
    "png": Format("biasgraph.report.figures:export_figures", figure="png"),
    "card": Format(
        "biasgraph.report.audit_card:card_files",
        figure="png",
        about="an audit card for people, in Markdown",
    ),
    "cyclonedx": Format("biasgraph.report.cyclonedx:bom_files", about="an ML-BOM"),
    "everyevalever": Format(
        "biasgraph.report.every_eval_ever:eval_files",
        about="scores and every answer, in that schema",
        default=False,
    ),
}
"""The formats by name, in the order in which they are written."""
DEFAULT = tuple(name for name, format in FORMATS.items() if format.default)
FOLDER = "folder"
"""The format that is pictures, too many to be held at once."""
NAMES = (*FORMATS, FOLDER)


def summary() -> str:
    """The names of all formats for a help text; what one is, where its name does not say that."""
    about = {name: format.about for name, format in FORMATS.items()}
    about[FOLDER] = "the images in sets, for --model folder:DIR"
    named = ", ".join(f"{name} ({what})" if what else name for name, what in about.items())
    others = ", ".join(name for name in NAMES if name not in DEFAULT)
    return f"{named}. Default: all but {others}, which are large or need an optional package."
