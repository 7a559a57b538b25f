"""`biasgraph robustness`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.commands import main
from tests.answer_tables import librarian_table
from tests.command_line import refusal

QUICK = ["--draws", "2"]


def document_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["robustness", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def shown_and_written(run: Path, *arguments: str, capsys: Any) -> tuple[str, dict[str, Any]]:
    """What the command prints, in one line, and the document that it writes."""
    assert main(["robustness", str(run), *QUICK, *arguments]) == 0
    document = json.loads((run / "robustness.json").read_text("utf-8"))
    return " ".join(capsys.readouterr().out.split()), document


def test_prints_tables_and_writes_the_document(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["robustness", str(run), *QUICK]) == 0
    shown = capsys.readouterr().out
    assert "With fewer images" in shown
    assert "24 apart" in shown
    assert "[0, 0 " not in shown  # no cell is cut
    assert "8 images (nested, apart): 8 images are fewer than the 16 valid answers" in " ".join(
        shown.split()
    )
    assert max(map(len, shown.splitlines())) <= 80
    assert json.loads((run / "robustness.json").read_text("utf-8"))["draws"] == 2


@pytest.mark.slow(reason="a run of its own; report/test_robustness_figure.py draws")
def test_the_report_gets_a_section_and_the_run_a_figure(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["robustness", str(run), "--sizes", "24", *QUICK, "-q"]) == 0
    result = biasgraph.load(run)
    parts = result.document["graph"]["findings"]["robustness"]["show"]
    assert [part["kind"] for part in parts] == [
        *("number", "text"),
        *("bars", "table"),
        "table",
        *("bars", "table", "bars", "table"),
        *("table", "text"),
    ]
    assert "With fewer images. apart: two audits" in (run / "report.html").read_text("utf-8")
    assert (run / "robustness.svg").read_bytes().startswith(b"<?xml")
    assert main(["show", str(run), "--section", "methods"]) == 0
    assert "Robustness: edges that only one of two audits of 24 images has" in " ".join(
        capsys.readouterr().out.split()
    )
    before = (run / "report.html").read_bytes()
    assert main(["robustness", str(run), "--sizes", "24", *QUICK, "-q"]) == 0
    assert (run / "report.html").read_bytes() == before


@pytest.mark.slow(reason="two more audits of subsets")
def test_json_is_one_document_and_seeds_repeat(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = [*QUICK, "--sizes", "24"]
    document = document_of([str(run), *quick], capsys)
    assert document == json.loads((run / "robustness.json").read_text("utf-8"))
    there = ["-o", str(tmp_path / "there")]
    assert document_of([str(run), *quick, *there], capsys) == document
    assert document_of([str(run), *quick, *there, "--seed", "1"], capsys) != document


@pytest.mark.slow(reason="audits of subsets")
def test_sizes_and_quiet(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(run.iterdir())
    elsewhere = run.parent / "out"
    arguments = ["--sizes", "24,16", "-o", str(elsewhere), "--quiet"]
    assert main(["robustness", str(run), *QUICK, *arguments]) == 0
    assert capsys.readouterr() == ("", "")
    assert sorted(run.iterdir()) == before
    rows = json.loads((elsewhere / "robustness.json").read_text("utf-8"))["images"]
    assert sorted({row["images"] for row in rows}) == [16, 24]


@pytest.mark.slow(reason="audits of subsets")
def test_the_settings_are_the_runs_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = biasgraph.analyze(librarian_table(), preset="paper", alpha=0.05, bootstrap=100)
    biasgraph.save(result, tmp_path / "run")
    document = document_of([str(tmp_path / "run"), "--sizes", "8", *QUICK], capsys)
    assert document["edges"] == len(result.document["links"])
    assert document["graph"]["settings"]["alpha"] == 0.05
    statuses = {row["status"] for row in document["images"]}
    assert statuses == {"ok"}  # the paper's preset asks for one valid answer


@pytest.mark.slow(reason="a run of several prompts")
def test_several_prompts_are_drawn_within_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = [librarian_table(20, prompt=f"p{seed}", seed=seed) for seed in range(2)]
    result = biasgraph.analyze(pd.concat(tables), bootstrap=100)
    biasgraph.save(result, tmp_path / "run")
    document = document_of([str(tmp_path / "run"), "--sizes", "10", *QUICK], capsys)
    assert document["images_of_each"] == 20
    assert document["edges"] == len(result.document["links"])
    assert {row["status"] for row in document["images"]} == {"ok"}


@pytest.mark.slow(reason="audits of subsets")
def test_people_may_have_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = librarian_table().assign(judge="human:ann")
    biasgraph.save(biasgraph.analyze(table, bootstrap=100), tmp_path / "run")
    document = document_of([str(tmp_path / "run"), "--sizes", "24", *QUICK], capsys)
    assert document["graph"]["people"] is True
    assert {row["status"] for row in document["images"]} == {"ok"}


@pytest.mark.slow(reason="audits of subsets")
def test_without_enough_images_nothing_is_made_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    biasgraph.save(biasgraph.analyze(librarian_table(12), bootstrap=100), tmp_path / "run")
    shown, document = shown_and_written(tmp_path / "run", capsys=capsys)
    assert document["pairs"] == 0
    assert document["verdicts"] == []
    for row in document["images"]:
        assert row["status"] != "ok"
        assert row["slope"]["mean"] is None
    assert {row["slope"]["mean"] for row in document["errors"]} == {None}
    assert "Could not be measured" in shown
    assert "Missed and false edges" not in shown  # nor any other heading of nothing
    parts = biasgraph.load(tmp_path / "run").document["graph"]["findings"]["robustness"]["show"]
    assert {part["kind"] for part in parts} == {"text", "table"}


@pytest.mark.slow(reason="audits of subsets")
def test_errors_of_the_judge_beside_what_they_are_expected_to_do(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, document = shown_and_written(run, "--sizes", "24", capsys=capsys)
    rows: list[dict[str, Any]] = document["errors"]
    assert [(row["kind"], row["rate"]) for row in rows] == [
        (kind, rate) for kind in ("another", "unknown") for rate in (0.05, 0.1, 0.2, 0.3, 0.4)
    ]
    assert document["confusion_of"] == []
    assert rows[4]["slope_expected"] < rows[0]["slope_expected"] < rows[5]["slope_expected"] == 1
    assert "With more answers wrong: another attribute" in shown
    assert "any other attribute alike" in shown


@pytest.mark.slow(reason="an agreement and a run of its own")
def test_errors_follow_the_confusion_that_was_measured(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = document_of([str(run), "--sizes", "24", *QUICK], capsys)
    truth = librarian_table()
    wrong = (truth["target"] == "age") & (truth["answer"] == "young")
    truth.loc[wrong & (truth.index % 5 == 0), "answer"] = "old"
    truth[["image", "target", "answer"]].to_csv(tmp_path / "labels.csv", index=False)
    assert main(["agreement", str(run), "--with", str(tmp_path / "labels.csv"), "-q"]) == 0
    capsys.readouterr()
    told, after = shown_and_written(run, "--sizes", "24", capsys=capsys)
    assert after["confusion_of"] == ["age"]
    assert after["images"] == before["images"]
    changed = [one != other for one, other in zip(after["errors"], before["errors"], strict=True)]
    assert changed == [True] * 5 + [False] * 5
    assert "as the judge errs for age, any other attribute alike elsewhere" in told


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
    assert message in refusal(capsys, "robustness", run, *arguments)
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
