"""What every command that has a result does with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from biasgraph.data.findings import ScreenPart
    from biasgraph.data.result import Result

SHOWN = 2
"""Counterfactuals of each of several prompts that are shown of a plan."""

Command = TypeVar("Command", bound=Callable[..., Any])


def output_options(panel: str, document: str = "graph.json") -> Callable[[Command], Command]:
    """The options --json and --quiet, as `as_json` and `quiet`; document: what --json prints."""

    def decorate(command: Command) -> Command:
        as_json = click.option(
            "--json", "as_json", is_flag=True, panel=panel,
            help=f"Print {document} and nothing else to stdout.",
        )  # fmt: skip
        quiet = click.option(
            "--quiet", "-q", is_flag=True, panel=panel, help="Print nothing but errors."
        )
        return as_json(quiet(command))

    return decorate


def present(result: Result, *, as_json: bool, quiet: bool) -> None:
    """Print a result: as one JSON document, as tables, or not at all."""
    from rich.console import Console

    from biasgraph.report.graph_summary import summarize_graph
    from biasgraph.report.terminal import show

    console = Console(highlight=False, stderr=as_json)
    if as_json:
        click.echo(json.dumps(result.document))
    elif not quiet:
        show(console, summarize_graph(result.document, result.pair_records()))
    if result.directory is not None and not quiet:
        _name_files(console, result.directory, "report.html")


def present_agreement(agreement: dict[str, Any], path: Path, *, as_json: bool, quiet: bool) -> None:
    """Print an agreement and its file: as one JSON document, as tables, or not at all."""
    from rich.console import Console

    from biasgraph.audits.agreement.agreement_summary import summarize_agreement
    from biasgraph.errors import printable
    from biasgraph.report.terminal import show

    console = Console(highlight=False, stderr=as_json)
    if as_json:
        click.echo(json.dumps(agreement))
    elif not quiet:
        show(console, summarize_agreement(agreement))
    if not quiet:
        console.print(f"Wrote {printable(str(path))}", markup=False, soft_wrap=True)


def present_document(
    document: dict[str, Any],
    directory: Path,
    main: str,
    summarize: Callable[[dict[str, Any]], Iterable[ScreenPart]],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Print what a stand-alone pipeline found: as one JSON document, as tables, or not at all.

    main: the file in the directory to open; summarize: tells the document in parts.
    """
    from rich.console import Console

    from biasgraph.report.terminal import show

    console = Console(highlight=False, stderr=as_json)
    if as_json:
        click.echo(json.dumps(document))
    elif not quiet:
        show(console, summarize(document))
    if not quiet:
        _name_files(console, directory, main)


def _name_files(console: Console, directory: Path, page: str) -> None:
    """Say which files there are, and last which one to open."""
    from biasgraph.errors import printable
    from biasgraph.io.writing import TEMPORARY

    hidden = (TEMPORARY, ".lock", "-shm", "-wal")
    names = sorted(path.name for path in directory.iterdir() if not path.name.endswith(hidden))
    console.print(printable(f"Files in {directory}: {', '.join(names)}"), markup=False)
    if (directory / page).is_file():
        console.print(f"Open {printable(str(directory / page))}", markup=False, soft_wrap=True)


def present_plan(plan: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """Print what a build would do: as one JSON document, as lines, or not at all."""
    from biasgraph.errors import printable
    from biasgraph.runs.progress import duration

    if as_json:
        click.echo(json.dumps(plan))
    elif not quiet:
        seconds = plan["seconds"]
        pace = "not known" if seconds is None else f"about {duration(seconds)} on two CPU cores"
        plans = plan["plans"]
        shown = len(plans[0]["counterfactuals"]) if len(plans) == 1 else SHOWN
        for one in plans:
            click.echo(f"{printable(one['prompt'])} (subject: {printable(one['subject'])})")
            for text in one["counterfactuals"][:shown]:
                click.echo(f"  {printable(text)}")
            more = len(one["counterfactuals"]) - shown
            if more > 0:
                click.echo(f"  and {more} more")
        click.echo(
            f"{plan['prompts']:,} prompts, {plan['images']:,} images, "
            f"{plan['questions']:,} questions, {plan['answers']:,} answers"
        )
        if "reference" in plan:
            asked = plan["reference"]
            click.echo(
                f"Reference: {asked['images']:,} photographs, {asked['questions']:,} questions"
            )
        click.echo(f"Time: {pace}; what the run has already is not made again")
        click.echo(f"Directory: {printable(plan['directory'])}")
        for note in plan["notes"]:
            click.echo(f"Note: {note}")
        click.echo("Nothing was done.")
