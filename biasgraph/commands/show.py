"""`biasgraph show`: a result in the terminal again."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.output import output_options, present
from biasgraph.commands.paths import FilePath


@click.command()
@click.argument("run", type=FilePath(), metavar="RUN")
@output_options("Output")
def show(run: Path, as_json: bool, quiet: bool) -> None:
    """Show the graph in the directory RUN: axes, edges, and what could not be determined."""
    from biasgraph.data.result import load

    present(load(run), as_json=as_json, quiet=quiet)
