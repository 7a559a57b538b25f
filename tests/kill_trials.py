"""Kills a build at random moments and checks that the next one makes everything good.

`kill_trials` works with any function that builds into a directory; it looks at the run directory
alone: the ledger is whole, nothing recorded is lost or made twice, and the table at the end is
that of a build nobody disturbed, byte for byte.

``python -m tests.kill_trials KILLS SIGNALS [SEED]`` does it with annotated builds of the sandbox,
at other moments with another seed, and says how many died halfway.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.forked import started

Recorded = dict[object, tuple[object, ...]]


@dataclass(frozen=True)
class Trial:
    """What was recorded when the build died; `killed` is False when it was done by then."""

    directory: Path
    killed: bool
    images: Recorded
    answers: Recorded


def kill_trials(
    build: Callable[..., object],
    arguments: Callable[[Path], Sequence[Any]],
    home: Path,
    *,
    table: Callable[[Path], bytes],
    trials: int = 20,
    seed: int = 0,
    by: signal.Signals = signal.SIGKILL,
) -> list[Trial]:
    """Build once undisturbed, then `trials` times with a signal and a build after it.

    build: a function of a module, and what it is given to build into a directory, which does not
    exist yet; table: the bytes to compare at the end, from the directory. Moments are drawn from
    the time between the first sign of the run and its end.
    """
    undisturbed = home / "undisturbed"
    process = _started(build, arguments(undisturbed), undisturbed)
    start = time.perf_counter()
    process.join()
    seconds = time.perf_counter() - start
    assert process.exitcode == 0
    expected = table(undisturbed)

    moments = random.Random(seed)
    outcomes = []
    for number in range(trials):
        directory = home / f"trial-{number}"
        process = _started(build, arguments(directory), directory)
        start = time.perf_counter()
        process.join(moments.uniform(0, seconds))
        if process.is_alive():
            os.kill(process.pid, by)
        else:
            seconds = min(seconds, time.perf_counter() - start)  # the machine became faster
        process.join()
        killed = process.exitcode != 0
        images, answers = recorded(directory)
        again = _started(build, arguments(directory), directory)
        again.join()
        assert again.exitcode == 0
        images_after, answers_after = recorded(directory)
        assert images.items() <= images_after.items(), f"{directory}: images lost or made twice"
        assert answers.items() <= answers_after.items(), f"{directory}: answers lost or asked twice"
        assert images_after.keys() == recorded(undisturbed)[0].keys()
        assert table(directory) == expected, f"{directory}: another table"
        outcomes.append(Trial(directory, killed, images, answers))
    return outcomes


def recorded(directory: Path) -> tuple[Recorded, Recorded]:
    """Images and answers in the ledger, found whole, as they and their files are on disk.

    Looks at a copy: the build that follows has to find the ledger as the dead one left it.
    """
    copy = directory.with_name(directory.name + "-look")
    copy.mkdir()
    for file in directory.glob("ledger.sqlite*"):
        shutil.copy(file, copy)
    with closing(sqlite3.connect(copy / "ledger.sqlite")) as ledger:
        assert ledger.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert ledger.execute("PRAGMA foreign_key_check").fetchall() == []
        begun = ledger.execute("PRAGMA user_version").fetchone() != (0,)
        images = ledger.execute("SELECT * FROM images").fetchall() if begun else []
        answers = ledger.execute("SELECT * FROM answers").fetchall() if begun else []
    shutil.rmtree(copy)
    return (
        {image[1]: (*image, _written(directory, image[5])) for image in images},
        {answer[:2]: answer for answer in answers},
    )


def _written(directory: Path, sha256: str) -> int:
    return (directory / "images" / f"{sha256}.png").stat().st_mtime_ns


def results(directory: Path) -> bytes:
    """All files of a result but those that hold times and commands."""
    names = sorted(path.name for path in directory.iterdir() if path.is_file())
    own = ("run.json", "run.lock", "inputs.json", "ledger.sqlite")
    return b"".join((directory / name).read_bytes() for name in names if name not in own)


def annotated_build(directory: Path) -> list[Any]:
    """The arguments of `main` for a small build with every method."""
    words = ["build", "--prompt", "a nurse", "--only", "gender,clothing", "--images", "8"]
    words += ["--min-valid", "2", "--bootstrap", "100", "--quiet"]
    return [[*words, "-o", str(directory)]]


def _started(build: Callable[..., object], arguments: Sequence[Any], directory: Path) -> Any:
    process = started(build, *arguments)
    while not (directory / "run.json").exists() and process.is_alive():
        time.sleep(0.002)
    return process


if __name__ == "__main__":
    from biasgraph.commands import main

    kills, signals, seed = map(int, (*sys.argv[1:], 0)[:3])
    for name, count in (("SIGKILL", kills), ("SIGINT", signals)):
        if count == 0:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            done = kill_trials(
                main, annotated_build, Path(scratch), table=results, trials=count,
                seed=seed, by=signal.Signals[name],
            )  # fmt: skip
        halfway = sum(trial.killed and bool(trial.images) for trial in done)
        killed = sum(trial.killed for trial in done)
        print(f"{count} trials of {name}: {killed} ended early, {halfway} with images; all equal")
