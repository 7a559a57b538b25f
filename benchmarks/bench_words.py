"""What word influence by gradient costs beside making the same images (docs/words.md).

    python benchmarks/bench_words.py [--images 10] [--rounds 2]

On the sandbox, in one process with the models loaded, rounds alternate between
  plain     making the images;
  gradient  following them, every second step, for one axis and for all eight.  An axis of two
            attributes takes one way back a step, any other two.
Counted are calls of the denoiser, forward and backward; timed are CPU seconds of the process, which
other work on the machine blurs less.  The target is a ratio of at most 3 for one axis: a run of its
own for the images' final answers, and a backward pass, which costs about two forward ones, for half
of the steps.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

from biasgraph.data.axes import load_axis_set
from biasgraph.models.registry import load_generator, load_judge
from biasgraph.models.token_scores import score_tokens
from biasgraph.runs.questions import questions_about

PROMPT = "a librarian with a stack of books"
EVERY, TARGET = 2, 3.0


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args()
    generator: Any = load_generator("sandbox:stereotyped")
    judge: Any = load_judge("sandbox")
    axes = {
        about.axis: about.questions for about in questions_about(load_axis_set("occupation"))[1]
    }
    prompts, seeds = [PROMPT] * given.images, list(range(given.images))

    def follow(names: list[str]) -> Callable[[], object]:
        own = {name: axes[name] for name in names}
        return lambda: score_tokens(generator.trace(prompts, seeds), judge, own, every=EVERY)

    work = {
        "plain": lambda: generator.generate(prompts, seeds),
        "one axis": follow(["gender"]),
        "one axis of three attributes": follow(["age"]),
        f"{len(axes)} axes": follow(list(axes)),
    }
    for name, do in work.items():
        print(f"{name}: {' and '.join(f'{n} {kind}' for kind, n in passes(generator, do).items())}")
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(given.rounds):
        for name, do in work.items():
            start = time.process_time()
            do()
            times[name].append(time.process_time() - start)
    plain = statistics.median(times.pop("plain"))
    print(f"plain: {plain:.2f} s of CPU for {given.images} images")
    for name, own in times.items():
        ratio = statistics.median(own) / plain
        verdict = f" (target at most {TARGET:g})" if name == "one axis" else ""
        print(f"{name}: {ratio:.2f} times plain{verdict}")


def passes(generator: Any, do: Callable[[], object]) -> dict[str, int]:
    """Calls of the denoiser: forward, and with a backward pass to come."""
    import torch

    counted = {"forward": 0, "backward": 0}

    def note(*_: object) -> None:
        counted["forward"] += 1
        counted["backward"] += torch.is_grad_enabled()

    # Its first layer, since a call that replays what was kept does not get so far.
    handle = generator._pipeline.unet.conv_in.register_forward_pre_hook(note)
    try:
        do()
    finally:
        handle.remove()
    return counted


if __name__ == "__main__":
    main()
