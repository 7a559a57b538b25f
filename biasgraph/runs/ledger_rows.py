"""What a ledger holds: its tables, and the records that go in and come out."""

from __future__ import annotations

from typing import Final, NamedTuple

SCHEMA_VERSION = 3
MOST_IMAGES = 1_000_000
"""Of a prompt."""

PROMPTS = """(
    id        TEXT PRIMARY KEY,
    initial   TEXT NOT NULL REFERENCES prompts (id),  -- the initial prompt it belongs to
    text      TEXT NOT NULL,
    role      TEXT NOT NULL CHECK (role IN ('initial', 'counterfactual', 'control', 'other')),
    axis      TEXT NOT NULL,                          -- the intervention, '' for none
    attribute TEXT NOT NULL,
    position  INTEGER                                 -- in the latest request, NULL: not in it
);
"""
SCHEMA = f"CREATE TABLE prompts {PROMPTS}"
SCHEMA += """
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
    withheld  TEXT,                                   -- why it is not looked at, NULL: it is
    revised   TEXT,                                   -- what its prompt was rewritten to
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

LOOKED_AT = """
CREATE TABLE texts (                                  -- what a judge said in its own words
    image     INTEGER NOT NULL REFERENCES images (key),
    judge     TEXT NOT NULL,
    asked     TEXT NOT NULL,
    said      TEXT NOT NULL,
    PRIMARY KEY (image, judge, asked)
) WITHOUT ROWID;
CREATE TABLE vectors (                                -- embeddings of pictures and texts
    what      TEXT NOT NULL,                          -- the SHA-256 of the file, or of the text
    embedder  TEXT NOT NULL,                          -- its fingerprint
    vector    BLOB NOT NULL,                          -- float32, little-endian
    PRIMARY KEY (what, embedder)
) WITHOUT ROWID;
"""
GIVEN = """
CREATE TABLE given (                                  -- pictures that nobody needs to make
    prompt    TEXT NOT NULL REFERENCES prompts (id),
    number    INTEGER NOT NULL,
    seed      INTEGER NOT NULL,                       -- what the generator finds it by
    source    TEXT NOT NULL,                          -- its path within the folder
    PRIMARY KEY (prompt, number)
) WITHOUT ROWID;
"""
FEWER = """TABLE IF NOT EXISTS fewer (            -- prompts that want fewer images than the request
    prompt    TEXT PRIMARY KEY,
    images    INTEGER NOT NULL
) WITHOUT ROWID;
"""
SCHEMA += f"{LOOKED_AT}{GIVEN}CREATE {FEWER}"
READABLE = 2
"""The earliest version that is read as it is, with nothing in the tables that it lacks."""
LACKING = f"CREATE TEMP {FEWER}"
SINCE = {"fewer": 3}
"""Table -> the version that brought it, where that is later than `READABLE`."""

LATER = {  # version -> what brings a ledger from the one before up to it
    2: "ALTER TABLE images ADD COLUMN withheld TEXT; ALTER TABLE images ADD COLUMN revised TEXT;"
    + LOOKED_AT
    + GIVEN,
    3: f"CREATE {FEWER}",
}

WITH_CONTROLS = f"CREATE TABLE prompts_now {PROMPTS}"
WITH_CONTROLS += (
    "INSERT INTO prompts_now SELECT * FROM prompts; DROP TABLE prompts;"
    "ALTER TABLE prompts_now RENAME TO prompts;"
)
"""For ledgers from before there were any."""
ORDER = "role = 'control', number, position"
"""Each prompt's first image, each prompt's second ...; those of controls behind all others."""

IMAGES = (
    "SELECT key, images.id, text, seed, plan, withheld, sha256, bytes, mtime_ns"
    " FROM images JOIN prompts ON prompts.id = prompt JOIN files USING (sha256)"
)
WANTED = (
    "coalesce((SELECT images FROM fewer WHERE fewer.prompt = prompts.id),"
    " (SELECT images FROM request))"
)
"""How many images of a prompt the latest request wants."""
REQUESTED = f"position IS NOT NULL AND number < {WANTED}"
"""Which images are those of the latest request."""
UPSERT_FILE = (
    "INSERT INTO files VALUES (?, ?, ?) ON CONFLICT (sha256)"
    " DO UPDATE SET bytes = excluded.bytes, mtime_ns = excluded.mtime_ns"
)

CONTROL = "control"
"""The role of a prompt's neutral rewordings."""
OTHER: Final = "other"
"""The role of prompts that stand in no table."""
GATE = ""
"""The target under which the answer to the gate question is kept."""


class PromptRow(NamedTuple):
    """A prompt in one role; `initial` is the id of the initial prompt it belongs to."""

    id: str
    initial: str
    text: str
    role: str
    axis: str
    attribute: str


class FileRow(NamedTuple):
    """An image file by the SHA-256 of its bytes, with what tells that it was not touched since."""

    sha256: str
    bytes: int
    mtime_ns: int


class ImageRow(NamedTuple):
    """An image that is made, from `seed` under `plan`; `text` is what its prompt says.

    withheld: why nothing is asked about it, None for one that is shown.
    """

    key: int
    id: str
    text: str
    seed: int
    plan: int
    file: FileRow
    withheld: str | None = None


class MadeImage(NamedTuple):
    """What became of an image: its file, and what its generator told of it."""

    file: FileRow
    withheld: str | None = None
    revised: str | None = None


class NewImage(NamedTuple):
    """Image `number` (from 0) of the prompt with id `prompt`, to be made from `seed`."""

    id: str
    prompt: str
    text: str
    number: int
    seed: int


class GivenPicture(NamedTuple):
    """A picture that is there already: the seed its generator finds it by, and where it lies."""

    seed: int
    source: str


class AnswerRow(NamedTuple):
    """A judge's answer about one image; `question` and `image` are keys of the ledger."""

    image: int
    question: int
    answer: str
    confidence: float | None = None
    probabilities: str | None = None
    yes: int | None = None


class RecordedAnswer(NamedTuple):
    """An answer that is there, with the plan that asked for it."""

    plan: int
    answer: str
    confidence: float | None
