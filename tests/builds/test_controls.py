"""Wording controls of builds on the real sandbox: made, added, laid out in folders, counted."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

import biasgraph
from biasgraph.commands import main
from tests import forked
from tests.shared_runs import copy_of, copy_run

SMALL = (
    "--prompt", "a librarian", "--images", "6", "--only", "gender,clothing", "--min-valid", "2",
    "--bootstrap", "100", "--annotate", "none", "-q",
)  # fmt: skip
WORDINGS = ["a certain librarian", "a librarian who is here"]
NUMBERS = ["statistic", "p", "cramers_v", "w1_before", "w1_after", "is", "shift_p"]


def build(directory: Path, *arguments: str, expect: int = 0) -> str:
    done = forked.biasgraph("build", *SMALL, "-o", str(directory), *arguments)
    assert done.returncode == expect, done.stderr
    return done.stderr


def images_of(directory: Path) -> dict[str, tuple[str, str, int]]:
    """Of every image its text, its file and when that was written."""
    with closing(sqlite3.connect(directory / "ledger.sqlite")) as ledger:
        rows = ledger.execute(
            "SELECT images.id, text, sha256 FROM images JOIN prompts ON prompt = prompts.id"
        ).fetchall()
    return {
        image: (text, sha, (directory / "images" / f"{sha}.png").stat().st_mtime_ns)
        for image, text, sha in rows
    }


def answers_of(directory: Path) -> pd.DataFrame:
    table = pd.read_csv(directory / "answers.csv", keep_default_na=False)
    return table.drop(columns="model").round({"confidence": 5})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run without controls, and one as anybody gets it."""
    home = tmp_path_factory.mktemp("controls")
    copy_run(home / "plain", "build", *SMALL, "--controls", "0")
    copy_run(home / "usual", "build", *SMALL)
    return home


@pytest.mark.slow(reason="two builds")
def test_a_build_makes_two_controls_and_changes_nothing_else(home: Path) -> None:
    plain, usual = images_of(home / "plain"), images_of(home / "usual")
    added = [text for image, (text, _, _) in usual.items() if image not in plain]
    assert {text: added.count(text) for text in added} == dict.fromkeys(WORDINGS, 6)
    assert {image: row[:2] for image, row in plain.items()} == {
        image: row[:2] for image, row in usual.items() if image in plain
    }
    one, other = biasgraph.load(home / "plain"), biasgraph.load(home / "usual")
    assert one.pairs[NUMBERS].equals(other.pairs[NUMBERS])
    assert other.document["graph"]["images"] == {
        "initial": 6, "interventions": 24, "controls": 12,
    }  # fmt: skip
    assert "controls" not in one.document["graph"]["images"]
    counts = other.tables[other.tables["role"] == "control"]
    assert counts.groupby("target")["count"].sum().to_dict() == {"gender": 12, "clothing": 12}
    notes = other.document["graph"]["notes"]
    assert [note for note in notes if "never saw (certain, here)" in note]
    assert other.document["graph"]["unseen_words"] == []


@pytest.mark.slow(reason="builds of the sandbox")
def test_a_run_without_controls_gets_them_only_when_asked(home: Path, tmp_path: Path) -> None:
    run = copy_of(home / "plain", tmp_path / "run")
    before = images_of(run), (run / "run.json").read_bytes(), (run / "answers.csv").read_bytes()
    assert "controls" not in json.loads(before[1])["builds"][0]["settings"]
    build(run)
    now = images_of(run), (run / "run.json").read_bytes(), (run / "answers.csv").read_bytes()
    assert (now[0], now[2]) == (before[0], before[2])
    assert json.loads(now[1])["builds"][0] == json.loads(before[1])["builds"][0]
    build(run, "--controls", "1")
    grown = images_of(run)
    assert before[0].items() <= grown.items()
    new = [text for image, (text, _, _) in grown.items() if image not in before[0]]
    assert new == WORDINGS[:1] * 6
    build(run)  # as many as before
    assert images_of(run) == grown
    build(run, "--controls", "2")
    pd.testing.assert_frame_equal(answers_of(run), answers_of(home / "usual"))


@pytest.mark.slow(reason="builds of the sandbox")
def test_controls_can_be_left_out_again(home: Path, tmp_path: Path) -> None:
    run = copy_of(home / "usual", tmp_path / "run")
    before = images_of(run)
    build(run, "--controls", "0")
    pd.testing.assert_frame_equal(answers_of(run), answers_of(home / "plain"))
    assert images_of(run) == before
    build(run)
    pd.testing.assert_frame_equal(answers_of(run), answers_of(home / "plain"))
    build(run, "--fresh")
    pd.testing.assert_frame_equal(answers_of(run), answers_of(home / "usual"))


@pytest.mark.slow(reason="builds of folders; runs/pictures reads them")
@pytest.mark.parametrize("manifest", [True, False])
def test_a_folder_of_controls(home: Path, tmp_path: Path, manifest: bool) -> None:
    pics, run = tmp_path / "pics", tmp_path / "run"
    assert main(["export", str(home / "usual"), "--to", "folder", "-o", str(pics)]) == 0
    assert sorted(path.name for path in (pics / "control").iterdir()) == [
        "a-certain-librarian", "a-librarian-who-is-here",
    ]  # fmt: skip
    if not manifest:
        (pics / "manifest.csv").unlink()
    given = ("--model", f"folder:{pics}", "--vqa", "sandbox")
    build(run, *given)
    pd.testing.assert_frame_equal(answers_of(run), answers_of(home / "usual"))
    build(run, *given, "--controls", "1")
    own = answers_of(home / "usual")
    assert len(answers_of(run)) == len(own) - 6 * 2
    build(run, *given, "--controls", "0")
    pd.testing.assert_frame_equal(answers_of(run), answers_of(home / "plain"))
    said = build(run, *given, "--controls", "3", expect=2)
    assert "--controls 3: " in said and "has 2 sets of neutral rewordings" in said


@pytest.mark.slow(reason="builds with controls")
def test_controls_all_together_in_a_folder(home: Path, tmp_path: Path) -> None:
    pics, run = tmp_path / "pics", tmp_path / "run"
    assert main(["export", str(home / "usual"), "--to", "folder", "-o", str(pics)]) == 0
    (pics / "manifest.csv").unlink()
    for path in sorted((pics / "control").glob("*/*.png")):
        path.rename(pics / "control" / f"{path.parent.name}-{path.name}")
    build(run, "--model", f"folder:{pics}", "--vqa", "sandbox", "--images", "99")
    own, made = answers_of(run), answers_of(home / "usual")
    assert (own["role"] == "control").sum() == 12 * 2
    assert sorted(own["answer"]) == sorted(made["answer"])
    texts = {text for text, _, _ in images_of(run).values()}
    assert "a librarian (control)" in texts


@pytest.mark.slow(reason="builds with controls")
def test_orders_for_pictures_have_controls(home: Path, tmp_path: Path) -> None:
    arguments = ["--prompt", "a librarian", "--images", "3", "--only", "gender"]
    assert main(["prompts", *arguments, "--to", str(tmp_path / "usual.csv")]) == 0
    usual = pd.read_csv(tmp_path / "usual.csv", keep_default_na=False)
    own = usual[usual["role"] == "control"]
    assert own["prompt"].drop_duplicates().tolist() == WORDINGS
    assert {*own["axis"]} == {*own["attribute"]} == {""}
    assert len({*usual["path"]}) == len(usual) == 5 * 3
    plain = ["prompts", *arguments, "--controls", "0", "--to", str(tmp_path / "plain.csv")]
    assert main(plain) == 0
    without = pd.read_csv(tmp_path / "plain.csv", keep_default_na=False)
    assert usual[usual["role"] != "control"].equals(without)


def test_a_dry_run_counts_controls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dry = ["build", *SMALL[:6], "-o", str(tmp_path / "run"), "--dry-run"]
    assert main(dry) == 0
    said = capsys.readouterr().out
    assert "control: a certain librarian" in said
    assert "7 prompts, 42 images" in said
    plan = biasgraph.build("a librarian", images=6, only="gender", controls=3, dry_run=True)
    assert plan["plans"][0]["controls"] == [*WORDINGS, "a particular librarian"]
    assert (plan["prompts"], plan["images"]) == (6, 36)
    assert (
        biasgraph.build("a cook", images=6, only="gender", controls=0, dry_run=True)["prompts"] == 3
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--controls", "-1"), "'--controls': -1 is not in the range x>=0"),
        (("--controls", "two"), "--controls"),
        (("--controls", "5"), "axis set 'occupation' has 4 neutral rewordings"),
    ],
)
def test_bad_numbers_of_controls(
    home: Path, tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    said = build(tmp_path / "run", *arguments, expect=2)
    assert problem in said
    assert not (tmp_path / "run").exists()
    run = copy_of(home / "plain", tmp_path / "run")
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    build(run, *arguments, expect=2)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


@pytest.mark.slow(reason="builds with controls")
def test_an_answers_table_has_its_own_controls(home: Path, tmp_path: Path) -> None:
    table = str(home / "usual" / "answers.csv")
    done = forked.biasgraph(
        "build", "--answers", table, "--controls", "2", "-o", str(tmp_path / "r")
    )
    assert done.returncode == 2
    assert "--controls and --answers exclude each other" in done.stderr
    result = biasgraph.analyze(table, only=("gender",), min_valid=2, bootstrap=100)
    assert result.document["graph"]["images"]["controls"] == 12
