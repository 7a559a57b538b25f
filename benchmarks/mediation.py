"""When is an effect laid to a mediator?  Worlds in which the share that goes through it is known.

    python -m benchmarks.mediation --work DIR --jobs 2

No image is made.  Each batch draws triples x -> z -> y from made-up worlds of one kind until 100
of them have the three edges that make z a candidate, and audits of the sandbox's worlds add theirs;
all go through ``biasgraph.causal.mediation``.  Batches are written to ``DIR/mediation.jsonl``;
rerun the same command to resume.  The table goes to the terminal as Markdown; docs/statistics.md
has it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exact import VARIABLES, WORLDS, draw_audit, mediation_kind, planted_truth
from benchmarks.resuming import measure_cases
from benchmarks.shares import shown, table, wilson
from biasgraph.causal.independence import independence
from biasgraph.causal.mediation import CONSISTENT, Mediation, verdict
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import CodedImages, Codes, Floats, Tallies, Variable
from biasgraph.sandbox.world import AXES, OCCUPATIONS

SIZES = (48, 200)
BATCH = 100
KINDS = {
    "mediated": "all through z",
    "latent": "all through z, a common cause acts on z and y",
    "partial": "half or more through z, .5 to .9",
    "direct": "less than half through z",
    "named": "nothing: z is a sibling whose name also changes x",
    "sandbox clean": "sandbox: every path passes z, nothing else joins z and y",
    "sandbox confounded": "sandbox: every path passes z, z and y have a common cause",
    "sandbox around, most through z": "sandbox: a path around z, half or more through z",
    "sandbox around, less through z": "sandbox: a path around z, less than half through z",
    "sandbox direct": "sandbox: x also acts on y directly",
}
NAMES = [variable.name for variable in VARIABLES]
UNASKED = {"share": 1.0, "low": 1.0}
"""A share explained that no verdict asks for: what it would be without that demand."""


@dataclass(frozen=True)
class Batch:
    """A batch of triples of one kind of world, or one audit of a sandbox's world."""

    kind: str
    images: int
    number: int
    occupation: str = ""

    def name(self) -> list[Any]:
        """What tells this batch from all others."""
        return [self.kind, self.occupation, self.images, self.number]

    def rng(self) -> np.random.Generator:
        return generator(20_26, *map(str, self.name()))


class World:
    """Conditional tables of x, z and y, 2 or 3 attributes each, drawn at random.

    y comes from x itself with probability `direct`, and from z otherwise. A latent coin decides z
    and y at once with probability `latent`. Naming z redraws x from what goes with z with
    probability `renamed`; it changes nothing else.
    """

    def __init__(self, kind: str, rng: np.random.Generator) -> None:
        self.k = rng.integers(2, 4, 3)  # of x, z, y
        k_x, k_z, k_y = self.k
        self.x = rng.dirichlet(np.full(k_x, 4.0))
        self.z_x, self.y_z, self.y_x = (
            _link(k, m, rng.uniform(low, 0.95), rng)
            for k, m, low in ((k_x, k_z, 0.3), (k_z, k_y, 0.3), (k_x, k_y, 0.5))
        )
        self.direct = {"partial": rng.uniform(), "direct": rng.uniform(), "named": 1.0}.get(kind, 0)
        self.latent = rng.uniform(0.2, 0.6) if kind == "latent" else 0.0
        self.renamed = rng.uniform(0.4, 1) if kind == "named" else 0.0

    def draw(
        self, n: int, rng: np.random.Generator, x: int | None = None, z: int | None = None
    ) -> Codes:
        """(n, 3) images of the plain prompt, or with x or z named."""
        k_x, k_z, k_y = self.k
        xs = np.full(n, x) if x is not None else rng.choice(k_x, n, p=self.x)
        if z is not None and self.renamed:
            given = self.x * self.z_x[:, z]
            again = rng.choice(k_x, n, p=given / given.sum())
            xs = np.where(rng.random(n) < self.renamed, again, xs)
        coin = rng.random(n) < 0.5
        of_z = (1 - self.latent) * self.z_x[xs] + self.latent * np.eye(k_z)[(k_z - 1) * coin]
        zs = np.full(n, z) if z is not None else _choose(of_z, rng)
        of_y = (1 - self.direct) * self.y_z[zs] + self.direct * self.y_x[xs]
        of_y = (1 - self.latent) * of_y + self.latent * np.eye(k_y)[(k_y - 1) * coin]
        return np.stack([xs, zs, _choose(of_y, rng)], axis=1).astype(np.int16)

    def share(self) -> float:
        """How much of the differences between x's arms goes through z."""
        if self.renamed:
            return 0.0
        through = self.z_x @ ((1 - self.direct) * self.y_z)
        return share_through(through + self.direct * self.y_x, through)


def _link(k: int, m: int, strength: float, rng: np.random.Generator) -> Floats:
    """(k, m) shares: each row leans towards an attribute of its own."""
    own = np.eye(m)[np.resize(rng.permutation(m), k)]
    return np.asarray((1 - strength) * rng.dirichlet(np.full(m, 4.0)) + strength * own)


def _choose(shares: Floats, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(len(shares))[:, None] > shares.cumsum(axis=1)[:, :-1]).sum(axis=1)


def share_through(seen: Floats, through: Floats) -> float:
    """The slope of the differences between arms (J, k) of the chain on those that are there."""
    apart, chained = (one - one.mean(axis=0) for one in (seen, through))
    squares = float((apart**2).sum())
    return float((apart * chained).sum()) / squares if squares > 1e-12 else float("nan")


def measured(batch: Batch) -> dict[str, Any]:
    """Checks of a batch: the row that each belongs to, with the verdict and what it would be."""
    checks = _sandbox(batch) if batch.occupation else _made_up(batch)
    return {"audit": batch.name(), "checks": list(checks)}


def _made_up(batch: Batch) -> Iterator[list[Any]]:
    rng, done = batch.rng(), 0
    low, high = {"partial": (0.5, 0.9), "direct": (-9, 0.5)}.get(batch.kind, (-9, 9))
    while done < BATCH:
        world = World(batch.kind, rng)
        if not low <= world.share() < high:
            continue
        variables = tuple(
            Variable(name, tuple(f"{name}{i}" for i in range(k)))
            for name, k in zip("xzy", world.k, strict=True)
        )
        arms = {
            (place, value): world.draw(batch.images, rng, **{name: value})
            for place, name in enumerate("xz")
            for value in range(world.k[place])
        }
        images = CodedImages("triple", variables, world.draw(batch.images, rng), arms)
        tallies, settings = Tallies.of(images), AnalysisSettings(seed=batch.number)
        if all(_edge(tallies, *pair, settings) for pair in ((0, 1), (1, 2), (0, 2))):
            done += 1
            yield [batch.kind, *_checked(Mediation(images, tallies, settings), 0, 1, 2)]


def _sandbox(batch: Batch) -> Iterator[list[Any]]:
    images = draw_audit(batch.kind, batch.occupation, batch.images, batch.rng())
    tallies, settings = Tallies.of(images), AnalysisSettings(seed=batch.number)
    mediation = Mediation(images, tallies, settings)
    every = permutations(range(len(NAMES)), 2)
    edges = [pair for pair in every if _edge(tallies, *pair, settings)]
    for x, y in edges:
        for z in mediation.candidates(edges, x, y):
            kind = _sandbox_kind(batch, NAMES[x], NAMES[z], NAMES[y])
            if kind in KINDS:
                yield [kind, *_checked(mediation, x, z, y)]


def _sandbox_kind(batch: Batch, x: str, z: str, y: str) -> str:
    kind = mediation_kind(batch.kind, x, z, y)
    if kind != "other":
        return f"sandbox {kind}"
    arms = planted_truth(batch.kind, batch.occupation).arms
    done = np.stack([arms[z, value][y] for value in AXES[z]])
    through = np.stack([arms[x, value][z] for value in AXES[x]]) @ done
    seen = np.stack([arms[x, value][y] for value in AXES[x]])
    return f"sandbox around, {'most' if share_through(seen, through) >= 0.5 else 'less'} through z"


def _edge(tallies: Tallies, x: int, y: int, settings: AnalysisSettings) -> bool:
    """Pearson's chi-square without null tables, to be quick."""
    rng = np.random.default_rng(0)
    fast = AnalysisSettings(fallback="off", seed=settings.seed)
    return independence(tallies.contingency(x, y), fast, rng, settings.alpha).p <= settings.alpha


def _checked(mediation: Mediation, x: int, z: int, y: int) -> list[bool]:
    """Whether z is named, and whether it would be without the demand on the share explained."""
    found = mediation.check(x, z, y)
    name = CONSISTENT.format(z=found["through"])
    p, checks = found["stratified"]["p"], [found[one] for one in ("chain", "falsifier")]
    return [found["verdict"] == name, verdict(p, *checks, UNASKED) == CONSISTENT]


def planned(triples: int, replicates: int) -> list[Batch]:
    """Batches of every kind of made-up world, and audits of every occupation of the sandbox."""
    kinds = [kind for kind in KINDS if not kind.startswith("sandbox")]
    audits = [
        Batch(world, images, number, occupation)
        for number in range(replicates)
        for images in SIZES
        for world in WORLDS
        for occupation in OCCUPATIONS
    ]
    return audits + [
        Batch(kind, images, number)
        for number in range(triples // BATCH)
        for images in SIZES
        for kind in kinds
    ]


def markdown(records: Sequence[dict[str, Any]]) -> str:
    """The rates as a table."""
    rows = []
    for kind, words in KINDS.items():
        for images in SIZES:
            here = [record for record in records if record["audit"][2] == images]
            checks = [check for one in here for check in one["checks"] if check[0] == kind]
            rates = [wilson(sum(check[place] for check in checks), len(checks)) for place in (2, 1)]
            cells = [shown(rate, 3) if checks else "-" for rate in rates]
            rows.append((words, str(images), f"{len(checks):,}", *cells))
    heading = ("what x does to y", "images", "checks", "named by the tests alone", "named")
    return table(heading, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("outputs/mediation"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--triples", type=int, default=2000, help="of each kind and size")
    parser.add_argument("--replicates", type=int, default=10, help="audits of an occupation")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # the processes share the cores
    batches = planned(options.triples, options.replicates)
    print(
        markdown(measure_cases(batches, measured, options.work / "mediation.jsonl", options.jobs))
    )


if __name__ == "__main__":
    main()
