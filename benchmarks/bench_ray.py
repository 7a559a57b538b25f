"""What Ray costs: images made and judged by two workers against the local engine.

    python benchmarks/bench_ray.py [--images 960] [--rounds 4] [--workers 2] [--whole 0]

In one process, with all models loaded, rounds alternate between
  local   the engine of this process, whose models use every core by threads;
  ray     as many workers as there are cores, which share them evenly;
each from an empty ledger to the last answer. The targets are .95 of the local rate there, and .9
end to end (--whole N: builds of N images of each of five prompts, each in a process of its own,
with everything that starts and stops). What the driver itself spends on an image is its CPU time
in the rounds of ray, and the pictures' sizes are those of the files.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command line does

from biasgraph.audits.build_options import BuildOptions
from biasgraph.audits.build_plan import PlannedBuild, plan_build
from biasgraph.models.inference_options import ModelOptions
from biasgraph.runs.engines import IN_PROCESS, Engine, engine_of

PROMPT = "a librarian"
PROMPTS = 5
STEADY, WHOLE = 0.95, 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=960, help="in all, of each round")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--whole", type=int, default=0, help="images of a prompt, end to end")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if wanted.rounds:
            steady(Path(scratch), wanted.images // PROMPTS, wanted.rounds, wanted.workers)
        if wanted.whole:
            whole(Path(scratch), wanted.whole, wanted.workers)


def steady(scratch: Path, images: int, rounds: int, workers: int) -> None:
    """Rates with everything started, alternating."""
    with closing(engine_of(ModelOptions(engine="ray", workers=workers))) as ray:
        engines = {"local": IN_PROCESS, "ray": ray}
        for name, engine in engines.items():
            start = time.perf_counter()
            run(work_in(scratch / f"warm-{name}", 2 * 48 * workers // PROMPTS), engine)
            print(f"{name}: {time.perf_counter() - start:.1f} s to start and warm up", flush=True)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
        for number in range(rounds):
            for name in list(engines)[:: 1 if number % 2 else -1]:
                work = work_in(scratch / f"{name}-{number}", images)
                before = time.process_time()
                seconds = run(work, engines[name])
                taken[name].append((seconds, time.process_time() - before))
            paces = {name: PROMPTS * images / own[-1][0] for name, own in taken.items()}
            print(f"round {number + 1}: {told(paces)} images/s", flush=True)
    count = PROMPTS * images
    ratios = [
        ours / theirs for (ours, _), (theirs, _) in zip(taken["local"], taken["ray"], strict=True)
    ]
    print(f"ray / local, rate: {statistics.median(ratios):.3f} (target: at least {STEADY})")
    worked = statistics.median(cpu for _, cpu in taken["ray"]) / count
    print(f"the driver's CPU time of an image and its answers: {1000 * worked:.2f} ms")
    files = list((scratch / "ray-0" / "images").iterdir())
    size = statistics.mean(path.stat().st_size for path in files)
    print(f"a picture's file: {size / 1000:.2f} kB on average")


def whole(scratch: Path, images: int, workers: int) -> None:
    """Builds as a user starts them."""
    on = {"local": (), "ray": ("--engine", "ray", "--workers", str(workers))}
    taken = {}
    for name, options in on.items():
        command = [sys.executable, "-m", "biasgraph", "build", "--prompt", PROMPT, "--quiet"]
        command += ["--only", "gender,clothing", "--images", str(images), "--controls", "0"]
        start = time.perf_counter()
        subprocess.run([*command, "-o", scratch / f"whole-{name}", *options], check=True)
        taken[name] = time.perf_counter() - start
    print(f"a build of {PROMPTS * images} images: {told(taken)} s")
    ratio = taken["local"] / taken["ray"]
    print(f"ray / local, end to end: {ratio:.3f} (target: at least {WHOLE})")


def told(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.1f}" for name, value in values.items())


def work_in(directory: Path, images: int) -> PlannedBuild:
    """A build's work: five prompts, the gate and two axes."""
    options = BuildOptions(
        PROMPT, images=images, only="gender,clothing", controls=0, output=directory
    )
    return plan_build(options)


def run(work: PlannedBuild, engine: Engine) -> float:
    """Seconds from the empty ledger to the last answer; the engine goes on."""
    job = replace(work.job, engine=engine)
    with replace(job, engine=IN_PROCESS).open() as opened:
        start = time.perf_counter()
        replace(work, job=job).carry_out(opened, {})
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
