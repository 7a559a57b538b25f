"""`biasgraph export`: a result in the formats that other tools read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import rich_click as click

from biasgraph.commands.click_options import output_option, run_argument
from biasgraph.errors import BiasgraphError
from biasgraph.report.export_formats import DEFAULT, FOLDER, summary


class ExportError(BiasgraphError):
    """Some formats could not be written, a line for each; the others were."""

    def __init__(self, refused: Mapping[str, BiasgraphError]) -> None:
        super().__init__("\n".join(f"{name}: {error}" for name, error in refused.items()))
        self.exit_code = next(iter(refused.values())).exit_code


@click.command()
@run_argument
@click.option(
    "--to",
    "formats",
    metavar="FORMAT,...",
    help=summary(),
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

    From a run of many prompts, the global graph and the reports of all prompts are exported; for
    the graph of one prompt, give its directory under RUN/prompts.

    If a format cannot be written, it is named and the others are written. The exit code is then
    the one that this format alone would give: 1 if a package is missing, 2 if the result lacks
    what the format shows.
    """
    from biasgraph.data.result import load
    from biasgraph.errors import show_path
    from biasgraph.report import exports

    wanted = DEFAULT if formats is None else exports.formats_in(formats)
    done = exports.export(load(run), wanted, target, columns=int(columns))
    folder = done.paths[-1].parent  # that of export.json
    names = ", ".join(path.relative_to(folder).as_posix() for path in done.paths)
    pictures = FOLDER in wanted and FOLDER not in done.refused
    sets = "the images in their sets, manifest.csv, " if pictures else ""
    click.echo(f"Wrote to {show_path(folder)}: {sets}{names}")
    if pictures:
        click.echo(f"The images can be audited with --model 'folder:{show_path(folder)}'")
    if done.refused:
        raise ExportError(done.refused)
