"""Stopping when a pair is decided: what is claimed wrongly, and how many images it spends.

    python -m benchmarks.adaptive --work DIR [--parts 25] [--jobs 1]

No image is made.  Answers are drawn from the worlds of `adaptive_worlds` (at alpha .01, so that
errors can be counted), of one 2 x 2 pair by its strength, and of the sandbox's 26 occupations in
both worlds (at the usual alpha).  Every audit goes through ``causal.sequential.until_decided``;
parts of 10 are written to ``DIR/adaptive.jsonl``; rerun the same command to resume.  The tables go
to ``DIR/adaptive.md`` and the terminal; docs/adaptive.md has them.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import exact
from benchmarks.adaptive_summary import markdown
from benchmarks.adaptive_worlds import WORLDS
from benchmarks.resuming import measure_cases
from biasgraph.causal.baseline import UNIFORM
from biasgraph.causal.e_process import e_bh, log_e_values
from biasgraph.causal.looks import LOOKS
from biasgraph.causal.pairs import Pairs
from biasgraph.causal.rows import PairRow
from biasgraph.causal.sequential import until_decided
from biasgraph.causal.settings import FDR_LEVEL, AnalysisSettings, Decide
from biasgraph.causal.tables import CodedImages, Pool, Variable
from biasgraph.sandbox.world import OCCUPATIONS

PART = 10
ALPHA = 0.01
MOST = LOOKS[-1]
STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
TWO = tuple(Variable(name, ("no", "yes")) for name in ("asked", "seen"))


@dataclass(frozen=True)
class Claims:
    """Some audits of a world: what is claimed, beside what is true."""

    world: int
    number: int

    def name(self) -> list[Any]:
        """What tells these audits from others."""
        return ["claims", WORLDS[self.world].name, self.number]

    def measure(self) -> dict[str, Any]:
        """What became of every pair of every audit."""
        world = WORLDS[self.world]
        rng = np.random.default_rng([17, self.world, self.number])
        audits = []
        for _ in range(PART):
            images = world.draw(MOST, rng)
            rows = looked_at(images, settings(alpha=ALPHA, seed=self.number))
            audits.append({"pairs": [told(row) for row in rows], **cheated(images)})
        return {"audit": self.name(), "v": world.v, "is": world.is_, "audits": audits}


@dataclass(frozen=True)
class Strength:
    """Many audits of one 2 x 2 pair of some V, decided as an edge or as none above .2."""

    place: int
    number: int

    def name(self) -> list[Any]:
        """What tells these audits from others."""
        return ["strength", STRENGTHS[self.place], self.number]

    def measure(self) -> dict[str, Any]:
        """Of every audit: the pair, and after how many images E reaches 1 / alpha."""
        rng = np.random.default_rng([18, self.place, self.number])
        options = settings(bootstrap=100, decide="edges", min_v=0.2)
        pairs, stops = [], []
        for _ in range(10 * PART):
            half = STRENGTHS[self.place] / 2
            initial, *arms = (
                (rng.random((MOST, 2)) < [0.5, share]).astype(np.int16)
                for share in (0.5, 0.5 - half, 0.5 + half)
            )
            arms_of = {(0, a): codes for a, codes in enumerate(arms)}
            images = CodedImages("two by two", TWO, initial, arms_of)
            pairs.append(told(next(r for r in looked_at(images, options) if r.source == "asked")))
            reached = np.flatnonzero(log_e_values([images], 0, 1) >= -np.log(options.alpha))
            stops.append(int(reached[0]) + 1 if len(reached) else None)
        return {"audit": self.name(), "pairs": pairs, "e_stops": stops}


@dataclass(frozen=True)
class Occupation:
    """The audit of an occupation in one of the sandbox's worlds."""

    world: str
    occupation: str
    decide: Decide

    def name(self) -> list[Any]:
        """What tells this audit from others."""
        return ["occupation", self.world, self.occupation, self.decide]

    def measure(self) -> dict[str, Any]:
        """Every pair with its true V and IS, and the images that were needed."""
        place = OCCUPATIONS.index(self.occupation), exact.WORLDS.index(self.world)
        rng = np.random.default_rng([19, *place])
        images = exact.draw_audit(self.world, self.occupation, MOST, rng)
        rows = looked_at(images, settings(decide=self.decide))
        truth = exact.planted_truth(self.world, self.occupation).by_name
        true = [truth[row.source, row.target] for row in rows]
        sizes = {row.source: 0 for row in rows}
        for row in rows:
            sizes[row.source] = max(sizes[row.source], int(str(row.look_images)))
        arms = {variable.name: variable.size for variable in images.variables}
        return {
            "audit": self.name(),
            "pairs": [
                [*told(row), pair.cramers_v, pair.sensitivity]
                for row, pair in zip(rows, true, strict=True)
            ],
            "images": max(sizes.values()) + sum(arms[x] * n for x, n in sizes.items()),
            "fixed": MOST * (1 + sum(arms.values())),
        }


def settings(bootstrap: int = 1000, **given: Any) -> AnalysisSettings:
    """Those of every audit."""
    return AnalysisSettings(bootstrap=bootstrap, noise_draws=0, looks=LOOKS, **given)


def looked_at(images: CodedImages, options: AnalysisSettings) -> list[PairRow]:
    """The pairs of two axes, each as it stopped."""
    pool, ideals = Pool.of(images.prompt, [images]), UNIFORM.ideals(images.variables, None)
    _, pairs = Pairs.prepare(pool, ideals, options, options.prompt_rule)
    return until_decided(pairs).rows


def told(row: PairRow) -> list[Any]:
    """Of a pair: its verdict, whether it is an edge and is decided, and its images."""
    return [row.verdict, row.edge, row.decided, row.look_images]


def cheated(images: CodedImages) -> dict[str, Any]:
    """What somebody claims who watches E after every image and stops when it suits best."""
    places = list(permutations(range(len(images.variables)), 2))
    values = np.stack([log_e_values([images], x, y) for x, y in places])
    return {
        "e_reached": (values.max(axis=1) >= -np.log(ALPHA)).tolist(),
        "e_bh_most": _most_rejected(values),
    }


def _most_rejected(values: npt.NDArray[np.float64]) -> int:
    """The most pairs that e-BH ever rejects, of log E (pairs, blocks)."""
    return max(sum(e_bh(column, FDR_LEVEL)) for column in values.T[::4])


def cases(parts: int) -> Sequence[Claims | Strength | Occupation]:
    """All of them, those of the claims in turn."""
    claims = [Claims(world, part) for part in range(parts) for world in range(len(WORLDS))]
    strengths = [Strength(v, part) for part in range(PART) for v in range(len(STRENGTHS))]
    occupations = [
        Occupation(world, occupation, decide)
        for occupation in OCCUPATIONS
        for world in exact.WORLDS
        for decide in ("edges", "directions")
    ]
    return [*occupations, *strengths, *claims]


def measure(case: Claims | Strength | Occupation) -> dict[str, Any]:
    """Of any kind of case."""
    return case.measure()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--parts", type=int, default=25, help="of 10 audits in each world")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    path = given.work / "adaptive.jsonl"
    records = measure_cases(cases(given.parts), measure, path, given.jobs)
    text = markdown(records)
    (given.work / "adaptive.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
