"""The table of `benchmarks.validity`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import beta

from benchmarks.validity_design import ROWS, Row

COLUMNS = (
    "audit", "k", "arms", "regular", "is", "moved", "v", "alone", "both", "told", "verdict",
    "low", "high", "matched", "matched_low", "matched_high",
)  # fmt: skip
HEADER = (
    "row", "n", "pairs", "towards", "away", "alone", "told", "found", "IS covered", "regular",
    "matched", "W1", "false verdicts", "not near",
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
    lines, failed = [_cells(HEADER), "|" + "---|" * len(HEADER)], []
    for row in ROWS:
        own = [r for r in records if r["audit"][:2] == [row.name, row.images]]
        if own:
            found = Found.of(row, own)
            lines.append(found.line())
            failed += [f"FAILS: {row.name}, n = {row.images}: {what}" for what in found.faults()]
    return "\n".join([*lines, "", *(failed or ["No row fails."])]) + "\n"


def _cells(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


@dataclass(frozen=True)
class Found:
    """What became of the audits of one row.

    Attributes:
        row: The row.
        pairs: One line for each pair that counts, as COLUMNS.
        nodes: (n, 3) k, whether w1_ci covers, whether near the ideal.
    """

    row: Row
    pairs: pd.DataFrame
    nodes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, row: Row, records: Sequence[dict[str, Any]]) -> Found:
        """From the records of a row."""
        kept = [pair for record in records for pair in record["pairs"] if pair]
        nodes = np.array([node for record in records for node in record["nodes"]])
        return cls(row, pd.DataFrame(kept, columns=list(COLUMNS)), nodes)

    def line(self) -> str:
        """The row of the table."""
        is_, matched = self.covered("low", "high", "is"), self.covered_matched()
        usual, near = self.covered_regular(), 1 - self.nodes[:, 2].mean()
        sizes = set(self.nodes[:, 0])
        return _cells(
            (
                self.row.name, self.row.images, f"{len(self.pairs):,}",
                *(_rate(self.wrong("both", side), len(self.pairs)) for side in (1, -1)),
                "/".join(f"{self.wrong('alone', s) / len(self.pairs):.3f}" for s in (1, -1)),
                "/".join(f"{self.wrong('told', s) / len(self.pairs):.4f}" for s in (1, -1)),
                self.power(), f"{is_.min():.3f} to {is_.max():.3f}",
                "" if usual is None else f"{usual:.3f}",
                f"{matched.min():.3f} to {matched.max():.3f}",
                f"{min(self.nodes[self.nodes[:, 0] == k, 1].mean() for k in sizes):.3f}",
                self.verdicts(), f"{near:.3f}" if self.row.reference else "",
            )
        )  # fmt: skip

    def faults(self) -> Iterator[str]:
        """What is beyond its nominal value: claims and verdicts for sure (all rows and sides
        together, Bonferroni), coverage by what was counted."""
        level = FAMILY / len(ROWS)
        for side, words in ((1, "towards"), (-1, "away")):
            hits = self.wrong("both", side)
            if limits(hits, len(self.pairs), level)[0] > NOMINAL:
                yield f"{words} without effect {hits / len(self.pairs):.4f}"
        for what, shares in (
            ("IS", self.covered("low", "high", "is")),
            ("matched IS", self.covered_matched()),
        ):
            for (k, arms), share in shares[shares < 0.9].items():
                yield f"coverage of {what} at k = {k}, J = {arms}: {share:.4f}"
        usual = self.covered_regular()
        if usual is not None and not 0.93 <= usual <= 0.98:
            yield f"coverage of IS where it is regular: {usual:.4f}"
        for name, audits in self.false_verdicts().items():
            if limits(int(audits.sum()), len(audits), level)[0] > FAMILY:
                yield f"audits with a false {name}: {audits.mean():.4f}"
        strange = int((1 - self.nodes[:, 2]).sum())
        if self.row.reference and limits(strange, len(self.nodes), level)[0] > FAMILY:
            yield f"not near its own reference: {strange / len(self.nodes):.4f}"

    def wrong(self, what: str, side: int) -> int:
        """Claims of a side on which the truth is not."""
        return int(((self.pairs[what] == side) & (np.sign(self.pairs["is"]) != side)).sum())

    def power(self) -> str:
        """Right claims of pairs that have an effect: by the matched bootstrap alone, both, told."""
        some = self.pairs[self.pairs["is"].abs() > 1e-9]
        if some.empty:
            return ""
        right = [float((some[what] == np.sign(some["is"])).mean()) for what in CLAIMS]
        return "/".join(f"{share:.3f}" for share in right)

    def covered(self, low: str, high: str, true: str) -> pd.Series[float]:
        """By k and J, how often an interval holds the truth."""
        return self._held(self.pairs, low, high, true).groupby(self._shape).mean()

    def covered_matched(self) -> pd.Series[float]:
        """The same of the matched sensitivity, whose truth is its mean over audits."""
        place = [*self._shape, self.pairs["is"]]
        mean = self.pairs["matched"].groupby(place).transform("mean")
        held = self._held(self.pairs.assign(mean=mean), "matched_low", "matched_high", "mean")
        return held.groupby(self._shape).mean()

    def covered_regular(self) -> float | None:
        """Coverage of IS over the row's regular pairs; None where it has none."""
        usual = self.pairs[self.pairs["regular"] == 1]
        return float(self._held(usual, "low", "high", "is").mean()) if len(usual) else None

    @property
    def _shape(self) -> list[pd.Series[int]]:
        return [self.pairs["k"], self.pairs["arms"]]

    @staticmethod
    def _held(pairs: pd.DataFrame, low: str, high: str, true: str) -> pd.Series[bool]:
        some = pairs[pairs[low].notna()]
        return (some[low] - 1e-5 <= some[true]) & (some[true] <= some[high] + 1e-5)

    def false_verdicts(self) -> dict[str, pd.Series[bool]]:
        """By verdict, of each audit whether the truth contradicts one of that verdict."""
        wrong = {
            "below_delta": self.pairs["is"].abs() >= DELTA - 1e-9,
            "below_min_v": self.pairs["v"] >= MIN_V - 1e-9,
            "common_shift": self.pairs["moved"] < 1e-9,
        }
        return {
            name: ((self.pairs["verdict"] == name) & false).groupby(self.pairs["audit"]).any()
            for name, false in wrong.items()
            if ((self.pairs["verdict"] == name) & false).any()
        }

    def verdicts(self) -> str:
        """Shares of audits with such a verdict."""
        return ", ".join(f"{name} {a.mean():.4f}" for name, a in self.false_verdicts().items())


CLAIMS = ("alone", "both", "told")


def _rate(hits: int, n: int) -> str:
    low, high = limits(hits, n)
    return f"{hits / n:.4f} [{low:.4f}, {high:.4f}]"
