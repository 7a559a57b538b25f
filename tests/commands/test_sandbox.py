"""`biasgraph sandbox`: the planted truth, and no training where a wheel is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from biasgraph.commands import main
from biasgraph.data.result import load
from biasgraph.sandbox.realised_truth import realised_truth
from tests.answer_tables import librarian_table
from tests.browser.conftest import SMALL
from tests.shared_runs import copy_run


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


def test_the_truth_beside_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    copy_run(run, "build", "--prompt", "a librarian", *SMALL)
    assert main(["sandbox", "truth", str(run), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (gender,) = [axis for axis in told["axes"] if axis["axis"] == "gender"]
    assert gender["attributes"] == ["male", "female"]
    assert gender["planted"] == pytest.approx([0.058, 0.942], abs=1e-3)
    assert gender["realised"] == pytest.approx([0.069, 0.931])
    frame = load(run).nodes.set_index("id")
    assert gender["found"] == frame.loc["gender", "initial.distribution"]
    assert len(told["pairs"]) == 12
    exact = realised_truth("a librarian", "sandbox:stereotyped", "sandbox", {"age": "ordinal"})
    for pair in told["pairs"]:
        realised = exact.by_name[pair["source"], pair["target"]]
        assert pair["cramers_v_realised"] == realised.cramers_v
        assert pair["is_realised"] == pytest.approx(realised.sensitivity)
    assert main(["sandbox", "truth", str(run)]) == 0
    screen = capsys.readouterr().out
    assert "Planted Realised" in " ".join(screen.split()) and "gender -> age" in screen


def test_a_truth_is_of_a_prompt_or_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sandbox", "truth"]) == 2
    assert main(["sandbox", "truth", ".", "--prompt", "a nurse"]) == 2
    assert "name a run, or a prompt with --prompt" in capsys.readouterr().err


def test_no_truth_is_known_of_other_models(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    librarian_table().to_csv(tmp_path / "a.csv", index=False)
    assert main(["build", "--answers", str(tmp_path / "a.csv"), "-o", str(tmp_path / "r")]) == 0
    assert main(["sandbox", "truth", str(tmp_path / "r")]) == 2
    assert "only a sandbox run of one prompt has one" in capsys.readouterr().err


def test_the_planted_truth_has_the_sensitivity_of_every_pair(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sandbox", "truth", "--prompt", "a nurse", "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert [*pairs[0]] == ["source", "target", "cramers_v", "w1_before", "w1_after", "is"]
    assert all(pair["is"] == pair["w1_before"] - pair["w1_after"] for pair in pairs)
    assert main(["sandbox", "truth", "--prompt", "a nurse"]) == 0
    strongest = max(pairs, key=lambda pair: pair["cramers_v"] or 0)
    assert f"{strongest['is']:+.3f}" in capsys.readouterr().out
