"""`biasgraph label`: a page on which people label a run's pictures."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from biasgraph.commands.name_lists import names_in
from biasgraph.commands.paths import FilePath

PAGE = "label.html"


@click.command()
@click.argument("run", type=FilePath(), metavar="RUN")
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="How many pictures, evenly from the prompt's own and those of every counterfactual.",
)
@click.option("--only", metavar="AXIS,...", help="Ask about these axes only.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the sample. A larger sample of the same seed holds the smaller one.",
)
@click.option(
    "-o",
    "--output",
    type=FilePath(dir_okay=False),
    metavar="FILE",
    help="Where the page goes. Default: label.html in RUN.",
)
def label(run: Path, sample: int, only: str | None, seed: int, output: Path | None) -> None:
    """Write a page on which people say what they see in pictures of RUN.

    One self-contained HTML file that works from the disk and sends nothing anywhere. It shows
    neither prompts nor the judge's answers, and saves the labels as labels.csv, for `biasgraph
    agreement RUN --with labels.csv`, `build --correct labels.csv` and `build --vqa
    human:labels.csv`.
    """
    from biasgraph.audits.agreement.label_page import LabelOptions, label_page
    from biasgraph.commands.report import refuse_other
    from biasgraph.errors import printable
    from biasgraph.io.writing import write_files

    path = output or run / PAGE
    names = names_in("--only", only)
    refuse_other(path)
    page, count = label_page(run, LabelOptions(sample, names, seed))
    write_files(path.parent, {path.name: page})
    click.echo(f"Wrote {count:,} pictures to {printable(str(path))}")
    click.echo("Open it in a browser, label, and download labels.csv")
