"""The commands of docs/first-audit.md, run in order as somebody types them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "first-audit.md"
BLOCK = re.compile(r"^```text\n(?P<shown>.*?)^```|^    (?P<command>[^\n]+)$", re.M | re.S)
INSTALLS = ("python3 -m venv", ".venv/bin/pip", ". .venv")
"""What begins the lines that set up .venv, as `make demo` does."""
DOWNLOADS = ("--vqa vlm:", "--vqa clip:")
"""What is in the lines that download weights."""


def blocks() -> Iterator[tuple[str, str]]:
    """("command" or "shown", text) in the order of the page."""
    page = PAGE.read_text("utf-8").replace("\\\n", " ")
    for block in BLOCK.finditer(page):
        kind = block.lastgroup
        assert kind is not None
        yield kind, block[kind]


def to_run() -> list[tuple[str, str]]:
    return [
        (kind, text)
        for kind, text in blocks()
        if kind == "shown"
        or not (text.startswith(INSTALLS) or any(part in text for part in DOWNLOADS))
    ]


def test_the_page_says_which_commands_are_not_run() -> None:
    page = PAGE.read_text("utf-8")
    left_out = [block for block in blocks() if block not in to_run()]
    assert len(left_out) == 5
    assert "but for those that install or download" in " ".join(page.split())
    assert "(these two download weights, so no test runs them)" in page


@pytest.mark.slow(reason="builds four runs, one of them with 432 images of the sandbox")
def test_the_page_runs_and_shows_what_comes_of_it(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    said, shown = "", 0
    for kind, text in to_run():
        if kind == "command":
            line, _, expected = text.partition("  # exit code ")
            done = subprocess.run(
                [sys.executable, *_arguments(line)],
                cwd=tmp_path,
                env={**os.environ, "COLUMNS": "80", "PYTHONPATH": str(ROOT)},
                capture_output=True,
                encoding="utf-8",
            )
            assert done.returncode == int(expected or 0), done.stderr
            said = done.stdout
        else:
            printed = " ".join(said.split())
            for row in text.strip().splitlines():
                assert " ".join(row.split()) in printed, row
                shown += 1
    assert shown >= 8
    for made in ("original/report.html", "original/label.html", "compared/compare.html"):
        assert (tmp_path / "outputs" / made).is_file()


def _arguments(line: str) -> list[str]:
    program, *arguments = shlex.split(line)
    return {"python": [], "biasgraph": [str(ROOT / "cli.py")]}[program] + arguments
