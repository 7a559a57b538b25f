"""`biasgraph sandbox` without the training code, as a wheel installs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from biasgraph.commands import main


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The training package is absent, as in an installed wheel."""
    for name in [name for name in sys.modules if name.startswith("biasgraph.sandbox.training")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "biasgraph.sandbox.training", None)


@pytest.mark.usefixtures("installed")
def test_training_needs_a_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "train", "--work", str(tmp_path / "work")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "training the sandbox needs a checkout" in line
    assert not (tmp_path / "work").exists()


@pytest.mark.usefixtures("installed")
def test_help_works_without_the_training_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "--help"]) == 0
    assert main(["sandbox", "train", "--help"]) == 0
    assert "judge2" in capsys.readouterr().out
