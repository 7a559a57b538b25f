"""Scores the tokens of the prompts of `words_design` by gradients, on both sandbox generators.

    python -m benchmarks.words_gradients --out outputs/words_gradients.jsonl

A line for each generator and prompt; rerun the same command to resume.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from benchmarks.exact import AXIS_SET, WORLDS
from benchmarks.words_design import UnitPrompt, design
from biasgraph.models.registry import load_generator, load_judge
from biasgraph.models.token_scores import score_tokens
from biasgraph.runs.questions import questions_about
from biasgraph.runs.wanted_images import seed_for

if TYPE_CHECKING:
    from biasgraph.models.base import DifferentiableJudge, TraceableGenerator

IMAGES, EVERY, SEED = 10, 2, 900_015


def scored(model: str, prompt: UnitPrompt, *, released: bool) -> list[dict[str, Any]]:
    """For each image, axis -> kind of loss -> scores in JSON types."""
    generator = cast("TraceableGenerator", load_generator(model))
    judge = cast("DifferentiableJudge", load_judge("sandbox"))
    seeds = [seed_for(SEED, model, prompt.text, number) for number in range(IMAGES)]
    trace = generator.trace([prompt.text] * IMAGES, seeds)
    axes = {about.axis: about.questions for about in questions_about(AXIS_SET)[1]}
    found = score_tokens(trace, judge, axes, every=EVERY, released=released)
    return [
        {axis: {kind: one.record() for kind, one in by.items()} for axis, by in own.items()}
        for own in found
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Adds what is missing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("outputs/words_gradients.jsonl"))
    out = parser.parse_args(arguments).out
    lines = out.read_text("utf-8").splitlines() if out.exists() else []
    done = {(line["model"], line["prompt"], line["released"]) for line in map(json.loads, lines)}
    for released in (False, True):
        for prompt in design():
            for model in (f"sandbox:{name}" for name in WORLDS):
                if (model, prompt.text, released) in done:
                    continue
                images = scored(model, prompt, released=released)
                line = {"model": model, "prompt": prompt.text, "released": released}
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({**line, "images": images}) + "\n")


if __name__ == "__main__":
    main()
