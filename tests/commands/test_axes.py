"""`biasgraph axes` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from biasgraph.commands import cli, main
from biasgraph.data.axes import load_axis_set, shipped_axis_sets


def run(*arguments: str) -> str:
    done = CliRunner().invoke(cli, ["axes", *arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_list_and_show() -> None:
    listing = run("list")
    assert all(name in listing for name in shipped_axis_sets())
    documents = json.loads(run("list", "--json"))
    assert [one["name"] for one in documents] == shipped_axis_sets()
    shown = run("show", "tibet")
    for axis in load_axis_set("tibet").axes:
        assert axis.name in shown
    assert "who is happy" in shown
    assert json.loads(run("show", "scene", "--json"))["subject"] == "scene"


def test_new_check_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("new", "mine", "--subject", "animal")
    checked = run("check", "mine.yaml", "--prompt", "a big owl")
    assert "mine is a valid axis set: 3 axes, 9 attributes" in checked
    assert "a small owl" in checked
    assert "The prompt itself says size: large" in checked
    assert json.loads(run("check", "mine.yaml", "--json"))["remarks"] == []
    assert "medium-sized ..." in run("show", "mine.yaml")
    assert run("new", "mine", "--subject", "animal", "-o", "-") == Path("mine.yaml").read_text()


def test_problems_end_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("name: x\nsubject: cat\ngate: g\naxes: []\n")
    assert main(["axes", "check", str(path)]) == 2
    error = capsys.readouterr().err
    assert "has 2 problems" in error
    assert "line 2: 'subject'" in error
    assert "line 4: needs at least one axis" in error
    assert main(["axes", "show", "tibt"]) == 2
    assert "Did you mean 'tibet'?" in capsys.readouterr().err
    assert main(["axes", "check", "scene", "--prompt", "a nurse"]) == 2
    assert main(["axes", "new", "x", "-o", str(path)]) == 2
    assert "already exists" in capsys.readouterr().err


def test_names_are_shown_as_text(tmp_path: Path) -> None:
    path = tmp_path / "markup.yaml"
    text = run("new", "[red]x[/]", "-o", "-").replace("small", '"[bold]s[/bold]"')
    path.write_text(text)
    assert "[bold]s[/bold]" in run("check", str(path))
    assert "[red]x[/]" in run("show", str(path))
