"""`biasgraph report`: the interactive page of a result, written again."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import rich_click as click

from biasgraph.commands.click_options import output_option, run_argument

DOCTYPE = b"<!doctype html>"


@click.command()
@run_argument
@click.option(
    "--no-images",
    is_flag=True,
    help="Leave the thumbnails out: for images that must not be passed on.",
)
@output_option(
    "Where the page goes. Default: report.html in RUN, and those of its prompts.", "FILE"
)
def report(run: Path, no_images: bool, target: Path | None) -> None:
    """Write the interactive report of the result in the directory RUN.

    One self-contained HTML file; it works from the disk with the network off.
    """
    from biasgraph.data.result import load
    from biasgraph.errors import shown
    from biasgraph.io.writing import write_files
    from biasgraph.report.page import report_files, report_html

    if target is not None:
        refuse_other(target)
    result = load(run)
    if target is None:
        paths = write_files(run, report_files(result, images=not no_images))
    else:
        inside = target.absolute().parent == run.absolute()
        page = report_html(result, images=not no_images, links=inside)
        paths = write_files(target.parent, {target.name: page})
    click.echo(f"Wrote {shown(paths[0])}")


def refuse_other(output: Path) -> None:
    """Never overwrite anything but a page: a slip of the hand would cost a run its ledger."""
    from biasgraph.errors import InputError, shown

    if not output.exists():
        return
    is_page = False
    if output.is_file():
        with suppress(OSError), output.open("rb") as file:
            is_page = file.read(len(DOCTYPE)).lower() == DOCTYPE
    if not is_page:
        raise InputError(
            f"{shown(output)} already exists and is not a report; nothing was written: give "
            "another -o"
        )
