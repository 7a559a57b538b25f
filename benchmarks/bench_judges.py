"""What encoding a picture once for all of its questions saves, for clip and vlm judges.

    python benchmarks/bench_judges.py [--images 256] [--rounds 2] [--permutations K]

Eight questions of the occupation axes are asked about random pictures of 336 x 336 pixels, in
one process, with the models loaded; rounds alternate between
  once        one call with all questions;
  one by one  a call for each question, so that pictures are encoded for each anew.
The models are tiny and randomly initialised, but see as many patches as full-sized ones do: a
SigLIP of 576 patches, and a LLaVA whose pictures are 576 tokens, as LLaVA-1.5's are.  The targets
are ratios of at least 5 for clip and 3 for vlm.  What is saved depends on the tokens of pictures
against those of questions: fewer orders of the options (--permutations) or larger pictures save
more.  Times are CPU seconds of the process, which other work on the machine blurs less.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the tests' tiny models

from biasgraph.data.axes import load_axis_set
from biasgraph.models.base import Answer, Question, VisualQA
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.multiple_choice import letter_question
from biasgraph.models.registry import load_judge
from biasgraph.runs.questions import questions_about
from tests.models import tiny_clips, tiny_vlms

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command line does
SIDE = 336
PATCH = 14
QUESTIONS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--permutations", type=int, default=None, help="of vlm's options")
    wanted = parser.parse_args()
    pictures, questions = some_pictures(wanted.images), some_questions()
    with tempfile.TemporaryDirectory() as scratch:
        options = ModelOptions(device="cpu", permutations=wanted.permutations)
        siglip = tiny_clips.siglip(Path(scratch) / "siglip", SIDE, PATCH)
        clip = load_judge(f"clip:{siglip}", options)
        # A vocabulary that cuts the questions into words, as those of full-sized models do.
        tiny_vlms.SENTENCES[:] = [sheet.text for one in questions for sheet in letter_question(one)]
        vlm = load_judge(f"vlm:{tiny_vlms.llava(Path(scratch) / 'llava', SIDE, PATCH)}", options)
        compare("clip", clip, pictures, questions, wanted.rounds, target=5)
        compare("vlm", vlm, pictures, questions, wanted.rounds, target=3)
        print(f"vlm's way: {vlm._scorer.way}, {vlm.settings['permutations']} orders at most")


def compare(
    name: str,
    judge: VisualQA,
    pictures: list[Image.Image],
    questions: list[Question],
    rounds: int,
    target: float,
) -> None:
    judge.answer(pictures[:4], questions)  # loads the model and embeds captions
    size = judge.batch_size
    batches = [pictures[start : start + size] for start in range(0, len(pictures), size)]
    ratios = []
    for number in range(rounds):
        start = time.process_time()
        once = [row for some in batches for row in judge.answer(some, questions)]
        middle = time.process_time()
        apart = [
            [row[0] for some in batches for row in judge.answer(some, [question])]
            for question in questions
        ]
        end = time.process_time()
        check_same(once, [list(row) for row in zip(*apart, strict=True)])
        ratios.append((end - middle) / (middle - start))
        print(
            f"{name} round {number + 1}: once {middle - start:.2f} s, "
            f"one by one {end - middle:.2f} s",
            flush=True,
        )
    print(f"{name}: {statistics.median(ratios):.2f} times faster (target: at least {target})")


def check_same(once: list[list[Answer]], apart: list[list[Answer]]) -> None:
    for row, other in zip(once, apart, strict=True):
        for one, same in zip(row, other, strict=True):
            if not np.allclose(one.probabilities, same.probabilities, atol=1e-4):
                raise SystemExit("an answer depends on the other questions")


def some_pictures(count: int) -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [
        Image.fromarray(rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)) for _ in range(count)
    ]


def some_questions() -> list[Question]:
    gate, asked = questions_about(load_axis_set("occupation"))
    return [gate, *(question for about in asked for question in about.questions)][:QUESTIONS]


if __name__ == "__main__":
    main()
