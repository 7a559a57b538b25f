"""`biasgraph validate`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import biasgraph
from biasgraph.commands import main
from tests.answer_tables import librarian_table


def test_a_table_is_reweighted(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers, pairs = (run / "answers.csv").read_bytes(), (run / "pairs.csv").read_bytes()
    assert main(["validate", str(run)]) == 0
    shown = capsys.readouterr().out
    assert "Predictions against mitigations" in shown
    assert "r within prompts" in shown
    document = json.loads((run / "validation.json").read_text("utf-8"))
    assert document["schema"] == "biasgraph-validation/1"
    (found,) = [one for one in document["mitigations"] if one["kind"] == "reweighted"]
    assert found["axes"] == 3
    assert found["after"] < found["before"]
    assert found["all_pairs"]["pairs"] == 6
    assert found["edges"]["r"] == {
        "value": None, "low": None, "high": None,
        "reason": "no prompt has 3 measured pairs of this kind",
    }  # fmt: skip
    assert document["prompts"][0]["max_impact"] == "gender"
    assert "Predictions against mitigations" in (run / "report.html").read_text("utf-8")
    assert (run / "answers.csv").read_bytes() == answers
    assert (run / "pairs.csv").read_bytes() == pairs


def test_json_is_one_document_and_the_same_every_time(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", str(run), "--json"]) == 0
    printed = capsys.readouterr().out
    assert json.loads(printed) == json.loads((run / "validation.json").read_text("utf-8"))
    report = (run / "report.html").read_bytes()
    assert main(["validate", str(run), "--json"]) == 0
    assert capsys.readouterr().out == printed
    assert (run / "report.html").read_bytes() == report


@pytest.mark.slow(reason="a validation of its own")
def test_several_prompts_have_intervals_and_a_row_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = [f"a librarian in room {number}" for number in range(5)]
    tables = [librarian_table(24, prompt=one, seed=n) for n, one in enumerate(prompts)]
    biasgraph.save(biasgraph.analyze(pd.concat(tables), bootstrap=100), tmp_path / "run")
    assert main(["validate", str(tmp_path / "run"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["prompt"] for row in document["prompts"]] == prompts
    found = document["mitigations"][0]["all_pairs"]
    assert found["prompts"] == 5
    assert found["r"]["low"] < found["r"]["value"] < found["r"]["high"]


def test_without_interventions_nothing_is_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = librarian_table()
    directory = tmp_path / "run"
    biasgraph.save(biasgraph.analyze(table[table["role"] == "initial"]), directory)
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert main(["validate", str(directory)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "no counterfactual images" in err
    assert len(err.splitlines()) == 1
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == before


def initial(table: pd.DataFrame) -> pd.Series:
    return table["role"] == "initial"


@pytest.mark.slow(reason="validations of their own")
@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(lambda table: table[~initial(table)], id="no initial images"),
        pytest.param(lambda table: table[initial(table) | (table["axis"] == "age")], id="one axis"),
        pytest.param(
            lambda table: table.assign(answer=table["answer"].where(~initial(table), "gated")),
            id="all gated",
        ),
        pytest.param(
            lambda table: pd.concat([table, librarian_table(24, prompt="b")[initial]]),
            id="a prompt without interventions",
        ),
        pytest.param(
            lambda table: pd.concat([table, librarian_table(24, prompt="b").query("axis != ''")]),
            id="a prompt without initial images",
        ),
    ],
)
def test_what_is_missing_is_left_out(
    tmp_path: Path,
    changed: Callable[[pd.DataFrame], pd.DataFrame],
    capsys: pytest.CaptureFixture[str],
) -> None:
    biasgraph.save(biasgraph.analyze(changed(librarian_table(24)), bootstrap=100), tmp_path / "run")
    assert main(["validate", str(tmp_path / "run"), "--json"]) == 0
    text = capsys.readouterr().out
    assert "NaN" not in text
    (found,) = json.loads(text)["mitigations"]
    assert found["all_pairs"]["pairs"] <= 6


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(tmp_path / "nowhere")]) == 2
    assert "nowhere does not exist" in capsys.readouterr().err


@pytest.mark.slow(reason="graphs of its own")
@pytest.mark.parametrize(
    "arguments", [["--images", "8"], ["--mitigated-model", "sandbox:debiased"]]
)
def test_a_table_has_no_models(
    run: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(run.iterdir())
    assert main(["validate", str(run), *arguments]) == 2
    assert "it came from a table" in capsys.readouterr().err
    assert sorted(run.iterdir()) == before
    assert main(["validate", str(run)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    why = "there is no model: it came from a table"
    assert f"Not tried: fresh prompts: {why}; other model: {why}." in shown
