"""`compare --paired`: which runs' images are pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasgraph.commands import main
from tests.runs.pictures.pictures import picture

HEAD = "model,prompt,image,target,answer"


def result(folder: Path, name: str, answers: str, first: int = 0) -> str:
    """A result of one prompt; `answers` has a letter for each image, numbered from `first`."""
    words = {"m": "male", "f": "female", "?": "unknown"}
    rows = [f"{name},a cook,{n:02d},gender,{words[a]}" for n, a in enumerate(answers, first)]
    table = folder / f"{name}.csv"
    table.write_text("\n".join([HEAD, *rows]))
    made = str(folder / name)
    arguments = ["--axes", "occupation", "--only", "gender", "--bootstrap", "200"]
    assert main(["build", "--answers", str(table), *arguments, "-o", made, "-q"]) == 0
    return made


def test_pairs_are_drawn_together(tmp_path: Path) -> None:
    one = result(tmp_path, "one", "m" * 30 + "f" * 18)
    other = result(tmp_path, "other", "m" * 29 + "?" + "f" * 18)
    growths = []
    for flags in ([], ["--paired"]):
        assert main(["compare", one, other, *flags, "-o", str(tmp_path / "out"), "-q"]) == 0
        document = json.loads((tmp_path / "out" / "compare.json").read_bytes())
        growths.append(document["comparisons"][0]["distances"][0]["growth_ci"])
    assert document["settings"]["paired"] is True
    assert any("Images are paired" in note for note in document["notes"])
    assert {row["n"] for row in document["distances"]} == {47}
    free, paired = (high - low for low, high in growths)
    assert paired < free / 2


def refused(capsys: pytest.CaptureFixture[str], *runs: str, out: Path) -> str:
    assert main(["compare", *runs, "--paired", "-o", str(out), "-q"]) == 2
    assert not out.exists()
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and len(error) <= 400
    return error


def test_other_images_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = result(tmp_path, "one", "m" * 40)
    other = result(tmp_path, "other", "f" * 40, first=1)
    error = refused(capsys, one, other, out=tmp_path / "out")
    assert "2 initial images are only in one (one) or only in other (other) (first: 00)" in error


@pytest.mark.slow(reason="two builds of the sandbox")
def test_files_of_other_names_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = []
    for name, numbers in (("one", range(3)), ("other", (0, 1, 3))):
        (tmp_path / name).mkdir()
        for number in numbers:
            picture(number).save(tmp_path / name / f"{number}.png")
        arguments = ["--prompt", "a cook", "--vqa", "sandbox", "--only", "gender"]
        runs.append(str(tmp_path / f"run-{name}"))
        pictures = ["--model", f"folder:{tmp_path / name}", "-o", runs[-1], "-q"]
        assert main(["build", *pictures, *arguments, "--bootstrap", "100"]) == 0
    assert "0002 is 2 in folder:" in refused(capsys, *runs, out=tmp_path / "out")


@pytest.mark.parametrize("content", ["{}", "[]", "null", '{"images": [1]}', "no JSON", None])
def test_damaged_names_of_pictures_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None
) -> None:
    one = result(tmp_path, "one", "m" * 40)
    names = Path(one, "pictures.json")
    names.mkdir() if content is None else names.write_text(content)
    error = refused(capsys, one, one, out=tmp_path / "out")
    assert "pictures.json" in error
