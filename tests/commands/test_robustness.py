"""`biasgraph robustness`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import biasgraph
from biasgraph.commands import main
from tests.answer_tables import librarian_table

QUICK = ["--draws", "2"]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    directory = tmp_path / "run"
    biasgraph.save(biasgraph.analyze(librarian_table(), bootstrap=100), directory)
    return directory


def document_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main(["robustness", *arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_prints_tables_and_writes_the_document(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["robustness", str(run), *QUICK]) == 0
    shown = capsys.readouterr().out
    assert "With fewer images" in shown
    assert "24 apart" in shown
    assert "8 images (nested, apart): 8 images are fewer than the 16 valid answers" in " ".join(
        shown.split()
    )
    assert max(map(len, shown.splitlines())) <= 80
    assert json.loads((run / "robustness.json").read_text("utf-8"))["draws"] == 2


def test_json_is_one_document_and_seeds_repeat(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = document_of([str(run), *QUICK], capsys)
    assert document == json.loads((run / "robustness.json").read_text("utf-8"))
    there = ["-o", str(tmp_path / "there")]
    assert document_of([str(run), *QUICK, *there], capsys) == document
    assert document_of([str(run), *QUICK, *there, "--seed", "1"], capsys) != document


def test_sizes_and_quiet(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(run.iterdir())
    elsewhere = run.parent / "out"
    arguments = ["--sizes", "24,16", "-o", str(elsewhere), "--quiet"]
    assert main(["robustness", str(run), *QUICK, *arguments]) == 0
    assert capsys.readouterr() == ("", "")
    assert sorted(run.iterdir()) == before
    rows = json.loads((elsewhere / "robustness.json").read_text("utf-8"))["images"]
    assert sorted({row["images"] for row in rows}) == [16, 24]


def test_the_settings_are_the_runs_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = biasgraph.analyze(librarian_table(), preset="paper", alpha=0.05, bootstrap=100)
    biasgraph.save(result, tmp_path / "run")
    document = document_of([str(tmp_path / "run"), "--sizes", "8", *QUICK], capsys)
    assert document["edges"] == len(result.document["links"])
    assert document["graph"]["settings"]["alpha"] == 0.05  # type: ignore[index]
    statuses = {row["status"] for row in document["images"]}  # type: ignore[attr-defined]
    assert statuses == {"ok"}  # the paper's preset asks for one valid answer


def test_several_prompts_are_drawn_within_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = [librarian_table(20, prompt=f"p{seed}", seed=seed) for seed in range(2)]
    result = biasgraph.analyze(pd.concat(tables), bootstrap=100)
    biasgraph.save(result, tmp_path / "run")
    document = document_of([str(tmp_path / "run"), "--sizes", "10", *QUICK], capsys)
    assert document["images_of_each"] == 20
    assert document["edges"] == len(result.document["links"])
    assert {row["status"] for row in document["images"]} == {"ok"}  # type: ignore[attr-defined]


def test_without_enough_images_nothing_is_made_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    biasgraph.save(biasgraph.analyze(librarian_table(12), bootstrap=100), tmp_path / "run")
    document = document_of([str(tmp_path / "run"), *QUICK], capsys)
    assert document["pairs"] == 0
    assert document["verdicts"] == []
    for row in document["images"]:  # type: ignore[attr-defined]
        assert row["status"] != "ok"
        assert row["slope"]["mean"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sizes", "49"], "--sizes takes numbers of images from 1 to the run's 48, not '49'"),
        (["--sizes", "0"], "--sizes takes"),
        (["--sizes", "1e3"], "--sizes takes"),
        (["--sizes", "٣"], "--sizes takes"),
        (["--sizes", ","], "--sizes is empty"),
        (["--draws", "1"], "--draws"),
        (["--seed", "-1"], "--seed"),
    ],
)
def test_bad_input_is_one_line_and_nothing_written(
    run: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(run.iterdir())
    assert main(["robustness", str(run), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1
    assert sorted(run.iterdir()) == before


def test_no_run_and_no_interventions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["robustness", str(tmp_path / "nowhere")]) == 2
    assert "nowhere does not exist" in capsys.readouterr().err
    table = librarian_table()
    four = table[table["role"] == "initial"][["prompt", "image", "target", "answer"]]
    biasgraph.save(biasgraph.analyze(four, bootstrap=100), tmp_path / "four")
    assert main(["robustness", str(tmp_path / "four")]) == 2
    err = capsys.readouterr().err
    assert "has no interventions" in err
    assert len(err.splitlines()) == 1
