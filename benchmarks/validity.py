"""Do the claims hold?  Directions, intervals and verdicts on answers drawn from known worlds.

    python -m benchmarks.validity --work DIR [--audits N] [--jobs 2]

No image is made.  Every audit of every row of `validity_design` goes through
``biasgraph.causal.pairs`` (30 pairs each, the sandbox's 56) and is written to
``DIR/validity.jsonl`` in parts of 10; rerun the same command to resume.  The table goes to
``DIR/validity.md`` and the terminal; docs/statistics.md has it.
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
from scipy.special import ndtr

from benchmarks import exact
from benchmarks.resuming import measure_cases
from benchmarks.validity_design import ROWS, SIZES, Row, Shares
from benchmarks.validity_summary import markdown
from biasgraph.causal.baseline import UNIFORM, Baseline
from biasgraph.causal.pairs import Pairs
from biasgraph.causal.rows import NodeRow, PairRow
from biasgraph.causal.sensitivity import claim_direction
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Codes, Pool, Variable
from biasgraph.causal.transport import wasserstein
from biasgraph.causal.verdicts import judge
from biasgraph.sandbox.world import AXES, OCCUPATIONS

BOOTSTRAP = 500
REWORDINGS = 2
PART = 10
VARIABLES = tuple(
    Variable(f"axis {i}", tuple(f"answer {j}" for j in range(size))) for i, size in enumerate(SIZES)
)


@dataclass(frozen=True)
class Part:
    """Some audits of one row."""

    row: int
    number: int

    def name(self) -> list[Any]:
        """What tells these audits from others."""
        return [ROWS[self.row].name, ROWS[self.row].images, self.number]


def measure(part: Part) -> dict[str, Any]:
    """Draw and analyse the audits of a part, and sum what the table needs."""
    row = ROWS[part.row]
    rng = np.random.default_rng([20_26, part.row, part.number])
    pairs, nodes = [], []
    for audit in range(PART):
        settings = AnalysisSettings(bootstrap=BOOTSTRAP, noise_draws=0, seed=part.number)
        world = World(row, part.number * PART + audit)
        axes, measured = _analyze(world.draw(rng), settings, world.baseline(rng))
        pairs += [_pair(world, pair) for pair in measured]
        nodes += [_node(world, node) for node in axes]
    return {"audit": part.name(), "pairs": pairs, "nodes": nodes}


def _analyze(
    images: CodedImages, settings: AnalysisSettings, baseline: Baseline
) -> tuple[list[NodeRow], list[PairRow]]:
    """What `analyze` says of axes and of pairs of two, p no finer than its decision."""
    pool, rule = Pool.of(images.prompt, [images]), settings.prompt_rule
    ideals = baseline.ideals(images.variables, settings.metric)
    nodes, pairs = Pairs.prepare(pool, ideals, settings, rule)
    places = permutations(range(len(ideals)), 2)
    rows = pairs.decide([pairs.row(x, y, hits=1) for x, y in places])
    return nodes, judge(rows, settings, rule)


@dataclass(frozen=True)
class World:
    """Where one audit of a row takes place.

    Attributes:
        row: The row.
        audit: Its number among the audits of the row.
    """

    row: Row
    audit: int

    @property
    def place(self) -> tuple[str, str]:
        """The sandbox's world and occupation."""
        turn, occupation = divmod(self.audit, len(OCCUPATIONS))
        return exact.WORLDS[turn % len(exact.WORLDS)], OCCUPATIONS[occupation]

    def draw(self, rng: np.random.Generator) -> CodedImages:
        """The answers of the audit."""
        if self.row.sandbox:
            return exact.draw_audit(*self.place, self.row.images, rng)
        return _draw(self.row, rng)

    def baseline(self, rng: np.random.Generator) -> Baseline:
        """The row's ideal, or counts of a reference drawn from it."""
        if self.row.sandbox:
            return UNIFORM
        ideals = [self.row.ideal(v.size) for v in VARIABLES]
        n = self.row.reference
        numbers = [rng.multinomial(n, p).tolist() if n else p.tolist() for p in ideals]
        given = {
            v.name: dict(zip(v.attributes, own, strict=True))
            for v, own in zip(VARIABLES, numbers, strict=True)
        }
        return Baseline(counts=given) if n else Baseline(shares=given)

    def shares(self, source: str | None, target: str) -> Shares:
        """(J, k) true shares of the target in the source's arms, (1, k) in the initial images."""
        if self.row.sandbox:
            true = exact.planted_truth(*self.place)
            if source is None:
                return true.initial[target][None]
            return np.stack([true.arms[source, a][target] for a in AXES[source]])
        k = SIZES[_number(target)]
        if source is None:
            return (self.row.arm(k, 0, 1) if self.row.worded else self.row.before(k))[None]
        arms = SIZES[_number(source)]
        return np.stack([self.row.arm(k, a, arms) for a in range(arms)])

    def distance(self, target: str, shares: Shares) -> float:
        """Of shares (k,) from the true ideal."""
        if self.row.sandbox:
            even = np.full(len(shares), 1 / len(shares))
            return float(wasserstein(shares, even, exact.METRICS[target]))
        return float(np.abs(shares - self.row.ideal(len(shares))).sum() / 2)


def _number(name: str) -> int:
    return int(name.split()[1])


def _draw(row: Row, rng: np.random.Generator) -> CodedImages:
    """The answers of one audit of a row with shares of its own."""
    before = [row.before(size) for size in SIZES]
    while True:
        initial = _images(row, before, row.images, rng)
        if not row.single or any(len(np.unique(column)) == 1 for column in initial.T):
            break
    arms = {}
    for x, arm_count in enumerate(SIZES):
        for a in range(arm_count):
            shares = [row.arm(size, a, arm_count) for size in SIZES]
            n = round(row.images * row.sizes[a % len(row.sizes)])
            arms[x, a] = _images(row, shares, n, rng)
    if not row.worded:
        return CodedImages(row.name, VARIABLES, initial, arms)
    alike = [row.arm(size, 0, 1) for size in SIZES]
    controls = _images(row, alike, REWORDINGS * row.images, rng)
    return CodedImages(row.name, VARIABLES, initial, arms, controls)


def _images(
    row: Row, shares: Sequence[npt.NDArray[np.float64]], n: int, rng: np.random.Generator
) -> Codes:
    """(n, axes) answers whose latent variables are correlated alike (a Gaussian copula)."""
    own, common = rng.standard_normal((n, len(shares))), rng.standard_normal((n, 1))
    uniform = ndtr(np.sqrt(1 - row.correlation) * own + np.sqrt(row.correlation) * common)
    columns = [
        np.minimum(np.searchsorted(p.cumsum(), uniform[:, y], side="right"), len(p) - 1)
        for y, p in enumerate(shares)
    ]
    return np.stack(columns, axis=1).astype(np.int16)


def truth(world: World, source: str, target: str) -> tuple[float, float, float]:
    """IS, the mixture's total variation from the initial images, and V of a pair in its world."""
    before, after = world.shares(None, target)[0], world.shares(source, target)
    mixture = after.mean(axis=0)
    seen = mixture > 0
    phi = (((after - mixture) ** 2)[:, seen] / mixture[seen]).sum() / len(after)
    v = np.sqrt(phi / (min(len(after), int(seen.sum())) - 1)) if seen.sum() > 1 else 0.0
    is_ = world.distance(target, before) - world.distance(target, mixture)
    start = world.row.before(len(before)) if world.row.worded else before
    return is_, float(np.abs(start - mixture).sum() / 2), float(v)


def regular(world: World, source: str, target: str) -> bool:
    """Whether all shares are in [.1, .9] and further from the ideal than two standard errors."""
    before, after = world.shares(None, target)[0], world.shares(source, target)
    k, n = len(before), world.row.images
    goal = np.full(k, 1 / k) if world.row.sandbox else world.row.ideal(k)
    for shares, images in ((before, n), (after.mean(axis=0), n * len(after))):
        error = np.sqrt(np.maximum(shares * (1 - shares), goal * (1 - goal)) / images)
        if shares.min() < 0.1 or shares.max() > 0.9 or (np.abs(shares - goal) < 2 * error).any():
            return False
    return n >= 48


def _pair(world: World, pair: PairRow) -> list[Any]:
    """What became of one pair, beside the truth; see `validity_summary.COLUMNS`."""
    row = world.row
    if row.single and "single_answer" not in pair.flags:
        return []
    is_, moved, v = (round(number, 9) for number in truth(world, pair.source, pair.target))
    after = world.shares(pair.source, pair.target)
    matched = (pair.is_matched, pair.is_matched_ci_low, pair.is_matched_ci_high)
    shown = (pair.is_ci_low, pair.is_ci_high, *matched)
    if row.worded:
        ends = pair.is_controlled_ci_low, pair.is_controlled_ci_high
        shown = (*ends, pair.is_controlled, *ends)  # type: ignore[assignment]
    numbers = [None if end is None else round(end, 5) for end in shown]
    alone = pair.sign_probability is not None and (
        1 if pair.sign_probability > 0.975 else -1 if pair.sign_probability < 0.025 else 0
    )
    claimed = pair.sign_controlled if row.worded else claim_direction(pair, "matched")
    both = {"towards": 1, "away": -1}.get(str(claimed), 0)
    told = {"towards": 1, "away": -1}.get(pair.sign or "", 0)
    usual = int(regular(world, pair.source, pair.target))
    place = [world.audit, after.shape[1], len(after), usual]
    return [*place, is_, moved, v, int(alone), both, told, pair.verdict, *numbers]


def _node(world: World, node: NodeRow) -> list[int]:
    """Of an axis: its k, whether w1_ci covers, whether it is called near the ideal."""
    shares = world.shares(None, node.id)[0]
    true = world.distance(node.id, world.row.before(len(shares)) if world.row.worded else shares)
    low, high = node.w1_ci or (0.0, 1.0)
    return [len(shares), int(low - 1e-9 <= true <= high + 1e-9), int(bool(node.near_ideal))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--audits", type=int, help="at most so many of a row")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    parts = [
        Part(row, number)
        for number in range(max(row.audits for row in ROWS) // PART)
        for row, design in enumerate(ROWS)
        if number * PART < min(design.audits, given.audits or design.audits)
    ]
    records = measure_cases(parts, measure, given.work / "validity.jsonl", given.jobs)
    text = markdown(records)
    (given.work / "validity.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
