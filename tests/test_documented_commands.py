"""Every command of the documentation runs, or its page says why it cannot."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from biasgraph.commands import cli
from tests.forked import biasgraph
from tests.pages import ROOT, TYPED, Block, blocks, without_comment
from tests.presupposed import make_presupposed

MODEL = r"\b(diffusers|vlm|clip|lm):(?!biasgraph/)|^vllm "
REASONS = {
    "downloads a model": MODEL,
    "costs money at a service": r"\bopenai:|OPENAI_API_KEY",
    "needs a cluster": r"\bray:auto\b|\bRayJob\b|\bSBATCH\b",
    "is a synopsis": r"\b[A-Z]{3,}\b|\.\.\.",
    "runs until Ctrl-C": r"^biasgraph view$",
    "installs packages": "",  # and whatever needs these
    "takes over 1 minute": "",
    "takes over 2 minutes": "",
    "takes over 10 minutes": "",
}
"""Why a command is not run: what is found in each that the reason may stand for."""
PLANNED = REASONS.keys() - {"is a synopsis", "runs until Ctrl-C", "installs packages"}
"""Reasons that do not hold for a plan."""
EXIT_CODE = re.compile(r"# exit code (\d)$")


def reason_of(command: str, block: Block) -> str | None:
    """Why a command of a block is not run: the first of its reasons that may stand for it."""
    text = block.text if block.language else without_comment(command)
    return next((one for one in block.reasons if re.search(REASONS[one], text, re.M)), None)


def to_run(block: Block) -> Iterator[tuple[str, int]]:
    """The commands of a block that are run or planned, and the exit code of each."""
    for line in block.commands:
        reason, command = reason_of(line, block), without_comment(line)
        if reason is None:
            found = EXIT_CODE.search(line)
            yield command, int(found[1]) if found else 0
        elif reason in PLANNED and _has_plan(command):
            if "--dry-run" not in command:
                command += " --dry-run"
            yield command, 2 if "--axes llm" in command else 0  # would ask before it could plan


def _has_plan(line: str) -> bool:
    """Whether a command of biasgraph has --dry-run."""
    program, *words = shlex.split(line)
    command: click.Command | None = cli
    if program != "biasgraph":
        return False
    while isinstance(command, click.Group) and not words[0].startswith("-"):
        _, command, words = command.resolve_command(click.Context(command), words)
    assert command is not None
    return any("--dry-run" in parameter.opts for parameter in command.params)


PAGES = [page for page in TYPED if any(any(to_run(block)) for block in blocks(page))]


@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.stem)
def test_reasons_are_of_the_list_and_hold(page: Path) -> None:
    for block in blocks(page):
        assert {*block.reasons} <= {*REASONS}, block
        held = {reason_of(command, block) for command in block.commands}
        assert {*block.reasons} <= held, block


@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.stem)
def test_what_is_indented_are_commands(page: Path) -> None:
    """Other text is fenced, with its language."""
    for block in blocks(page):
        assert block.language or block.commands == block.lines, block
        assert block.language != "bash" or block.commands


def test_a_command_without_a_reason_is_run() -> None:
    block = Block("", "biasgraph list\nbiasgraph models --llm lm:a/b\n", ("downloads a model",))
    assert [*to_run(block)] == [("biasgraph list", 0)]
    block = Block("", "biasgraph build --prompt x --vqa \\\n  clip:a/b\n", ("downloads a model",))
    assert [*to_run(block)] == [("biasgraph build --prompt x --vqa clip:a/b --dry-run", 0)]
    block = Block("", "biasgraph build --fail-if 'age>0'  # exit code 3\n", ())
    assert [*to_run(block)] == [("biasgraph build --fail-if 'age>0'", 3)]


@pytest.mark.slow(reason="builds with the sandbox: up to 5 minutes a page")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run_and_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for name in ("examples", "biasgraph"):  # what a checkout has
        (tmp_path / name).symlink_to(ROOT / name)
    make_presupposed(page.stem, tmp_path)
    printed = ""
    for block in blocks(page):
        if block.language == "text":
            rows = map(_spaced, block.text.splitlines())
            assert [row for row in rows if row not in printed] == []
        for command, expected in to_run(block):
            done = _run(command, tmp_path)
            assert done.returncode == expected, f"{command}\n{done.stderr}"
            printed = _spaced(done.stdout)


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(command)
    if program == "biasgraph":
        return biasgraph(*arguments, cwd=folder, COLUMNS="80")
    return subprocess.run(
        [{"python": sys.executable}[program], *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
    )
