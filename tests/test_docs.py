"""What the documentation tells people to type is understood: commands, options and specs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from biasgraph.commands import cli
from biasgraph.models.inference_options import Spec
from biasgraph.models.registry import BACKENDS, EMBEDDER, GENERATOR, JUDGE, LANGUAGE_MODEL

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SPECS = {"model": GENERATOR, "vqa": JUDGE, "embedder": EMBEDDER, "llm": LANGUAGE_MODEL}
EXAMPLES = ("paint", "faces")
"""The plug-in that docs/models.md shows."""


def _lines(page: Path) -> Iterator[str]:
    """The commands of a page's code blocks, those that go on in the next line joined."""
    fenced = False
    for line in page.read_text("utf-8").replace("\\\n", " ").splitlines():
        fenced ^= line.startswith("```")
        found = re.search(r"^(?:[A-Z_]+=\S+ +)*(biasgraph .*)", line.strip().removeprefix("$ "))
        if found and (fenced or line.startswith("    ")):
            yield found[1].partition(" #")[0].strip()


def _commands() -> list[tuple[str, str]]:
    return [(page.name, line) for page in PAGES for line in _lines(page)]


def test_a_mistake_would_be_seen() -> None:
    for line in (
        "builds",
        "build --promt x",
        "build --vqa",
        "models --llm diffusers:x",
        "build x:",
    ):
        with pytest.raises((AssertionError, click.UsageError)):
            _understood(cli, line.replace("x:", "--model nothing:y").split())


def test_there_are_commands_to_check() -> None:
    assert len(_commands()) > 30
    assert ("models.md", "biasgraph models") in _commands()


@pytest.mark.parametrize(("page", "line"), _commands())
def test_a_documented_command_is_understood(page: str, line: str) -> None:
    if page == "cli.md":  # written from the commands themselves; shows placeholders
        return
    words = [word for word in shlex.split(line)[1:] if word not in ("|", "...")]
    words = words[: next((i for i, word in enumerate(words) if word in (">", "2>", "&&")), None)]
    _understood(cli, words)


def _understood(command: click.Command, words: list[str]) -> None:
    """Parse as click does, but do not look whether files are there, and run nothing."""
    alone = isinstance(command, click.Group) and command.invoke_without_command
    if isinstance(command, click.Group) and not (alone and words and words[0].startswith("-")):
        _, inner, rest = command.resolve_command(click.Context(command), words)
        assert inner is not None
        return _understood(inner, rest)
    context = click.Context(command, **cli.context_settings)  # a command keeps its first --help
    values, _, _ = command.make_parser(context).parse_args(words)
    for name, role in SPECS.items():
        spec = values.get(name)
        if isinstance(spec, str) and spec != "SPEC":
            backend = Spec(spec).backend
            assert backend in (*EXAMPLES, *BACKENDS), spec
            assert backend in EXAMPLES or role in BACKENDS[backend].roles, spec
    return None
