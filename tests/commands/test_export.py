"""`biasgraph export` on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import biasgraph
from biasgraph.commands import main
from tests.answer_tables import librarian_table


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("librarian")
    biasgraph.save(biasgraph.analyze(librarian_table(), bootstrap=100), folder)
    return folder


def test_export_writes_what_was_asked_for(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "paper"
    assert main(["export", str(saved), "--to", "svg,dot", "--columns", "1", "-o", str(out)]) == 0
    names = ["graph.svg", "matrix.svg", "graph.dot", "export.json"]
    assert {path.name for path in out.iterdir()} == {*names}
    assert b'width="252pt"' in (out / "graph.svg").read_bytes()
    done = capsys.readouterr()
    assert done.out == f"Wrote to {out}: {', '.join(names)}\n"
    assert done.err == ""


@pytest.mark.slow(reason="every format again")
def test_export_writes_all_but_parquet_into_the_run(saved: Path) -> None:
    assert main(["export", str(saved)]) == 0
    listing = json.loads((saved / "export" / "export.json").read_bytes())
    assert {Path(name).suffix for name in listing["files"]} == {
        *(".html", ".json", ".graphml", ".gexf", ".csv", ".dot", ".mmd", ".svg", ".png", ".md")
    }
    assert biasgraph.load(saved / "export" / "..").document == biasgraph.load(saved).document


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--to", "svgg"], "unknown format 'svgg'. Did you mean 'svg'?"),
        (["--to", "\x1b[31m"], "unknown format '\\x1b[31m'."),
        (["--to", ""], "--to is empty"),
        (["--columns", "3"], "'3' is not one of '1', '2'"),
        (
            ["--to", "json", "-o", "{saved}"],
            "graph.json already exists and is not an export",
        ),
    ],
)
def test_wrong_input_is_one_line_and_writes_nothing(
    saved: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    problem: str,
) -> None:
    before = {path: path.read_bytes() for path in saved.rglob("*") if path.is_file()}
    words = [word.format(saved=saved) for word in arguments]
    output = [] if "-o" in words else ["-o", str(tmp_path / "out")]
    assert main(["export", str(saved), *words, *output]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert {path: path.read_bytes() for path in saved.rglob("*") if path.is_file()} == before


def test_a_directory_without_a_result_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path)]) == 2
    assert "holds no result" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "none")]) == 2
    assert not [*tmp_path.iterdir()]


def test_what_cannot_be_written_is_named_and_the_rest_written(
    saved: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    assert main(["export", str(saved), "--to", "folder,dot", "-o", str(out)]) == 2
    done = capsys.readouterr()
    assert done.out == f"Wrote to {out}: graph.dot, export.json\n"
    assert done.err == f"Error: folder: {saved} has no images: it was made from an answers table\n"
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["export", str(saved), "--to", "parquet,dot,folder", "-o", str(out)]) == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("Error: parquet: Parquet files need an optional package: pip install")
    assert second.startswith("folder: ")


def test_where_every_format_is_refused_nothing_is_written(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(saved), "--to", "folder", "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()
