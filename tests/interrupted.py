"""Builds that are interrupted while they make images, as by Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

PATIENCE = 120
"""Seconds."""


def interrupt(command: Sequence[str | Path], directory: Path) -> str:
    """Start a command, interrupt it when its run has an image; returns its errors."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while not any((directory / "images").glob("*.png")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    return errors
