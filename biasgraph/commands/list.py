"""`biasgraph list`: the runs under a folder."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.output import Output, json_option


@click.command()
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), default=Path("outputs"))
@json_option
def list(folder: Path, output: Output) -> None:
    """List the runs under DIR (outputs), those built last first.

    Their prompt, model, judge, images and edges, and the axis whose initial images are furthest
    from their ideal. No model is loaded; of a run that cannot be read, the reason is shown.
    """
    from biasgraph.audits.run_list import list_runs
    from biasgraph.errors import shown
    from biasgraph.report.run_table import summarize

    rows = [row.to_json() for row in list_runs(folder)]
    if rows or output.as_json:
        output.present(rows, summarize)
    else:
        click.echo(f"No runs under {shown(folder)}.")
