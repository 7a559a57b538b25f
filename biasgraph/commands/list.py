"""`biasgraph list`: the runs under a folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import rich_click as click

from biasgraph.commands.output import Output, json_option

LIMIT = 50
"""Runs in the table unless all are asked for."""


@click.command()
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path("outputs"))
@click.option(
    "--all", "every", is_flag=True, help=f"List all runs, not only the {LIMIT} latest ones."
)
@json_option
def list(folder: Path, every: bool, output: Output) -> None:
    """List the runs under DIR (outputs), latest first.

    Their prompt, model, judge, images and edges, and the axis whose initial images are furthest
    from their ideal. No model is loaded; if a run cannot be read, the reason is shown.
    """
    from biasgraph.audits.run_list import list_runs
    from biasgraph.errors import show_path
    from biasgraph.report.run_table import summarize

    rows = [row.to_json() for row in list_runs(folder)]
    if rows or output.as_json:
        output.present(rows, partial(summarize, limit=None if every else LIMIT))
    else:
        click.echo(f"No runs under {show_path(folder)}.")
