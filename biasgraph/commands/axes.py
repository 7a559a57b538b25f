"""`biasgraph axes`: the axis sets that ship, and writing one's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from biasgraph.audits.options import RunOptions
from biasgraph.commands.click_options import json_option, options_from, output_option
from biasgraph.errors import shown
from biasgraph.models.inference_options import LANGUAGE_MODELS

if TYPE_CHECKING:
    from rich.console import Console

    from biasgraph.prompts.axis_check import SubjectKind


@click.group()
def axes() -> None:
    """Axis sets: what is varied in a prompt and asked about its images."""


@axes.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the axis sets that ship with biasgraph."""
    from biasgraph.data.axes import load_axis_set, shipped_axis_sets
    from biasgraph.report.axis_set_summary import summarize_sets
    from biasgraph.report.terminal import show

    sets = [load_axis_set(name) for name in shipped_axis_sets()]
    if as_json:
        click.echo(json.dumps([one.model_dump(mode="json", exclude_defaults=True) for one in sets]))
    else:
        show(_console(), summarize_sets(sets))


@axes.command("show")
@click.argument("name", metavar="NAME|FILE")
@json_option
def show_command(name: str, as_json: bool) -> None:
    """Show an axis set: its attributes, how prompts say them, and its questions."""
    from biasgraph.data.axes import load_axis_set
    from biasgraph.report.axis_set_summary import summarize_set
    from biasgraph.report.terminal import show

    found = load_axis_set(name)
    if as_json:
        click.echo(json.dumps(found.model_dump(mode="json", exclude_defaults=True)))
    else:
        show(_console(), summarize_set(found))


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
    click.echo(f"Wrote {shown(path)}: edit it, then 'biasgraph axes check {shown(path)}'", err=True)


@axes.command("check")
@click.argument("file", metavar="FILE|NAME")
@click.option(
    "--prompt",
    metavar="TEXT",
    help="Show the counterfactuals of this prompt. Default: one that fits the set.",
)
@json_option
def check_command(file: str, prompt: str | None, as_json: bool) -> None:
    """Report every problem of an axis set with its line, or show what it makes of a prompt."""
    from biasgraph.prompts.axis_check import AxisCheck
    from biasgraph.report.axis_set_summary import summarize_check
    from biasgraph.report.terminal import show

    check = AxisCheck.of(file, prompt)
    if as_json:
        click.echo(json.dumps(check.record()))
    else:
        show(_console(), summarize_check(check))


@axes.command("propose")
@click.argument("prompt", metavar="PROMPT")
@output_option(
    "Where the axes go; the conversation goes to transcripts/ beside it. Default: axes.yaml.",
    "FILE",
    default=Path("axes.yaml"),
)
@json_option
@options_from(RunOptions, only=("llm", *LANGUAGE_MODELS))
def propose_command(prompt: str, target: Path, as_json: bool, options: RunOptions) -> None:
    """Let a language model propose axes for PROMPT (TIBET), to edit and build with.

    Nothing else is made or asked. `biasgraph build --axes llm` does the same on its way.
    """
    from biasgraph.prompts.axis_check import AxisCheck
    from biasgraph.report.axis_set_summary import summarize_check
    from biasgraph.report.terminal import show
    from biasgraph.runs.proposed_axes import propose, record

    proposal = propose(prompt, target, options.llm, options.model_options())
    if as_json:
        click.echo(json.dumps(record(proposal)))
        return
    show(_console(), summarize_check(AxisCheck.of(str(target), prompt)))
    for note in proposal.notes:
        click.echo(note, err=True)
    path = shown(target)
    click.echo(
        f"Wrote {path}: edit it, then 'biasgraph build --prompt ... --axes {path}'", err=True
    )


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)
