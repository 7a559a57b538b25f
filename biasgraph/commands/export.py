"""`biasgraph export`: a result in the formats that other tools read."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.click_options import output_option, run_argument


@click.command()
@run_argument
@click.option(
    "--to",
    "formats",
    metavar="FORMAT,...",
    help="html, json, graphml, gexf, csv, parquet, dot, mermaid, svg, png, folder (the images in "
    "sets, for --model folder:DIR). Default: all but parquet, which needs an optional package, and "
    "folder.",
)
@click.option(
    "--columns",
    type=click.Choice(["1", "2"]),
    default="2",
    help="Width of the figures (svg, png), in columns of a page: 3.5 or 7.2 inches. Default: 2.",
)
@output_option("Where the files go. Default: export in RUN.")
def export(run: Path, formats: str | None, columns: str, target: Path | None) -> None:
    """Write the result in the directory RUN for other tools, and as figures for a paper.

    Of a run of many prompts, the global graph is exported, and the reports of all; for the graph
    of one prompt, give its directory under RUN/prompts.
    """
    from biasgraph.data.result import load
    from biasgraph.errors import shown
    from biasgraph.report import exports

    wanted = exports.DEFAULT if formats is None else exports.formats_in(formats)
    paths = exports.export(load(run), wanted, target, columns=int(columns))
    folder = paths[-1].parent  # that of export.json
    names = ", ".join(path.relative_to(folder).as_posix() for path in paths)
    pictures = "the images in their sets, manifest.csv, " if exports.FOLDER in wanted else ""
    click.echo(f"Wrote to {shown(folder)}: {pictures}{names}")
    if pictures:
        click.echo(f"The images can be audited with --model 'folder:{shown(folder)}'")
