"""How analysis, files and pages grow with axes, prompts and images (docs/performance.md).

    python -m benchmarks.bench_size [--axes 8 25 50 100] [--prompts 10 30 100] [--images 12 48]

Answers are made up and independent; each is a `biasgraph build --answers` of its own process: rows,
CPU seconds, peak memory, files (the answers apart), the largest page, and that page in Chromium:
seconds until it shows the panel of a pair that was clicked. Axes: one prompt, 8 images an arm.
Prompts: the eight axes of `occupation`, 12 images an arm. Images: one prompt, the eight axes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.bench_report import seconds_to_open
from benchmarks.exact import VARIABLES
from benchmarks.shares import table

HEADER = (
    *("varied", "rows", "CPU s", "peak MB", "answers.csv MB", "other files MB", "largest page MB"),
    "ready s",
)
COLUMNS = "model,prompt,role,axis,attribute,image,target,answer\n"
Axes = Mapping[str, Sequence[str]]
OCCUPATION: Axes = {one.name: one.attributes for one in VARIABLES}


def many_axes(count: int) -> Axes:
    """Axes with two to four attributes."""
    return {
        f"axis {axis}": [f"value {axis} {value}" for value in range(2 + axis % 3)]
        for axis in range(count)
    }


def lines(axes: Axes, prompts: int, images: int) -> Iterator[str]:
    """An answers table, line by line."""
    rng = np.random.default_rng(0)
    arms = [("initial", "", "")]
    arms += [("counterfactual", axis, value) for axis, values in axes.items() for value in values]
    yield COLUMNS
    for prompt in range(prompts):
        shares = {axis: rng.dirichlet(np.full(len(values), 2.0)) for axis, values in axes.items()}
        for place, (role, axis, value) in enumerate(arms):
            drawn = {
                name: [values[i] for i in rng.choice(len(values), images, p=shares[name])]
                for name, values in axes.items()
            }
            for image in range(images):
                for name in axes:
                    seen = value if name == axis else drawn[name][image]
                    number = f"{prompt}-{place}-{image}"
                    yield f"m,a job {prompt},{role},{axis},{value},{number},{name},{seen}\n"


def measure(varied: str, axes: Axes, prompts: int, images: int) -> list[str]:
    """A row of the table."""
    with tempfile.TemporaryDirectory() as scratch:
        answers, run = Path(scratch) / "answers.csv", Path(scratch) / "run"
        with answers.open("w") as file:
            file.writelines(lines(axes, prompts, images))
        with answers.open() as file:
            rows = sum(1 for _ in file) - 1
        seconds, peak = used([sys.executable, "-m", "biasgraph", "build", "--answers",
                              str(answers), "-q", "-o", str(run)])  # fmt: skip
        files = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
        given = (run / "answers.csv").stat().st_size
        page = max(run.rglob("report.html"), key=lambda path: path.stat().st_size)
        ready = seconds_to_open(page, pictures=False)
        return [
            varied, f"{rows:,}", f"{seconds:.1f}", f"{peak:,.0f}", f"{given / 1e6:.1f}",
            f"{(files - given) / 1e6:.1f}", f"{page.stat().st_size / 1e6:.1f}", f"{ready:.2f}",
        ]  # fmt: skip


def used(command: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and peak MB of a process that has to end well."""
    process = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a row for each size as soon as it is measured, then the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--axes", type=int, nargs="*", default=[8, 25, 50, 100])
    parser.add_argument("--prompts", type=int, nargs="*", default=[10, 30, 100])
    parser.add_argument("--images", type=int, nargs="*", default=[12, 48, 480, 4630])
    given = parser.parse_args(arguments)
    sizes = [
        *((f"{count} axes", many_axes(count), 1, 8) for count in given.axes),
        *((f"{count} prompts", OCCUPATION, count, 12) for count in given.prompts),
        *((f"{count} images an arm", OCCUPATION, 1, count) for count in given.images),
    ]
    rows = []
    for size in sizes:
        start = time.perf_counter()
        rows.append(measure(*size))
        print(*rows[-1], f"({time.perf_counter() - start:.0f} s)", sep="  ", flush=True)
    print(table(HEADER, rows))


if __name__ == "__main__":
    main()
