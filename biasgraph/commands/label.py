"""`biasgraph label`: a page on which people label a run's pictures."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.audits.pipeline_options import LabelOptions
from biasgraph.commands.click_options import options_from, output_option, run_argument

PAGE = "label.html"


@click.command()
@run_argument
@options_from(LabelOptions)
@output_option("Where the page goes. Default: label.html in RUN.", "FILE")
def label(run: Path, options: LabelOptions, target: Path | None) -> None:
    """Write a page on which people label what they see in images of RUN.

    One self-contained HTML file that works from the disk and sends nothing anywhere. It shows
    neither prompts nor the judge's answers, and saves the labels as labels.csv, for `biasgraph
    agreement RUN --with labels.csv`, `build --correct labels.csv` and `build --vqa
    human:labels.csv`.
    """
    from biasgraph.audits.agreement.label_page import label_page
    from biasgraph.errors import show_path
    from biasgraph.io.writing import refuse_foreign, write_files
    from biasgraph.report.html import is_page

    path = target or run / PAGE
    refuse_foreign(path, is_page, "a page")
    page, count = label_page(run, options)
    write_files(path.parent, {path.name: page})
    click.echo(f"Wrote {count:,} pictures to {show_path(path)}")
    click.echo("Open it in a browser, label, and download labels.csv")
