"""The audit card says what the result holds, in the report's words, and shows names as they are."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.errors import printable
from biasgraph.report import audit_card, words
from biasgraph.report.audit_card import card_files
from biasgraph.report.build_record import BuildRecord
from biasgraph.report.graph_summary import ReportInput
from biasgraph.report.lead import lead
from biasgraph.report.markdown import escape_text
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE, NAME, named
from tests.report.markdown_page import shape, tables, text
from tests.report.test_judge_words import GOOD, POOR, axis, record


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(), bootstrap=100)


def card(result: biasgraph.Result) -> str:
    return card_files(result, "svg", 1)["card.md"].decode()


def test_the_card_has_every_share_with_its_interval_images_and_ideal(
    result: biasgraph.Result,
) -> None:
    shares, edges, *_ = tables(card(result))
    rows = iter(shares[1:])
    for node in result.document["nodes"]:
        for place, attribute in enumerate(node["attributes"]):
            name, called, images, share, ideal, distance, chance = next(rows)
            first = place == 0
            initial = node["initial"]
            low, high = node["distribution_ci"][place]
            assert (name, called) == (node["id"] if first else "", attribute)
            assert images == f"{initial['counts'][place]} of {initial['n_valid']}"
            assert share == words.with_ends(initial["distribution"][place], low, high)
            assert ideal == words.percent(node["ideal"][place])
            assert distance == (words.with_ci(node["w1"], node["w1_ci"]) if first else "")
            assert chance == (f"to {node['w1_null']['q95']:.3f}" if first else "")
    assert not [*rows]
    assert {(row[0], row[1]) for row in edges[1:]} == {
        (link["source"], link["target"]) for link in result.document["links"]
    }
    assert edges[0][2] == "Verdict" and all(row[2] for row in edges[1:])


def test_the_card_speaks_the_words_of_the_report(result: biasgraph.Result) -> None:
    seen = text(card(result))
    for sentence in lead(result.document, result.pair_records()):
        assert words.plain(sentence) in seen
    for said in (
        "Audit card: “a librarian” by shop:v1",
        "Images: 48 initial, 336 counterfactual",
        "Ideal: uniform",
        f"biasgraph: {biasgraph.__version__}",
        "Settings: bootstrap 100",
        "This judge has not been validated",
        "Categories are labels that a judge that is not recorded gave to pictures",
        "biasgraph build --answers answers.csv",
        "How to read it: an arrow from A to B says",
    ):
        assert said in seen, said
    assert "toy" not in seen
    files = card_files(result, "png", 1)
    assert [*files] == ["card.md", "graph.png"]
    assert b"(graph.png)" in files["card.md"]


def test_a_toys_card_says_so_first() -> None:
    toy = biasgraph.analyze(librarian_table(model="sandbox:stereotyped"), bootstrap=100)
    _, _, banner, *_ = card(toy).splitlines()
    assert banner.startswith("> **These results describe a toy")


def test_the_checked_error_of_the_judge_stands_beside_each_axis(
    result: biasgraph.Result,
) -> None:
    checked = record(axis("gender", GOOD), axis("age", POOR))
    graph = {**result.document["graph"], "agreement": checked}
    page = card(replace(result, document={**result.document, "graph": graph}))
    (judged,) = (table for table in tables(page) if table[0][-1] == "Kappa")
    gender, age = checked["axes"]
    assert [row[0] for row in judged[1:]] == ["gender", "age"]
    assert judged[1][2] == words.with_ci(gender["accuracy"], gender["accuracy_ci"])
    assert judged[2][3] == words.with_ci(age["kappa"], age["kappa_ci"])
    assert "has not been validated" not in text(page)


def test_of_initial_images_alone_no_pair_is_told(result: biasgraph.Result) -> None:
    table = librarian_table()
    alone = biasgraph.analyze(table[table["role"] == "initial"], bootstrap=100)
    files = card_files(alone, "png", 1)
    assert [*files] == ["card.md"]
    seen = text(files["card.md"].decode())
    assert "no pair of axes can be tested" in seen
    assert "The graph:" not in seen and "an arrow from" not in seen


def test_what_is_undefined_is_a_dash_with_its_reason() -> None:
    few = biasgraph.analyze(librarian_table(images=5), bootstrap=100)
    page = card(few)
    assert tables(page)[0][1][5:] == ["-", ""]
    assert "too few valid answers to measure the distance to the ideal" in text(page)


def test_of_many_prompts_each_has_a_row() -> None:
    prompts = ["a nurse", "a clerk"]
    both = [librarian_table(prompt=prompt, seed=len(prompt)) for prompt in prompts]
    page = card(biasgraph.analyze(pd.concat(both), bootstrap=100))
    assert "Audit card: 2 prompts by shop:v1" in text(page)
    (each,) = (table for table in tables(page) if table[0][0] == "Prompt")
    assert [row[0] for row in each[1:]] == prompts


@pytest.fixture(scope="module")
def unnamed() -> biasgraph.Result:
    axes = {"gender": ("male", NAME), f"{NAME} axis": ("young", "old"), "age": ("a", "b")}
    table = librarian_table(axes=axes, prompt=NAME, model=f"{NAME}:v1")
    return biasgraph.analyze(table, bootstrap=100)


@pytest.mark.slow(reason="a card for every payload")
def test_a_hostile_name_is_text_and_nothing_else(unnamed: biasgraph.Result) -> None:
    told = unnamed.document, unnamed.pair_records()
    expected = shape(drawn(*told))
    for name in HOSTILE:
        page = drawn(*(named(part, name) for part in told))
        assert shape(page) == expected, name
        shown = words.clip(printable(name), 40)
        cells = {" ".join(cell.split()) for row in tables(page)[0] for cell in row}
        assert " ".join(shown.split()) in cells, name
        assert "\u2068" not in page


def drawn(document: dict[str, Any], pairs: list[dict[str, Any]]) -> str:
    return audit_card.card(ReportInput(document, pairs), BuildRecord(), "graph.png")


@pytest.mark.parametrize(
    "name", ["1. one", "- dash", "# head", "+ plus", "---", "[1](x)", "[a]: x", "www.x.org", "@me"]
)
def test_no_line_begins_a_list_a_heading_or_a_link(name: str) -> None:
    assert shape(escape_text(name)) == ["paragraph_open", "inline", "paragraph_close"]
    assert text(escape_text(name)) == name


def test_intervals_are_left_readable() -> None:
    assert escape_text("0.2 [-0.1, +0.3] of [x]") == r"0.2 [-0.1, +0.3] of \[x\]"


def write_run(folder: Path, *builds: dict[str, Any]) -> biasgraph.Result:
    """The result in a folder, now beside the record of a run."""
    model = {"spec": "shop:v1", "fingerprint": "1", "settings": {"steps": 4}}
    made = [{"settings": {}, "versions": {}, **build} for build in builds]
    run = {"schema": "biasgraph-run/1", "seed": 0, "generator": model, "judges": {}}
    (folder / "run.json").write_text(json.dumps({**run, "builds": made}))
    return biasgraph.load(folder)


def test_a_runs_card_has_the_command_the_date_and_the_models_settings(
    result: biasgraph.Result, tmp_path: Path
) -> None:
    biasgraph.save(result, tmp_path)
    built = write_run(
        tmp_path,
        {"at": "2026-03-01T23:30:00-02:00", "command": ["build", "--prompt", "a librarian"]},
        {"at": "2026-03-05T00:00:00+00:00", "command": ["robustness", "run"]},
    )
    seen = text(card(built))
    assert "biasgraph build --prompt 'a librarian'" in seen
    assert "Date: 2026-03-02" in seen
    assert "Model settings: steps 4" in seen
    assert "--answers" not in seen
    in_python = write_run(tmp_path, {"at": "2026-03-05", "command": []})
    assert "built in Python: no command is recorded" in text(card(in_python))


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_a_command_is_one_line_that_bash_reads_back() -> None:
    given = [name for name in HOSTILE if "\0" not in name and printable_in_bash(name)]
    line = BuildRecord(command=["build", *given]).shell
    assert "\n" not in line and printable(line) == line
    program = "biasgraph() { printf '%s\\0' \"$@\"; }; " + line
    script = ["bash", "-c", f"export LC_ALL=C.UTF-8; {program}"]
    done = subprocess.run(script, capture_output=True, check=True).stdout
    assert done.decode().split("\0")[1:-1] == given


def printable_in_bash(name: str) -> bool:
    """Whether it can be an argument at all: no lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in name)
