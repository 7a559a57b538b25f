"""`biasgraph minethegap`: prompts ranked by how biased their images are."""

from __future__ import annotations

import sys

import rich_click as click

from biasgraph.audits.pipeline_options import ScoreOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, output_options


@click.group()
def minethegap() -> None:
    """MineTheGap: how well images span what their prompt may mean."""


@minethegap.command()
@options_from(ScoreOptions)
@output_options("scores.json")
def score(options: ScoreOptions, output: Output) -> None:
    """Rank prompts by MineTheGap's bias score.

    Images of each prompt are compared with variations of it: combinations of attributes (--vary),
    or what a language model proposes (--llm). A score is low if some variations have no image near
    them, or some images no variation. A rerun makes only what the run lacks.
    """
    from biasgraph.audits.minethegap.score_summary import summarize_scores
    from biasgraph.audits.minethegap.scoring import rank

    ranking = rank(options, output.progress(), command=sys.argv[1:])
    output.present(ranking.document, summarize_scores, ranking.directory, "scores.csv")
