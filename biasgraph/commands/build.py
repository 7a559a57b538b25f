"""`biasgraph build`: from a prompt, or from answers, to the graph."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import rich_click as click

from biasgraph.audits.build_options import BuildOptions
from biasgraph.commands.click_options import CommandWithMethods, options_from
from biasgraph.commands.output import Output, output_options

SHOWN = 2
"""Counterfactuals of each of several prompts that are shown of a plan."""


@click.command(cls=CommandWithMethods)
@options_from(BuildOptions)
@output_options()
def build(options: BuildOptions, output: Output) -> None:
    """Build the graph of a prompt's biases.

    Generates images of the prompt and of its counterfactuals ("a female librarian"), asks a judge
    about each, and tests and weighs every pair of axes. With --answers, the answers exist already.
    With several prompts, builds a graph for each and one of their sum.
    """
    from biasgraph.audits import build as audit
    from biasgraph.audits.axis_gates import failures, judge_gates
    from biasgraph.audits.gate_condition import refuse_failed

    if options.dry_run:
        plan = audit.plan(options)
        output.print_document(plan, lambda _: _list(plan))
        return
    result = audit.build(options, output.progress(), command=sys.argv[1:])
    judged = judge_gates(options.gates, result)
    output.present_result(result, gates=judged)
    refuse_failed(failures(judged))


def _list(plan: Mapping[str, Any]) -> None:
    """Print what a build would do."""
    from biasgraph.errors import printable
    from biasgraph.runs.progress import duration

    seconds, plans = plan["seconds"], plan["plans"]
    pace = "unknown" if seconds is None else f"about {duration(seconds)} on two CPU cores"
    shown = len(plans[0]["counterfactuals"]) if len(plans) == 1 else SHOWN
    for planned in plans:
        click.echo(f"{printable(planned['prompt'])} (subject: {printable(planned['subject'])})")
        for text in planned["counterfactuals"][:shown]:
            click.echo(f"  {printable(text)}")
        controls = planned["controls"]
        if (more := len(planned["counterfactuals"]) - shown) > 0:
            several = "s" * (len(controls) != 1)
            and_controls = f", and {len(controls)} neutral rewording{several}" if controls else ""
            click.echo(f"  and {more} more{and_controls}")
            continue
        for text in controls:
            click.echo(f"  control: {printable(text)}")
    click.echo(
        f"{plan['prompts']:,} prompts, {plan['images']:,} images, "
        f"{plan['questions']:,} questions, {plan['answers']:,} answers"
    )
    if "reference" in plan:
        asked = plan["reference"]
        click.echo(f"Reference: {asked['images']:,} photographs, {asked['questions']:,} questions")
    click.echo(f"Time: {pace}; only what the run lacks is made")
    click.echo(f"Directory: {printable(plan['directory'])}")
    for note in plan["notes"]:
        click.echo(f"Note: {note}")
    click.echo("Nothing was done.")
