"""`biasgraph plan`: which interventions would bring the axes of a run closer to their ideals."""

from __future__ import annotations

import json
import sys
from typing import Any

import rich_click as click

from biasgraph.commands.output import output_options
from biasgraph.commands.paths import FilePath

WHAT, CHECK, WHERE = "What to reach", "Verification", "Output"
"""The panels of the help."""


@click.command()
@click.argument("run", type=FilePath(), metavar="RUN")
@click.option(
    "--targets",
    type=FilePath(),
    metavar="FILE",
    panel=WHAT,
    help="The axes to bring closer to an ideal, as YAML: 'axis: {weight: 2, ideal: {attribute: "
    "share}}'. Weight 1 and the run's own ideal unless given; axes that the file does not name "
    "count nothing. Default: all axes.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    panel=WHAT,
    help="Plan at most so many interventions. Default: as many as gain more than chance.",
)
@click.option(
    "--verify",
    is_flag=True,
    panel=CHECK,
    help="Make images with all planned axes set at once, with the run's own models, and show "
    "prediction against outcome. What the run has already is not made again.",
)
@click.option(
    "--verify-images",
    type=click.IntRange(min=1),
    panel=CHECK,
    help="Images for each combination of attributes. Default: as many as the run has for a "
    "prompt, but in all no more than the run has.",
)
@click.option(
    "--axes",
    metavar="FILE",
    panel=CHECK,
    help="The axis set that the run was built with, where it is not one that ships.",
)
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    metavar="DIR",
    panel=WHERE,
    help="Where plan.json goes. Default: RUN.",
)
@output_options(WHERE, "plan.json")
def plan(as_json: bool, quiet: bool, **options: Any) -> None:
    """Plan how to bring the axes of the finished RUN closer to their ideals.

    For every axis: which single intervention brings it closest to its ideal, its own or that of
    another axis, and what else that does. Then an order of interventions for several axes at
    once, with the distances it is predicted to reach.
    """
    from rich.console import Console

    from biasgraph.audits.plan import mitigation
    from biasgraph.audits.plan.plan_summary import summarize_plan
    from biasgraph.commands.progress_bar import TerminalProgress
    from biasgraph.report.terminal import show

    progress = None if quiet else TerminalProgress()
    wanted = mitigation.PlanOptions(**options)
    document = mitigation.plan(wanted, progress, command=sys.argv[1:])
    if as_json:
        click.echo(json.dumps(document))
    elif not quiet:
        show(Console(highlight=False), summarize_plan(document))
