"""What workers of Ray would take for many prompts, from measured paces, and what the driver costs.

    python benchmarks/cluster_table.py [--images 12000] [--kilobytes 1500] [--worker .018]

Measured here: the CPU time that the driver spends on an image and its answers, with files of the
sandbox's size and with files of so many kilobytes (a picture of 1024 px as PNG), where batches cost
nothing; and the memory that a run takes for each of its images. What a worker spends is given:
--worker, in seconds for an image and its answers (`bench_ray.py` measures the sandbox's), beside
which the table has rows for one second, as with a fast model on a GPU.

A picture travels twice, from the worker that made it and to the one that judges it. A prompt is an
audit of eight axes: 27 prompts with 48 images each. Times leave out the start, and assume that
no worker is ever idle and that the driver's disk keeps up.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biasgraph.data.axes import load_axis_set
from biasgraph.models.base import Answer
from biasgraph.prompts.counterfactuals import Prompt, plan_prompts
from biasgraph.runs.directory import open_run
from biasgraph.runs.engines import Asking, Task
from biasgraph.runs.image_store import EncodedPicture
from biasgraph.runs.local_engine import complete
from biasgraph.runs.progress import ShownWork, duration
from biasgraph.runs.questions import questions_about

PROMPTS = (26, 1_000, 47_040)
WORKERS = (1, 2, 8, 32, 128)
IMAGES = 27 * 48
SANDBOX = 7
"""Kilobytes of the sandbox's pictures, as `bench_ray.py` measures them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=12_000, help="to measure the driver with")
    parser.add_argument("--kilobytes", type=int, default=1500, help="of a large picture")
    parser.add_argument("--worker", type=float, default=0.018, help="seconds, of the sandbox")
    wanted = parser.parse_args()
    small, memory = driver(wanted.images, SANDBOX)
    large, _ = driver(max(wanted.images // 10, 96), wanted.kilobytes)
    print(
        f"the driver, for an image and its answers: {1000 * small:.2f} ms with files of {SANDBOX} "
        f"kB, {1000 * large:.2f} ms with {wanted.kilobytes:,} kB; {memory:,.0f} bytes of memory"
    )
    print(f"memory for {max(PROMPTS):,} prompts: {max(PROMPTS) * IMAGES * memory / 1e9:,.0f} GB")
    for worker, cost, size in ((wanted.worker, small, SANDBOX), (1.0, large, wanted.kilobytes)):
        travels = 2 * 3600 / worker * size / 1e6
        print(
            f"\n{worker:g} s of a worker, files of {size:,} kB: the driver is the limit from "
            f"{worker / cost:,.0f} workers on; {travels:,.1f} GB an hour from and to a worker"
        )
        print("| workers | " + " | ".join(f"{count:,} prompts" for count in PROMPTS) + " |")
        print("|---" * (1 + len(PROMPTS)) + "|")
        for workers in WORKERS:
            each = max(worker / workers, cost)
            times = [duration(count * IMAGES * each) for count in PROMPTS]
            mark = " (driver)" if cost >= worker / workers else ""
            print(f"| {workers}{mark} | " + " | ".join(times) + " |")


@dataclass
class Nobody:
    """A generator and a judge that are never called."""

    spec: str
    fingerprint: str = "0" * 16
    batch_size: int = 48
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Instant:
    """An engine whose batches cost next to nothing; every picture is another one."""

    kilobytes: int
    several: bool = True

    def run(self, tasks: Iterable[Task[Any]], shown: ShownWork) -> int:
        return sum(task.record(self._outcome(task)) for task in tasks)

    def _outcome(self, task: Task[Any]) -> Sequence[Any]:
        call = task.call
        if isinstance(call, Asking):
            sure = [Answer(0, (1.0, *[0.0] * (len(one.choices) - 1))) for one in call.questions]
            return [sure] * len(call.files)
        rest = bytes(1000 * self.kilobytes - 16)
        return [EncodedPicture(os.urandom(16) + rest, None, None) for _ in call.texts]

    def close(self) -> None: ...


def driver(images: int, kilobytes: int) -> tuple[float, float]:
    """Seconds and bytes of memory that a run takes for an image and its answers."""
    axes = load_axis_set("occupation")
    plan: Sequence[Prompt] = plan_prompts("a librarian", axes).prompts
    gate, questions = questions_about(axes)
    generator: Any = Nobody("nobody:paints")
    judge: Any = Nobody("nobody:judges")
    count = -(-images // len(plan))
    with (
        tempfile.TemporaryDirectory() as scratch,
        open_run(Path(scratch) / "run", generator, [judge], seed=0) as run,
    ):
        targets = [axis.axis for axis in questions]
        run.request([plan], images=count, targets=targets, settings={})
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        complete(run, generator, judge, questions, gate, engine=Instant(kilobytes))
        seconds = time.process_time() - start
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    made = count * len(plan)
    return seconds / made, 1024 * grown / made


if __name__ == "__main__":
    main()
