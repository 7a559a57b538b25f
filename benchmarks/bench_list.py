"""How long `biasgraph list` takes over many runs, beside reading their files alone.

    python -m benchmarks.bench_list [--runs 500]

The runs are copies of one audit of eight axes (an answers table, made up). The floor is what any
list has to do: read every graph.json and parse it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import biasgraph
from benchmarks.bench_size import OCCUPATION, lines
from biasgraph.audits.run_list import list_runs

REPEATS = 3


def seconds(work: Callable[[], object]) -> float:
    """The best of some times."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints seconds and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    count = parser.parse_args(arguments).runs
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        answers, first = folder / "answers.csv", folder / "runs" / "0"
        answers.write_text("".join(lines(OCCUPATION, 1, 16)))
        biasgraph.build(answers=answers, output=first, bootstrap=100)
        graph = first / "graph.json"
        for number in range(1, count):
            (folder / "runs" / str(number)).mkdir()
            shutil.copy2(graph, folder / "runs" / str(number))
        paths = sorted((folder / "runs").glob("*/graph.json"))
        floor = seconds(lambda: [json.loads(path.read_bytes()) for path in paths])
        listed = seconds(lambda: list_runs(folder / "runs"))
        print(
            f"{count} runs of {graph.stat().st_size / 1e3:.0f} kB: listed in {listed:.2f} s; their "
            f"graph.json read and parsed in {floor:.2f} s; ratio {listed / floor:.2f}"
        )


if __name__ == "__main__":
    main()
