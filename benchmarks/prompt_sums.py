"""Do the numbers about many prompts keep what they promise?

    python -m benchmarks.prompt_sums --tables 2000 --audits 1000 --out FILE

Every row draws tables of initial images from stated shares, no model needed, and tells how often
the test of prompts against one another rejects at .05 and, of the audits among them, which go
through ``biasgraph.causal.prompt_differences.compare_prompts``, how often the 95 % interval of the
mean distance covers the true mean, and how often `prompts_cancel` is flagged. Rates come with their
95 % interval (Wilson). The Markdown goes to the terminal; docs/statistics.md sums it up.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.shares import wilson, write_json
from biasgraph.causal import prompt_differences
from biasgraph.causal.independence import independence
from biasgraph.causal.rows import InitialAnswers, NodeRow
from biasgraph.causal.settings import AnalysisSettings, MetricName, generator
from biasgraph.causal.tables import Counts, Floats
from biasgraph.causal.transport import wasserstein

SETTINGS = AnalysisSettings(bootstrap=300, noise_draws=0)
LEVEL = 0.05


@dataclass(frozen=True)
class World:
    """The shares of each prompt.

    Attributes:
        name: What the table calls it.
        shares: (P, k).
        images: Of each prompt.
        ideal: (k,) shares.
        metric: nominal or ordinal.
    """

    name: str
    shares: Floats
    images: int
    ideal: Floats
    metric: MetricName = "nominal"

    @property
    def mean(self) -> float:
        """The true mean of the prompts' distances."""
        return float(wasserstein(self.shares, self.ideal, self.metric).mean())

    @property
    def cancels(self) -> float:
        """How much nearer to the ideal the sum is."""
        total = wasserstein(self.shares.mean(axis=0), self.ideal, self.metric)
        return self.mean - float(total)


def worlds() -> Iterator[World]:
    """What is tried."""
    for prompts, k, images in ((2, 2, 16), (12, 2, 48), (12, 6, 16), (26, 2, 48)):
        for share in (1 / k, 0.7, 0.97):
            shares = _leaning(share, k)
            size = f"{prompts} x {images}, k = {k}"
            yield World(
                f"equal, {share:.3g}; {size}", _all(shares, prompts), images, _leaning(1 / k, k)
            )
    for prompts, k, images in ((2, 6, 16), (12, 2, 48), (12, 6, 48)):
        size = f"{prompts} x {images}, k = {k}"
        even, far = _leaning(1 / k, k), _leaning(0.97, k)
        half = _all(even, prompts)
        half[::2] = far
        yield World(f"half at the ideal, half at .97; {size}", half, images, even)
        mild = even.copy()
        mild[:2] += [0.08, -0.08]
        yield World(f"all .08 away; {size}", _all(mild, prompts), images, even)
        opposite = _all(far, prompts)
        opposite[::2] = far[::-1]
        yield World(f"half at .97, half against; {size}", opposite, images, even)
        weak = _all(mild, prompts)
        weak[::2, :2] = mild[1::-1]
        yield World(f"half .08 away, half against; {size}", weak, images, even)
        skewed = _leaning(0.98, k)
        yield World(f"at an ideal of .98; {size}", _all(skewed, prompts), images, skewed)
        yield World(
            f".9 with an ideal of .98; {size}", _all(_leaning(0.9, k), prompts), images, skewed
        )
    rng = np.random.default_rng(7)
    for concentration in (0.3, 1.0):
        name = f"Dirichlet({concentration:g}); 12 x 48, k = 3, ordinal"
        drawn = rng.dirichlet([concentration] * 3, size=12)
        yield World(name, drawn, 48, np.full(3, 1 / 3), "ordinal")


def _leaning(first: float, k: int) -> Floats:
    return np.array([first, *[(1 - first) / (k - 1)] * (k - 1)])


def _all(shares: Floats, prompts: int) -> Floats:
    return np.tile(shares, (prompts, 1))


def draw(world: World, table: int) -> Counts:
    """(P, k) answers of one table of a world."""
    rng = np.random.default_rng([table, *world.name.encode()])
    return np.stack([rng.multinomial(world.images, shares) for shares in world.shares])


def rejects(world: World, table: int) -> bool:
    """Whether the prompts of a table are found to differ."""
    test = independence(
        draw(world, table), SETTINGS, generator(table, world.name, "prompts"), LEVEL
    )
    return test.p <= LEVEL


def audit(world: World, table: int) -> tuple[bool, bool]:
    """Whether the interval of a table's mean distance covers it, and whether something cancels."""
    drawn = draw(world, table)
    prompts = {f"prompt {i}": [_node(world, counts)] for i, counts in enumerate(drawn)}
    total = _node(world, drawn.sum(axis=0))
    name = f"{world.name} {table}"
    [node] = prompt_differences.compare_prompts(name, [total], prompts, SETTINGS)
    low, high = cast(tuple[float, float], node.w1_mean_prompt_ci)
    return low - 1e-9 <= world.mean <= high + 1e-9, "prompts_cancel" in node.flags


def _node(world: World, counts: Counts) -> NodeRow:
    n, k = int(counts.sum()), len(counts)
    shares = tuple((counts / n).tolist())
    return NodeRow(
        id="axis",
        metric=world.metric,
        attributes=tuple(f"a{i}" for i in range(k)),
        initial=InitialAnswers(
            counts=tuple(counts.tolist()),
            distribution=shares,
            n_total=n,
            n_gated=0,
            n_unknown=0,
            n_valid=n,
        ),
        distribution_ci=None,
        distribution_bounds=None,
        ideal=tuple(world.ideal.tolist()),
        status="ok",
        w1=float(wasserstein(np.array(shares), world.ideal, world.metric)),
    )


def measure(task: tuple[World, int, int]) -> dict[str, Any]:
    """The row of one world, over so many tables and so many audits among them."""
    world, tables, audits = task
    rejected = sum(rejects(world, table) for table in range(tables))
    covered, flagged = zip(*(audit(world, table) for table in range(audits)), strict=True)
    return {
        "world": world.name,
        "cancels": max(world.cancels, 0.0),
        "rejected": wilson(rejected, tables),
        "covered": wilson(sum(covered), audits),
        "flagged": wilson(sum(flagged), audits),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--audits", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="a regular expression of worlds' names")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    prompt_differences.NULL_DRAWS = 100  # nothing here looks at the null
    chosen = [world for world in worlds() if re.search(options.only, world.name)]
    rows = []
    with Pool(options.jobs) as pool:
        for row in pool.imap(
            measure, [(world, options.tables, options.audits) for world in chosen]
        ):
            rows.append(row)
            write_json(options.out, rows)
            print(line(row), flush=True)


def line(row: dict[str, Any]) -> str:
    """A row of the table in docs/statistics.md."""

    def rate(what: str) -> str:
        own = row[what]
        return f"{own['value']:.3f} [{own['low']:.3f}, {own['high']:.3f}]"

    return (
        f"| {row['world']} | {row['cancels']:.3f} | {rate('rejected')} | {rate('covered')} "
        f"| {rate('flagged')} |"
    )


if __name__ == "__main__":
    main()
