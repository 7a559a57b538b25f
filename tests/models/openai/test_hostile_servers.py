"""Sixty trials of broken and hostile servers: each ends in time, in a line, in little memory."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.models.openai.hostile_servers import ATTEMPTS, DEADLINE, KEY

MEMORY = 1000  # MB of the whole process


@pytest.mark.slow(reason="60 servers, each up to its deadline; tests/models/openai has them singly")
@pytest.mark.skipif(sys.platform != "linux", reason="reads its memory from /proc")
@pytest.mark.parametrize("kind", ["chat", "images"])
def test_every_fault_ends_in_time_and_in_little_memory(kind: str) -> None:
    program = [sys.executable, "-m", "tests.models.openai.hostile_servers", kind]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    trials = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(trials) == 30
    for trial in trials:
        assert trial["seconds"] < ATTEMPTS * DEADLINE + 5, trial
        assert (
            trial["end"].startswith("openai:m at")
            or trial["end"] == "done"
            or (trial["end"].startswith("openai:m made an image that cannot be fetched"))
        ), trial
        assert len(trial["end"]) < 450 and trial["end"].isprintable(), trial
        assert KEY not in trial["end"]
    assert trials[-1]["peak"] < MEMORY
    assert done.stderr == ""
