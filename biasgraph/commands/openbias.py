"""`biasgraph openbias`: from captions to a ranking of a generator's biases."""

from __future__ import annotations

import sys

import rich_click as click

from biasgraph.audits.pipeline_options import OpenBiasOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, output_options


@click.command()
@options_from(OpenBiasOptions)
@output_options("openbias.json")
def openbias(options: OpenBiasOptions, output: Output) -> None:
    """Find the biases of a generator from captions, and rank them (OpenBias).

    A language model proposes what may be biased about each caption, with classes and a question;
    captions that give the answer away are left out, biases with the same classes merged. Images
    are generated from the captions, a judge answers the questions, and each bias gets a score from
    0 (uniform) to 1 (a single class). A rerun makes and asks only what the run lacks.
    """
    from biasgraph.audits.openbias import ranking
    from biasgraph.audits.openbias.ranking_summary import summarize_ranking

    report = ranking.audit(options, output.progress(), command=sys.argv[1:])
    output.present(report.document, summarize_ranking, report.directory, "openbias.html")
