"""Do the claims hold?  Directions, intervals and verdicts on answers drawn from known worlds.

    python -m benchmarks.validity --work DIR [--audits 700] [--jobs 2]

No image is made.  Every audit of every row of `validity_design` goes through
``biasgraph.causal.graph.analyze`` (30 pairs each) and is written to ``DIR/validity.jsonl`` in parts
of 20; rerun the same command to resume.  The table goes to ``DIR/validity.md`` and the terminal;
docs/statistics.md has it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from benchmarks.resuming import measure_cases
from benchmarks.validity_design import ROWS, SIZES, Row
from benchmarks.validity_summary import markdown
from biasgraph.causal.baseline import Baseline
from biasgraph.causal.graph import Analysis, analyze
from biasgraph.causal.rows import PairRow
from biasgraph.causal.sensitivity import claim_direction
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Codes, Variable

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
    ideal = {
        v.name: dict(zip(v.attributes, row.ideal(v.size).tolist(), strict=True)) for v in VARIABLES
    }
    rows, nodes, floors = [], [], []
    for audit in range(PART):
        settings = AnalysisSettings(
            bootstrap=BOOTSTRAP, noise_draws=100 if audit < FLOORS else 0, seed=part.number
        )
        found = analyze(draw(row, rng), settings, Baseline(shares=ideal))
        rows += [_pair(row, pair) for pair in found.pairs if pair.source != pair.target]
        nodes += _nodes(row, found)
        total = found.graph["amplification"]
        if total["noise_floor"]["q95"] is not None:
            floors.append(int(total["value"] > total["noise_floor"]["q95"]))
    return {"audit": part.name(), "pairs": rows, "nodes": nodes, "floors": floors}


FLOORS = 2
"""Audits of each part whose sum of |IS| is compared with its floor."""


def draw(row: Row, rng: np.random.Generator) -> CodedImages:
    """The answers of one audit."""
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


@cache
def truth(row: Row, x: int, y: int) -> tuple[float, float, float]:
    """IS, how far the mixture moves (total variation), and V of a pair in the row's world."""
    k, arms = SIZES[y], SIZES[x]
    after = np.stack([row.arm(k, a, arms) for a in range(arms)])
    before, ideal = after[0] if row.worded else row.before(k), row.ideal(k)
    mixture = after.mean(axis=0)
    gaps = np.abs(before - ideal).sum() - np.abs(mixture - ideal).sum()
    seen = mixture > 0
    phi = (((after - mixture) ** 2)[:, seen] / mixture[seen]).sum() / arms
    v = np.sqrt(phi / (min(arms, int(seen.sum())) - 1)) if seen.sum() > 1 else 0.0
    return float(gaps / 2), float(np.abs(before - mixture).sum() / 2), float(v)


def _pair(row: Row, pair: PairRow) -> list[Any]:
    """What became of one pair, beside the truth; see `validity_summary.COLUMNS`."""
    x, y = (int(name.split()[1]) for name in (pair.source, pair.target))
    is_, moved, v = (round(number, 9) for number in truth(row, x, y))
    if row.single and "single_answer" not in pair.flags:
        return []
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
    return [x, y, is_, moved, v, int(alone), both, told, pair.verdict, *numbers]


def _nodes(row: Row, found: Analysis) -> list[list[int]]:
    """For each axis: its k, whether w1_ci covers, whether it is called near the ideal."""
    covered = []
    for node, size in zip(found.nodes, SIZES, strict=True):
        true = float(np.abs(row.before(size) - row.ideal(size)).sum() / 2)
        low, high = node.w1_ci or (0.0, 1.0)
        covered.append([size, int(low - 1e-9 <= true <= high + 1e-9), int(bool(node.near_ideal))])
    return covered


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--audits", type=int, default=700)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    numbers = range(-(-given.audits // PART))
    parts = [Part(row, number) for number in numbers for row in range(len(ROWS))]
    records = measure_cases(parts, measure, given.work / "validity.jsonl", given.jobs)
    text = markdown(records)
    (given.work / "validity.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
