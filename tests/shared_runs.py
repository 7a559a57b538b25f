"""Runs of the real sandbox that several tests look at, made once for all of them.

They are kept in .pytest_cache/runs under a digest of everything that makes them: the code, the
templates, the weights, the libraries and the command. Workers share them, and so does the next
suite while nothing of that has changed. Every caller gets a copy to do with as it likes.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import shutil
import sys
import time
from pathlib import Path

from filelock import FileLock

from tests.forked import biasgraph

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("torch", "diffusers", "transformers", "numpy", "scipy", "pandas", "pillow", "networkx")
DAYS = 2
"""Runs that nobody has used for so long are deleted."""


def copy_run(directory: Path, *arguments: str) -> str:
    """Put the run of `biasgraph ARGUMENTS -o ...` into a new directory.

    Returns: what the command printed when it made the run.
    """
    folder = ROOT / ".pytest_cache" / "runs" / _digest_of(arguments)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / "stdout").exists():
            _delete_old(folder.parent)
            shutil.rmtree(folder, ignore_errors=True)  # of a suite that was stopped
            completed = biasgraph(*arguments, "-o", str(folder / "run"))
            assert completed.returncode == 0, completed.stderr
            (folder / "stdout").write_text(completed.stdout, "utf-8")
        os.utime(folder)
    copy_of(folder / "run", directory)
    return (folder / "stdout").read_text("utf-8")


def copy_of(run: Path, directory: Path) -> Path:
    """A copy of a run in a new directory; its files keep their times."""
    return Path(shutil.copytree(run, directory, copy_function=shutil.copy2))


def _digest_of(arguments: tuple[str, ...]) -> str:
    threads = os.environ.get("OMP_NUM_THREADS", "")  # sums in another order round another way
    content = repr((arguments, threads, _digest_of_code()))
    return hashlib.sha256(content.encode()).hexdigest()[:16]


@functools.cache
def _digest_of_code() -> str:
    digest = hashlib.sha256(sys.version.encode())
    for library in LIBRARIES:
        digest.update(f"{library} {importlib.metadata.version(library)}\n".encode())
    for folder in ("biasgraph", "templates"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{path.relative_to(ROOT).as_posix()} {content}\n".encode())
    return digest.hexdigest()


def _delete_old(runs: Path) -> None:
    for folder in runs.iterdir():
        if folder.is_dir() and folder.stat().st_mtime < time.time() - DAYS * 86400:
            shutil.rmtree(folder, ignore_errors=True)
