"""`biasgraph list`: the runs under a folder, whole, unfinished and broken."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.audits.run_list import RunRow, list_runs
from biasgraph.commands import main
from biasgraph.errors import InputError
from biasgraph.report.run_table import summarize
from biasgraph.report.runs_page import runs_html
from tests.answer_tables import librarian_table

HOSTILE = "a \x1b]52;c;AAAA\x07 [bold]nurse[/bold]"
RECORD = {
    "created": "2026-11-01T10:00:00+00:00",
    "generator": {"spec": "diffusers:some/model"},
    "judges": {"judge": {"spec": "vlm:some/judge"}},
    "builds": [{"at": "2026-11-02T10:00:00+00:00", "command": ["build", "--prompt", "a nurse"]}],
}


def record(command: str, **others: Any) -> str:
    build = {**RECORD["builds"][0], "command": [command]}
    return json.dumps({**RECORD, "builds": [build], **others})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three results and three runs, of which one is broken."""
    folder = tmp_path_factory.mktemp("runs")
    for name, prompt in (("a", "a librarian"), ("below/b", HOSTILE)):
        table = librarian_table(images=40, prompt=prompt)
        biasgraph.build(answers=table, output=folder / name, bootstrap=100)
    both = [librarian_table(images=40, prompt=one, seed=i) for i, one in enumerate("xy")]
    biasgraph.build(answers=pd.concat(both), output=folder / "several", bootstrap=100)
    for name, command in (("unfinished", "build"), ("mined", "mine"), ("broken", "build")):
        (folder / name).mkdir()
        (folder / name / "run.json").write_text(record(command))
    (folder / "mined" / "mined.json").write_text("{}")
    (folder / "broken" / "graph.json").write_text('{"graph": {"prompt": 3}}')
    (folder / "no run").mkdir()
    return folder


def rows_of(folder: Path) -> dict[str, RunRow]:
    return {row.directory: row for row in list_runs(folder)}


def test_rows_are_what_the_graphs_say(runs: Path) -> None:
    rows = rows_of(runs)
    assert {*rows} == {"a", "below/b", "several", "unfinished", "mined", "broken"}
    document: dict[str, Any] = json.loads((runs / "a" / "graph.json").read_text())
    row, graph = rows["a"], document["graph"]
    assert (row.prompt, row.prompts, row.model, row.judge) == (
        "a librarian", 1, graph["model"], graph["vqa"],
    )  # fmt: skip
    assert row.images == graph["images"]["initial"] + graph["images"]["interventions"]
    assert row.edges == len(document["links"])
    far = [node for node in document["nodes"] if node["near_ideal"] is False]
    most = max(far, key=lambda node: node["w1"])
    assert (row.axis, row.w1, row.w1_ci) == (most["id"], most["w1"], most["w1_ci"])
    assert row.share == max(most["initial"]["distribution"])
    assert (rows["several"].prompt, rows["several"].prompts) == (None, 2)


def test_states_and_kinds(runs: Path) -> None:
    rows = rows_of(runs)
    assert {name: (row.kind, row.state) for name, row in rows.items()} == {
        "a": ("build", "finished"),
        "below/b": ("build", "finished"),
        "several": ("build", "finished"),
        "unfinished": ("build", "unfinished"),
        "mined": ("mine", "finished"),
        "broken": ("build", "broken"),
    }
    assert rows["broken"].problem == "graph.json is damaged: graph.prompt"
    assert rows["unfinished"].date == "2026-11-02T10:00:00+00:00"
    assert rows["unfinished"].model == "diffusers:some/model"


def test_probes_that_a_search_trained_are_finished(tmp_path: Path) -> None:
    for name in ("done", "begun"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(record("search"))
    (tmp_path / "done.safetensors").write_bytes(b"")
    rows = rows_of(tmp_path)
    assert (rows["done"].kind, rows["done"].state) == ("probe", "finished")
    assert (rows["begun"].kind, rows["begun"].state) == ("search", "unfinished")


@pytest.mark.parametrize(
    ("spec", "toy"), [("sandbox:stereotyped", True), ("diffusers:a/b", False), ("gone:x", False)]
)
def test_runs_without_a_graph_say_that_their_model_is_a_toy(
    tmp_path: Path, spec: str, toy: bool
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(record("mine", generator={"spec": spec}))
    [row] = list_runs(tmp_path)
    assert bool(row.toy) == toy and row.state == "unfinished"


def test_those_built_last_come_first(runs: Path) -> None:
    dates = [row.date or "" for row in list_runs(runs)]
    assert dates == sorted(dates, reverse=True)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "graph.json is damaged: it is not JSON"),
        ("[" * 100_000, "graph.json is damaged: it is not JSON"),
        ("[]", "graph.json is damaged"),
        ('{"graph": {}, "nodes": [], "links": []}', "graph.json is damaged: graph.prompt"),
    ],
)
def test_what_cannot_be_read_is_broken(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "graph.json").write_text(content)
    (row,) = list_runs(tmp_path)
    assert (row.state, row.problem) == ("broken", problem)


def test_a_number_that_is_not_finite_is_broken(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    document = json.loads((runs / "a" / "graph.json").read_text())
    document["nodes"][0]["w1"] = "NUMBER"
    text = json.dumps(document).replace('"NUMBER"', "1e999")
    (tmp_path / "run" / "graph.json").write_text(text)
    (row,) = list_runs(tmp_path)
    assert (row.state, row.problem) == ("broken", "graph.json is damaged: nodes.0.w1")


def test_a_pipe_and_links_do_no_harm(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    os.mkfifo(tmp_path / "run" / "graph.json")
    (tmp_path / "round").symlink_to(tmp_path)
    (tmp_path / "away").symlink_to(runs)
    (row,) = list_runs(tmp_path)
    assert row.problem is not None and "it is not a regular file" in row.problem


@pytest.mark.parametrize("name", ["graph.json", "run.json"])
def test_a_link_that_leads_nowhere_is_broken(tmp_path: Path, name: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / name).symlink_to(tmp_path / "nowhere")
    (row,) = list_runs(tmp_path)
    assert (row.state, row.problem) == ("broken", f"cannot read {name}: No such file or directory")


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere is not a folder"):
        list_runs(tmp_path / "nowhere")


def test_terminal_and_json(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["list", str(runs)]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed and "[bold]nurse" in printed
    assert "2 prompts" in printed and "unfinished" in printed
    assert "broken: graph.json is damaged: graph.prompt" in printed
    assert max(map(len, printed.splitlines())) <= 100
    assert main(["list", str(runs), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [row.to_json() for row in list_runs(runs)]


def test_an_empty_folder_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"No runs under {tmp_path}.\n"


def test_the_table_has_the_latest_50_and_everything_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for day in range(60):
        run = tmp_path / f"run-{day}-"
        run.mkdir()
        at = f"2026-01-01T10:00:{day:02}+00:00"
        record = {**RECORD, "builds": [{**RECORD["builds"][0], "at": at}]}
        (run / "run.json").write_text(json.dumps(record))
    for name in ("damaged", "broken"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{")

    def listed(*options: str) -> str:
        assert main(["list", str(tmp_path), *options]) == 0
        return capsys.readouterr().out

    short, whole = listed(), listed("--all")
    assert [day for day in range(60) if f"run-{day}-" in short] == list(range(10, 60))
    assert [day for day in range(60) if f"run-{day}-" in whole] == list(range(60))
    assert "Add --all to see 10 earlier runs." in short and "earlier" not in whole
    assert all("damaged" in text and "broken" in text for text in (short, whole))
    assert len(json.loads(listed("--json"))) == 62


@pytest.mark.parametrize(("images", "axis", "measured"), [(5, None, 0), (40, "age", 3)])
def test_without_counterfactuals_there_are_no_edges_to_count(
    tmp_path: Path, images: int, axis: str | None, measured: int
) -> None:
    table = librarian_table(images=images).query("role == 'initial'")
    biasgraph.build(answers=table, output=tmp_path / "run", bootstrap=100)
    (row,) = list_runs(tmp_path)
    assert (row.edges, row.axis is None, row.measured) == (None, axis is None, measured)
    (cells,) = next(iter(summarize([row.to_json()]))).rows  # type: ignore[union-attr]
    assert cells[3] is None
    assert (cells[4] == "undecidable: too few images") == (axis is None)
    page = runs_html([row.to_json()], title="runs").decode()
    assert "not tested" in page and "none clearly away" not in page


def test_a_time_that_no_calendar_has_is_no_date(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems keep any."""
    times = os.stat_result((0o100644, 1, 1, 1, 0, 0, 9, 10**18, 10**18, 10**18))
    plain = Path.stat

    def stat(path: Path, **how: bool) -> os.stat_result:
        return times if path.parts[-2:] == ("a", "graph.json") else plain(path, **how)

    monkeypatch.setattr(Path, "stat", stat)
    row = rows_of(runs)["a"]
    assert (row.state, row.date) == ("finished", None)


def test_numbers_that_no_run_has_break_it(tmp_path: Path) -> None:
    table = librarian_table(images=40)
    biasgraph.build(answers=table, output=tmp_path / "run", bootstrap=100)
    path = tmp_path / "run" / "graph.json"
    document = json.loads(path.read_bytes())
    document["graph"]["images"]["initial"] = 10**4000
    path.write_text(json.dumps(document))
    row = rows_of(tmp_path)["run"]
    assert row.state == "broken" and "images.initial" in str(row.problem)
