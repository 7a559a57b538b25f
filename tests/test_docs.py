"""What the documentation tells people to type is understood: commands, options and specs."""

from __future__ import annotations

import configparser
import re
import shlex
from importlib.util import find_spec

import click
import pytest

from biasgraph.commands import cli
from biasgraph.models.inference_options import Spec
from biasgraph.models.registry import BACKENDS, EMBEDDER, GENERATOR, JUDGE, LANGUAGE_MODEL
from tests.pages import PAGES, ROOT, TYPED, blocks, without_comment

SPECS = {"model": GENERATOR, "vqa": JUDGE, "embedder": EMBEDDER, "llm": LANGUAGE_MODEL}
EXAMPLES = ("paint", "faces")
"""The plug-in that docs/models.md shows."""


def _commands() -> list[tuple[str, str]]:
    return [
        (page.name, without_comment(line))
        for page in TYPED
        for block in blocks(page)
        for line in block.commands
        if line.startswith("biasgraph ")
    ]


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
    words = [word for word in shlex.split(line)[1:] if word not in ("|", "...")]
    words = words[: next((i for i, word in enumerate(words) if word in (">", "2>", "&&")), None)]
    _understood(cli, words)


TEXTS = {page.name: page.read_text("utf-8") for page in [*PAGES, ROOT / "CONTRIBUTING.md"]}


def _named(pattern: str) -> set[str]:
    """What a pattern's group finds on the pages."""
    return {found for text in TEXTS.values() for found in re.findall(pattern, text)}


def test_documented_programs_are_there() -> None:
    files = _named(r"python ([\w./-]+\.py)\b")
    modules = _named(r"python -m ([\w.]+)")
    assert len(files) > 5 and len(modules) > 5
    examples = {path.name for path in (ROOT / "examples").rglob("*.py")}  # typed in their folder
    assert [file for file in files if not (ROOT / file).is_file() and file not in examples] == []
    assert [module for module in modules if find_spec(module) is None] == []


def test_documented_targets_and_extras_are_there() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = _named(r"(?m)(?:^    |`)make ([a-z-]+)")
    assert {"demo", "test", "site"} <= targets
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = {
        extra for found in _named(r"(?:\.|biasgraph)\[([a-z,]+)\]") for extra in found.split(",")
    }
    assert {"parquet", "ray"} <= extras
    assert extras <= {*setup["options.extras_require"]}


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


def test_python_on_the_pages_is_in_code_that_tests_run() -> None:
    """Of docs/models.md tests/models/test_plug_ins.py installs what it shows."""
    run = (ROOT / "examples" / "colours" / "colours.py").read_text("utf-8")
    blocks = {
        (name, block)
        for name, text in TEXTS.items()
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        if name != "models.md"
    }
    assert {name for name, _ in blocks} == {"mining.md"}
    lines = {line.strip() for _, block in blocks for line in block.splitlines()}
    assert [line for line in lines if line not in run] == []
