"""`biasgraph report`: the interactive page of a result, written again."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.click_options import output_option, run_argument


@click.command()
@run_argument
@click.option(
    "--no-images",
    is_flag=True,
    help="Leave the thumbnails out, for images that must not be passed on.",
)
@output_option(
    "Where the page goes. Default: report.html in RUN, and those of its prompts.", "FILE"
)
def report(run: Path, no_images: bool, target: Path | None) -> None:
    """Write the interactive report of the result in the directory RUN.

    One HTML file that works from the disk with the network off. It contains the pictures of its
    findings, up to 20 MB; all others are files of RUN and are shown only while RUN is beside the
    page.
    """
    from biasgraph.data.result import load
    from biasgraph.errors import show_path
    from biasgraph.io.writing import refuse_foreign, write_files
    from biasgraph.report.html import is_page
    from biasgraph.report.page import report_files, report_html

    if target is not None:
        refuse_foreign(target, is_page, "a report")
    result = load(run)
    if target is None:
        paths = write_files(run, report_files(result, images=not no_images))
    else:
        inside = target.absolute().parent == run.absolute()
        page = report_html(result, images=not no_images, links=inside)
        paths = write_files(target.parent, {target.name: page})
    click.echo(f"Wrote {show_path(paths[0])}")
