"""`biasgraph axes`: the axis sets that ship, and writing one's own."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import rich_click as click

from biasgraph.audits.build_options import RunOptions
from biasgraph.commands.click_options import options_from, output_option
from biasgraph.commands.output import Output, json_option
from biasgraph.errors import show_path
from biasgraph.models.inference_options import LANGUAGE_MODELS

if TYPE_CHECKING:
    from biasgraph.prompts.axis_check import SubjectKind


@click.group()
def axes() -> None:
    """Axis sets: what is varied in a prompt and asked about its images."""


@axes.command("list")
@json_option
def list_command(output: Output) -> None:
    """List the axis sets that ship with biasgraph."""
    from biasgraph.data.axes import load_axis_set, shipped_axis_sets
    from biasgraph.report.axis_set_summary import summarize_sets

    sets = [load_axis_set(name) for name in shipped_axis_sets()]
    documents = [axes.model_dump(mode="json", exclude_defaults=True) for axes in sets]
    output.present(documents, lambda _: summarize_sets(sets))


@axes.command("show")
@click.argument("name", metavar="NAME|FILE")
@json_option
def show_command(name: str, output: Output) -> None:
    """Show an axis set: its attributes, how prompts say them, and its questions."""
    from biasgraph.data.axes import load_axis_set
    from biasgraph.report.axis_set_summary import summarize_set

    axes = load_axis_set(name)
    document = axes.model_dump(mode="json", exclude_defaults=True)
    output.present(document, lambda _: summarize_set(axes))


@axes.command("new")
@click.argument("name")
@click.option(
    "--subject",
    type=click.Choice(["person", "animal", "object", "scene"]),
    default="person",
    show_default=True,
    help="What the images are about.",
)
@output_option("Where it goes; '-' prints it. Default: NAME.yaml.", "FILE")
def new_command(name: str, subject: SubjectKind, target: Path | None) -> None:
    """Write a commented axis set to start from; it passes the check as it is."""
    from biasgraph.prompts.axis_check import starter, write_starter

    if str(target) == "-":
        click.echo(starter(name, subject), nl=False)
        return
    path = write_starter(name, subject, target)
    click.echo(
        f"Wrote {show_path(path)}: edit it, then 'biasgraph axes check {show_path(path)}'", err=True
    )


@axes.command("check")
@click.argument("file", metavar="FILE|NAME")
@click.option(
    "--prompt",
    metavar="TEXT",
    help="Show the counterfactuals of this prompt. Default: one that fits the set.",
)
@json_option
def check_command(file: str, prompt: str | None, output: Output) -> None:
    """Report every problem of an axis set with its line, or show what it makes of a prompt."""
    from biasgraph.prompts.axis_check import AxisCheck
    from biasgraph.report.axis_set_summary import summarize_check

    check = AxisCheck.of(file, prompt)
    output.present(check.record(), lambda _: summarize_check(check))


@axes.command("propose")
@click.argument("prompt", metavar="PROMPT")
@output_option(
    "Where the axes go; the conversation goes to transcripts/ beside it. Default: axes.yaml.",
    "FILE",
    default=Path("axes.yaml"),
)
@json_option
@options_from(RunOptions, only=("llm", *LANGUAGE_MODELS))
def propose_command(prompt: str, target: Path, options: RunOptions, output: Output) -> None:
    """Let a language model propose axes for PROMPT (TIBET), to edit and build with.

    Nothing else is made or asked. `biasgraph build --axes llm` includes this step.
    """
    from biasgraph.prompts.axis_check import AxisCheck
    from biasgraph.report.axis_set_summary import summarize_check
    from biasgraph.runs.proposed_axes import propose, record

    proposal = propose(prompt, target, options.llm, options.model_options(), output.progress())
    output.present(record(proposal), lambda _: summarize_check(AxisCheck.of(str(target), prompt)))
    if output.as_json:
        return
    for note in proposal.notes:
        click.echo(note, err=True)
    path = show_path(target)
    click.echo(
        f"Wrote {path}: edit it, then `biasgraph build --prompt ... --axes {quote(path)}`",
        err=True,
    )
