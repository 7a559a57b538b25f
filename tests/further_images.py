"""What tests of images beside a run's own look at: that the run stays as it was, and dies well."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biasgraph.runs.directory import Run
from tests.ledger_queries import IMAGES, REQUEST, query

TABLES = ("answers.csv", "tables.csv", "pairs.csv", "nodes.csv")
Image = tuple[str, str, str]
"""Id, role of its prompt, digest."""


def check_tables(run: Path, before: Path, names: Sequence[str] = TABLES) -> None:
    """The files of a run's analysis are what they were."""
    for name in names:
        assert (run / name).read_bytes() == (before / name).read_bytes()


def new_images(run: Path, before: Path) -> set[Image]:
    """What a run has beside all that it had before; its request is the same."""
    assert query(run, REQUEST) == query(before, REQUEST)
    had, has = set(query(before, IMAGES)), set(query(run, IMAGES))
    assert had < has
    return has - had


def die_after_a_batch() -> None:
    """Let this process end after the first batch of images, as by a kill."""
    add = Run.add_images

    def add_and_die(self: Run, made: Any, *, plan: Any) -> None:
        add(self, made, plan=plan)
        os._exit(9)

    Run.add_images = add_and_die  # type: ignore[method-assign]
