"""The command line in the test's own process, and the documents that it writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from biasgraph.commands import main

MOST = 400
"""Characters of a line that says what is wrong."""


def refusal(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line in which a command says what is wrong with these arguments."""
    assert main([*map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.strip().splitlines()
    assert len(line) <= MOST and not re.search(r"[\x00-\x1f]", line)
    return line


def read_document(path: Path) -> dict[str, Any]:
    """What a JSON file holds."""
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document
