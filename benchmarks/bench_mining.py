"""What `biasgraph mine` costs beside making and embedding the same images (docs/mining.md).

    python benchmarks/bench_mining.py [--images 16] [--iterations 3] [--rounds 2]

On the sandbox, in one process with the models loaded, rounds alternate between
  bare   making the images of every population in batches, and embedding them;
  mine   the search itself: prompts, ledger, files, scores, figures and page besides.
Timed are CPU seconds of the process, which other work on the machine blurs less.  The target is a
ratio of at most 1.05.  Batches are always full: the ratio counts what pads the last one of each
population, and 15 prompts of 16 images are five batches of 48 without padding.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biasgraph.audits.mining.mining import mine
from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.models.diffusers import DiffusersGenerator
from biasgraph.models.registry import load_embedder, load_generator

TARGET = 1.05


def main() -> None:
    """Print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=16)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    generator: Any = load_generator("sandbox:stereotyped")
    embedder: Any = load_embedder("sandbox")
    calls = _calls_of(given.iterations, given.images)
    wanted = 15 * given.images * given.iterations
    print(f"{wanted} images of populations; {sum(len(seeds) for _, seeds in calls)} made in all")
    times: dict[str, list[float]] = {"bare": [], "mine": []}
    for _ in range(given.rounds):
        start = time.process_time()
        for prompts, seeds in calls:
            embedder.embed_images([one.image for one in generator.generate(prompts, seeds)])
        times["bare"].append(time.process_time() - start)
        start = time.process_time()
        _search(given.iterations, given.images)
        times["mine"].append(time.process_time() - start)
    bare, own = (statistics.median(times[name]) for name in ("bare", "mine"))
    print(f"bare: {bare:.2f} s of CPU")
    print(f"mine: {own / bare:.3f} times bare (target at most {TARGET})")


def _search(iterations: int, images: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        options = MineOptions(
            iterations=iterations,
            images=images,
            best=3,
            fresh_batches=2,
            output=Path(folder) / "run",
        )
        mine(options)


def _calls_of(iterations: int, images: int) -> list[tuple[list[str], list[int]]]:
    """The prompts and seeds of every batch that a search makes; loads the models on the way."""
    calls: list[tuple[list[str], list[int]]] = []
    generate = DiffusersGenerator.generate

    def noted(self: Any, prompts: Sequence[str], seeds: Sequence[int]) -> Any:
        calls.append((list(prompts), list(seeds)))
        return generate(self, prompts, seeds)

    DiffusersGenerator.generate = noted  # type: ignore[method-assign]
    try:
        _search(iterations, images)
    finally:
        DiffusersGenerator.generate = generate  # type: ignore[method-assign]
    return calls


if __name__ == "__main__":
    main()
