"""The cells of pairs.csv as numbers, truths and texts; no library is needed for that.

Tables of pairs have many columns and few rows, so each is typed cell by cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from biasgraph.causal.fields import UNSET, columns
from biasgraph.causal.rows import LATER_FIELDS, PairRow

LABEL = "toy"
"""The column of tables that says that the numbers describe a toy."""
PAIR_TYPES = {name: column.type for name, column in columns(PairRow).items()}
PAIR_TEXTS = [name for name, kind in PAIR_TYPES.items() if kind in ("string", "list<string>")]
PAIR_COLUMNS = [
    part.name.rstrip("_")
    for part in fields(PairRow)
    if part.default is not UNSET and part.name not in LATER_FIELDS
]
MOST = 10**12
"""Images in a count; more would be a mistake."""


def type_cells(name: str, cells: Iterable[Any]) -> list[Any]:
    """The values of a column; None where one lacks.

    Args:
        name: Of the column.
        cells: Texts, or values already.

    Raises:
        ValueError: One is not of the column's type.
    """
    cells = [None if cell is None or cell != cell else cell for cell in cells]
    if name in PAIR_TEXTS:
        return cells
    if PAIR_TYPES.get(name) == "bool":
        may_lack = name not in PAIR_COLUMNS
        return [None if cell is None and may_lack else str(cell) == "True" for cell in cells]
    numbers = [None if cell is None else float(cell) for cell in cells]
    numbers = [None if number is None or math.isnan(number) else number for number in numbers]
    known = [number for number in numbers if number is not None]
    if any(math.isinf(number) for number in known):
        raise ValueError(f"column {name}: a number is not finite")
    if PAIR_TYPES.get(name) != "int64":
        return numbers
    if any(number % 1 > 0 or abs(number) > MOST for number in known):
        raise ValueError(f"column {name}: not a whole number")
    return [None if number is None else int(number) for number in numbers]


def type_pairs(texts: Mapping[str, Sequence[str]]) -> dict[str, list[Any]]:
    """The columns of pairs.csv by name.

    Args:
        texts: Its cells, unprotected; those of files that older versions wrote may lack columns.

    Raises:
        ValueError: A cell is not of its column's type.
    """
    rows = len(texts["flags"])
    lacking = {name: [""] * rows for name in LATER_FIELDS if name not in texts}
    return {
        name: type_cells(name, cells if name == "flags" else [cell or None for cell in cells])
        for name, cells in {**texts, **lacking}.items()
        if name != LABEL
    }
