"""The tables of a result as data frames and as CSV files, and back again.

Their columns are the fields of the rows (`biasgraph.causal.rows`), nested ones under dotted names
(`w1_null.q95`). Lists are JSON, except flags, which stand side by side with a semicolon between
them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from biasgraph.causal.fields import columns
from biasgraph.causal.rows import CountRow, PairRow
from biasgraph.data.answers import ROLES
from biasgraph.data.findings import RESERVED
from biasgraph.data.pair_cells import LABEL, MOST, PAIR_TEXTS, PAIR_TYPES, type_cells, type_pairs
from biasgraph.errors import list_words

OF_PROMPTS = (
    *("attributes", "initial.counts", "initial.distribution", "distribution_ci"),
    *("initial.n_total", "initial.n_gated", "initial.n_unknown", "initial.n_valid"),
    *("w1", "w1_ci", "w1_null.mean", "w1_null.q95", "near_ideal", "status", "flags"),
)
"""The columns of nodes.csv that prompts.csv has of every prompt, behind `prompt` and `axis`."""
TABLE_COLUMNS = list(columns(CountRow))
OLD_TABLE_COLUMNS = [name for name in TABLE_COLUMNS if name != "role"]
"""Of files written before there were controls."""


def with_label(frame: pd.DataFrame, toy: str | None) -> pd.DataFrame:
    """`frame` with one more column that says, in every row, that the numbers describe a toy."""
    return frame if toy is None else frame.assign(**{LABEL: toy})


def pairs_frame(pairs: Sequence[PairRow]) -> pd.DataFrame:
    """All ordered pairs of axes, the diagonal included; undefined numbers are missing."""
    records = [pair.record() | {"flags": _join_flags(pair.flags)} for pair in pairs]
    names = dict.fromkeys(name for record in records for name in record)
    return frame_of_pairs(
        {name: type_cells(name, [record.get(name) for record in records]) for name in names}
    )


def pairs_from_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """The frame of `pairs_frame`, from the cells of pairs.csv."""
    return frame_of_pairs(type_pairs({str(name): cells[name].tolist() for name in cells}))


def frame_of_pairs(columns: Mapping[str, list[Any]]) -> pd.DataFrame:
    """The frame of typed columns (`biasgraph.data.pair_cells`)."""
    return pd.DataFrame({name: _as_series(name, values) for name, values in columns.items()})


def _as_series(name: str, values: list[Any]) -> pd.Series:
    if name in PAIR_TEXTS:
        return pd.Series(values, dtype=object)
    if PAIR_TYPES.get(name) == "bool":
        return pd.Series(values, dtype="boolean" if None in values else bool)
    return pd.Series(values, dtype="Int64" if PAIR_TYPES.get(name) == "int64" else "float64")


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


def counts_frame(rows: Iterable[CountRow]) -> pd.DataFrame:
    """The counts behind every table, as tables.csv has them."""
    cells: dict[str, list[Any]] = {name: [] for name in TABLE_COLUMNS}
    for row in rows:
        for name, column in cells.items():
            column.append(getattr(row, name))
    # Objects from the start: a column of texts would make each of them anew.
    frame = pd.DataFrame(cells, dtype=object)
    return frame.assign(count=frame["count"].astype("int64"))


def counts_from_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """The frame of `counts_frame`, from the cells of tables.csv."""
    texts = cells[[name for name in TABLE_COLUMNS if name in cells]].astype(object)
    if "role" not in texts:
        told = np.where(texts["axis"] == "", "initial", "counterfactual")
        texts.insert(TABLE_COLUMNS.index("role"), "role", pd.Series(told, texts.index, object))
    if not texts["role"].isin(ROLES).all():
        raise ValueError(f"column role: none of {list_words(ROLES)}")
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
