"""A finished result without images, made once for all tests of commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import biasgraph
from tests.answer_tables import librarian_table


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("saved") / "run"
    biasgraph.save(biasgraph.analyze(librarian_table(), bootstrap=100), directory)
    return directory


@pytest.fixture
def run(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "run"))
