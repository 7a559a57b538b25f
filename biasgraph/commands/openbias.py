"""`biasgraph openbias`: from captions to a ranking of a generator's biases."""

from __future__ import annotations

import sys
from typing import Any

import rich_click as click

from biasgraph.commands.model_options import llm_option, model_options
from biasgraph.commands.output import output_options
from biasgraph.commands.paths import FilePath
from biasgraph.commands.run_options import fresh_option, model_option, vqa_option

WHAT, RULES, WHERE = "What to audit", "Proposals and scores", "Output"
"""The panels of the help."""


@click.command()
@click.option(
    "--captions",
    type=FilePath(),
    metavar="FILE",
    required=True,
    panel=WHAT,
    help="The captions: a text file with one on each line, COCO's JSON, or a CSV file with a "
    "column 'caption'.",
)
@model_option(WHAT)
@vqa_option(WHAT)
@click.option(
    "--images",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    panel=WHAT,
    help="Images of each caption.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    panel=WHAT,
    help="Seed of the images and of the resampling.",
)
@click.option(
    "--overlap",
    type=float,
    default=0.75,
    show_default=True,
    panel=RULES,
    help="Biases that share this part of their classes, of the smaller one's, are one.",
)
@click.option(
    "--min-captions",
    type=int,
    default=30,
    show_default=True,
    panel=RULES,
    help="Leave out biases with fewer captions than this.",
)
@click.option(
    "--bootstrap",
    type=click.IntRange(min=100),
    default=2000,
    show_default=True,
    panel=RULES,
    help="Resamples behind each interval; 10000 for publication.",
)
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    metavar="DIR",
    panel=WHERE,
    help="Where the run and its report go. Default: outputs/MODEL/openbias-CAPTIONS.",
)
@fresh_option(WHERE)
@llm_option
@model_options
@output_options(WHERE, "openbias.json")
def openbias(as_json: bool, quiet: bool, **options: Any) -> None:
    """Find the biases of a generator by captions, and rank them (OpenBias).

    A language model proposes for each caption what may be biased, with classes and a question;
    captions that say the answer are left out, biases with the same classes put together. Images
    are made of the captions, a judge answers the questions, and each bias gets a score from 0
    (uniform) to 1 (a single class). What the run has is never made or asked again.
    """
    from biasgraph.audits.openbias.ranking import OpenBiasOptions

    wanted = OpenBiasOptions(**options)  # before anything slow is imported
    from biasgraph.audits.openbias import ranking as audit
    from biasgraph.audits.openbias.ranking_summary import summarize_ranking
    from biasgraph.commands.output import present_document
    from biasgraph.commands.progress_bar import TerminalProgress

    progress = None if quiet else TerminalProgress()
    report = audit.audit(wanted, progress, command=sys.argv[1:])
    found = report.document, report.directory, "openbias.html"
    present_document(*found, summarize_ranking, as_json=as_json, quiet=quiet)
