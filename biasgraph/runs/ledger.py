"""The ledger of a run: its prompts, images and answers in one SQLite file.

What is in the ledger is done and never redone. Every batch arrives in one transaction, so a
process that dies leaves whole batches behind. Nothing here knows a model or an image's pixels.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.text_files import refuse_pipe
from biasgraph.runs.ledger_check import find_damage
from biasgraph.runs.ledger_rows import (
    CONTROL,
    IMAGES,
    LACKING,
    LATER,
    ORDER,
    READABLE,
    REQUESTED,
    SCHEMA,
    SCHEMA_VERSION,
    UPSERT_FILE,
    WANTED,
    WITH_CONTROLS,
    AnswerRow,
    FileRow,
    GivenPicture,
    ImageRow,
    MadeImage,
    NewImage,
    PromptRow,
    RecordedAnswer,
)
from biasgraph.runs.storage import NEW_RUN, storing_methods


def _is_at_rest(path: Path) -> bool:
    """Whether nobody has it open for writing: then SQLite need not put its files beside it.

    It would, even for reading, and fail where it cannot: in an archived run, or somebody else's.
    Who writes has a log beside it until the last one closes it.
    """
    return not path.with_name(f"{path.name}-wal").exists()


@storing_methods
class Ledger:
    """An open ledger; a context manager that closes it.

    Raises InputError when the file was made by a newer biasgraph, is damaged, or is a pipe. Errors
    of SQLite and of the file system become a ModelError of one line.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.folder = path.parent
        refuse_pipe(path)
        mode = "ro" if read_only else "rwc"
        if read_only and _is_at_rest(path):
            mode = "ro&immutable=1"
        uri = f"{path.absolute().as_uri()}?mode={mode}"
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
        if version < 0:
            raise InputError(f"{show_path(path)} is damaged: schema version {version}; {NEW_RUN}")
        self._connection.execute("PRAGMA foreign_keys = ON")
        if version >= READABLE and (damage := find_damage(self._connection, version)):
            raise InputError(f"{show_path(path)} is damaged: {printable(damage)}; {NEW_RUN}")
        if read_only:
            if READABLE <= version < SCHEMA_VERSION:
                self._connection.executescript(LACKING)
            elif version < SCHEMA_VERSION:
                raise InputError(
                    f"{printable(str(path))} was made by an earlier biasgraph: rerun the run's "
                    "build command to bring it up to date"
                )
            return
        self._connection.execute("PRAGMA journal_mode = WAL")
        # In WAL mode NORMAL survives the death of the process; a power cut may cost the last
        # batches but never the ledger.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        if version == 0:
            # All or nothing: what is not committed is gone when the connection closes.
            self._change(SCHEMA)
        elif version < SCHEMA_VERSION:
            self._change("".join(LATER[v] for v in range(version + 1, SCHEMA_VERSION + 1)))

    def _change(self, script: str) -> None:
        self._connection.executescript(
            f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
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

    def _add(self, insert: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Insert rows in one transaction."""
        with self.transaction():
            self._connection.executemany(insert, rows)

    def _number(self, query: str) -> int:
        with closing(self._connection.execute(query)) as rows:
            row = rows.fetchone()
        return int(row[0]) if row else 0

    # The request

    def record_request(
        self,
        prompts: Sequence[PromptRow],
        *,
        images: int,
        targets: Sequence[str],
        given: Mapping[str, Mapping[int, GivenPicture]] | None = None,
        fewer: Mapping[str, int] | None = None,
    ) -> None:
        """Make `prompts` (in this order), `images` for each and `targets` the current request.

        given: prompt id -> number -> a picture that is there already. fewer: prompt id -> images
        of those that want not so many.
        """
        if any(row.role == CONTROL for row in prompts):
            self._allow_controls()
        execute, many = self._connection.execute, self._connection.executemany
        with self.transaction():
            execute("UPDATE prompts SET position = NULL")
            many(
                "INSERT INTO prompts VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET position = excluded.position",
                [(*row, position) for position, row in enumerate(prompts)],
            )
            execute("DELETE FROM targets")
            many("INSERT INTO targets VALUES (?, ?)", list(enumerate(targets)))
            execute("DELETE FROM request")
            execute("INSERT INTO request VALUES (?)", (images,))
            execute("DELETE FROM fewer")
            many("INSERT INTO fewer VALUES (?, ?)", list((fewer or {}).items()))
            many(
                "INSERT OR REPLACE INTO given VALUES (?, ?, ?, ?)",
                [
                    (prompt, number, *picture)
                    for prompt, pictures in (given or {}).items()
                    for number, picture in pictures.items()
                ],
            )

    def _allow_controls(self) -> None:
        """Let `prompts` hold controls, which the table of an earlier ledger refuses."""
        table = self._connection.execute("SELECT sql FROM sqlite_master WHERE name = 'prompts'")
        if f"'{CONTROL}'" not in str(table.fetchone()):
            self._connection.execute("PRAGMA foreign_keys = OFF")  # while it is exchanged
            try:
                self._change(WITH_CONTROLS)
            finally:
                self._connection.execute("PRAGMA foreign_keys = ON")

    def add_prompts(self, prompts: Sequence[PromptRow]) -> None:
        """Record prompts beside the request; those that are there stay as they are."""
        self._add("INSERT OR IGNORE INTO prompts VALUES (?, ?, ?, ?, ?, ?, NULL)", prompts)

    def read_given(self) -> dict[str, dict[int, GivenPicture]]:
        """Prompt id -> number -> the picture that is there already; empty where all are made."""
        found: dict[str, dict[int, GivenPicture]] = {}
        rows = self._connection.execute(
            "SELECT prompt, number, seed, source FROM given ORDER BY prompt, number"
        )
        for prompt, number, *picture in rows:
            found.setdefault(prompt, {})[number] = GivenPicture(*picture)
        return found

    def requested_prompts(self) -> list[PromptRow]:
        """The prompts of the current request in its order."""
        rows = self._connection.execute(
            "SELECT id, initial, text, role, axis, attribute FROM prompts"
            " WHERE position IS NOT NULL ORDER BY position"
        )
        return [PromptRow(*row) for row in rows]

    def requested_images(self) -> dict[str, int]:
        """Prompt id -> how many images of it the current request wants; empty without one."""
        rows = self._connection.execute(
            f"SELECT id, {WANTED} FROM prompts WHERE position IS NOT NULL"  # noqa: S608
        )
        return dict(rows.fetchall())

    def fewer(self) -> dict[str, int]:
        """Prompt id -> images of those of which the current request wants fewer than of others."""
        return dict(self._connection.execute("SELECT prompt, images FROM fewer").fetchall())

    def requested_targets(self) -> list[str]:
        """The axes that the current request asks about, in its order."""
        rows = self._connection.execute("SELECT name FROM targets ORDER BY position")
        return [name for (name,) in rows]

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
        """The requested images that are made: every prompt's first, every prompt's second ...

        Those of controls follow all others, whose batches are the same with and without them.
        """
        return self._images(f"{IMAGES} WHERE {REQUESTED} ORDER BY {ORDER}")

    def images_of(self, prompt: str) -> list[ImageRow]:
        """The images of the prompt with this id that are made, requested or not."""
        return self._images(f"{IMAGES} WHERE prompts.id = ? ORDER BY number", prompt)

    def _images(self, query: str, *values: str) -> list[ImageRow]:
        rows = self._connection.execute(query, values)
        return [
            ImageRow(key, id, text, seed, plan, FileRow(*file), withheld)
            for key, id, text, seed, plan, withheld, *file in rows
        ]

    def add_images(
        self, images: Sequence[tuple[NewImage, MadeImage]], *, plan: int
    ) -> list[ImageRow]:
        """Record new images; one that is there already is an error (sqlite3.IntegrityError)."""
        rows = []
        with self.transaction():
            self._connection.executemany(UPSERT_FILE, [made.file for _, made in images])
            for (id, prompt, text, number, seed), (file, withheld, revised) in images:
                inserted = self._connection.execute(
                    "INSERT INTO images (id, prompt, number, seed, plan, sha256, withheld, revised)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (id, prompt, number, seed, plan, file.sha256, withheld, revised),
                )
                key = inserted.lastrowid or 0
                rows.append(ImageRow(key, id, text, seed, plan, file, withheld))
        return rows

    def replace_files(self, files: Sequence[tuple[ImageRow, MadeImage]]) -> None:
        """Record what became of images made again; one that differs loses its answers."""
        changed = [
            (image, made)
            for image, made in files
            if (image.file.sha256, image.withheld) != (made.file.sha256, made.withheld)
        ]
        with self.transaction():
            self._connection.executemany(UPSERT_FILE, [made.file for _, made in files])
            self._connection.executemany(
                "UPDATE images SET sha256 = ?, withheld = ?, revised = ? WHERE key = ?",
                [(file.sha256, *fate, image.key) for image, (file, *fate) in changed],
            )
            keys = [(image.key,) for image, _ in changed]
            self._connection.executemany("DELETE FROM answers WHERE image = ?", keys)
            self._connection.executemany("DELETE FROM texts WHERE image = ?", keys)

    def withheld(self) -> dict[str, int]:
        """Reason -> how many requested images are withheld for it."""
        rows = self._connection.execute(
            "SELECT withheld, count(*) FROM images JOIN prompts ON prompts.id = prompt"  # noqa: S608
            f" WHERE withheld IS NOT NULL AND {REQUESTED} GROUP BY withheld ORDER BY withheld"
        )
        return dict(rows.fetchall())

    def count_revised(self) -> int:
        """How many requested images were made from a prompt that was rewritten on the way."""
        return self._number(
            "SELECT count(*) FROM images JOIN prompts ON prompts.id = prompt"  # noqa: S608
            f" WHERE revised IS NOT NULL AND {REQUESTED}"
        )

    def record_files(self, files: Sequence[FileRow]) -> None:
        """Record that these files were found whole, with the time stamps they have now."""
        if files:
            self._add(UPSERT_FILE, files)

    # Answers

    def questions(self, judge: str) -> dict[str, tuple[int, str]]:
        """Target -> (key, the words asked) of what this judge was asked so far."""
        rows = self._connection.execute(
            "SELECT target, id, asked FROM questions WHERE judge = ?", (judge,)
        )
        return {target: (key, asked) for target, key, asked in rows}

    def add_questions(self, judge: str, asked: dict[str, str]) -> None:
        """Record the words of new questions by target."""
        self._add(
            "INSERT INTO questions (judge, target, asked) VALUES (?, ?, ?)",
            [(judge, target, words) for target, words in asked.items()],
        )

    def read_answered(self, judge: str) -> dict[int, dict[str, RecordedAnswer]]:
        """Image key -> target -> the answer, for everything this judge has answered."""
        found: dict[int, dict[str, RecordedAnswer]] = {}
        rows = self._connection.execute(
            "SELECT image, target, plan, answer, confidence FROM answers"
            " JOIN questions ON questions.id = question WHERE judge = ?",
            (judge,),
        )
        for image, target, *answer in rows:
            found.setdefault(image, {})[target] = RecordedAnswer(*answer)
        return found

    def add_answers(self, answers: Sequence[AnswerRow], *, plan: int) -> None:
        """Record answers; one that is there already is an error (sqlite3.IntegrityError)."""
        self._add(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(image, question, plan, *said) for image, question, *said in answers],
        )

    def answers_table(self, judge: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Columns and rows of the current request's hinge table (no `model`), in plan order."""
        cursor = self._connection.execute(
            "SELECT first.text AS prompt, prompts.role, prompts.axis, prompts.attribute,"  # noqa: S608
            " images.id AS image, target, answer, confidence"
            " FROM prompts JOIN prompts AS first ON first.id = prompts.initial"
            " JOIN images ON images.prompt = prompts.id"
            " JOIN answers ON answers.image = images.key"
            " JOIN questions ON questions.id = answers.question"
            " JOIN targets ON targets.name = target"
            f" WHERE judge = ? AND prompts.{REQUESTED} AND prompts.role <> 'other'"
            " ORDER BY prompts.position, number, targets.position",
            (judge,),
        )
        return [column[0] for column in cursor.description], cursor.fetchall()

    # What methods look at

    def texts(self, judge: str, asked: str) -> dict[int, str]:
        """Image key -> what this judge said to an open question."""
        rows = self._connection.execute(
            "SELECT image, said FROM texts WHERE judge = ? AND asked = ?", (judge, asked)
        )
        return dict(rows.fetchall())

    def add_texts(self, judge: str, asked: str, said: Sequence[tuple[int, str]]) -> None:
        """Record what a judge said of images, by their keys."""
        rows = [(image, judge, asked, text) for image, text in said]
        self._add("INSERT INTO texts VALUES (?, ?, ?, ?)", rows)

    def vectors(self, embedder: str) -> dict[str, bytes]:
        """SHA-256 of a file or text -> its embedding, float32 in little-endian order."""
        rows = self._connection.execute(
            "SELECT what, vector FROM vectors WHERE embedder = ?", (embedder,)
        )
        return dict(rows.fetchall())

    def add_vectors(self, embedder: str, vectors: Sequence[tuple[str, bytes]]) -> None:
        """Record embeddings."""
        rows = [(what, embedder, vector) for what, vector in vectors]
        self._add("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
