"""`biasgraph plan`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasgraph.commands import main
from tests.command_line import refusal


def test_prints_tables_and_writes_the_plan(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(run)]) == 0
    shown = capsys.readouterr().out
    assert "Which single intervention brings each axis closest to its ideal" in shown
    assert (run / "plan.json").exists()


def test_json_is_one_document(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(run), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads((run / "plan.json").read_text("utf-8"))


def test_quiet_and_elsewhere(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(run.iterdir())
    targets = tmp_path / "targets.yaml"
    targets.write_text("clothing: {weight: 2}\n")
    arguments = ["--targets", str(targets), "--steps", "1", "-o", str(tmp_path / "out"), "--quiet"]
    assert main(["plan", str(run), *arguments]) == 0
    assert capsys.readouterr() == ("", "")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["plan.json"]
    assert sorted(run.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--targets", "nowhere.yaml"], "cannot read targets"),
        (["--targets", "."], "cannot read targets"),
        (["--verify"], "made from an answers table"),
        (["--verify-images", "3"], "--verify-images needs --verify"),
        (["--verify", "--verify-images", "0"], "--verify-images"),
        (["--axes", "x.yaml"], "--axes needs --verify"),
        (["--steps", "0"], "--steps"),
    ],
)
def test_bad_input_is_one_line_and_nothing_written(
    run: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(run.iterdir())
    assert message in refusal(capsys, "plan", run, *arguments)
    assert sorted(run.iterdir()) == before


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(tmp_path / "nowhere")]) == 2
    assert "nowhere does not exist" in capsys.readouterr().err
