"""The figures of a result for a paper: SVG with text as text, PNG at 300 dpi."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from biasgraph.data.graph_document import Document
from biasgraph.report import style
from biasgraph.report.bar_figure import finding_figures
from biasgraph.report.graph_figure import graph_figure
from biasgraph.report.matrix_figure import matrix_figure

if TYPE_CHECKING:
    from biasgraph.data.result import Result


def export_figures(result: Result, kind: str, columns: int) -> dict[str, bytes]:
    """`figure_files` of a result."""
    return figure_files(result.document, result.pair_records(), kind, columns)


def figure_files(
    document: Document, pairs: Sequence[style.Record], kind: str, columns: int
) -> dict[str, bytes]:
    """The files graph.KIND and matrix.KIND, and METHOD.KIND where a method shows bars of axes.

    Args:
        document: The document of the graph.
        pairs: Every ordered pair of axes, as `Result.pair_records` gives them.
        kind: "svg" or "png".
        columns: 1 or 2, the width in columns of a page.
    """
    return {
        f"graph.{kind}": graph_figure(document, kind, columns),
        f"matrix.{kind}": matrix_figure(document, pairs, kind, columns),
        **finding_figures(document, kind, columns),
    }
