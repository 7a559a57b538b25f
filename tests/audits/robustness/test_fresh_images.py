"""`biasgraph robustness --fresh-images` on the real sandbox: made once, outside the tables."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import biasgraph
from biasgraph.data.file_names import RECORD
from tests.answer_tables import librarian_table
from tests.command_line import refusal
from tests.forked import run_command
from tests.further_images import check_tables, new_images
from tests.ledger_queries import IMAGES, query
from tests.shared_runs import copy_of, copy_run

BUILD = (
    "build", "--prompt", "a librarian", "--images", "6", "--only", "gender,environment,age",
    "--min-valid", "2", "--bootstrap", "100", "--annotate", "none", "-q",
)  # fmt: skip
TRY = ("--fresh-images", "6", "--draws", "2")


pytestmark = pytest.mark.slow(reason="runs of four models; test_robustness.py has subsets")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("fresh") / "run"
    copy_run(directory, *BUILD)
    return directory


@pytest.fixture(scope="module")
def tried(built: Path) -> Path:
    directory = built.with_name("tried")
    copy_of(built, directory)
    run_command("robustness", directory, *TRY)
    return directory


def test_the_runs_images_are_compared_with_as_many_new_ones(tried: Path) -> None:
    document = json.loads((tried / "robustness.json").read_text("utf-8"))
    assert (document["images_of_each"], document["fresh_images"]) == (6, 6)
    fresh = {row["images"]: row for row in document["images"] if row["kind"] == "fresh"}
    assert (fresh[6]["status"], fresh[6]["draws"]) == ("ok", 1)
    assert fresh[5]["draws"] == 2
    assert fresh[6]["is_change"]["mean"] > 0, "new images are others"
    assert [one["images"] for one in document["verdicts"][0]["same"]] == sorted(
        size for size, row in fresh.items() if row["status"] == "ok"
    )


def test_the_run_is_as_it_was(built: Path, tried: Path) -> None:
    check_tables(tried, built)
    as_many = len(query(built, IMAGES))
    assert len(new_images(tried, built)) == as_many, "of each prompt, of rewordings, too"


def test_nothing_is_made_twice(tried: Path, tmp_path: Path) -> None:
    directory = copy_of(tried, tmp_path / "run")
    images, found = query(directory, IMAGES), (directory / "robustness.json").read_bytes()
    run_command("robustness", directory, *TRY, "-q")
    assert query(directory, IMAGES) == images
    assert (directory / "robustness.json").read_bytes() == found


def test_without_fresh_images_no_model_is_called(tried: Path, tmp_path: Path) -> None:
    directory = copy_of(tried, tmp_path / "run")
    for name in ("ledger.sqlite", RECORD):
        (directory / name).unlink()
    shutil.rmtree(directory / "images")
    run_command("robustness", directory, "--draws", "2", "-o", tmp_path / "out")
    document = json.loads((tmp_path / "out" / "robustness.json").read_text("utf-8"))
    assert document["fresh_images"] is None
    assert {row["kind"] for row in document["images"]} == {"nested", "independent"}


def test_where_no_image_can_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    biasgraph.save(biasgraph.analyze(librarian_table(), bootstrap=100), run)
    before = sorted(run.iterdir())
    for arguments, message in (
        (["--fresh-images", "6"], "no further images can be made: there is no model"),
        (["--fresh-images", "0"], "--fresh-images"),
        (["--axes", "x.yaml"], "--axes needs --fresh-images"),
    ):
        assert message in refusal(capsys, "robustness", run, *arguments)
    assert sorted(run.iterdir()) == before
