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
    """Test how stable the graph of RUN is with fewer images and a worse judge.

    Audits of fewer images are drawn from the run's and compared, with one another where they share
    no image and with the whole run; answers are also made wrong. The result counts how often
    edges, verdicts and sensitivities change. No model is called unless fresh images are requested.
    """
    from biasgraph.audits.robustness.robustness_summary import summarize_robustness
    from biasgraph.audits.robustness.study import try_robustness

    document = try_robustness(options, output.progress(), sys.argv[1:])
    output.present(document, summarize_robustness)
