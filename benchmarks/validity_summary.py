"""The table of `benchmarks.validity`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import beta

from benchmarks.validity_design import ROWS, SIZES, Row

COLUMNS = (
    "x", "y", "is", "moved", "v", "alone", "both", "told", "verdict",
    "low", "high", "matched", "matched_low", "matched_high",
)  # fmt: skip
NOMINAL = 0.025
DELTA, MIN_V = 0.05, 0.3
FAMILY = 0.05


def limits(hits: int, n: int, level: float = 0.05) -> tuple[float, float]:
    """Exact (Clopper-Pearson) limits of a share."""
    low = 0.0 if hits == 0 else float(beta.ppf(level / 2, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta.ppf(1 - level / 2, hits + 1, n - hits))
    return low, high


def markdown(records: Sequence[dict[str, Any]]) -> str:
    """One line for each row of the design, and what failed."""
    head = (
        "| row | n | pairs | towards | away | matched alone | told | coverage of IS | matched | "
        "W1 | false verdicts | sum of abs. IS above floor |"
    )
    lines, failed = [head, "|" + "---|" * 12], []
    for row in ROWS:
        own = [r for r in records if r["audit"][:2] == [row.name, row.images]]
        if own:
            line, faults = _line(row, own)
            lines.append(line)
            failed += faults
    return "\n".join([*lines, "", *(failed or ["No row fails."])]) + "\n"


def _line(row: Row, records: Sequence[dict[str, Any]]) -> tuple[str, list[str]]:
    pairs = pd.DataFrame(
        [pair for r in records for pair in r["pairs"] if pair], columns=list(COLUMNS)
    )
    wrong = {side: _wrong(pairs, "both", side) for side in (1, -1)}
    alone = {side: _wrong(pairs, "alone", side) for side in (1, -1)}
    told = {side: _wrong(pairs, "told", side) for side in (1, -1)}
    faults = [
        f"FAILS: {row.name}, n = {row.images}: {what} {rate:.4f}"
        for what, rate, _ in _tried(pairs, row)
    ]
    nodes = np.array([node for r in records for node in r["nodes"]])
    floors = [hit for r in records for hit in r["floors"]]
    covered, matched = _coverage(pairs, "low", "high", "is"), _matched(pairs)
    cells = (
        row.name, row.images, f"{len(pairs):,}", _rate(wrong[1], pairs), _rate(wrong[-1], pairs),
        f"{alone[1] / len(pairs):.3f}/{alone[-1] / len(pairs):.3f}",
        f"{told[1] / len(pairs):.4f}/{told[-1] / len(pairs):.4f}",
        f"{min(covered.values()):.3f} to {max(covered.values()):.3f}",
        f"{min(matched.values()):.3f} to {max(matched.values()):.3f}",
        f"{min(nodes[nodes[:, 0] == k, 1].mean() for k in set(SIZES)):.3f}",
        _verdicts(pairs), f"{np.mean(floors):.3f}" if floors else "",
    )  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |", faults


def _wrong(pairs: pd.DataFrame, what: str, side: int) -> int:
    """Claims of a side on which the truth is not."""
    return int(((pairs[what] == side) & (np.sign(pairs["is"]) != side)).sum())


def _rate(hits: int, pairs: pd.DataFrame) -> str:
    low, high = limits(hits, len(pairs))
    return f"{hits / len(pairs):.4f} [{low:.4f}, {high:.4f}]"


def _tried(pairs: pd.DataFrame, row: Row) -> Iterator[tuple[str, float, float]]:
    """What exceeds its nominal value for sure, all sides of all rows taken together."""
    level = FAMILY / (2 * len(ROWS))
    for side, words in ((1, "towards"), (-1, "away")):
        hits = _wrong(pairs, "both", side)
        if limits(hits, len(pairs), 2 * level)[0] > NOMINAL:
            yield f"{words} without effect", hits / len(pairs), NOMINAL
    for what, shares in (
        ("IS", _coverage(pairs, "low", "high", "is")),
        ("matched", _matched(pairs)),
    ):
        for (k, arms), share in shares.items():
            if share < 0.9:
                yield f"coverage of {what} at k = {k}, J = {arms}:", share, 0.9


def _coverage(pairs: pd.DataFrame, low: str, high: str, true: str) -> dict[tuple[int, int], float]:
    """By k and J, how often an interval holds the truth."""
    held = (pairs[low] - 1e-5 <= pairs[true]) & (pairs[true] <= pairs[high] + 1e-5)
    groups = held.groupby([pairs["y"].map(lambda y: SIZES[y]), pairs["x"].map(lambda x: SIZES[x])])
    return {key: float(share) for key, share in groups.mean().items()}  # type: ignore[misc]


def _matched(pairs: pd.DataFrame) -> dict[tuple[int, int], float]:
    """The same of the matched sensitivity, whose truth is its mean over audits."""
    k, arms = pairs["y"].map(lambda y: SIZES[y]), pairs["x"].map(lambda x: SIZES[x])
    mean = pairs["matched"].groupby([k, arms]).transform("mean")
    return _coverage(pairs.assign(mean=mean), "matched_low", "matched_high", "mean")


def _verdicts(pairs: pd.DataFrame) -> str:
    """Shares of verdicts that the truth contradicts, of all pairs."""
    wrong = {
        "below_delta": pairs["is"].abs() >= DELTA - 1e-9,
        "below_min_v": pairs["v"] >= MIN_V - 1e-9,
        "common_shift": pairs["moved"] < 1e-9,
    }
    shown = [
        f"{name} {((pairs['verdict'] == name) & false).mean():.4f}"
        for name, false in wrong.items()
        if ((pairs["verdict"] == name) & false).any()
    ]
    return ", ".join(shown)
