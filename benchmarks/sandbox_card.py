"""Measures the essentials of the sandbox's models again (docs/sandbox.md).

    python -m benchmarks.sandbox_card
    python -m benchmarks.sandbox_card --prompts few.txt --images 12 --drawings 200   # a trial

Prints how well the judges read held-out drawings and, for both generators, how often the images
show what their prompt names, how far generated distributions lie from the planted ones, and the
precision and recall of the edges.  The audits are ordinary runs of ``biasgraph build`` below WORK;
rerun the same command to resume.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

import biasgraph
from benchmarks.calibration import record_of
from benchmarks.calibration_summary import edges_table, summarise
from benchmarks.exact import AXIS_SET, VARIABLES, WORLDS, planted_truth
from benchmarks.shares import Estimate, clustered, mean, shown, table, wilson
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, tally
from biasgraph.data.answer_codes import codes_of
from biasgraph.data.answers import Answers
from biasgraph.models.registry import load_judge
from biasgraph.runs.questions import questions_about
from biasgraph.sandbox.training.data import NOBODY, draw_pictures
from biasgraph.sandbox.world import AXES

JUDGES = ("sandbox", "sandbox:judge2")
HELD_OUT_SEED = 900_001
"""Training draws its pictures from seeds below 100,000."""


def judge_accuracy(spec: str, drawings: int) -> dict[str, Estimate]:
    """Axis -> share of a judge's right answers about held-out drawings; unknown counts as wrong."""
    pictures = draw_pictures("stereotyped", drawings, HELD_OUT_SEED)
    people = np.flatnonzero(pictures.occupation != NOBODY)
    images = [Image.fromarray(pictures.images[row]) for row in people]
    _, about_axes = questions_about(AXIS_SET)
    judge = load_judge(spec)
    accuracy = {}
    for about in about_axes:
        column = pictures.shown[people, list(AXES).index(about.axis)]
        replies = [
            row
            for start in range(0, len(images), judge.batch_size)
            for row in judge.answer(images[start : start + judge.batch_size], about.questions)
        ]
        given = [about.verdict(reply).answer for reply in replies]
        right = [AXES[about.axis][truth] for truth in column]
        accuracy[about.axis] = wilson(sum(map(str.__eq__, given, right)), len(given))
    return accuracy


def audits_of(run: Path) -> dict[str, CodedImages]:
    """Occupation -> the coded answers of its prompt in a run of `biasgraph build`."""
    coded = codes_of(Answers.read(run / "answers.csv"), VARIABLES)
    return {images.prompt.partition(" ")[2]: images for images in coded}


def obedience(audits: Sequence[CodedImages]) -> dict[str, Estimate]:
    """Axis -> share of counterfactual images judged to show the attribute that is named."""
    shares = {}
    for x, variable in enumerate(VARIABLES):
        arms = [[images.arms[x, a][:, x] == a for a in range(variable.size)] for images in audits]
        shares[variable.name] = clustered(
            [int(np.sum(own)) for own in arms], [int(np.size(own)) for own in arms]
        )
    return shares


def distances(world: str, audits: dict[str, CodedImages]) -> dict[str, Estimate]:
    """Mean total variation between planted and generated distributions, by kind of prompt.

    Beside it stands the mean distance of as many draws from the planted distribution itself.
    """
    rng = np.random.default_rng(0)
    found: dict[str, list[float]] = {}
    for occupation, images in audits.items():
        planted = planted_truth(world, occupation)
        for arm, codes in {None: images.initial, **images.arms}.items():
            name = arm and (VARIABLES[arm[0]].name, VARIABLES[arm[0]].attributes[arm[1]])
            kind = "plain prompts" if arm is None else "counterfactuals"
            for y, variable in enumerate(VARIABLES):
                if arm is not None and arm[0] == y:
                    continue  # obedience, not a distribution
                true = (planted.arms[name] if name else planted.initial)[variable.name]
                counted = tally(codes[:, y], variable.size)
                drawn = rng.multinomial(counted.n_valid, true, size=100) / counted.n_valid
                distance = np.abs(counted.shares - true).sum() / 2
                noise = np.abs(drawn - true).sum(axis=1).mean() / 2
                found.setdefault(kind, []).append(float(distance))
                found.setdefault(f"{kind}, noise alone", []).append(float(noise))
    return {kind: mean(values) for kind, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("outputs/sandbox-card"))
    parser.add_argument("--prompts", default="occupations", help="a shipped list, or a file")
    parser.add_argument("--images", type=int, default=48, help="a prompt")
    parser.add_argument("--drawings", type=int, default=4000, help="for the judges")
    options = parser.parse_args()
    accuracies = [judge_accuracy(spec, options.drawings) for spec in JUDGES]
    rows = [[axis, *(shown(one[axis], 4) for one in accuracies)] for axis in accuracies[0]]
    print(table(["right on held-out drawings", *JUDGES], rows))
    settings = AnalysisSettings.resolve(noise_draws=0)
    for world in WORLDS:
        run = options.work / f"{world}-{options.images}"
        biasgraph.build(
            prompts=options.prompts, model=f"sandbox:{world}", images=options.images,
            annotate="none", output=run,
        )  # fmt: skip
        audits = audits_of(run)
        obeyed = obedience(list(audits.values()))
        far = distances(world, audits)
        records = [record_of([world, job, 0], images, settings) for job, images in audits.items()]
        print(table([f"{world}: shows what is named", "share"],
                    [[axis, shown(share)] for axis, share in obeyed.items()]))  # fmt: skip
        print(table([f"{world}: distance of planted and generated", "mean"],
                    [[kind, shown(value)] for kind, value in far.items()]))  # fmt: skip
        print(f"{world}: edges against the planted truth\n")
        print(edges_table(summarise(records, options.images)))


if __name__ == "__main__":
    main()
