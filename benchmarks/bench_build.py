"""What a build costs beyond its models: the ratio to the bare forwards for the same work.

    python benchmarks/bench_build.py [--images 16] [--rounds 3]

In one process, with the models loaded, rounds alternate between
  bare    the UNet, VAE and judge forwards of the whole plan, in the same batches, and nothing else;
  build   the engine's work from the first image to the last answer: prompts, noise, scheduler,
          PNG files, hashes, SQLite, reading back, questions.
The target is a ratio of at most 1.15. Start-up, analysis and a whole build are timed apart, each in
a process of its own.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from biasgraph.audits.build_options import BuildOptions
from biasgraph.audits.build_plan import PlannedBuild, plan_build

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command line does
PROMPT = "a librarian"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=16, help="images per prompt")
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    ratios, paces = [], []
    with tempfile.TemporaryDirectory() as scratch:
        first = work_in(Path(scratch) / "warm", wanted.images)
        warm(first)
        for number in range(wanted.rounds):
            job = replace(first.job, directory=Path(scratch) / str(number))
            work = replace(first, job=job)
            bare, built = bare_seconds(work), build_seconds(work)
            ratios.append(built / bare)
            paces.append(built / work.size()["images"])
            print(f"round {number + 1}: bare {bare:.2f} s, build {built:.2f} s", flush=True)
        print(f"build / bare forwards: {statistics.median(ratios):.3f} (target: at most 1.15)")
        print(f"one image and its answers: {1000 * statistics.median(paces):.1f} ms")
        for name, code in (("--help", "--help"), ("--version", "--version")):
            print(f"biasgraph {name}: {min(command_seconds(code) for _ in range(3)):.2f} s")
        whole(Path(scratch) / "whole")


def work_in(directory: Path, images: int) -> PlannedBuild:
    return plan_build(BuildOptions(prompt=PROMPT, images=images, output=directory))


def warm(work: PlannedBuild) -> None:
    texts = [prompt.text for plan in work.plans for prompt in plan.prompts]
    made = work.job.generator.generate(texts, range(len(texts)))
    pictures = [picture.image for picture in made]
    from biasgraph.runs.questions import questions_about

    gate, asked = questions_about(work.axes)
    work.job.judge.answer(pictures, [gate, *(q for axis in asked for q in axis.questions)])


def build_seconds(work: PlannedBuild) -> float:
    with work.job.open() as run:
        start = time.perf_counter()
        work.carry_out(run, {})
        return time.perf_counter() - start


def bare_seconds(work: PlannedBuild) -> float:
    """The forwards alone, on tensors of the right shapes."""
    import torch

    generator: Any = work.job.generator
    judge: Any = work.job.judge
    pipeline, clip = generator._pipeline, judge._model
    size, images = generator.batch_size, work.size()["images"]
    batches = -(-images // size)
    pipeline.scheduler.set_timesteps(generator.steps)
    latent = torch.randn(size, 8, 8, 8)
    text = torch.randn(size, 32, 128)
    pixels = torch.randn(size, 3, 64, 64)
    start = time.perf_counter()
    with torch.no_grad():
        for _ in range(batches):
            for moment in pipeline.scheduler.timesteps:
                pipeline.unet(latent, moment, encoder_hidden_states=text)
            pipeline.vae.decode(latent)
            clip.get_image_features(pixel_values=pixels)
    return time.perf_counter() - start


def command_seconds(*arguments: str) -> float:
    start = time.perf_counter()
    command = [sys.executable, "-m", "biasgraph", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def whole(directory: Path) -> None:
    """A whole build of 1,296 images and its rerun, as a user runs them."""
    for name in ("build", "rerun"):
        command = [sys.executable, "-m", "biasgraph", "build", "--prompt", PROMPT, "--quiet"]
        start = time.perf_counter()
        process = subprocess.Popen([*command, "-o", str(directory)])
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if status != 0:
            raise SystemExit(f"the {name} failed")
        peak = usage.ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
        print(f"{name}: {seconds:.1f} s wall, {peak:.2f} GiB peak memory")


if __name__ == "__main__":
    main()
