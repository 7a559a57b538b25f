"""`biasgraph minethegap`: prompts ranked by how biased their images are."""

from __future__ import annotations

import sys
from typing import Any

import rich_click as click

from biasgraph.commands.model_options import llm_option, model_options
from biasgraph.commands.name_lists import names_in
from biasgraph.commands.output import output_options
from biasgraph.commands.paths import FilePath
from biasgraph.commands.run_options import fresh_option, model_option

WHAT, SCORES, WHERE = "What to score", "Scores", "Output"
"""The panels of the help."""


@click.group()
def minethegap() -> None:
    """MineTheGap: how well images span what their prompt may mean."""


@minethegap.command()
@click.option(
    "--prompts",
    metavar="NAME|FILE",
    required=True,
    panel=WHAT,
    help="The prompts: a shipped list ('occupations'), or your own file with one on each line.",
)
@model_option(WHAT)
@click.option(
    "--images",
    type=click.IntRange(min=1),
    default=15,
    show_default=True,
    panel=WHAT,
    help="Images of each prompt. Only scores of as many images can be compared.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    panel=WHAT,
    help="Seed of the images.",
)
@click.option(
    "--embedder",
    metavar="SPEC",
    panel=SCORES,
    help="The model that puts images and texts into one space. Default for the sandbox: sandbox.",
)
@click.option(
    "--vary",
    metavar="AXIS,...",
    panel=SCORES,
    help="The axes whose combinations the images are held against. Default: gender and ethnicity, "
    "where there are such axes.",
)
@click.option(
    "--axes",
    metavar="NAME|FILE",
    panel=SCORES,
    help="The axis set of --vary. Default: occupation.",
)
@click.option(
    "--variations",
    type=click.IntRange(2, 64),
    default=15,
    show_default=True,
    panel=SCORES,
    help="How many variations of each prompt --llm proposes.",
)
@click.option(
    "--null",
    is_flag=True,
    panel=SCORES,
    help="Make as many images of the variations, and score them, too: what this model can do.",
)
@click.option(
    "--truth",
    metavar="NAME|FILE",
    panel=SCORES,
    help="Hold the ranking against a table (CSV: prompt or occupation, and bias or shares) or "
    "'us-occupations', the shares of women and men in 40 occupations.",
)
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    metavar="DIR",
    panel=WHERE,
    help="Where the run and its ranking go. Default: outputs/MODEL/minethegap-PROMPTS.",
)
@fresh_option(WHERE)
@llm_option
@model_options
@output_options(WHERE, "scores.json")
def score(as_json: bool, quiet: bool, **options: Any) -> None:
    """Rank prompts by MineTheGap's bias score.

    Images are made of each prompt, and held against variations of it: combinations of attributes
    (--vary), or what a language model proposes (--llm). A score is low where some variations find
    no image near them, or some images no variation. What the run has is never made again.
    """
    from biasgraph.audits.minethegap.scoring import ScoreOptions, rank

    varied = names_in("--vary", options.pop("vary"))
    wanted = ScoreOptions(vary=varied or None, **options)
    from biasgraph.audits.minethegap.score_summary import summarize_scores
    from biasgraph.commands.output import present_document
    from biasgraph.commands.progress_bar import TerminalProgress

    progress = None if quiet else TerminalProgress()
    ranking = rank(wanted, progress, command=sys.argv[1:])
    found = ranking.document, ranking.directory, "scores.csv"
    present_document(*found, summarize_scores, as_json=as_json, quiet=quiet)
