"""`biasgraph show`: a result in the terminal again."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.click_options import run_argument
from biasgraph.commands.output import Output, output_options


@click.command()
@run_argument
@output_options()
def show(run: Path, output: Output) -> None:
    """Show the graph in the directory RUN: axes, edges, and what could not be determined."""
    from biasgraph.data.result import load

    output.present_result(load(run))
