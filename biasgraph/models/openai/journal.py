"""What a paid server was asked and what it said, kept with the run in one SQLite file.

A request is counted before it is sent and its response is stored before anybody uses it, each in
a transaction of its own.  So a process that dies at any moment has lost no response that reached
it, has asked for no more than the budget, and its successor knows both.
"""

from __future__ import annotations

import sqlite3
import threading
import uuid
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from biasgraph.errors import InputError, ModelError, printable
from biasgraph.models.openai.budget import Budget
from biasgraph.models.openai.server import Response

FILE = "responses.sqlite"
VERSION = 1
BUSY_SECONDS = 30
LARGEST = 2**27
"""Bytes of a response; twice of what is ever read from a server."""

# requests: one row for each time something was sent. outcome: "sent" until it is known, then
# "answered", "lost" (charged or not, nobody can tell) or "free" (turned away before any work).
# spent: the sum of all but the free ones. heard: what responses about a model said of themselves.
# learned: what a server was found not to take.
SCHEMA = """
CREATE TABLE journal (id TEXT NOT NULL);
CREATE TABLE responses (
    key TEXT PRIMARY KEY, at TEXT NOT NULL, asked TEXT NOT NULL, status INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE TABLE requests (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, key TEXT NOT NULL, images INTEGER NOT NULL,
    outcome TEXT NOT NULL, problem TEXT
);
CREATE TABLE spent (calls INTEGER NOT NULL, images INTEGER NOT NULL);
INSERT INTO spent VALUES (0, 0);
CREATE TABLE heard (
    about TEXT NOT NULL, model TEXT NOT NULL, system_fingerprint TEXT NOT NULL,
    responses INTEGER NOT NULL, PRIMARY KEY (about, model, system_fingerprint)
);
CREATE TABLE learned (about TEXT NOT NULL, fact TEXT NOT NULL, PRIMARY KEY (about, fact));
"""


DAMAGE = (
    "SELECT 1 FROM responses WHERE typeof(key) <> 'text' OR typeof(status) <> 'integer'"
    " OR typeof(body) <> 'blob'",
    "SELECT 1 FROM requests WHERE typeof(key) <> 'text' OR typeof(images) <> 'integer'",
    "SELECT 1 FROM heard WHERE typeof(model) <> 'text' OR typeof(system_fingerprint) <> 'text'"
    " OR typeof(responses) <> 'integer'",
    "SELECT 1 FROM learned WHERE typeof(fact) <> 'text'",
    "SELECT 1 WHERE (SELECT count(*) FROM spent WHERE typeof(calls) = 'integer'"
    " AND typeof(images) = 'integer' AND calls >= 0 AND images >= 0) <> 1"
    " OR (SELECT count(*) FROM spent) <> 1",
    "SELECT 1 WHERE (SELECT count(*) FROM journal WHERE typeof(id) = 'text') <> 1",
)
"""What finds no row in a file as it was written: anybody may have written into it."""


class BudgetSpent(ModelError):
    """One request more would exceed the budget; nothing was sent."""


class Journal:
    """The journal of a run; several threads may use one, and several processes one file.

    Args:
        folder: Where the file is, or will be when something is first asked; None keeps the journal
            in memory, for as long as this object lives.

    Raises:
        ModelError: The file cannot be read or written.
        InputError: A newer biasgraph wrote it.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / FILE
        self._lock = threading.RLock()
        self._opened: sqlite3.Connection | None = None

    @cached_property
    def identity(self) -> str:
        """A random name of this journal, the same for as long as its file exists."""
        return str(self._rows("SELECT id FROM journal")[0][0])

    @property
    def begun(self) -> bool:
        """Whether anything was ever asked, as far as can be told without making the file."""
        return self._opened is not None or (self._path is not None and self._path.exists())

    def find(self, key: str) -> Response | None:
        """The response to the request with this key, if one was stored."""
        rows = self._rows("SELECT status, body FROM responses WHERE key = ?", key)
        with self._in_words():
            return Response(rows[0][0], _unpack(rows[0][1])) if rows else None

    def reserve(self, key: str, images: int, budget: Budget) -> int:
        """Count a request that is about to be sent; returns its number for `store` and `settle`.

        Raises BudgetSpent, and counts nothing, where the budget does not allow it.
        """
        with self._transaction(write=True) as connection:
            calls, made = connection.execute("SELECT calls, images FROM spent").fetchone()
            for name, spent, more, limit in (
                ("calls", calls, 1, budget.calls),
                ("images", made, images, budget.images),
            ):
                if limit is not None and more and spent + more > limit:
                    raise BudgetSpent(
                        f"the budget of {limit:,} {name} is spent (this run has used {calls:,} "
                        f"calls and {made:,} images); what is done is kept: rerun the same command "
                        f"with a larger --budget to resume"
                    )
            connection.execute("UPDATE spent SET calls = calls + 1, images = images + ?", (images,))
            row = connection.execute(
                "INSERT INTO requests (at, key, images, outcome) VALUES (?, ?, ?, 'sent')",
                (_now(), key, images),
            )
            return int(row.lastrowid or 0)

    def store(
        self, request: int, response: Response, *, asked: str, about: str, heard: tuple[str, str]
    ) -> None:
        """Store the response to a request that was reserved.

        Args:
            request: Its number.
            response: The response; its headers are not kept.
            asked: The request's content as JSON.
            about: Which model was asked, and for what.
            heard: What the response says of the model and of the machinery that it comes from.
        """
        body = zlib.compress(response.body, 1)
        with self._transaction(write=True) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO responses"
                " SELECT key, ?, ?, ?, ? FROM requests WHERE id = ?",
                (_now(), asked, response.status, body, request),
            )
            connection.execute(
                "INSERT INTO heard VALUES (?, ?, ?, 1)"
                " ON CONFLICT DO UPDATE SET responses = responses + 1",
                (about, *heard),
            )
            connection.execute("UPDATE requests SET outcome = 'answered' WHERE id = ?", (request,))

    def settle(self, request: int, problem: str, *, charged: bool) -> None:
        """Note that a request came to nothing.

        One that may have been charged for stays counted; one that was turned away before any work
        was done no longer counts.
        """
        with self._transaction(write=True) as connection:
            if not charged:
                connection.execute(
                    "UPDATE spent SET calls = calls - 1,"
                    " images = images - (SELECT images FROM requests WHERE id = ?)",
                    (request,),
                )
            connection.execute(
                "UPDATE requests SET outcome = ?, problem = ? WHERE id = ?",
                ("lost" if charged else "free", problem, request),
            )

    def keep_file(self, key: str, address: str, content: bytes) -> None:
        """Store a file that a response pointed to; no request is counted for it."""
        body = zlib.compress(content, 1)
        statement = "INSERT OR REPLACE INTO responses VALUES (?, ?, ?, 200, ?)"
        self._write(statement, key, _now(), address, body)

    def forget(self, key: str) -> None:
        """Drop a response that turned out to be of no use: the next request asks anew."""
        self._write("DELETE FROM responses WHERE key = ?", key)

    def count_answers(self, key: str) -> int:
        """How often the request with this key was answered, forgotten answers included."""
        statement = "SELECT COUNT(*) FROM requests WHERE key = ? AND outcome = 'answered'"
        return int(self._rows(statement, key)[0][0])

    def versions(self, about: str) -> list[tuple[str, str, int]]:
        """What responses said of a model and its machinery, and how many did, in order of words."""
        return self._rows(
            "SELECT model, system_fingerprint, responses FROM heard WHERE about = ? ORDER BY 1, 2",
            about,
        )

    def learn(self, about: str, fact: str) -> None:
        """Remember something about a server's model."""
        self._write("INSERT OR IGNORE INTO learned VALUES (?, ?)", about, fact)

    def facts(self, about: str) -> frozenset[str]:
        """What `learn` was told."""
        rows = self._rows("SELECT fact FROM learned WHERE about = ?", about)
        return frozenset(fact for (fact,) in rows)

    def _rows(self, statement: str, *values: str) -> list[tuple[Any, ...]]:
        with self._transaction() as connection:
            return connection.execute(statement, values).fetchall()

    def _write(self, statement: str, *values: str | int | bytes) -> None:
        with self._transaction(write=True) as connection:
            connection.execute(statement, values)

    @contextmanager
    def _transaction(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        with self._lock, self._in_words():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk may have rolled back already
                    connection.execute("ROLLBACK")
                raise

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self._path or ":memory:",
                isolation_level=None,
                timeout=BUSY_SECONDS,
                check_same_thread=False,
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._opened = connection
            # Nobody owns a model, and so its journal; at the end requests may still be in flight.
            weakref.finalize(self, connection.close).atexit = False
        return self._opened

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        # A power cut costs no response either: they were paid for.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise InputError(
                f"{printable(str(self._path))} has schema version {version}, made by a newer "
                f"biasgraph; this one reads up to version {VERSION}"
            )
        if version == 0:
            for statement in SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute("INSERT INTO journal VALUES (?)", (uuid.uuid4().hex,))
            connection.execute(f"PRAGMA user_version = {VERSION}")
        if any(connection.execute(damage).fetchone() for damage in DAMAGE):
            raise sqlite3.DatabaseError("it is damaged")
        connection.execute("COMMIT")

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.DatabaseError, UnicodeDecodeError, zlib.error) as error:
            raise ModelError(
                f"cannot keep responses in {printable(str(self._path))}: {printable(str(error))}; "
                "no more requests are sent; what is stored is kept"
            ) from error


def _unpack(body: bytes) -> bytes:
    """A stored body; raises zlib.error where it is none, or larger than any that is taken."""
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(body, LARGEST)
    if not unpacking.eof:
        raise zlib.error("a response is cut off or too large")
    return content


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
