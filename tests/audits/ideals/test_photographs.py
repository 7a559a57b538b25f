"""Photographs as a reference: `biasgraph build --reference FOLDER` on the sandbox's pictures."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biasgraph.commands import main
from biasgraph.data.result import load
from biasgraph.runs.directory import read_run
from biasgraph.sandbox.scene_captions import EMPTY_SCENES
from biasgraph.sandbox.training.drawing import draw_empty
from tests.answer_tables import librarian_table
from tests.shared_runs import copy_run

SMALL = ("--min-valid", "2", "--bootstrap", "100")
MADE = ("--annotate", "none", "--controls", "0")
IMAGES = 4


pytestmark = pytest.mark.slow(reason="a judge looks at photographs; test_reference.py has tables")


def build(*arguments: str | Path, expect: int = 0) -> None:
    made = () if "--answers" in arguments else MADE
    assert main(["build", *map(str, arguments), *SMALL, *made, "-q"]) == expect


def librarian(output: Path, *arguments: str | Path, expect: int = 0) -> None:
    asked = ("--prompt", "a librarian", "--images", "4", "--only", "gender,age")
    build(*asked, "-o", output, *arguments, expect=expect)


def document(directory: Path) -> dict[str, Any]:
    return dict(json.loads((directory / "graph.json").read_bytes()))


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, and its pictures as if they were photographs: initial/ and gender/ALL beside it."""
    directory = tmp_path_factory.mktemp("street")
    asked = ("--prompt", "a librarian", "--images", str(IMAGES), "--only", "gender,age")
    model = ("--model", "sandbox:debiased")
    copy_run(directory / "run", "build", *asked, *model, *SMALL, *MADE, "-q")
    folder = str(directory / "photos")
    assert main(["export", str(directory / "run"), "--to", "folder", "-o", folder]) == 0
    return directory


@pytest.fixture(scope="module")
def audited(street: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("audited") / "out"
    librarian(output, "--reference", street / "photos")
    return output


def test_photographs_say_what_the_judge_sees_in_them(street: Path, audited: Path) -> None:
    original = {node["id"]: node for node in load(street / "run").document["nodes"]}
    found = document(audited)
    for node in found["nodes"]:
        assert node["reference"] == original[node["id"]]["initial"]["counts"]
    about = found["graph"]["ideal"]["reference"]
    assert (about["source"], about["kind"], about["vqa"]) == ("photos", "photographs", "sandbox")
    assert about["axes"]["gender"]["n_total"] == IMAGES
    few = "the reference photos rests on few valid answers: gender (4), age (4)"
    assert found["graph"]["notes"] == [few]


def test_they_are_a_run_of_their_own(audited: Path) -> None:
    [directory] = (audited / "reference").iterdir()
    run = read_run(directory)
    assert len(run.ledger.images()) == IMAGES  # the initial pictures alone are asked about
    assert run.model.startswith("folder:")
    run.close()


def test_a_rerun_asks_nobody(street: Path, audited: Path, tmp_path: Path) -> None:
    output = Path(shutil.copytree(audited, tmp_path / "out"))
    code = (
        "import sys; from biasgraph.commands import main; code = main(sys.argv[1:]);"
        "assert not {'torch', 'diffusers', 'transformers', 'ot'} & set(sys.modules);"
        "sys.exit(code)"
    )
    asked = ["build", "--prompt", "a librarian", "--images", "4", "--only", "gender,age"]
    where = ["-o", str(output), "--reference", str(street / "photos"), *MADE]
    done = subprocess.run([sys.executable, "-c", code, *asked, *where, *SMALL], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert document(output)["nodes"] == document(audited)["nodes"]


def test_more_photographs_and_broken_ones(street: Path, audited: Path, tmp_path: Path) -> None:
    output = Path(shutil.copytree(audited, tmp_path / "out"))
    photos = Path(shutil.copytree(street / "photos", tmp_path / "photos"))
    for number, path in enumerate(sorted((photos / "gender" / "male").iterdir())[:3]):
        shutil.copy(path, photos / "initial" / f"more {number}.png")
    (photos / "manifest.csv").unlink()  # it would name the pictures that count
    (photos / "initial" / "broken.png").write_bytes(b"no picture")
    librarian(output, "--reference", photos)
    found = document(output)
    assert found["graph"]["ideal"]["reference"]["axes"]["age"]["n_total"] == IMAGES + 3
    notes = found["graph"]["notes"]
    assert any("reference photos: 1 " in one and "broken.png" in one for one in notes), notes
    assert len([*(output / "reference").iterdir()]) == 2  # another folder, another run


def test_a_dry_run_counts_them(
    street: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["build", "--prompt", "a librarian", "--only", "gender,age", "--dry-run"]
    where = ["-o", str(tmp_path / "out"), "--reference", str(street / "photos")]
    assert main([*asked, *where]) == 0
    assert "Reference: 4 photographs, 12 questions" in capsys.readouterr().out
    assert main([*asked, *where, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["reference"]["images"] == IMAGES
    assert not (tmp_path / "out").exists()


def test_photographs_audited_as_if_a_model_had_made_them(street: Path, tmp_path: Path) -> None:
    """Fig. 6 of BiasConnect; and against themselves as reference they are at no distance."""
    folder = street / "photos"
    build("--model", f"folder:{folder}", "--vqa", "sandbox", "--only", "gender,age", "-o",
          tmp_path / "out", "--reference", folder)  # fmt: skip
    found = document(tmp_path / "out")
    original = load(street / "run").document
    for mine, its in zip(found["nodes"], original["nodes"], strict=True):
        assert mine["initial"] == its["initial"]
        assert mine["diagonal"] == its["diagonal"]
        assert mine["w1"] == pytest.approx(0)


def test_a_manifest_of_photographs(street: Path, audited: Path, tmp_path: Path) -> None:
    output = Path(shutil.copytree(audited, tmp_path / "out"))
    shutil.rmtree(output / "reference")
    librarian(output, "--reference", f"folder:{street / 'photos' / 'manifest.csv'}")
    about = document(output)["graph"]["ideal"]["reference"]
    assert (about["source"], about["prompts"]) == ("photos", ["a librarian"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--metric", "values"), "ignores which attribute is which"),
        (("--ideal", "ideal.yaml"), "gender has both an ideal"),
        (("--reference", "empty"), "contains no pictures"),
        (("--reference", "folder:none"), "folder 'none' does not exist"),
        (("--reference", "folder:"), "names no folder"),
        (("--reference", "broken"), "contains no readable picture"),
        (("--max-pixels", "100"), "4 files were left out: of more than 100 pixels"),
    ],
)
def test_wrong_before_anybody_is_asked(
    street: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ideal.yaml").write_text("gender: {male: 0.5, female: 0.5}")
    Path("empty").mkdir()
    Path("broken").mkdir()
    Path("broken", "a.png").write_bytes(b"\x89PNG")
    given = arguments if "--reference" in arguments else ("--reference", street / "photos")
    own = () if "--reference" in arguments else arguments
    librarian(tmp_path / "out", *given, *own, expect=2)
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_photographs_of_nobody_are_refused_before_images_are_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "walls").mkdir()
    rng = np.random.default_rng(0)
    for number, what in enumerate(EMPTY_SCENES[:3]):
        draw_empty(what, rng).save(tmp_path / "walls" / f"{number}.png")
    librarian(tmp_path / "out", "--reference", tmp_path / "walls", expect=2)
    error = capsys.readouterr().err
    assert "the reference walls has no valid answers about gender (3 gated, 0 unknown)" in error
    assert not [*(tmp_path / "out" / "images").iterdir()]


def test_a_table_has_no_judge_for_them(
    street: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    librarian_table(images=8).to_csv(tmp_path / "a.csv", index=False)
    build("--answers", tmp_path / "a.csv", "--reference", street / "photos", expect=2)
    assert "which a model must answer questions about" in capsys.readouterr().err
