"""Does ``--correct`` undo a judge's errors?  Audits with planted flips, and the true IS.

    python -m benchmarks.correction --runs 200 --error 0.1 --labels 108 --jobs 2

No image is made.  Answers are drawn from the sandbox's worlds, flipped evenly with a probability,
and analysed with the confusion matrix of a sample that people labelled without error, drawn
evenly from the initial images and every intervention.  It prints, for the corrected intervals and
for the plain ones, the share of pairs whose true IS they cover.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from benchmarks.exact import WORLDS, draw_audit, planted_truth
from benchmarks.shares import clustered
from biasgraph.causal.agreement import cross_table
from biasgraph.causal.correction import confusion
from biasgraph.causal.graph import measure_axes
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Codes, Counts, Pool
from biasgraph.causal.transport import resolve_ideals
from biasgraph.errors import InputError
from biasgraph.sandbox.world import OCCUPATIONS

KINDS = ("corrected", "plain")
STRONG = 0.1  # |true IS| from which a pair counts as strong: there attenuation shows


@dataclass(frozen=True)
class Audit:
    """Which draw it is, how often its judge errs, and how many images people labelled."""

    replicate: int
    images: int
    error: float
    labels: int

    @property
    def world(self) -> str:
        return WORLDS[self.replicate % len(WORLDS)]

    @property
    def occupation(self) -> str:
        return OCCUPATIONS[self.replicate // len(WORLDS) % len(OCCUPATIONS)]


def flipped(codes: Codes, sizes: list[int], error: float, rng: np.random.Generator) -> Codes:
    """The answers of a judge that errs with a probability, evenly over the other answers."""
    shift = np.stack([rng.integers(1, size, len(codes)) for size in sizes], axis=1)
    wrong = rng.random(codes.shape) < error
    return np.where(wrong, (codes + shift) % np.array(sizes), codes).astype(np.int16)


def audit(one: Audit) -> dict[str, Any]:
    """How many pairs' true IS the intervals of one audit cover, corrected and plain."""
    rng = np.random.default_rng([20_26, one.replicate, one.images, one.labels])
    truth = draw_audit(one.world, one.occupation, one.images, rng)
    sizes = [variable.size for variable in truth.variables]
    sets = {None: truth.initial, **truth.arms}
    seen = {arm: flipped(codes, sizes, one.error, rng) for arm, codes in sets.items()}
    initial = seen.pop(None)
    judged = replace(truth, initial=initial, arms=seen)
    labelled = _labelled(truth, judged, one.labels, rng)
    settings = AnalysisSettings.resolve(seed=one.replicate)
    ideals = resolve_ideals(truth.variables, None, None, None)
    pool = Pool.of("audit", [judged])
    _, pairs = measure_axes(pool, ideals, settings, settings.prompt_rule, labelled)
    exact = {
        (pair.source, pair.target): pair.sensitivity
        for pair in planted_truth(one.world, one.occupation).pairs
    }
    found = {kind: _Tally() for kind in KINDS}
    for pair in (pair.record() for pair in pairs):
        if pair["source"] == pair["target"] or pair["is_corrected"] is None:
            continue
        value = exact[pair["source"], pair["target"]]
        for kind, end in zip(KINDS, ("_corrected", ""), strict=True):
            ends = (pair[f"is{end}_ci_low"], pair[f"is{end}_ci_high"])
            found[kind].add(value, pair[f"is{end}"], *ends)
    return {
        "left_out": len(sizes) - len(labelled),
        **{kind: asdict(tally) for kind, tally in found.items()},
    }


@dataclass
class _Tally:
    """Of pairs, and of those that are strong: how many intervals cover; sums for the slope."""

    pairs: int = 0
    hits: int = 0
    strong: int = 0
    strong_hits: int = 0
    products: float = 0.0
    squares: float = 0.0

    def add(self, true: float, found: float, low: float, high: float) -> None:
        covered, strong = int(low <= true <= high), int(abs(true) >= STRONG)
        self.pairs += 1
        self.hits += covered
        self.strong += strong
        self.strong_hits += covered * strong
        self.products += found * true * strong
        self.squares += true**2 * strong


def _labelled(
    truth: CodedImages, judged: CodedImages, number: int, rng: np.random.Generator
) -> dict[str, Counts]:
    """counts[truth, answer] of a sample drawn evenly from all sets, of axes it can correct."""
    arms = [None, *truth.arms]
    each = [number // len(arms) + (i < number % len(arms)) for i in range(len(arms))]
    both: list[list[Codes]] = [[], []]
    for arm, take in zip(arms, each, strict=True):
        codes = [one.initial if arm is None else one.arms[arm] for one in (truth, judged)]
        rows = rng.permutation(len(codes[0]))[:take]
        for part, one in zip(both, codes, strict=True):
            part.append(one[rows])
    right, seen = (np.concatenate(part) for part in both)
    found = {}
    for y, variable in enumerate(truth.variables):
        counts = cross_table(right[:, y], seen[:, y], variable.size)[:-2, :-2]
        try:
            confusion(counts)
        except InputError:
            continue
        found[variable.name] = counts
    return found


def summary(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Coverage with its interval (whole audits resampled), and how far strong IS shrink.

    slope: of the IS found on the true ones, through 0, over the strong pairs; 1 is right.
    """
    about: dict[str, Any] = {
        "audits": len(found),
        "axes_left_out": sum(one["left_out"] for one in found),
    }
    for kind in KINDS:
        each = {name: [one[kind][name] for one in found] for name in found[0][kind]}
        about[kind] = {
            "coverage": clustered(each["hits"], each["pairs"]),
            "coverage_of_strong": clustered(each["strong_hits"], each["strong"]),
            "slope_of_strong": sum(each["products"]) / sum(each["squares"]),
        }
    return about


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--images", type=int, default=48)
    parser.add_argument("--error", type=float, default=0.1)
    parser.add_argument("--labels", type=int, default=108)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    audits = [Audit(i, given.images, given.error, given.labels) for i in range(given.runs)]
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with multiprocessing.Pool(given.jobs) as pool:
        found = pool.map(audit, audits, chunksize=1)
    print(json.dumps({**vars(given), **summary(found)}, indent=1))


if __name__ == "__main__":
    main()
