"""How often does a sum of |IS| exceed its noise floor?  On answers drawn from known worlds.

    python -m benchmarks.floors --work DIR [--audits 1000] [--jobs 2]

The worlds are some of `validity_design`'s; nothing but the sum and its floor is computed.  Records
go to ``DIR/floors.jsonl`` in parts of 50 (rerun the same command to resume), the table to the
terminal; docs/statistics.md has it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.resuming import measure_cases
from benchmarks.shares import number, shown, table, wilson
from benchmarks.validity import Part, World
from benchmarks.validity_design import ROWS
from biasgraph.causal.aggregate import amplification
from biasgraph.causal.sensitivity import distances_to_ideal
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Pool
from biasgraph.causal.transport import Ideal, resolve_ideals

DRAWS = 100
PART = 50
NULL = ("2.0% rare", "10.0% rare", "30.0% rare", "50.0% rare", "30% rare, unequal arms",
        "30% rare, correlated axes")  # fmt: skip
EFFECTS = (".8 to .65", ".97 to .85", "off by .1, moved to the ideal")
CHOSEN = [
    place
    for place, row in enumerate(ROWS)
    if row.name.removeprefix("no effect, ") in NULL or (row.name in EFFECTS and row.images == 48)
]


def measure(part: Part) -> dict[str, Any]:
    """Draw a part's audits: their sum of |IS|, and its floor's mean and 95 % quantile."""
    rng = np.random.default_rng([1, part.row, part.number])
    found = []
    for audit in range(part.number * PART, (part.number + 1) * PART):
        images = World(ROWS[part.row], audit).draw(rng)
        pool = Pool.of(images.prompt, [images])
        ideals = resolve_ideals(images.variables, None, None, None)
        settings = AnalysisSettings(noise_draws=DRAWS, seed=audit)
        total = amplification(pool, ideals, sensitivities(pool, ideals), settings)
        found.append([total["value"], *total["noise_floor"].values()])
    return {"audit": part.name(), "sums": found}


def sensitivities(pool: Pool, ideals: Sequence[Ideal]) -> dict[tuple[int, int], float | None]:
    """IS of every pair of different axes."""
    values: dict[tuple[int, int], float | None] = {}
    for x in range(len(ideals)):
        for y, ideal in enumerate(ideals):
            if x != y:
                sets = pool.initial(y), pool.strata(x, y)
                before, after = distances_to_ideal(*sets, ideal, "equal")
                values[x, y] = before - after
    return values


def markdown(records: Sequence[dict[str, Any]]) -> str:
    """One line for each row that was measured."""
    lines = []
    for row in ROWS:
        own = [r["sums"] for r in records if r["audit"][:2] == [row.name, row.images]]
        if own:
            value, floor, q95 = np.concatenate(own).T
            exceeded = wilson(int((value > q95).sum()), len(value))
            means = [number(float(each.mean())) for each in (value, floor)]
            lines.append([row.name, str(row.images), f"{len(value):,}", shown(exceeded), *means])
    return table(["world", "n", "audits", "exceeded", "sum", "floor (mean)"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--audits", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    numbers = range(-(-given.audits // PART))
    parts = [Part(row, number) for row in CHOSEN for number in numbers]
    print(markdown(measure_cases(parts, measure, given.work / "floors.jsonl", given.jobs)))


if __name__ == "__main__":
    main()
