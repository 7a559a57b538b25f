"""`biasgraph report`: the interactive page of a result, written again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import rich_click as click

from biasgraph.commands.paths import FilePath

DOCTYPE = b"<!doctype html>"


@click.command()
@click.argument("run", type=FilePath(), metavar="RUN")
@click.option(
    "--no-images",
    is_flag=True,
    help="Leave the thumbnails out: for pictures that may not be passed on.",
)
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False),
    metavar="FILE",
    help="Where the page goes. Default: report.html in RUN, and those of its prompts.",
)
def report(run: Path, no_images: bool, output: Path | None) -> None:
    """Write the interactive report of the result in the directory RUN.

    One self-contained HTML file; it works from the disk with the network off.
    """
    from biasgraph.data.result import load
    from biasgraph.errors import printable
    from biasgraph.io.writing import write_files
    from biasgraph.report.page import report_files, report_html

    if output is not None:
        refuse_other(output)
    result = load(run)
    if output is None:
        paths = write_files(run, report_files(result, images=not no_images))
    else:
        inside = output.absolute().parent == run.absolute()
        page = report_html(result, images=not no_images, links=inside)
        paths = write_files(output.parent, {output.name: page})
    click.echo(f"Wrote {printable(str(paths[0]))}")


def refuse_other(output: Path) -> None:
    """Never overwrite what is no page: a slip of the hand would cost a run its ledger."""
    from biasgraph.errors import InputError, printable

    if not output.exists():
        return
    is_page = False
    if output.is_file():
        with suppress(OSError), output.open("rb") as file:
            is_page = file.read(len(DOCTYPE)).lower() == DOCTYPE
    if not is_page:
        raise InputError(
            f"{printable(str(output))} is there already and is no report; nothing was written: "
            "give another -o"
        )
