"""What tests look up in a run's ledger."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

REQUEST = (
    "SELECT prompts.id, position, (SELECT images FROM request), (SELECT count(*) FROM targets)"
    " FROM prompts WHERE position IS NOT NULL ORDER BY position"
)
IMAGES = "SELECT images.id, role, sha256 FROM images JOIN prompts ON prompts.id = prompt"
FEWER = "SELECT prompt, images FROM fewer ORDER BY prompt"


def query(directory: Path, sql: str) -> list[Any]:
    """The rows that a run's ledger has."""
    with closing(sqlite3.connect(directory / "ledger.sqlite")) as ledger:
        return ledger.execute(sql).fetchall()
