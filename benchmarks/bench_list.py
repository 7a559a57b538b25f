"""How long `biasgraph list` and `biasgraph view` take over many runs, beside reading their files.

    python -m benchmarks.bench_list [--runs 500]

The runs are copies of one audit of eight axes (an answers table, made up), a day apart, under some
names of prompts and models, so that every prompt has a history. The floor is what any list has to
do: read every graph.json and parse it.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

import biasgraph
from benchmarks.bench_size import OCCUPATION, lines
from biasgraph.audits.run_list import list_runs
from biasgraph.audits.run_overview import overview
from biasgraph.report.run_table import summarize
from biasgraph.report.terminal import show

REPEATS = 3
PROMPTS, MODELS = 50, 3
DAY = 86_400


def seconds(work: Callable[[], object]) -> float:
    """The best of some times of the processor."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def printed(folder: Path) -> None:
    """The table that `list` prints."""
    rows = [row.to_json() for row in list_runs(folder)]
    show(Console(file=io.StringIO(), width=100, highlight=False), summarize(rows))


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
        graph = (first / "graph.json").read_text("utf-8")
        for number in range(count):
            run = folder / "runs" / str(number)
            run.mkdir(exist_ok=True)
            document = json.loads(graph)
            document["graph"]["prompt"] = f"prompt {number % PROMPTS}"
            document["graph"]["model"] = f"model {number % MODELS}"
            (run / "graph.json").write_text(json.dumps(document, indent=1), "utf-8")
            os.utime(run / "graph.json", times=(number * DAY, number * DAY))
        paths = sorted((folder / "runs").glob("*/graph.json"))
        floor = seconds(lambda: [json.loads(path.read_bytes()) for path in paths])
        print(
            f"{count} runs of {len(graph) / 1e3:.0f} kB: their graph.json read and parsed in "
            f"{floor:.2f} s of CPU"
        )
        for name, work in (("read", list_runs), ("list", printed), ("view", overview)):
            taken = seconds(lambda work=work: work(folder / "runs"))  # type: ignore[misc]
            print(f"{name}: {taken:.2f} s, ratio {taken / floor:.2f}")


if __name__ == "__main__":
    main()
