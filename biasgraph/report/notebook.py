"""A result as a notebook shows it: overview, figure, findings and pictures."""

from __future__ import annotations

import base64
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from biasgraph.data.findings import Sentences, is_empty
from biasgraph.data.result import run_directory, why_no_run
from biasgraph.errors import InputError, did_you_mean, printable, show_path
from biasgraph.report import html, verdict_words
from biasgraph.report.caveats import caveats
from biasgraph.report.graph_figure import alternative_text, graph_figure, graph_sheet
from biasgraph.report.graph_summary import ReportInput
from biasgraph.report.judge_words import caveats_of_graph
from biasgraph.report.overview import overviews
from biasgraph.report.words import Record, plain
from biasgraph.runs.directory import read_run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from PIL.Image import Image

    from biasgraph.data.result import Result

SCREEN_DPI = 150
"""Of a figure in a notebook."""
ENDS = ("", "_low", "_high")


def result_html(result: Result) -> str:
    """What `Result._repr_html_` returns: HTML without scripts, every text in it escaped."""
    document, prompts = result.document, [part.document for part in result.prompts]
    told = ReportInput(document, result.pair_records(), prompts)
    figure = base64.b64encode(graph_figure(document, "svg", 1)).decode("ascii")
    graph = document["graph"]
    limits = Sentences("To keep in mind", [*caveats(document), *caveats_of_graph(graph)])
    parts = next(overviews(told, None, limits))
    return html.render_fragment(
        "notebook.html",
        styles=("notebook.css",),
        parts=[part for part in parts if not is_empty(part)],
        figure=figure,
        alt=alternative_text(document),
    )


def graph_plot(result: Result) -> Figure:
    """What `Result.plot` returns."""
    _show_figures()
    with graph_sheet(result.document, 2) as sheet:
        sheet.figure.set_dpi(SCREEN_DPI)
        for text in sheet.figure.texts:
            text.set_in_layout(True)  # notebooks cut off what is not
        return sheet.figure


def _show_figures() -> None:
    """Let a notebook show figures, as it does by itself once pyplot has made one."""
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython
    from IPython.core.pylabtools import select_figure_formats
    from matplotlib.figure import Figure

    display = getattr(get_ipython(), "display_formatter", None)
    if display is not None and Figure not in display.formatters["image/png"]:
        select_figure_formats(get_ipython(), {"png"})  # type: ignore[no-untyped-call]


def findings_frame(result: Result) -> pd.DataFrame:
    """What `Result.findings` holds."""
    import pandas as pd

    document = result.document
    found = verdict_words.rank_links(document["links"])
    found += verdict_words.common_shifts(result.pair_records())
    rows = [_finding(pair, document) for pair in found]
    frame = pd.DataFrame.from_records(rows, columns=[*_COLUMNS])
    return frame.astype({name: "float64" for name in _COLUMNS if name in _NUMBERS})


_NUMBERS = [f"{name}{end}" for name in ("before", "after", "sensitivity") for end in ENDS]
_COLUMNS = ["finding", "source", "target", "verdict", "category", *_NUMBERS, "evidence"]


def _finding(pair: Record, document: Record) -> dict[str, object]:
    shares = {
        f"{when}{end}": _percent(pair.get(f"share_{when}{'_ci' if end else ''}{end}"))
        for when in ("before", "after")
        for end in ENDS
    }
    sensitivity = {f"sensitivity{end}": pair[f"is{'_ci' if end else ''}{end}"] for end in ENDS}
    return {
        "finding": plain(verdict_words.finding(pair, document)),
        **{name: pair[name] for name in ("source", "target")},
        "verdict": pair.get("verdict"),  # which earlier versions did not write
        "category": pair.get("moved"),
        **shares,
        **sensitivity,
        "evidence": plain(verdict_words.evidence(pair, document)),
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def picture(result: Result, image: str) -> Image:
    """What `Result.image` returns, or raises."""
    root = run_directory(result.directory)
    if root is None:
        where = result.directory
        why = "it came from a table" if where is None else why_no_run(where)
        raise InputError(f"the result has no pictures: {why}")
    with closing(read_run(root)) as run:
        rows = {row.id: row for row in run.ledger.images()}
        row = rows.get(image)
        if row is None:
            quoted = printable(repr(image))
            raise InputError(
                f"{show_path(root)} has no image {quoted}.{did_you_mean(str(image), rows)} Ids are "
                "in the column image of answers"
            )
        if row.withheld:
            raise InputError(f"image {printable(image)} was withheld: {printable(row.withheld)}")
        found, path = run.read_image(row), run.image_path(row)
    if found is None:
        raise InputError(
            f"{show_path(path)} is missing or damaged: rerun the build command to make it again"
        )
    found.filename = str(path)  # type: ignore[attr-defined]  # as of one opened by its path
    return found
