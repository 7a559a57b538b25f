"""`biasgraph show`: a result in the terminal again."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.click_options import run_argument
from biasgraph.commands.output import Output, output_options


@click.command()
@run_argument
@click.option(
    "--section",
    "sections",
    metavar="SECTION,...",
    help="What to show: settings, axes, prompts, findings, pairs, methods, images, caveats, or "
    "all. Default: the most important ones, in 30 lines.",
)
@output_options()
def show(run: Path, sections: str | None, output: Output) -> None:
    """Show the graph in the directory RUN: axes, edges, and what could not be determined."""
    from biasgraph.data.result import load
    from biasgraph.report.graph_summary import sections_in

    output.present_result(load(run), () if sections is None else sections_in(sections))
