"""Whether a ledger holds what it should: anybody may have written into the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache

from biasgraph.runs.ledger_rows import MOST_IMAGES, READABLE, SCHEMA, SINCE

TYPES = {"TEXT": "text", "INTEGER": "integer", "REAL": "real", "BLOB": "blob"}
OWN = ("sqlite_sequence", "sqlite_stat1")
"""Tables that SQLite makes for itself."""

_SHA256 = "length(sha256) = 64 AND sha256 NOT GLOB '*[^0-9a-f]*'"
RULES = {
    "prompts": "role IN ('initial', 'counterfactual', 'control', 'other')",
    "request": f"images BETWEEN 1 AND {MOST_IMAGES}",
    "files": f"bytes >= 0 AND {_SHA256}",
    "images": f"number >= 0 AND id = prompt || printf('-%04d', number) AND {_SHA256}",
    "answers": "confidence IS NULL OR confidence BETWEEN 0 AND 1",
    "vectors": "length(vector) > 0 AND length(vector) % 4 = 0",
    "given": "number >= 0",
    "fewer": f"images BETWEEN 1 AND {MOST_IMAGES}",
}
"""What holds of every row of a table besides the types of its columns."""

Column = tuple[str, str, bool]
"""Name, type as `TYPES` has it, and whether it may be NULL."""


def find_damage(ledger: sqlite3.Connection, version: int) -> str | None:
    """The first thing in a ledger that does not belong there; None if none.

    Every row is looked at, in SQLite itself. version: of the ledger's schema, from `READABLE`.
    """
    tables = _expect_columns().items()
    expected = {name: of for name, of in tables if SINCE.get(name, READABLE) <= version}
    for kind, name, sql in ledger.execute("SELECT type, name, sql FROM sqlite_master"):
        ours = name in expected and not str(sql).upper().startswith("CREATE VIRTUAL")
        made = name in OWN or (kind == "index" and sql is None)
        if not made and (kind != "table" or not ours):
            return f"the {kind} {name} does not belong there"
    for table, columns in expected.items():
        found = {name for name, _, _ in _columns(ledger, table)}
        for name, kind, nullable in columns:
            if name not in found:
                return f"table {table} lacks the column {name}"
            missing = f"{name} IS NOT NULL AND " if nullable else ""
            wrong = f"{missing}typeof({name}) <> '{kind}'"
            if _any(ledger, table, wrong):
                return f"table {table}, column {name}: not {kind} in every row"
        if table in RULES and _any(ledger, table, f"NOT ({RULES[table]})"):
            return f"table {table} has a row with impossible values"
    for table, _, parent, _ in ledger.execute("PRAGMA foreign_key_check"):
        return f"table {table} has a row about something that {parent} lacks"
    return None


@cache
def _expect_columns() -> dict[str, list[Column]]:
    with closing(sqlite3.connect(":memory:")) as model:
        model.executescript(SCHEMA)
        tables = model.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: _columns(model, name) for (name,) in tables if name not in OWN}


def _columns(ledger: sqlite3.Connection, table: str) -> list[Column]:
    rows = ledger.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (table,))
    return [
        (str(name), TYPES.get(str(kind), ""), not required and not key)
        for name, kind, required, key in rows
    ]


def _any(ledger: sqlite3.Connection, table: str, condition: str) -> bool:
    query = f"SELECT 1 FROM {table} WHERE {condition} LIMIT 1"  # noqa: S608  (no text of users')
    return ledger.execute(query).fetchone() is not None
