"""`biasgraph robustness`: how stable the graph of a run is."""

from __future__ import annotations

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
    whole, and what they say of edges, verdicts and sensitivities is compared.
    """
    from biasgraph.audits.robustness.robustness_summary import summarize_robustness
    from biasgraph.audits.robustness.study import try_robustness

    document = try_robustness(options, output.progress())
    output.present(document, summarize_robustness)
