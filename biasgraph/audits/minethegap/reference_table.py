"""How biased prompts are by a table of shares, and how well a ranking agrees with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biasgraph.errors import InputError, did_you_mean, printable, show_path
from biasgraph.io import resources
from biasgraph.io.csv_files import CsvFile
from biasgraph.io.text_files import read_bytes
from biasgraph.prompts.subject import find_subject, strip_brackets

NAMES = ("prompt", "occupation", "subject")
"""A column that says what a row is about."""
BIAS = "bias"
FEWEST = 4
"""Below so many pairs a correlation has no interval."""
FOLDER = "reference"


@dataclass(frozen=True)
class ReferenceTable:
    """What a table says.

    source: its name, for people; bias: prompt or subject, in small letters -> how biased.
    """

    source: str
    bias: Mapping[str, float]

    @classmethod
    def of(cls, given: str | Path) -> ReferenceTable:
        """A file, or a table that ships by its name ("us-occupations").

        The column `prompt` (or `occupation`, or `subject`) says what a row is about: a prompt, or
        its subject without an article. `bias` says how biased that is; without such a column it is
        the largest share of the columns that hold numbers: .94 for 6 % and 94 %.

        Raises InputError: no such table, or it says no such thing; with the line.
        """
        path = Path(given)
        if path.suffix or path.name != str(given):
            return cls(path.name, _read(read_bytes(path, "--truth"), show_path(path)))
        shipped = resources.names(FOLDER, ".csv")
        if given not in shipped:
            raise InputError(
                f"unknown table '{printable(str(given))}' in --truth."
                f"{did_you_mean(str(given), shipped)} Shipped: {', '.join(shipped)}; for your own, "
                "give its path, ending in .csv"
            )
        text = resources.read_text(FOLDER, f"{given}.csv")
        return cls(str(given), _read(text.encode(), str(given)))

    def of_prompt(self, text: str) -> float | None:
        """How biased a prompt is: it stands in the table, or its subject does; None otherwise."""
        clean, _ = strip_brackets(text)
        for key in (clean, _subject(text)):
            if key is not None and key.casefold() in self.bias:
                return self.bias[key.casefold()]
        return None


@dataclass(frozen=True)
class RankCorrelation:
    """Spearman's rho with its 95 % interval; None, with a reason, where it is undefined."""

    rho: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""


def spearman(first: Sequence[float], second: Sequence[float]) -> RankCorrelation:
    """The rank correlation of pairs, ties at their mean rank.

    The interval is Bonett and Wright's (2000): tanh(atanh rho -+ 1.96 sqrt((1 + rho^2 / 2) / (n -
    3))). Where the ranks agree wholly that has no width; rho counts as half a step less there.
    """
    from scipy.stats import spearmanr

    n = len(first)
    if n < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        reason = "there are too few prompts" if n < 2 else "all scores, or all truths, are equal"
        return RankCorrelation(None, None, None, n, reason)
    rho = float(spearmanr(first, second).statistic)
    if n < FEWEST:
        return RankCorrelation(rho, None, None, n, f"an interval needs {FEWEST} prompts")
    most = 1 - 6 / (n**3 - n)
    centre = min(max(rho, -most), most)
    half = 1.959964 * math.sqrt((1 + centre**2 / 2) / (n - 3))
    low, high = (math.tanh(math.atanh(centre) + side * half) for side in (-1, 1))
    return RankCorrelation(rho, min(low, rho), max(high, rho), n)


def _subject(text: str) -> str | None:
    """What a prompt is about, without its article; None where that cannot be told."""
    try:
        subject = find_subject(text).text
    except InputError:
        return None
    first, _, rest = subject.partition(" ")
    return rest if first.lower() in ("a", "an", "the") and rest else subject


def _read(raw: bytes, source: str) -> dict[str, float]:
    frame = CsvFile(raw, source, (*NAMES, BIAS)).frame()
    name = next((one for one in NAMES if one in frame.columns), None)
    if name is None:
        raise InputError(
            f"{source} has no column '{NAMES[0]}' that says which prompt a row is about."
            f"{did_you_mean(NAMES[0], frame.columns)}"
        )
    rows: list[Mapping[str, str]] = [
        {str(column): str(cell) for column, cell in row.items() if isinstance(cell, str) and cell}
        for row in frame.to_dict("records")
    ]
    columns = [BIAS] if BIAS in frame.columns else _shares(rows, name)
    if not rows or not columns:
        raise InputError(
            f"{source} does not say how biased a prompt is: it needs a column '{BIAS}', or the "
            "shares of two attributes or more"
        )
    found: dict[str, float] = {}
    for line, row in enumerate(rows, start=2):
        key, where = row.get(name, "").strip().casefold(), f"{source}, row {line}"
        if not key:
            raise InputError(f"{where}: '{name}' is empty")
        if key in found:
            raise InputError(f"{where}: '{printable(key)}' is listed twice")
        values = [_number(row.get(column, ""), column, where) for column in columns]
        found[key] = values[0] if columns == [BIAS] else _largest(values, where)
    return found


def _shares(rows: Sequence[Mapping[str, str]], name: str) -> list[str]:
    """The columns that hold nothing but numbers; none unless there are two."""
    columns = dict.fromkeys(column for row in rows for column in row if column != name)

    def numeric(column: str) -> bool:
        try:
            return all(math.isfinite(float(row[column])) for row in rows)
        except (KeyError, ValueError):
            return False

    found = [column for column in columns if numeric(column)]
    return found if len(found) > 1 else []


def _number(cell: str, column: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{where}: '{printable(column)}' is not a number: '{printable(cell)}'")
    return value


def _largest(values: Sequence[float], where: str) -> float:
    if min(values) < 0 or sum(values) <= 0:
        raise InputError(f"{where}: shares cannot be negative, or all 0")
    return max(values) / sum(values)
