"""`biasgraph robustness`: how stable the graph of a run is."""

from __future__ import annotations

import sys

import rich_click as click

from biasgraph.audits.pipeline_options import RobustnessOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, output_options


@click.command()
@options_from(RobustnessOptions)
@output_options("robustness.json")
def robustness(options: RobustnessOptions, output: Output) -> None:
    """Try how stable the graph of RUN is with fewer images and a worse judge.

    Audits of fewer images are drawn from those of the run, without a shared image and beside the
    whole, and answers are made wrong; what that changes in edges, verdicts and sensitivities is
    counted. No model is called unless fresh images are asked for.
    """
    from biasgraph.audits.robustness.robustness_summary import summarize_robustness
    from biasgraph.audits.robustness.study import try_robustness

    document = try_robustness(options, output.progress(), sys.argv[1:])
    output.present(document, summarize_robustness)
