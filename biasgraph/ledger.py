"""The ledger of a run: its prompts, images and answers in one SQLite file.

What is in the ledger is done and never redone. Every batch arrives in one transaction, so a
process that dies leaves whole batches behind. Nothing here knows a model or an image's pixels.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from biasgraph.errors import InputError, printable

SCHEMA_VERSION = 1

SCHEMA = """
CREATE TABLE prompts (
    id        TEXT PRIMARY KEY,
    initial   TEXT NOT NULL REFERENCES prompts (id),  -- the initial prompt it belongs to
    text      TEXT NOT NULL,
    role      TEXT NOT NULL CHECK (role IN ('initial', 'counterfactual', 'other')),
    axis      TEXT NOT NULL,                          -- the intervention, '' for none
    attribute TEXT NOT NULL,
    position  INTEGER                                 -- in the latest request, NULL: not in it
);
CREATE TABLE targets (                                -- the axes of the latest request
    position  INTEGER PRIMARY KEY,
    name      TEXT NOT NULL UNIQUE
);
CREATE TABLE request (images INTEGER NOT NULL);       -- one row: images for each prompt
CREATE TABLE plans (                                  -- what a build found left to do
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    work      TEXT NOT NULL,
    digest    TEXT NOT NULL
);
CREATE TABLE files (
    sha256    TEXT PRIMARY KEY,                       -- images/<sha256>.png
    bytes     INTEGER NOT NULL,
    mtime_ns  INTEGER NOT NULL                        -- unchanged since: not hashed again
);
CREATE TABLE images (
    key       INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    prompt    TEXT NOT NULL REFERENCES prompts (id),
    number    INTEGER NOT NULL,
    seed      INTEGER NOT NULL,
    sha256    TEXT NOT NULL REFERENCES files (sha256),
    plan      INTEGER NOT NULL REFERENCES plans (id),
    UNIQUE (prompt, number)
);
CREATE TABLE questions (
    id        INTEGER PRIMARY KEY,
    judge     TEXT NOT NULL,
    target    TEXT NOT NULL,                          -- an axis, '' for the gate question
    asked     TEXT NOT NULL,                          -- JSON: the very words
    UNIQUE (judge, target)
);
CREATE TABLE answers (
    image     INTEGER NOT NULL REFERENCES images (key),
    question  INTEGER NOT NULL REFERENCES questions (id),
    plan      INTEGER NOT NULL REFERENCES plans (id),
    answer    TEXT NOT NULL,
    confidence REAL,
    probabilities TEXT,                               -- JSON
    yes       INTEGER,                                -- of several yes/no questions
    PRIMARY KEY (image, question)
) WITHOUT ROWID;
"""

GATE = ""
"""The target under which the answer to the gate question is kept."""


@dataclass(frozen=True, slots=True)
class PromptRow:
    """A prompt in one role; `initial` is the id of the initial prompt it belongs to."""

    id: str
    initial: str
    text: str
    role: str
    axis: str
    attribute: str


@dataclass(frozen=True, slots=True)
class FileRow:
    """An image file by the SHA-256 of its bytes, with what tells that it was not touched since."""

    sha256: str
    bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class ImageRow:
    """An image that is made, from `seed` under `plan`; `text` is what its prompt says."""

    key: int
    id: str
    text: str
    seed: int
    plan: int
    file: FileRow


@dataclass(frozen=True, slots=True)
class NewImage:
    """Image `number` (from 0) of the prompt with id `prompt`, to be made from `seed`."""

    id: str
    prompt: str
    text: str
    number: int
    seed: int


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A judge's answer about one image; `question` and `image` are keys of the ledger."""

    image: int
    question: int
    answer: str
    confidence: float | None = None
    probabilities: str | None = None
    yes: int | None = None


class Answered(NamedTuple):
    """An answer that is there, with the plan that asked for it."""

    plan: int
    answer: str
    confidence: float | None


def _is_at_rest(path: Path) -> bool:
    """Whether nobody can be writing: then SQLite need not put its files beside the ledger.

    It would, even for reading, and fail where it cannot: in an archived run, or somebody else's.
    """
    return not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()


class Ledger:
    """An open ledger; a context manager that closes it.

    Raises InputError when the file was made by a newer biasgraph. Errors of SQLite and of the
    file system pass through: `biasgraph.run` puts them into words.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        mode = "ro" if read_only else "rwc"
        if read_only and _is_at_rest(path):
            mode = "ro&immutable=1"
        uri = f"{path.resolve().as_uri()}?mode={mode}"
        self._connection = sqlite3.connect(uri, uri=True, isolation_level=None)
        try:
            self._prepare(path, read_only)
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self, path: Path, read_only: bool) -> None:
        version = self._number("PRAGMA user_version")
        if version > SCHEMA_VERSION:
            raise InputError(
                f"{printable(str(path))} has schema version {version}, made by a newer biasgraph; "
                f"this one reads up to version {SCHEMA_VERSION}"
            )
        self._connection.execute("PRAGMA foreign_keys = ON")
        if read_only:
            return
        self._connection.execute("PRAGMA journal_mode = WAL")
        # In WAL mode NORMAL survives the death of the process; a power cut may cost the last
        # batches but never the ledger.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            # All or nothing: what is not committed is gone when the connection closes.
            self._connection.executescript(
                f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )

    def close(self) -> None:
        """Close the file; an open transaction is rolled back."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything inside is recorded, or, when it raises, nothing."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk may have rolled back already.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _number(self, query: str) -> int:
        with closing(self._connection.execute(query)) as rows:
            row = rows.fetchone()
        return int(row[0]) if row else 0

    # The request

    def record_request(
        self, prompts: Sequence[PromptRow], *, images: int, targets: Sequence[str]
    ) -> None:
        """Make `prompts` (in this order), `images` for each and `targets` the current request."""
        execute, many = self._connection.execute, self._connection.executemany
        with self.transaction():
            execute("UPDATE prompts SET position = NULL")
            many(
                "INSERT INTO prompts VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET position = excluded.position",
                [
                    (row.id, row.initial, row.text, row.role, row.axis, row.attribute, position)
                    for position, row in enumerate(prompts)
                ],
            )
            execute("DELETE FROM targets")
            many("INSERT INTO targets VALUES (?, ?)", list(enumerate(targets)))
            execute("DELETE FROM request")
            execute("INSERT INTO request VALUES (?)", (images,))

    def requested_prompts(self) -> list[PromptRow]:
        """The prompts of the current request in its order."""
        rows = self._connection.execute(
            "SELECT id, initial, text, role, axis, attribute FROM prompts"
            " WHERE position IS NOT NULL ORDER BY position"
        )
        return [PromptRow(*row) for row in rows]

    def requested_images(self) -> int:
        """How many images the current request wants for each prompt; 0 without a request."""
        return self._number("SELECT images FROM request")

    def requested_targets(self) -> list[str]:
        """The axes that the current request asks about, in its order."""
        return [name for (name,) in self._connection.execute("SELECT name FROM targets ORDER BY 1")]

    def plan(self, work: str, digest: str) -> int:
        """The plan of this `work`: the latest one if its digest is the same, else a new one."""
        latest = self._connection.execute(
            "SELECT id, digest FROM plans WHERE work = ? ORDER BY id DESC LIMIT 1", (work,)
        ).fetchone()
        if latest is not None and latest[1] == digest:
            return int(latest[0])
        inserted = self._connection.execute(
            "INSERT INTO plans (work, digest) VALUES (?, ?)", (work, digest)
        )
        return inserted.lastrowid or 0

    # Images

    def images(self) -> list[ImageRow]:
        """The requested images that are made: every prompt's first, every prompt's second ..."""
        rows = self._connection.execute(
            "SELECT key, images.id, text, seed, plan, sha256, bytes, mtime_ns"
            " FROM images JOIN prompts ON prompts.id = prompt JOIN files USING (sha256)"
            " WHERE position IS NOT NULL AND number < (SELECT images FROM request)"
            " ORDER BY number, position"
        )
        return [
            ImageRow(key, id, text, seed, plan, FileRow(*file))
            for key, id, text, seed, plan, *file in rows
        ]

    def add_images(self, images: Sequence[tuple[NewImage, FileRow]], *, plan: int) -> None:
        """Record new images; one that is there already is an error (sqlite3.IntegrityError)."""
        with self.transaction():
            self._upsert_files(file for _, file in images)
            self._connection.executemany(
                "INSERT INTO images (id, prompt, number, seed, sha256, plan)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (image.id, image.prompt, image.number, image.seed, file.sha256, plan)
                    for image, file in images
                ],
            )

    def replace_files(self, files: Sequence[tuple[ImageRow, FileRow]]) -> None:
        """Record the files of images made again; one that differs loses its answers."""
        changed = [(image, file) for image, file in files if image.file.sha256 != file.sha256]
        with self.transaction():
            self._upsert_files(file for _, file in files)
            self._connection.executemany(
                "UPDATE images SET sha256 = ? WHERE key = ?",
                [(file.sha256, image.key) for image, file in changed],
            )
            self._connection.executemany(
                "DELETE FROM answers WHERE image = ?", [(image.key,) for image, _ in changed]
            )

    def record_files(self, files: Sequence[FileRow]) -> None:
        """Record that these files were found whole, with the time stamps they have now."""
        if not files:
            return
        with self.transaction():
            self._upsert_files(files)

    def _upsert_files(self, files: Iterable[FileRow]) -> None:
        self._connection.executemany(
            "INSERT INTO files VALUES (?, ?, ?) ON CONFLICT (sha256)"
            " DO UPDATE SET bytes = excluded.bytes, mtime_ns = excluded.mtime_ns",
            [(file.sha256, file.bytes, file.mtime_ns) for file in files],
        )

    # Answers

    def questions(self, judge: str) -> dict[str, tuple[int, str]]:
        """target -> (key, the words asked) of what this judge was asked so far."""
        rows = self._connection.execute(
            "SELECT target, id, asked FROM questions WHERE judge = ?", (judge,)
        )
        return {target: (key, asked) for target, key, asked in rows}

    def add_questions(self, judge: str, asked: dict[str, str]) -> None:
        """Record the words of new questions by target."""
        with self.transaction():
            self._connection.executemany(
                "INSERT INTO questions (judge, target, asked) VALUES (?, ?, ?)",
                [(judge, target, words) for target, words in asked.items()],
            )

    def answered(self, judge: str) -> dict[int, dict[str, Answered]]:
        """image key -> target -> the answer, for everything this judge has answered."""
        found: dict[int, dict[str, Answered]] = {}
        rows = self._connection.execute(
            "SELECT image, target, plan, answer, confidence FROM answers"
            " JOIN questions ON questions.id = question WHERE judge = ?",
            (judge,),
        )
        for image, target, *answer in rows:
            found.setdefault(image, {})[target] = Answered(*answer)
        return found

    def add_answers(self, answers: Sequence[AnswerRow], *, plan: int) -> None:
        """Record answers; one that is there already is an error (sqlite3.IntegrityError)."""
        with self.transaction():
            self._connection.executemany(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        row.image,
                        row.question,
                        plan,
                        row.answer,
                        row.confidence,
                        row.probabilities,
                        row.yes,
                    )
                    for row in answers
                ],
            )

    def answers_table(self, judge: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Columns and rows of the current request's hinge table (no `model`), in plan order."""
        cursor = self._connection.execute(
            "SELECT first.text AS prompt, prompts.role, prompts.axis, prompts.attribute,"
            " images.id AS image, target, answer, confidence"
            " FROM prompts JOIN prompts AS first ON first.id = prompts.initial"
            " JOIN images ON images.prompt = prompts.id"
            " JOIN answers ON answers.image = images.key"
            " JOIN questions ON questions.id = answers.question"
            " JOIN targets ON targets.name = target"
            " WHERE judge = ? AND prompts.position IS NOT NULL AND prompts.role <> 'other'"
            " AND number < (SELECT images FROM request)"
            " ORDER BY prompts.position, number, targets.position",
            (judge,),
        )
        return [column[0] for column in cursor.description], cursor.fetchall()

    def several_yes(self, judge: str) -> dict[str, int]:
        """target -> how many requested images got more than one yes to its questions."""
        rows = self._connection.execute(
            "SELECT target, count(*) FROM answers"
            " JOIN questions ON questions.id = question JOIN targets ON name = target"
            " JOIN images ON images.key = image JOIN prompts ON prompts.id = prompt"
            " WHERE judge = ? AND yes > 1 AND prompts.position IS NOT NULL"
            " AND number < (SELECT images FROM request)"
            " GROUP BY target ORDER BY targets.position",
            (judge,),
        )
        return dict(rows.fetchall())
