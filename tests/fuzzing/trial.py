"""One command on one broken input, in a forked process that is watched."""

from __future__ import annotations

import faulthandler
import os
import re
import resource
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 60
BYTES = 1_500_000_000
WIDEST = 400
"""Characters in a line of stderr."""
EXIT_CODES = (0, 1, 2, 3)

_BUG = re.compile(r"Traceback \(most recent call last\)|this is a bug in biasgraph")
_WARNING = re.compile(r"^.*\w+Warning: .*$", re.MULTILINE)
_RAW = re.compile(r"[^\n\t\x20-\x7e\x85\xa0-\U0010ffff]")
_WRITING = {
    "os.remove": (0,), "os.rename": (0, 1), "os.rmdir": (0,), "os.mkdir": (0,), "os.link": (1,),
    "os.symlink": (1,), "os.truncate": (0,), "os.chmod": (0,), "os.chown": (0,), "os.utime": (0,),
    "os.mkfifo": (0,),
}  # fmt: skip
"""Audit event -> which of its arguments are paths that it changes."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    Attributes:
        failure: What is wrong, in a word; "" where nothing is.
        detail: The line that shows it.
        code: The exit code; None where it was killed.
        seconds: How long it took.
        computed: Of them how much a processor worked for it.
        peak: The most memory it had, in bytes.
        widest: Characters in the longest line of stderr.
    """

    failure: str
    detail: str
    code: int | None
    seconds: float
    computed: float
    peak: int
    widest: int = 0


def attempt(arguments: Sequence[str], folder: Path, writes: Sequence[str]) -> Outcome:
    """Run the command line in `folder`, which may write to some places below it only.

    stdout and stderr are kept beside the folder.
    """
    outputs = [folder.with_name(name) for name in ("stdout", "stderr", "writes")]
    allowed = [folder / name for name in (*writes, "out", "tmp")]
    before = dict(_snapshot(folder, allowed))
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _become(arguments, folder, allowed, outputs)
    status, usage, stopped = _wait(child, started + SECONDS + 5)
    seconds = time.monotonic() - started
    stdout, stderr, foreign = (path.read_bytes() for path in outputs)
    code = os.waitstatus_to_exitcode(status)
    failure, detail = _judge(code, stopped, stdout, stderr)
    if not failure and foreign:
        failure, detail = "write outside", foreign.decode("utf-8", "replace").splitlines()[0]
    if not failure and (changed := _changed(before, dict(_snapshot(folder, allowed)))):
        failure, detail = "write outside", changed
    computed, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
    widest = max(map(len, stderr.decode("utf-8", "replace").splitlines()), default=0)
    ended = code if code >= 0 else None
    return Outcome(failure, detail, ended, seconds, computed, peak, widest)


def _become(
    arguments: Sequence[str], folder: Path, allowed: Sequence[Path], outputs: Sequence[Path]
) -> None:
    """The child: never returns."""
    code = 70
    try:
        files = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for path in outputs]
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(files[0], 1)
        os.dup2(files[1], 2)
        for number, name in enumerate(("stdout", "stderr"), start=1):
            setattr(sys, name, open(number, "w", encoding="utf-8", errors="strict", closefd=False))  # noqa: SIM115
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        os.environ["TMPDIR"] = str(folder / "tmp")
        os.environ["COLUMNS"] = "80"
        os.chdir(folder)
        _watch([*allowed, folder.with_name("cache"), Path("/dev/null"), Path("/dev/tty")], files[2])
        from biasgraph.commands import main
        from tests.fuzzing.api_calls import API, carry_out
        from tests.fuzzing.warming import compute_in_one_thread

        compute_in_one_thread()
        sys.argv = ["biasgraph", *arguments]
        code = carry_out(arguments[1:]) if arguments[0] == API else main(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        os._exit(code)


def _watch(allowed: Sequence[Path], report: int) -> None:
    """Tell of every write, rename and delete elsewhere, as Python's own calls make them."""
    roots = [os.path.realpath(path) for path in allowed]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            _, mode, flags = arguments
            writing = (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            paths = arguments[:1] if writing or set(mode or "") & set("wax+") else ()
        else:
            paths = tuple(arguments[place] for place in _WRITING.get(event, ()))
        for path in paths:
            if isinstance(path, str | bytes | os.PathLike) and not _inside(path, roots):
                os.write(report, f"{event} {os.fsdecode(path)!r}\n".encode("utf-8", "replace"))

    sys.addaudithook(hook)


def _inside(path: Any, roots: Sequence[str]) -> bool:
    try:
        folder, name = os.path.split(os.fsdecode(path))
        real = os.path.join(os.path.realpath(folder or "."), name)
    except (OSError, ValueError):
        return True  # no path of this system
    return any(real == root or real.startswith(root + os.sep) for root in roots)


def _wait(child: int, deadline: float) -> tuple[int, resource.struct_rusage, str]:
    """The status, what it used, and why it was killed, if it was."""
    stopped = ""
    handle = os.pidfd_open(child)
    try:
        while not select.select([handle], [], [], 0.05)[0]:
            if time.monotonic() > deadline:
                stopped = "hang"
            elif _peak(child) > BYTES:
                stopped = "memory"
            if stopped:
                os.kill(child, signal.SIGKILL)
                break
        _, status, usage = os.wait4(child, 0)
    finally:
        os.close(handle)
    return status, usage, stopped


def _peak(child: int) -> int:
    try:
        text = Path(f"/proc/{child}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+)", text)
    return int(found[1]) * 1024 if found else 0


def _judge(code: int, stopped: str, stdout: bytes, stderr: bytes) -> tuple[str, str]:
    said = stderr.decode("utf-8", "replace")
    lines = said.splitlines()
    last = [line for line in lines if line.strip()][-2:]
    if stopped:
        return stopped, " | ".join(last)
    if "Timeout (" in said:
        return "hang", next((line for line in lines if "biasgraph" in line), "")
    if _BUG.search(said):
        where = [
            line for line in lines if line.strip().startswith("File ") and "biasgraph/" in line
        ]
        last = [line for line in lines if line.strip() and "this is a bug" not in line][-1:]
        return "traceback", f"{last[0] if last else ''} @ {where[-1].strip() if where else ''}"
    if code not in EXIT_CODES:
        return f"exit code {code}", " | ".join(last)
    if warned := _WARNING.search(said):
        return "warning", warned[0]
    for name, text in (("stdout", stdout.decode("utf-8", "replace")), ("stderr", said)):
        if raw := _RAW.search(text):
            return "raw control", f"{name}: {text[max(0, raw.start() - 40) : raw.end() + 20]!r}"
    wide = [line for line in lines if len(line) > WIDEST]
    if wide:
        return "long line", f"{len(wide[0]):,}: {wide[0][:150]}"
    return "", ""


def _snapshot(folder: Path, allowed: Sequence[Path]) -> Iterator[tuple[str, tuple[int, ...]]]:
    skipped = {os.fspath(path) for path in allowed}
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(root, name) not in skipped]
        for name in files:
            path = os.path.join(root, name)
            if path not in skipped:
                about = os.lstat(path)
                yield path, (about.st_size, about.st_mtime_ns, about.st_ino)


def _changed(before: dict[str, Any], after: dict[str, Any]) -> str:
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            what = "new" if path not in before else "gone" if path not in after else "changed"
            return f"{what}: {path}"
    return ""


def clean(folder: Path) -> None:
    """Remove a case's folder."""
    shutil.rmtree(folder, ignore_errors=True)
