"""A run that a judge has looked at, made once for all tests of agreement."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.judged_run import judged_run
from tests.shared_runs import copy_of


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return judged_run(tmp_path_factory.mktemp("judged") / "run")


@pytest.fixture
def run(judged: Path, tmp_path: Path) -> Path:
    return copy_of(judged, tmp_path / "run")
