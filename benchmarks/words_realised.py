"""Counts what the sandbox's generators draw for the prompts of `words_design`, with and without
each unit: the realised truth of word influence.

    python -m benchmarks.words_realised --images 2016 --out benchmarks/words_realised.csv

Rounds of 96 images a prompt are added until there are enough; rerun the same command to resume.
`sandbox:judge2` answers.  About 28 ms of one core an image.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from benchmarks.exact import AXIS_SET, WORLDS
from benchmarks.words_design import design, sets_of
from biasgraph.io.writing import write_files
from biasgraph.models.base import ImageGenerator, VisualQA
from biasgraph.models.registry import load_generator, load_judge
from biasgraph.runs.questions import questions_about
from biasgraph.runs.wanted_images import seed_for

ROUND = 96
JUDGE = "sandbox:judge2"
SEED = 900_014
COLUMNS = ("model", "prompt", "axis", "images", "counts", "unknown")
Counts = dict[tuple[str, str, str], list[int]]
"""(model, prompt, axis) -> images, images with each attribute in their order, unknown."""


def read(path: Path) -> Counts:
    """The counts of a file; none where there is no file."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {
            (row["model"], row["prompt"], row["axis"]): [
                int(row["images"]),
                *map(int, row["counts"].split()),
                int(row["unknown"]),
            ]
            for row in csv.DictReader(file)
        }


def _write(path: Path, counts: Counts) -> None:
    lines = [",".join(COLUMNS)]
    for (model, prompt, axis), (images, *shown, unknown) in sorted(counts.items()):
        lines.append(f"{model},{prompt},{axis},{images},{' '.join(map(str, shown))},{unknown}")
    write_files(path.parent, {path.name: ("\n".join(lines) + "\n").encode()})


@cache
def _models(model: str) -> tuple[ImageGenerator, VisualQA]:
    return load_generator(model), load_judge(JUDGE)


def answer_counts(model: str, prompt: str, first: int, images: int) -> dict[str, list[int]]:
    """Axis -> images, images with each attribute, unknown; of images `first` and following."""
    generator, judge = _models(model)
    _, about = questions_about(AXIS_SET)
    seeds = [seed_for(SEED, model, prompt, number) for number in range(first, first + images)]
    pictures = [made.image for made in generator.generate([prompt] * images, seeds)]
    questions = [question for axis in about for question in axis.questions]
    replies = judge.answer(pictures, questions)
    counted = {}
    place = 0
    for axis in about:
        own = slice(place, place := place + len(axis.questions))
        names = AXIS_SET.axis(axis.axis).names
        said = [axis.verdict(reply[own]).answer for reply in replies]
        shown = [said.count(name) for name in names]
        counted[axis.axis] = [images, *shown, images - sum(shown)]
    return counted


def main(arguments: Sequence[str] | None = None) -> None:
    """Adds rounds until every prompt has enough images."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=2016)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/words_realised.csv"))
    given = parser.parse_args(arguments)
    counts = read(given.out)
    for wanted in range(ROUND, given.images + 1, ROUND):
        for model in (f"sandbox:{name}" for name in WORLDS):
            for prompt in sets_of(design()):
                there = counts.get((model, prompt, AXIS_SET.axes[0].name), [0])[0]
                if there >= wanted:
                    continue
                for axis, new in answer_counts(model, prompt, there, wanted - there).items():
                    old = counts.get((model, prompt, axis), [0] * len(new))
                    counts[model, prompt, axis] = [a + b for a, b in zip(old, new, strict=True)]
                _write(given.out, counts)
        print(f"{wanted} images a prompt", flush=True)


if __name__ == "__main__":
    main()
