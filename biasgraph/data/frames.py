"""The tables of a result as data frames and as CSV files, and back again.

Their columns are the fields of the rows (`biasgraph.causal.rows`), nested ones under dotted names
(`w1_null.q95`). Lists are JSON, except flags, which stand side by side with a semicolon between
them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from biasgraph.causal.fields import UNSET, columns
from biasgraph.causal.rows import LATER_FIELDS, CountRow, PairRow
from biasgraph.data.answers import ROLES
from biasgraph.data.findings import RESERVED
from biasgraph.errors import listed

LABEL = "toy"
PAIR_TYPES = {name: column.type for name, column in columns(PairRow).items()}
PAIR_TEXTS = [name for name, kind in PAIR_TYPES.items() if kind in ("string", "list<string>")]
PAIR_COLUMNS = [
    part.name.rstrip("_")
    for part in fields(PairRow)
    if part.default is not UNSET and part.name not in LATER_FIELDS
]
OF_PROMPTS = (
    *("attributes", "initial.counts", "initial.distribution", "distribution_ci"),
    *("initial.n_total", "initial.n_gated", "initial.n_unknown", "initial.n_valid"),
    *("w1", "w1_ci", "w1_null.mean", "w1_null.q95", "near_ideal", "status", "flags"),
)
"""The columns of nodes.csv that prompts.csv has of every prompt, behind `prompt` and `axis`."""
MOST = 10**12
"""Images in a count; more would be a mistake."""
TABLE_COLUMNS = list(columns(CountRow))
OLD_TABLE_COLUMNS = [name for name in TABLE_COLUMNS if name != "role"]
"""Of files written before there were controls."""


def with_label(frame: pd.DataFrame, toy: str | None) -> pd.DataFrame:
    """`frame` with one more column that says, in every row, that the numbers describe a toy."""
    return frame if toy is None else frame.assign(**{LABEL: toy})


def pairs_frame(pairs: Sequence[PairRow]) -> pd.DataFrame:
    """All ordered pairs of axes, the diagonal included; undefined numbers are missing."""
    records = [pair.record() | {"flags": _join_flags(pair.flags)} for pair in pairs]
    return _typed_pairs(pd.DataFrame.from_records(records))


def pairs_from_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """The frame of `pairs_frame`, from the cells of pairs.csv."""
    texts = cells.drop(columns=LABEL, errors="ignore").astype(object)
    texts = texts.assign(**{name: "" for name in LATER_FIELDS if name not in texts})
    return _typed_pairs(texts.where(texts != "", None).assign(flags=texts["flags"]))


def _typed_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({name: _set_type(str(name), frame[name]) for name in frame.columns})


def _set_type(name: str, column: pd.Series) -> pd.Series:
    # Cell by cell: tables of pairs have many columns and few rows.
    cells = [None if lacks else cell for cell, lacks in zip(column, column.isna(), strict=True)]
    if name in PAIR_TEXTS:
        return pd.Series(cells, index=column.index, dtype=object)
    if PAIR_TYPES.get(name) == "bool":
        may_lack = name not in PAIR_COLUMNS
        told = [None if cell is None and may_lack else str(cell) == "True" for cell in cells]
        return pd.Series(told, index=column.index, dtype="boolean" if None in told else bool)
    numbers = np.array([np.nan if cell is None else float(cell) for cell in cells])
    if np.isinf(numbers).any():
        raise ValueError(f"column {name}: a number is not finite")
    typed = pd.Series(numbers, index=column.index, dtype="float64")
    if PAIR_TYPES.get(name) != "int64":
        return typed
    if (numbers % 1 > 0).any() or (np.abs(numbers) > MOST).any():
        raise ValueError(f"column {name}: not a whole number")
    return typed.astype("Int64")


def nodes_frame(nodes: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row for each axis; nested numbers get dotted names, lists stay lists.

    What findings are called and how they are shown is left out: graph.json has it.
    """
    return _frame([_flat(_without_display(node)) for node in nodes])


def by_prompt_frame(prompts: Mapping[str, Sequence[Mapping[str, Any]]]) -> pd.DataFrame:
    """One row for each prompt and axis: what the prompt's own images show of it.

    Args:
        prompts: The nodes of each prompt's own graph.
    """
    rows = [
        {"prompt": prompt, "axis": node["id"], **{name: flat[name] for name in OF_PROMPTS}}
        for prompt, nodes in prompts.items()
        for node, flat in ((node, _flat(node)) for node in nodes)
    ]
    return pd.DataFrame.from_records(rows, columns=["prompt", "axis", *OF_PROMPTS])


def by_prompt_for_csv(frame: pd.DataFrame) -> pd.DataFrame:
    """`by_prompt_frame` with its lists as texts."""
    texts = {name: [_list_as_text(str(name), cell) for cell in frame[name]] for name in frame}
    return pd.DataFrame(texts)


def nodes_for_csv(nodes: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """`nodes_frame` with its lists as texts."""
    rows = [
        {name: _list_as_text(name, value) for name, value in _flat(_without_display(node)).items()}
        for node in nodes
    ]
    return _frame(rows)


def _without_display(node: Mapping[str, Any]) -> dict[str, Any]:
    findings = {
        method: {name: value for name, value in found.items() if name not in RESERVED}
        for method, found in node["findings"].items()
    }
    return {**node, "findings": findings}


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The rows without the column of a record that is null in some and has columns in others."""
    frame = pd.DataFrame.from_records(list(rows))
    parts = {str(name).rpartition(".")[0] for name in frame.columns}
    return frame[[name for name in frame.columns if name not in parts]]


def counts_frame(rows: Sequence[CountRow]) -> pd.DataFrame:
    """The counts behind every table, as tables.csv has them."""
    records = [row.record() for row in rows]
    # Objects from the start: a column of texts would make each of them anew.
    frame = pd.DataFrame(records, columns=TABLE_COLUMNS, dtype=object)
    return frame.assign(count=frame["count"].astype("int64"))


def counts_from_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """The frame of `counts_frame`, from the cells of tables.csv."""
    texts = cells[[name for name in TABLE_COLUMNS if name in cells]].astype(object)
    if "role" not in texts:
        told = np.where(texts["axis"] == "", "initial", "counterfactual")
        texts.insert(TABLE_COLUMNS.index("role"), "role", pd.Series(told, texts.index, object))
    if not texts["role"].isin(ROLES).all():
        raise ValueError(f"column role: none of {listed(ROLES)}")
    if ((texts["role"] == "counterfactual") != (texts["axis"] != "")).any():
        raise ValueError("column role: counterfactuals, and only they, have an axis")
    counts = pd.to_numeric(texts["count"])
    if not counts.between(0, MOST).all():
        raise ValueError("column count: not a number of images")
    return texts.assign(count=counts.astype("int64"))


def _flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _list_as_text(name: str, value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return _join_flags(value) if name == "flags" else json.dumps(value, ensure_ascii=False)


def _join_flags(flags: Sequence[str]) -> str:
    return ";".join(flags)
