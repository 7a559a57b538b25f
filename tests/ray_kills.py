"""Kills workers of Ray, and builds that use Ray, at random moments; all results must be equal.

``python -m tests.ray_kills WORKERS BUILDS [SEED]`` kills so many workers, each in a build of its
own, and so many builds, which are then run again, and says what that left behind.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from biasgraph.audits.build import build
from biasgraph.audits.build_options import BuildOptions
from biasgraph.commands import main
from biasgraph.runs.progress import Quiet
from tests.kill_trials import kill_trials, recorded, results

SMALL = {"only": "gender", "images": 64, "controls": 0, "min_valid": 2, "bootstrap": 100}
COMMAND = (
    "build", "--prompt", "a nurse", "--only", "gender", "--images", "64", "--controls", "0",
    "--min-valid", "2", "--bootstrap", "100", "--quiet", "--engine", "ray", "--workers", "2",
)  # fmt: skip
SHARED = Path("/dev/shm")  # noqa: S108


class Killing(Quiet):
    """Kills a random worker some seconds after the first outcome; `delay`: at most."""

    def __init__(self, moments: random.Random, delay: float) -> None:
        self.moments, self.delay = moments, delay
        self.timer: threading.Timer | None = None
        self.killed = 0

    def advance(self, count: int) -> None:
        if self.timer is None:
            self.timer = threading.Timer(self.moments.uniform(0, self.delay), self.kill)
            self.timer.start()

    def kill(self) -> None:
        if workers := workers_of(psutil.Process()):
            self.moments.choice(workers).kill()
            self.killed += 1


def workers_of(process: psutil.Process) -> list[psutil.Process]:
    """The workers of the Ray that a process has started, in the order of their ids."""
    found = process.children(recursive=True)
    return sorted(
        (one for one in found if one.name().startswith("ray::BatchWorker")), key=lambda one: one.pid
    )


def kill_workers(home: Path, count: int, seed: int) -> int:
    """How many of `count` builds lost a worker; all are checked to be equal."""
    moments = random.Random(seed)
    local = home / "local"
    build(BuildOptions("a nurse", **SMALL, output=local))
    expected, delay, killed = results(local), 5.0, 0
    for number in range(count):
        directory, killing = home / f"worker-{number}", Killing(moments, delay)
        begun = time.perf_counter()
        build(BuildOptions("a nurse", **SMALL, engine="ray", workers=2, output=directory), killing)
        if killing.timer is not None:
            killing.timer.cancel()
        assert results(directory) == expected, directory
        assert recorded(directory)[0].keys() == recorded(local)[0].keys()
        killed += killing.killed
        print(f"{directory.name}: {killing.killed} killed, equal", flush=True)
        print(f"  {time.perf_counter() - begun:.0f} s", flush=True)
    return killed


def arguments(directory: Path) -> list[list[str]]:
    """Those of `main`, to build into a directory."""
    return [[*COMMAND, "-o", str(directory)]]


def left() -> list[str]:
    """What Ray has left: its processes, and its files in shared memory."""
    names = [name for name in os.listdir(SHARED) if "plasma" in name or "ray" in name]
    for process in psutil.process_iter(["cmdline", "status"]):
        words = " ".join(process.info["cmdline"] or ())
        ours = "biasgraph-ray-" in words or words.startswith("ray::")
        if ours and process.info["status"] != psutil.STATUS_ZOMBIE:
            names.append(words[:80])
    return names


def main_of(workers: int, builds: int, seed: int = 0) -> None:
    """Both kinds of trials, told in a line each."""
    with tempfile.TemporaryDirectory() as scratch:
        killed = kill_workers(Path(scratch), workers, seed)
    print(f"{workers} builds, {killed} workers killed: all equal; left: {left()}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        trials = kill_trials(
            main, arguments, Path(scratch), table=results, trials=builds, seed=seed
        )
    killed = sum(trial.killed for trial in trials)
    halfway = sum(trial.killed and bool(trial.images) for trial in trials)
    time.sleep(5)
    print(f"{builds} builds, {killed} killed, {halfway} with images: all equal; left: {left()}")


if __name__ == "__main__":
    main_of(*map(int, sys.argv[1:]))
