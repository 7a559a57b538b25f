"""Processes that have imported already what builds import: that takes longer than a small build.

They are forked off one that imports it once, and are otherwise as fresh as any.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = (
    "pandas",
    "scipy.stats",
    "torch",
    "diffusers.pipelines.auto_pipeline",
    "diffusers.pipelines.stable_diffusion.pipeline_stable_diffusion",
    "transformers.models.clip.modeling_clip",
    "networkx",
    "nltk",
    "pyvis.network",
)


def _own_modules() -> list[str]:
    paths = (path.relative_to(ROOT).with_suffix("") for path in ROOT.glob("biasgraph/**/*.py"))
    names = (".".join(path.parts).removesuffix(".__init__") for path in sorted(paths))
    return [name for name in names if not name.endswith("__main__")]


_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload([*_own_modules(), *LIBRARIES, "tests.preloaded"])


def started(function: Callable[..., object], *arguments: Any) -> Any:
    """A process that calls a module's function, as a program would, and ends with its result."""
    process = _FORKED.Process(target=_ended, args=(function, *arguments))
    process.start()
    return process


def biasgraph(
    *arguments: str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """What the command line does with these arguments, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder, name) for name in ("stdout", "stderr")]
        process = started(_command, arguments, outputs, cwd, environment)
        process.join()
        texts = [path.read_text("utf-8") if path.exists() else "" for path in outputs]
    return subprocess.CompletedProcess(arguments, process.exitcode, *texts)


def run_command(*arguments: str | Path, expect: int = 0) -> subprocess.CompletedProcess[str]:
    """The same, which must end with this exit code."""
    done = biasgraph(*map(str, arguments))
    assert done.returncode == expect, done.stderr
    return done


def _command(
    arguments: Sequence[str], outputs: Sequence[Path], cwd: Path, environment: Mapping[str, str]
) -> int:
    os.chdir(cwd)
    os.environ.update(environment)
    for path, stream in zip(outputs, (1, 2), strict=True):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    from biasgraph.commands import main

    warnings.simplefilter("error")
    sys.argv = ["biasgraph", *arguments]
    return main(arguments)


def _ended(function: Callable[..., object], *arguments: Any) -> None:
    sys.argv = ["biasgraph"]  # it was that of the tests
    code = function(*arguments)
    sys.exit(code if isinstance(code, int) else 0)
