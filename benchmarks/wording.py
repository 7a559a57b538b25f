"""How far wording alone moves the sandbox's answers (docs/sandbox.md).

    python -m benchmarks.wording
    python -m benchmarks.wording --prompts few.txt --images 8 --arms 2   # a trial

Neutral rewordings of a prompt ("a certain librarian") should change no answer, and arms of axes
without a planted path to a target should not change it either.  Prints both beside the initial
images: a mean over occupations for every attribute, and gender for every occupation.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import networkx as nx
import numpy as np

from benchmarks.exact import AXIS_SET, dag
from benchmarks.shares import clustered, mean, shown, table, wilson
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.registry import load_generator, load_judge
from biasgraph.prompts.controls import rewordings
from biasgraph.prompts.counterfactuals import Prompt, PromptPlan
from biasgraph.prompts.prompt_lists import PromptList
from biasgraph.runs.questions import questions_about
from biasgraph.runs.wanted_images import seed_for

Counts = Mapping[str, np.ndarray]
"""Axis -> (k,) valid answers about it."""


class Measured:
    """Makes images of prompts and counts what the judge says of them."""

    def __init__(self, model: str) -> None:
        self.generator = load_generator(model, ModelOptions(), Path())
        self.judge = load_judge("sandbox")
        _, self.asked = questions_about(AXIS_SET)
        self.names = {axis.name: list(axis.names) for axis in AXIS_SET.axes}

    def counts(self, prompts: Sequence[Prompt], images: int) -> list[Counts]:
        """The answers about so many images of each prompt."""
        texts = [prompt.text for prompt in prompts for _ in range(images)]
        numbers = list(range(images)) * len(prompts)
        seeds = [
            seed_for(0, self.generator.spec, text, number)
            for text, number in zip(texts, numbers, strict=True)
        ]
        said: dict[str, list[str]] = {about.axis: [] for about in self.asked}
        size = self.generator.batch_size
        for start in range(0, len(texts), size):
            part = slice(start, start + size)
            drawn = self.generator.generate(texts[part], seeds[part])
            pictures = [picture.image for picture in drawn]
            for about in self.asked:
                replies = self.judge.answer(pictures, about.questions)
                said[about.axis] += [about.verdict(reply).answer for reply in replies]
        return [
            {
                axis: np.array([answers[at : at + images].count(name) for name in self.names[axis]])
                for axis, answers in said.items()
            }
            for at in range(0, len(texts), images)
        ]


def unrelated(model: str, plan: PromptPlan, counts: Sequence[Counts], target: str) -> np.ndarray:
    """(k,) the answers about a target in the arms of all axes without a planted path to it."""
    graph = dag(model.partition(":")[2])
    arms = zip(plan.counterfactuals, counts, strict=True)
    total = np.zeros(len(AXIS_SET.axis(target).names))
    for arm, own in arms:
        if not nx.has_path(graph, arm.axis, target):
            total += own[target]
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", default="sandbox:stereotyped")
    parser.add_argument("--prompts", default="occupations", help="a shipped list, or a file")
    parser.add_argument("--images", type=int, default=48, help="of a prompt and each rewording")
    parser.add_argument("--arms", type=int, default=8, help="images of each counterfactual")
    options = parser.parse_args()
    plans = PromptList.of(options.prompts).plans(AXIS_SET, controls=len(rewordings(AXIS_SET)))
    measured, found = Measured(options.model), []
    for plan in plans:
        own = measured.counts([plan.initial, *plan.controls], options.images)
        arms = measured.counts(plan.counterfactuals, options.arms)
        mixed = {axis: unrelated(options.model, plan, arms, axis) for axis in measured.names}
        found.append([*own, mixed])
    columns = [*(one.phrase for one in rewordings(AXIS_SET)), "arms of unrelated axes"]
    rows = []
    for axis, names in measured.names.items():
        with np.errstate(invalid="ignore"):  # no axis may be unrelated to it
            shares = np.array([[own[axis] / own[axis].sum() for own in sets] for sets in found])
        moved = shares[:, 1:] - shares[:, :1]
        for place, name in enumerate(names):
            initial = clustered(
                [int(sets[0][axis][place]) for sets in found],
                [int(sets[0][axis].sum()) for sets in found],
            )
            shifts = [shown(mean(moved[:, column, place])) for column in range(len(columns))]
            rows.append([axis, name, shown(initial), *shifts])
    print(table(["axis", "attribute", "initial share", *(f"+ {name}" for name in columns)], rows))
    print(table(["female", "initial", *columns], [
        [plan.initial.text, *(
            shown(wilson(int(own["gender"][1]), int(own["gender"].sum())), 2) for own in sets
        )]
        for plan, sets in zip(plans, found, strict=True)
    ]))  # fmt: skip


if __name__ == "__main__":
    main()
