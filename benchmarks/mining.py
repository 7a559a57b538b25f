"""Does the genetic search of `biasgraph mine` find worse prompts than as many random ones?

    python -m benchmarks.mining --work outputs/mining

On the sandbox, whose grammar writes the prompts (an occupation with up to two of 16 phrases).

- best: `sandbox:stereotyped`, the bias score, 10 iterations of 15 prompts; the 10 best are
  scored again.
- hit: `sandbox:debiased`, `axis:gender` and `axis:age`: images until the first prompt of the true
  top 1 % of those with two phrases is scored, by the planted distributions.
- population: how many are selected, mutated and random, as in app. A.1, and how many there are.

Random means the same command without mutations. Each search is written to ``DIR/mining.jsonl``
as soon as it is done; rerun the same command to resume. The summary goes to ``DIR/mining.json``
and, as Markdown, to the terminal; docs/mining.md has it. About 28 ms of one core an image.
"""

from __future__ import annotations

import argparse
import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.mining_summary import markdown, summarise
from benchmarks.resuming import measure_cases
from benchmarks.shares import write_json
from biasgraph.audits.mining.genetic_search import search
from biasgraph.audits.mining.mining import Mining, mine
from biasgraph.audits.mining.mining_options import MineOptions
from biasgraph.audits.mining.population import Budget, ScoredPrompts
from biasgraph.audits.mining.prompt_writer import PromptWriter
from biasgraph.causal.transport import wasserstein
from biasgraph.data.axes import load_axis_set
from biasgraph.runs.media import RunMedia
from biasgraph.sandbox.planted_truth import metrics_of
from biasgraph.sandbox.prompt_grammar import every_prompt
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.world import marginals, world

TOP = 0.01
MOST_WORDS = 16
"""Enough for every prompt with two phrases."""
LONGEST = 40
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
            max_words=MOST_WORDS if self.kind == "hit" else 8,
            output=directory,
        )


def cases(seeds: int) -> Iterator[Case]:
    """All of them; each search with mutations has a random one beside it."""
    for seed in range(seeds):
        for selected, mutations in ((5, 2), (0, 0)):
            yield Case("best", "stereotyped", "bias", seed, selected, mutations)
            for axis in ("gender", "age"):
                yield Case("hit", "debiased", f"axis:{axis}", seed, selected, mutations)
    for seed in range(seeds):
        for shape in SHAPES:
            if shape != (5, 2, 15):  # that is the first kind
                yield Case("best", "stereotyped", "bias", seed, *shape)


def measured(case: Case, work: Path) -> dict[str, Any]:
    """The record of a search; its images are deleted."""
    directory = work / "-".join(map(str, case.name())).replace(":", "-")
    found = _first_hit(case, directory) if case.kind == "hit" else _best(case, directory)
    shutil.rmtree(directory)
    return {"audit": case.name(), **found}


def _best(case: Case, directory: Path) -> dict[str, Any]:
    """Ten populations of 15, or as many prompts in populations of another size."""
    iterations = math.ceil(150 / case.population)
    document = mine(case.options(directory, iterations)).document
    rows = [[row["first_score"], row["score"], row["prompt"]] for row in document["mined"]]
    return {
        "scores": [[one["origin"], one["score"]] for one in document["candidates"]],
        "mined": rows,
        "n_images": document["n_images"],
    }


def _first_hit(case: Case, directory: Path) -> dict[str, Any]:
    """How many prompts and images it takes; None where no hit comes in 40 iterations."""
    options = case.options(directory, LONGEST)
    work = Mining.of(options, None, (), None, None, None)
    hits = true_top(case.world, case.objective.partition(":")[2])
    with work.job.opened() as run:
        run.request([], images=options.images, targets=[], settings={})
        media = RunMedia(run, work.job)
        scoring = ScoredPrompts(
            work.objective, work.varying, media, options.images, Budget(None, 0)
        )
        writer = PromptWriter(
            work.llm, directory, work.target, case.seed, options.max_words, work.check
        )
        prompts = 0
        populations = search(writer, scoring, options.search(), lower=work.objective.lower_is_worse)
        for now in populations:
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
    print(markdown(summary))


if __name__ == "__main__":
    main()
