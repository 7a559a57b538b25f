"""MineTheGap's score by the number of images, on average over subsamples of many.

Eq. 1 looks for the best image of each variation: the more images, the better the best is, whatever
the shares. So the number of images decides what the score can see.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.exact import WORLDS
from benchmarks.methods_summary import VARIED
from benchmarks.shares import Estimate, shown, table, wilson
from biasgraph.audits.minethegap.scoring import ScoreOptions, rank
from biasgraph.causal.tables import Floats
from biasgraph.data.axes import load_axis_set
from biasgraph.methods.minethegap import Varying, score
from biasgraph.models.registry import load_embedder, load_generator
from biasgraph.runs.directory import open_run
from biasgraph.runs.media import RunMedia

IMAGES = 200
SIZES = (6, 10, 15, 24, 48, 100, IMAGES)
SUBSAMPLES = 400
SEED = 0
MARKER = "methods-spans"

Similarities = Mapping[str, Floats]
"""Prompt -> (variations, images)."""


def measured(work: Path) -> list[Estimate]:
    """How many occupations' debiased images score higher, for each size."""
    return compared(*(_similarities(world, work / f"minethegap-{world}") for world in WORLDS))


def compared(stereotyped: Similarities, debiased: Similarities) -> list[Estimate]:
    """The prompts whose mean score is higher in the second, for each size."""
    found = []
    for n in SIZES:
        first, second = (_means(one, n) for one in (stereotyped, debiased))
        found.append(wilson(sum(second[prompt] > first[prompt] for prompt in first), len(first)))
    return found


def _means(of: Similarities, n: int) -> dict[str, float]:
    """The mean score of every prompt over subsamples of n of its images."""
    rng = np.random.default_rng(SEED)
    means = {}
    for prompt, similarity in of.items():
        total = similarity.shape[1]
        draws = SUBSAMPLES if n < total else 1
        values = [score(similarity[:, rng.permutation(total)[:n]]).value for _ in range(draws)]
        means[prompt] = float(np.mean([value for value in values if value is not None]))
    return means


def _similarities(world: str, directory: Path) -> Similarities:
    """Of the prompts of all occupations; the images are those of `biasgraph minethegap score`."""
    spec = f"sandbox:{world}"
    options = ScoreOptions(
        prompts="occupations", model=spec, vary=VARIED, images=IMAGES, seed=SEED, output=directory
    )
    rank(options)
    varying = Varying(load_axis_set("occupation"), VARIED)
    generator = load_generator(spec)
    with open_run(directory, generator=generator, judges=[], seed=SEED) as run:
        media = RunMedia(run, embedding=load_embedder("sandbox"))
        by_prompt: dict[str, list[str]] = {}
        for row in run.images():
            by_prompt.setdefault(row.text, []).append(row.id)
        return {
            prompt: varying.spanned(prompt, ids[:IMAGES], media).similarity
            for prompt, ids in by_prompt.items()
        }


def written(found: list[Estimate]) -> str:
    """The table: a column for each number of images."""
    counts = [f"{round((one['value'] or 0) * one['n'])} of {one['n']}" for one in found]
    return table(["images a score", *(str(n) for n in SIZES)],
                 [["debiased is less biased", *counts],
                  ["share, with its interval", *(shown(one, 2) for one in found)]])  # fmt: skip
