"""`biasgraph compare`: exit codes, stdout and stderr, and files written before gates are judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import biasgraph
from biasgraph.commands import main
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE, TERMINAL, UNICODE


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """old: a baseline whose genders are at their ideal; new: nobody but men."""
    folder = tmp_path_factory.mktemp("runs")
    new = librarian_table(model="shop:v2")
    old = librarian_table(seed=1)
    initial = (old["role"] == "initial") & (old["target"] == "gender")
    old.loc[initial, "answer"] = ["male", "female"] * (initial.sum() // 2)
    new.loc[initial, "answer"] = "male"
    biasgraph.save(biasgraph.analyze(old, bootstrap=200), folder / "old")
    biasgraph.save(biasgraph.analyze(new, bootstrap=200), folder / "new")
    return folder


def test_tables_and_files(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["compare", str(runs / "old"), str(runs / "new"), "-o", str(tmp_path / "out")])
    captured = capsys.readouterr()
    assert (code, captured.err) == (0, "")
    assert "shop:v1 (old)" in captured.out
    assert "Distance to the ideal" in captured.out
    assert {"compare.json", "compare.csv"} <= {p.name for p in (tmp_path / "out").iterdir()}
    assert "compare.json" in captured.out


def test_json_is_one_document(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code = main(
        ["compare", str(runs / "old"), str(runs / "new"), "-o", str(out), "--json",
         "--fail-if", "worse:gender>0.01", "--fail-if", "new-edges>0"]
    )  # fmt: skip
    captured = capsys.readouterr()
    assert code == 3
    assert json.loads(captured.out) == json.loads((out / "compare.json").read_bytes())
    assert (
        "gate 'worse:gender>0.01' failed: shop:v2 (new): gender's distance to its ideal grew by +"
        in captured.err
    )
    assert "new-edges" not in captured.err


def test_a_failed_gate_ends_with_3_after_the_files(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = ["compare", str(runs / "old"), str(runs / "new"), "-o", str(out), "--quiet"]
    assert main([*arguments, "--fail-if", " worse: gender > 0.01 "]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert (out / "compare.json").exists()
    assert main([*arguments, "--fail-if", "worse:gender>0.9"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_run_against_itself_passes(runs: Path, tmp_path: Path) -> None:
    gates = ["worse:gender>0", "worse:age>0", "new-edges>0", "amplification>0"]
    options = [word for gate in gates for word in ("--fail-if", gate)]
    new = str(runs / "new")
    assert main(["compare", new, new, "-o", str(tmp_path / "out"), "-q", *options]) == 0


@pytest.mark.parametrize("gate", ["worse:gender", "worse:gendr>0", "worse:gender>x", "x>1", ""])
def test_a_malformed_gate_ends_with_2_and_writes_nothing(
    runs: Path, tmp_path: Path, gate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    new, out = str(runs / "new"), tmp_path / "out"
    assert main(["compare", new, new, "-o", str(out), "--fail-if", gate]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not out.exists()


def test_what_cannot_be_compared_ends_with_2(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = biasgraph.analyze(librarian_table(), bootstrap=200, mix="pooled")
    biasgraph.save(other, tmp_path / "other")
    out = tmp_path / "out"
    assert main(["compare", str(runs / "new"), str(tmp_path / "other"), "-o", str(out)]) == 2
    assert "the settings of mix differ" in capsys.readouterr().err
    assert main(["compare", str(runs / "new"), str(tmp_path / "gone"), "-o", str(out)]) == 2
    assert main(["compare", str(runs / "new"), "-o", str(out)]) == 2
    assert main(["compare", str(runs / "new"), str(runs / "old")]) == 2
    assert not out.exists()


def test_hostile_names_do_not_reach_the_terminal_raw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*TERMINAL, *UNICODE][:24]
    axes = {words[3 * i]: tuple(words[3 * i + 1 : 3 * i + 3]) for i in range(8)}
    table = librarian_table(images=20, axes=axes, prompt=HOSTILE[80], model=HOSTILE[95])
    biasgraph.save(biasgraph.analyze(table, bootstrap=200), tmp_path / "run")
    out, run = str(tmp_path / "out"), str(tmp_path / "run")
    assert main(["compare", run, run, "-o", out, "--fail-if", "amplification>-99"]) == 3
    captured = capsys.readouterr()
    for text in (captured.out, captured.err):
        assert not any(ord(c) < 32 and c != "\n" for c in text)
        assert not any(mark in text for mark in "\x7f\u200b\u202e\u2066\u2067\u2068\u2069\ufeff")
