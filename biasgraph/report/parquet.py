"""The tables of a result as Parquet files, every column with its type.

Counts are integers, undefined numbers null, and lists are lists: `flags` of strings,
`initial.counts` of integers, intervals of numbers; in columns that are not promised (`findings.*`)
a list is JSON text. Lone surrogates, which UTF-8 cannot hold, are U+FFFD as in CSV files. The
file's metadata has `biasgraph`: the `graph` of graph.json, as JSON.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from biasgraph.causal.fields import columns
from biasgraph.causal.rows import NodeRow
from biasgraph.data import frames as tables
from biasgraph.errors import MissingExtra
from biasgraph.io.csv_files import table_text

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.data.result import Result


def parquet_files(result: Result) -> dict[str, bytes]:
    """pairs, nodes, tables, answers and, of many prompts, prompts .parquet.

    Results of the sandbox say so in a column `toy`.

    Raises MissingExtra without pyarrow.
    """
    try:
        import pyarrow  # type: ignore[import-untyped]  # noqa: F401
    except ImportError:
        raise MissingExtra("Parquet files", "parquet") from None
    graph = result.document["graph"]
    pairs, nodes, counts = (
        tables.with_label(frame, graph["toy"])
        for frame in (result.pairs, result.nodes, result.tables)
    )
    flags = [text.split(";") if text else [] for text in pairs["flags"]]
    files = {
        "pairs.parquet": _file(_columns(pairs) | {"flags": _array(flags, "list<string>")}, graph),
        "nodes.parquet": _file(_node_columns(nodes), graph),
        "tables.parquet": _file(_columns(counts), graph),
        "answers.parquet": _file(_columns(result.answers), graph),
    }
    if result.prompts:
        by_prompt = tables.with_label(result.by_prompt, graph["toy"])
        files["prompts.parquet"] = _file(_node_columns(by_prompt), graph)
    return files


def _file(columns: Mapping[str, Any], graph: Mapping[str, Any]) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.table(dict(columns)).replace_schema_metadata({"biasgraph": json.dumps(graph)})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def _columns(frame: pd.DataFrame) -> dict[str, Any]:
    """Arrow arrays of a frame's columns, by their dtypes; those of objects hold texts."""
    import pandas as pd
    import pyarrow as pa

    arrays = {}
    for name, column in frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            codes = pa.array(column)
            arrays[str(name)] = codes.cast(pa.dictionary(pa.int32(), pa.string()))
        elif pd.api.types.is_numeric_dtype(column.dtype):
            arrays[str(name)] = pa.array(column, from_pandas=True)
        else:
            arrays[str(name)] = _array(column, "string")
    return arrays


def _node_columns(nodes: pd.DataFrame) -> dict[str, Any]:
    types = {name: column.type for name, column in columns(NodeRow).items()}
    return {str(name): _array(nodes[name], types.get(str(name))) for name in nodes}


def _array(values: Iterable[Any], kind: str | None) -> Any:
    """An Arrow array of this type, or of the type that fits; JSON texts where none does."""
    import pyarrow as pa

    cells = [_cell(value) for value in values]
    if kind is not None:
        return pa.array(cells, _type(kind))
    if any(isinstance(cell, list) for cell in cells):
        return pa.array([None if cell is None else json.dumps(cell) for cell in cells], pa.string())
    try:
        return pa.array(cells)
    except (pa.ArrowException, OverflowError):  # texts and numbers mixed, or numbers too large
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return [_cell(part) for part in value]
    if isinstance(value, str):
        return table_text(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def _type(kind: str) -> Any:
    import pyarrow as pa

    inner = kind.removeprefix("list<").removesuffix(">")
    return pa.type_for_alias(kind) if inner == kind else pa.list_(_type(inner))
