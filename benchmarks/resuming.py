"""Long measurements in many cases: each is written down once it is done, and never done again."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar


class Case(Protocol):
    """What is measured once."""

    def name(self) -> list[Any]:
        """What tells this case from all others, in JSON types."""
        ...


C = TypeVar("C", bound=Case)


def read_records(path: Path) -> list[dict[str, Any]]:
    """The finished records; a last line that was cut short is left out."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line[-1:] == "}"]


def measure_cases(
    cases: Sequence[C], measure: Callable[[C], dict[str, Any]], path: Path, jobs: int = 1
) -> list[dict[str, Any]]:
    """Measure the cases that `path` does not hold yet, and append them to it as they finish.

    Args:
        cases: what to measure.
        measure: returns a case's record in JSON types, with its `name()` as "audit".
        path: a JSON lines file.
        jobs: processes.

    Returns:
        The records of `cases`, in the order of the file.
    """
    done = [record["audit"] for record in read_records(path)]
    todo = [case for case in cases if case.name() not in done]
    path.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with path.open("a", encoding="utf-8") as file:
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            file.write("\n")  # ends the line that was cut short
        for count, record in enumerate(_results(todo, measure, jobs), start=1):
            file.write(json.dumps(record) + "\n")
            file.flush()
            if count % 20 == 0 or count == len(todo):
                left = (time.monotonic() - started) / count * (len(todo) - count) / 60
                print(f"{path.stem}: {count}/{len(todo)}, {left:.0f} min left", file=sys.stderr)
    wanted = [case.name() for case in cases]
    return [record for record in read_records(path) if record["audit"] in wanted]


def _results(
    todo: Sequence[C], measure: Callable[[C], dict[str, Any]], jobs: int
) -> Iterator[dict[str, Any]]:
    if jobs == 1:
        yield from map(measure, todo)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(measure, todo)
