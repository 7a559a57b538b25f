"""A result as a notebook shows it: its overview, beside the figure of its graph."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from biasgraph.data.findings import is_empty
from biasgraph.report import html
from biasgraph.report.graph_figure import graph_figure
from biasgraph.report.graph_summary import Told
from biasgraph.report.overview import overviews

if TYPE_CHECKING:
    from biasgraph.data.result import Result


def result_html(result: Result) -> str:
    """What `Result._repr_html_` returns: HTML without scripts, every text in it escaped."""
    document, prompts = result.document, [part.document for part in result.prompts]
    told = Told(document, result.pair_records(), prompts)
    figure = base64.b64encode(graph_figure(document, "svg", 1)).decode("ascii")
    parts = next(overviews(told, None if result.directory is None else str(result.directory)))
    edges = len(document["links"])
    return html.render_fragment(
        "notebook.html",
        styles=("notebook.css",),
        parts=[part for part in parts if not is_empty(part)],
        figure=figure,
        alt=f"The graph: {len(document['nodes'])} axes, {edges} edges.",
    )
