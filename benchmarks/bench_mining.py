"""What `biasgraph mine` costs beside its models' work (docs/mining.md).

    python benchmarks/bench_mining.py [--images 16] [--iterations 8] [--rounds 1]

On the sandbox, in one process with the models loaded, rounds alternate between
  bare   what the models do in a search, once more: the language model's replies, every batch of
         images, and the embeddings of all of them;
  mine   the search itself: ledger, files, scores, figures and page besides.
Timed are CPU seconds of the process, which other work on the machine blurs less.  The target is a
ratio of at most 1.05.  Batches are always full, on both sides: 15 prompts of 16 images are five
batches of 48 without padding.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from biasgraph.audits.mining.mining import mine
from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.models.clip import ClipJudge
from biasgraph.models.diffusers import DiffusersGenerator
from biasgraph.sandbox.proposer import Proposer

TARGET = 1.05
WORK = ((DiffusersGenerator, "generate"), (ClipJudge, "embed_images"), (ClipJudge, "embed_texts"),
        (Proposer, "reply"))  # fmt: skip
"""What the models do."""


def main() -> None:
    """Print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=16)
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    with _noted() as calls:  # loads the models on the way
        _search(given.iterations, given.images)
    made = sum(len(arguments[0]) for name, arguments, _ in calls if name == "generate")
    wanted = 15 * given.images * given.iterations
    print(f"{wanted} images of populations; {made} made in all")
    times: dict[str, list[float]] = {"bare": [], "mine": []}
    for _ in range(given.rounds):
        start = time.process_time()
        for _, arguments, again in calls:
            again(*arguments)
        times["bare"].append(time.process_time() - start)
        start = time.process_time()
        _search(given.iterations, given.images)
        times["mine"].append(time.process_time() - start)
    bare, own = (statistics.median(times[name]) for name in ("bare", "mine"))
    print(f"bare: {bare:.2f} s of CPU")
    print(f"mine: {own / bare:.3f} times bare (target at most {TARGET})")


def _search(iterations: int, images: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        mine(MineOptions(iterations=iterations, images=images, best=3, fresh_batches=2, output=run))


@contextmanager
def _noted() -> Iterator[list[tuple[str, Any, Callable[..., Any]]]]:
    """Every call of the models in the block: its name, its arguments, and what does it again."""
    calls: list[tuple[str, Any, Callable[..., Any]]] = []

    def noting(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def note(self: Any, *arguments: Any) -> Any:
            calls.append((name, arguments, work.__get__(self)))
            return work(self, *arguments)

        return note

    before = [(owner, name, getattr(owner, name)) for owner, name in WORK]
    for owner, name, work in before:
        setattr(owner, name, noting(name, work))
    try:
        yield calls
    finally:
        for owner, name, work in before:
            setattr(owner, name, work)


if __name__ == "__main__":
    main()
