"""Writes docs/cli.md from the commands themselves: python -m biasgraph.commands.cli_reference."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import rich_click as click

from biasgraph.commands import cli, main

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def reference() -> str:
    """The page: every command with its options, in the panels of its help."""
    intro = [
        "# Command line",
        "",
        "Written by `make docs` from the commands' own help; a test compares the two.",
        "",
        *(inspect.getdoc(main) or "").splitlines()[2:],
    ]
    context = cli.make_context("biasgraph", [], resilient_parsing=True)
    lines = [*intro, "", *_command(cli, context)]
    return "\n".join(lines).rstrip() + "\n"


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## {context.command_path}"
    yield ""
    yield f"    {context.command_path} {' '.join(command.collect_usage_pieces(context))}"
    yield ""
    yield inspect.cleandoc(command.help or "")
    yield ""
    yield from _options(command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            _, inner, _ = command.resolve_command(context, [name])
            if inner is not None:
                below = inner.make_context(name, [], parent=context, resilient_parsing=True)
                yield from _command(inner, below)


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    panels: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option):
            panels.setdefault(getattr(parameter, "panel", None) or "Options", []).append(record)
    for panel, records in panels.items():
        yield f"**{panel}**"
        yield ""
        for option, words in records:
            yield f"- `{option}`: {words}"
        yield ""


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(reference(), encoding="utf-8")
