"""How inputs are broken: bytes, JSON, YAML, CSV, SQLite, Parquet, and what a path leads to."""

# ruff: noqa: E501  (tables)

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from typing import Any

from tests.hostile import HOSTILE

CLIPBOARD = "\x1b]52;c;ZXZpbA==\x07"
"""What writes to the clipboard of a terminal that prints it."""
TEXTS = [
    "",
    " ",
    "x" * 5_000,
    CLIPBOARD,
    "\ud800",
    "nul\0",
    "../../x",
    "/dev/zero",
    "NaN",
    "9" * 400,
]
NUMBERS = [0, -1, 1, 2, 0.5, -0.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), -float("inf"),
           2**31, 2**63, -(2**63), 2**64, 10**30, 10**400]  # fmt: skip
OTHERS: list[Any] = [None, True, False, [], {}, [[]], [{}], [None], {"": None}, {"a": {"b": []}}]
DEEP = "%deep%"
"""Stands where thousands of brackets will."""
DEPTH = 20_000

Random = random.Random


def nasty_text(rng: Random) -> str:
    """A text that breaks careless readers and writers."""
    return rng.choice(TEXTS if rng.random() < 0.5 else HOSTILE)


def nasty_value(rng: Random) -> Any:
    """A value that is rarely the right one."""
    kind = rng.randrange(5)
    if kind == 0:
        return nasty_text(rng)
    if kind == 1:
        return rng.choice(NUMBERS)
    if kind == 2:
        return deepcopy(rng.choice(OTHERS))
    return DEEP if rng.random() < 0.1 else deepcopy(rng.choice([*NUMBERS, *TEXTS, *OTHERS]))


# Bytes


def break_bytes(raw: bytes, rng: Random) -> bytes:
    """Some bytes changed, left out, repeated or put in."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        raw = _break_bytes_once(raw, rng)
    return raw


def _break_bytes_once(raw: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(raw) + 1)
    end = min(len(raw), at + rng.choice([1, 2, 8, 100]))
    some = nasty_text(rng).encode("utf-8", "surrogatepass")
    return rng.choice(
        [
            lambda: raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :],
            lambda: raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]
            if at < len(raw)
            else raw,
            lambda: raw[:at],
            lambda: raw[:at] + raw[end:],
            lambda: raw[:end] + raw[at:],
            lambda: raw[:at] + some + raw[at:],
            lambda: raw[:at] + some + raw[end:],
            lambda: raw[:at] + rng.choice([b"\0", b"\xff", b"\x1b", b"\n", b'"', b","]) + raw[at:],
            lambda: rng.choice([b"", b"\xef\xbb\xbf", b"\xff\xfe", b"PAR1", b"PK\x03\x04"]) + raw,
            lambda: rng.choice([b"", b"{}", b"[]", b"null", b"0", b"\n", b"NaN", rng.randbytes(64)]),
            lambda: b"[" * DEPTH if rng.random() < 0.3 else raw[at:],
        ]
    )()  # fmt: skip


# JSON and YAML


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(part, (*path, key))


def break_data(data: Any, rng: Random) -> Any:
    """JSON types with something replaced, left out, renamed, doubled or of another type."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        places = [path for path in _places(data) if path]
        if not places or rng.random() < 0.01:
            return nasty_value(rng)
        if rng.random() < 0.3:  # otherwise long lists would have nearly all of it
            depth = rng.randint(1, max(map(len, places)))
            places = [path for path in places if len(path) == depth]
        _break_at(data, rng.choice(places), rng)
    return data


def _break_at(data: Any, path: tuple[Any, ...], rng: Random) -> None:
    for step in path[:-1]:
        data = data[step]
    key = path[-1]
    old = data[key]
    change = rng.randrange(8)
    if change == 0:
        del data[key]
    elif change == 1 and isinstance(data, dict):
        data[rng.choice([nasty_text(rng), str(key) + " ", str(key).upper()])] = data.pop(key)
    elif change == 2 and isinstance(data, list):
        data.insert(key, old)
    elif change == 3:
        data[key] = rng.choice([[old], {"x": old}, str(old), [old] * 1_000])
    elif change == 4 and isinstance(old, int | float):
        data[key] = rng.choice(
            [-old, old + 1, old * 10**9, old // 3 + 0.5 if abs(old) < 1e15 else 0]
        )
    elif change == 4 and isinstance(old, str):
        data[key] = rng.choice([old + CLIPBOARD, old.upper(), old * 100, nasty_text(rng) + old])
    else:
        data[key] = nasty_value(rng)


def _dumped(data: Any, rng: Random) -> bytes:
    text = json.dumps(data, ensure_ascii=rng.random() < 0.7, indent=rng.choice([None, 1]))
    if rng.random() < 0.1 and "{" in text:  # the same key twice
        at = text.index("{", rng.randrange(text.rindex("{") + 1)) + 1
        key = text[at : text.find(":", at)]
        text = text[:at] + f"{key}: {json.dumps(rng.choice([None, [], 1]))}, " + text[at:]
    opening, closing_ = rng.choice([("[", "]"), ('{"a":', "}")])
    deep = opening * DEPTH + "0" + closing_ * rng.choice([0, DEPTH])
    return text.replace(json.dumps(DEEP), deep).encode("utf-8", "surrogatepass")


def break_json(raw: bytes, rng: Random) -> bytes:
    """Mostly still JSON."""
    if rng.random() < 0.2:
        return break_bytes(raw, rng)
    return _dumped(break_data(json.loads(raw), rng), rng)


def break_yaml(raw: bytes, rng: Random) -> bytes:
    """Mostly still YAML, of which JSON is a part."""
    import yaml

    if rng.random() < 0.4:
        return break_bytes(raw, rng)
    data = break_data(yaml.safe_load(raw), rng)
    if rng.random() < 0.5:
        return _dumped(data, rng)
    try:
        return yaml.safe_dump(data, allow_unicode=rng.random() < 0.5).encode("utf-8", "replace")
    except (yaml.YAMLError, ValueError):  # an int with too many digits
        return break_bytes(raw, rng)


def break_json_or_bytes(raw: bytes, rng: Random) -> bytes:
    """As what it is."""
    return (break_json if raw[:1] in (b"{", b"[") else break_bytes)(raw, rng)


def break_probes(raw: bytes, rng: Random) -> bytes:
    """What a file says of its probes, signed again as somebody who forges it would."""
    from safetensors.torch import load, save

    from biasgraph.models.probe import RECORD, SUM, _sum

    if rng.random() < 0.3:
        return break_bytes(raw, rng)
    tensors = load(raw)
    size = int.from_bytes(raw[:8], "little")
    record = json.loads(json.loads(raw[8 : 8 + size])["__metadata__"][RECORD])
    record = break_data(record, rng)
    if rng.random() < 0.2:
        name = rng.choice(sorted(tensors))
        tensors[name] = tensors[name] * rng.choice([float("nan"), float("inf"), 0.0, 1e30])
    if isinstance(record, dict):
        record[SUM] = _sum(record, tensors)
    said = _dumped(record, rng).decode("utf-8", "replace")
    return bytes(save(tensors, metadata={RECORD: said}))


# Tables


def break_csv(raw: bytes, rng: Random) -> bytes:
    """Mostly still CSV."""
    if rng.random() < 0.3:
        return break_bytes(raw, rng)
    rows = list(csv.reader(io.StringIO(raw.decode())))
    for _ in range(rng.choice([1, 1, 2, 6])):
        row = rng.choice(rows if rng.random() < 0.7 else rows[:1])
        column = rng.randrange(max(1, len(row)))
        change = rng.randrange(6)
        if change == 0:
            for each in rows:
                del each[column : column + 1]
        elif change == 1:
            rows.insert(rng.randrange(len(rows)), list(row))
        elif change == 2:
            row.insert(column, nasty_text(rng))
        elif change == 3 and len(rows) > 1:
            del rows[rng.randrange(len(rows)) :]
            rows = rows or [row]
        else:
            row[column : column + 1] = [str(_short(nasty_value(rng)))]
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=rng.choice(",,,;\t")).writerows(
        [[cell.replace("\0", " ") for cell in row] for row in rows]
    )
    return buffer.getvalue().encode("utf-8", rng.choice(["replace", "surrogatepass"]))


def _short(value: Any) -> Any:
    return f"{value:.3e}" if isinstance(value, int) and value > 2**64 and value < 10**300 else (
        "9" * 400 if isinstance(value, int) and value >= 10**300 else value
    )  # fmt: skip


def break_parquet(raw: bytes, rng: Random) -> bytes:
    """A table with columns of other types, or broken bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if rng.random() < 0.5:
        return break_bytes(raw, rng)
    table = pq.read_table(io.BytesIO(raw))
    place = rng.randrange(table.num_columns)
    name, n = table.column_names[place], table.num_rows
    new = rng.choice(
        [
            pa.array([None] * n),
            pa.array([rng.choice([0.0, float("nan"), float("inf")]) for _ in range(n)]),
            pa.array([nasty_text(rng).encode("utf-8", "replace")] * n),
            pa.array([nasty_text(rng).encode("utf-8", "replace").decode()] * n),
            pa.array([["x"]] * n),
            pa.array([{"x": 1}] * n),
            pa.array([2**62] * n),
            pa.array([True] * n),
            pa.array([10**15] * n, pa.timestamp("us")),
        ]
    )
    if rng.random() < 0.2:
        table = table.remove_column(place)
    elif rng.random() < 0.1:
        table = table.append_column(name, new)
    else:
        table = table.set_column(place, nasty_text(rng).encode("utf-8", "replace").decode()
                                 if rng.random() < 0.1 else name, new)  # fmt: skip
    if rng.random() < 0.3:
        table = table.replace_schema_metadata({b"pandas": break_bytes(b'{"columns": []}', rng)})
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def break_ledger(raw: bytes, rng: Random, scratch: Path) -> bytes:
    """A database with other values, rows, tables or another version, or broken bytes."""
    if rng.random() < 0.3:
        return break_bytes(raw, rng)
    path = scratch / "broken.sqlite"
    path.write_bytes(raw)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA ignore_check_constraints = ON")
        for _ in range(rng.choice([1, 1, 3])):
            try:
                _break_table(database, rng)
            except (sqlite3.Error, OverflowError, UnicodeEncodeError):
                continue
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute(f"PRAGMA journal_mode = {rng.choice(['WAL', 'DELETE'])}")
    changed = path.read_bytes()
    path.unlink()
    return changed


def _break_table(database: sqlite3.Connection, rng: Random) -> None:
    tables = [name for (name,) in database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]  # fmt: skip
    table = rng.choice(tables)
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    column = rng.choice(columns)
    some = rng.choice(["", " WHERE random() % 5 = 0"])
    change = rng.randrange(12)
    if change == 0:
        database.execute(f"DELETE FROM {table}{some}")  # noqa: S608
    elif change == 1:
        database.execute(f"PRAGMA user_version = {rng.choice([0, 1, 2, 3, 99, -1])}")
    elif change == 2:
        database.execute(f"DROP TABLE {table}")
    elif change == 3:
        database.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO other")
    elif change == 4:
        database.execute(f"ALTER TABLE {table} RENAME TO other")
        database.execute(f"CREATE TABLE {table} AS SELECT * FROM other")  # noqa: S608
    else:
        value = rng.choice(
            [None, b"\xff\x00", b"", 2**63 - 1, -1, 0, 1e308, float("inf"), 10**12, "{}", "[]", "[" * DEPTH, "null"]
            + [nasty_text(rng) for _ in range(6)]
        )  # fmt: skip
        database.execute(f"UPDATE OR IGNORE {table} SET {column} = ?{some}", (value,))  # noqa: S608


# What a path leads to


def break_path(path: Path, rng: Random) -> None:
    """Something else in a file's place."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    change = rng.randrange(5)
    if change == 0:
        path.mkdir()
    elif change == 1:
        os.mkfifo(path)
    elif change == 2:
        path.symlink_to(path.name)
    elif change == 3:
        path.symlink_to(path.parent)


Breaker = Callable[[bytes, Random], bytes]
