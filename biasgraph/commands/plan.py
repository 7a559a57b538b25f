"""`biasgraph plan`: which interventions would bring the axes of a run closer to their ideals."""

from __future__ import annotations

import sys

import rich_click as click

from biasgraph.audits.pipeline_options import PlanOptions
from biasgraph.commands.click_options import options_from
from biasgraph.commands.output import Output, output_options


@click.command()
@options_from(PlanOptions)
@output_options("plan.json")
def plan(options: PlanOptions, output: Output) -> None:
    """Plan how to bring the axes of the finished RUN closer to their ideals.

    For every axis: which single intervention brings it closest to its ideal, its own or that of
    another axis, and what else that does. Then an order of interventions for several axes at
    once, with the distances it is predicted to reach.
    """
    from biasgraph.audits.plan import mitigation
    from biasgraph.audits.plan.plan_summary import summarize_plan

    document = mitigation.plan(options, output.progress(), command=sys.argv[1:])
    output.present(document, summarize_plan)
