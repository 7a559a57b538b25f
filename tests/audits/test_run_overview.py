"""`biasgraph view --static`: where the page goes, and what is read for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import biasgraph
from biasgraph.audits.run_list import list_runs
from biasgraph.commands import main
from tests.answer_tables import librarian_table


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outputs")
    biasgraph.build(answers=librarian_table(images=20), output=folder / "a" / "b", bootstrap=100)
    return folder


@pytest.mark.parametrize(
    ("target", "href"),
    [
        ("runs.html", "a/b/report.html"),
        ("a/pages/runs.html", "../../a/b/report.html"),
        ("../page/runs.html", "../outputs0/a/b/report.html"),
    ],
)
def test_links_lead_from_the_page_to_the_reports(runs: Path, target: str, href: str) -> None:
    assert main(["view", str(runs), "--static", str(runs / target)]) == 0
    assert f'href="{href}"' in (runs / target).read_text("utf-8")
    assert ((runs / target).parent / href).is_file()


def test_a_run_that_is_the_folder_itself(runs: Path, tmp_path: Path) -> None:
    assert main(["view", str(runs / "a" / "b"), "--static", str(tmp_path / "runs.html")]) == 0
    assert '/a/b/report.html"' in (tmp_path / "runs.html").read_text("utf-8")


def test_only_a_page_is_overwritten(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "notes.html"
    target.write_text("my notes")
    assert main(["view", str(runs), "--static", str(target)]) == 2
    assert target.read_text() == "my notes"
    assert "is not a page" in capsys.readouterr().err
    target.write_text("<!doctype html>")
    assert main(["view", str(runs), "--static", str(target)]) == 0
    assert capsys.readouterr().out == f"Wrote {target}\n"


def test_a_port_for_a_file_is_refused(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main(["view", str(runs), "--static", str(page), "--port", "8000"]) == 2
    assert "--port has no effect with --static" in capsys.readouterr().err
    assert not page.exists()


def test_no_such_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert main(["view", str(tmp_path / "nowhere"), "--static", str(page)]) == 2
    assert capsys.readouterr().err.endswith("nowhere is not a folder\n")
    assert not page.exists()


def test_no_model_and_no_statistics_are_loaded(runs: Path, tmp_path: Path) -> None:
    arguments = ["view", str(runs), "--static", str(tmp_path / "page.html")]
    code = (
        f"import sys; from biasgraph.commands import main; main({arguments!r})\n"
        "print(sorted({'scipy', 'matplotlib', 'torch', 'pandas', 'ot'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("at", ["\ud800", "tomorrow", "x" * 10**6, "\x1b]52;c;AAAA\x07"])
def test_what_is_no_date_is_none(runs: Path, tmp_path: Path, at: str) -> None:
    record = {"generator": {"spec": "m"}, "judges": {}, "builds": [{"at": at, "command": []}]}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    assert main(["view", str(tmp_path), "--static", str(tmp_path / "runs.html")]) == 0
    assert [row.date for row in list_runs(tmp_path)] == [None]


@pytest.mark.skipif(os.name == "nt", reason="names of files are text there")
def test_a_folder_whose_name_is_no_text(tmp_path: Path, runs: Path) -> None:
    folder = tmp_path / os.fsdecode(b"a\xff")
    try:
        shutil.copytree(runs, folder / os.fsdecode(b"b\xfe"))
    except OSError:
        pytest.skip("this file system knows only text")
    assert main(["view", str(folder), "--static", str(tmp_path / "runs.html")]) == 0
    assert "a librarian" in (tmp_path / "runs.html").read_text("utf-8")


def test_runs_about_an_axis_without_attributes_have_no_history(tmp_path: Path, runs: Path) -> None:
    for name in ("one", "other"):
        shutil.copytree(runs / "a" / "b", tmp_path / name)
        path = tmp_path / name / "graph.json"
        document = json.loads(path.read_bytes())
        document["nodes"][0]["attributes"] = []
        path.write_text(json.dumps(document))
    assert main(["view", str(tmp_path), "--static", str(tmp_path / "runs.html")]) == 0
    assert {row.state for row in list_runs(tmp_path)} == {"broken"}
