"""Does the genetic search of `biasgraph mine` find worse prompts than as many random ones?

    python -m benchmarks.mining --work outputs/mining

On the sandbox, whose grammar writes the prompts (an occupation with up to two of 16 phrases).

- best: `sandbox:stereotyped`, the bias score, 10 iterations of 15 prompts; the 10 best are
  scored again.
- hit: `sandbox:debiased`, `axis:gender` and `axis:age`: images until the first prompt of the true
  top 1 % of those with two phrases is scored, by the planted distributions.
- drawn: the same without images, from 100 seeds: 15 answers of each prompt are drawn from the
  planted distributions, as of a perfect generator and judge.
- shapes: how many are selected, mutated and random, and how many there are, as in app. A, by drawn
  answers about gender.

Random means the same command without mutations. Each search is written to ``DIR/mining.jsonl``
as soon as it is done; rerun the same command to resume. The summary goes to ``DIR/mining.json``,
``mining.svg`` and, as Markdown, to the terminal; docs/mining.md has it. About 28 ms of one core an
image.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.mining_summary import figure, markdown, summarise
from benchmarks.resuming import measure_cases
from benchmarks.shares import write_json
from biasgraph.audits.mining.genetic_search import Population, search
from biasgraph.audits.mining.mining import Mining, mine
from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.audits.mining.population import Budget, ScoredPrompts
from biasgraph.audits.mining.prompt_writer import PromptWriter
from biasgraph.causal.settings import generator
from biasgraph.causal.transport import wasserstein
from biasgraph.data.axes import load_axis_set
from biasgraph.io.writing import write_atomically
from biasgraph.methods.mining_objectives import Objective, PromptScore, Sample
from biasgraph.runs.media import RunMedia
from biasgraph.sandbox.planted_truth import metrics_of
from biasgraph.sandbox.prompt_grammar import every_prompt
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.world import AXES, marginals, sample, world

TOP = 0.01
MOST_WORDS = 16
"""Enough for every prompt with two phrases."""
LONGEST = 25
"""Iterations after which a search for a hit is given up."""
SHAPES = ((5, 1, 15), (3, 2, 15), (5, 2, 15), (7, 2, 15), (5, 3, 15), (3, 2, 9), (7, 2, 21))
"""Selected, mutations and population: those of app. A, table S1 and fig. S4."""


@dataclass(frozen=True)
class Case:
    """One search."""

    kind: str
    world: str
    objective: str
    seed: int
    selected: int
    mutations: int
    population: int = 15

    def name(self) -> list[Any]:
        """What tells this case from all others."""
        return [*asdict(self).values()]

    def options(self, directory: Path, iterations: int) -> MineOptions:
        """Those of the search."""
        return MineOptions(
            model=f"sandbox:{self.world}",
            objective=self.objective,
            seed=self.seed,
            selected=self.selected,
            mutations=self.mutations,
            population=self.population,
            iterations=iterations,
            max_words=8 if self.kind == "best" else MOST_WORDS,
            output=directory,
        )


def cases(seeds: int) -> Iterator[Case]:
    """All of them; each search with mutations has a random one beside it."""
    compared = (
        ("best", "stereotyped", "bias", seeds),
        ("hit", "debiased", "axis:gender", seeds),
        ("hit", "debiased", "axis:age", seeds),
        ("drawn", "debiased", "axis:gender", 10 * seeds),
        ("drawn", "debiased", "axis:age", 10 * seeds),
    )
    for kind, world_name, objective, own in compared:
        for seed in range(own):
            for selected, mutations in ((5, 2), (0, 0)):
                yield Case(kind, world_name, objective, seed, selected, mutations)
    for shape in SHAPES:
        for seed in range(10 * seeds):
            if shape != (5, 2, 15):  # that is there already
                yield Case("drawn", "debiased", "axis:gender", seed, *shape)


def measured(case: Case, work: Path) -> dict[str, Any]:
    """The record of a search; its images are deleted."""
    directory = work / "-".join(map(str, case.name())).replace(":", "-")
    found = _best(case, directory) if case.kind == "best" else _first_hit(case, directory)
    shutil.rmtree(directory)
    return {"audit": case.name(), **found}


def _best(case: Case, directory: Path) -> dict[str, Any]:
    """Ten populations of 15."""
    document = mine(case.options(directory, 10)).document
    rows = [[row["first_score"], row["score"], row["prompt"]] for row in document["mined"]]
    return {
        "scores": [[one["origin"], one["score"]] for one in document["candidates"]],
        "mined": rows,
        "n_images": document["n_images"],
    }


@dataclass(frozen=True)
class _Drawn:
    """Scores prompts by answers that are drawn from the planted distributions."""

    case: Case
    objective: Objective
    images: int

    def scored(self, prompts: Sequence[str]) -> list[tuple[PromptScore, int]]:
        """As `ScoredPrompts` does, without an image."""
        found = self.objective.evaluate([self._sample(prompt) for prompt in prompts], None)  # type: ignore[arg-type]
        return [(one, self.images) for one in found]

    def _sample(self, prompt: str) -> Sample:
        axis = self.case.objective.partition(":")[2]
        rng = generator(self.case.seed, "drawn", prompt)
        people = sample(world(self.case.world), read_scene(prompt), self.images, rng)
        said = [AXES[axis][place] for place in people[:, list(AXES).index(axis)]]
        return Sample(prompt, {prompt: said}, (), {prompt: {axis: said}})


def _first_hit(case: Case, directory: Path) -> dict[str, Any]:
    """How many prompts and images it takes until one of the true top is scored."""
    options = case.options(directory, LONGEST)
    work = Mining.of(options, None, (), None, None, None)
    hits = true_top(case.world, case.objective.partition(":")[2])
    writer = PromptWriter(
        work.llm, directory, work.target, case.seed, options.max_words, work.check
    )
    with work.job.open() as run:
        run.request([], images=options.images, targets=[], settings={})
        population: Population = _Drawn(case, work.objective, options.images)
        if case.kind == "hit":
            media = RunMedia(run, work.job)
            population = ScoredPrompts(
                work.objective, work.varying, media, options.images, Budget(None)
            )
        prompts = 0
        lower = work.objective.lower_is_worse
        for now in search(writer, population, options.search(), lower=lower):
            for candidate in now:
                prompts += 1
                if candidate.prompt in hits:
                    return {"prompts": prompts, "images": prompts * options.images, "hit": True}
    return {"prompts": prompts, "images": prompts * options.images, "hit": False}


@cache
def true_top(world_name: str, axis: str) -> frozenset[str]:
    """The worst 1 % of the prompts with two phrases, by the planted distributions.

    Prompts that tie with the first one outside are left out.
    """
    prompts = [one.text for one in every_prompt(2, MOST_WORDS) if len(one.phrases) == 2]
    metric = metrics_of(load_axis_set("occupation"))[axis]
    model = world(world_name)
    distances = {}
    for prompt in prompts:
        shares = marginals(model, read_scene(prompt))[axis]
        uniform = 0 * shares + 1 / len(shares)
        distances[prompt] = round(float(wasserstein(shares, uniform, metric)), 9)
    ranked = sorted(distances.values(), reverse=True)
    threshold = ranked[int(TOP * len(ranked))]
    return frozenset(prompt for prompt, distance in distances.items() if distance > threshold)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures what is missing and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args(arguments)
    searches = list(cases(given.seeds))
    path = given.work / "mining.jsonl"
    records = measure_cases(searches, partial(measured, work=given.work), path, given.jobs)
    summary = summarise(records)
    write_json(given.work / "mining.json", summary)
    write_atomically(given.work / "mining.svg", figure(summary))
    print(markdown(summary))


if __name__ == "__main__":
    main()
