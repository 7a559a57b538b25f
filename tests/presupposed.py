"""What the pages of the documentation take for granted: files and runs, made by the real tool."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path

from biasgraph.data.result import load
from biasgraph.runs.directory import read_run
from tests.forked import run_command
from tests.shared_runs import copy_run

RUN = "outputs/sandbox-stereotyped/a-librarian"
SMALL = ("--prompt", "a librarian", "--only", "gender,bodytype,emotion", "--images", "16")


def make_presupposed(page: str, folder: Path) -> None:
    """Put into an empty folder what the commands of a page, by its name, take for granted."""
    MAKERS.get(page, lambda _: None)(folder)


def _run(folder: Path, name: str = RUN) -> Path:
    copy_run(folder / name, "build", "--prompt", "a librarian")
    return folder / name


def _small(folder: Path, *names: str) -> Path:
    for name in names:
        copy_run(folder / name, "build", *SMALL)
    return folder / names[0]


def _write(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    rows = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def _initial(run: Path) -> list[dict[str, str]]:
    """The rows of answers.csv about the prompt's own images."""
    rows = csv.DictReader((run / "answers.csv").read_text("utf-8").splitlines())
    return [row for row in rows if row["role"] == "initial"]


def _pictures(run: Path) -> dict[str, Path]:
    """The file of each of its images, by id."""
    with closing(read_run(run)) as opened:
        files = {image.id: image.file for image in opened.ledger.images()}
    return {image: run / "images" / f"{file.sha256}.png" for image, file in files.items() if file}


def _label(run: Path, file: Path) -> None:
    """Fill in a label page as somebody would who sees what the run's judge saw."""
    html = run.with_name("labels.html")
    run_command("label", run, "--sample", 50, "-o", html)
    found = re.search(r'application/json" id="model">(.*?)</script>', html.read_text("utf-8"), re.S)
    assert found
    asked = json.loads(found[1])
    frame = load(run).answers.astype(str)
    said = {(row.image, row.target): row.answer for row in frame.itertuples()}
    _write(
        file,
        (
            {
                "picture": image["picture"], "question": question["text"],
                "answer": _answer(question, said.get((image["image"], question["axis"]), "")),
                "target": question["axis"], "image": image["image"], "annotator": "ada",
            }
            for image in asked["images"]
            for question in asked["questions"]
        ),
    )  # fmt: skip


def _answer(question: Mapping[str, list[str]], said: str) -> str:
    choices = question["choices"]
    if "yes" in choices:
        return "yes" if not question["axis"] or said in question["text"] else "no"
    return said if said in choices else "unknown"


def _table(run: Path, file: Path) -> None:
    """An answers table of two people, of whom one takes every fifth answer back."""
    rows = _initial(run)
    _write(
        file,
        (
            row | {"judge": "human:two students", "annotator": who, "answer": said}
            for place, row in enumerate(rows)
            for who, said in (
                ("ada", row["answer"]),
                ("bo", row["answer"] if place % 5 else "unknown"),
            )
        ),
    )


def _correct(run: Path, file: Path) -> None:
    """Three corrections, as the pictures of a report save them."""
    files, rows = _pictures(run), [row for row in _initial(run) if row["target"] == "gender"][:3]
    _write(
        file,
        (
            {
                "image": row["image"], "target": "gender", "judge_said": row["answer"],
                "answer": "male" if row["answer"] == "female" else "female",
                "file": files[row["image"]].stem, "sample": "corrections",
            }
            for row in rows
        ),
    )  # fmt: skip


def _photographs(run: Path, folder: Path) -> None:
    folder.mkdir()
    files = _pictures(run)
    for image in sorted({row["image"] for row in _initial(run)}):
        shutil.copy(files[image], folder / f"{image}.png")


def _first_picture(run: Path, folder: Path) -> None:
    """A folder of one picture, where the manifest of `biasgraph prompts` wants its first."""
    (folder / "initial").mkdir(parents=True)
    shutil.copy(next(iter(_pictures(run).values())), folder / "initial" / "0000.png")


def _readme(folder: Path) -> None:
    run = _run(folder)
    _label(run, folder / "labels.csv")
    shutil.copy(run / "answers.csv", folder)
    _first_picture(run, folder / "librarians")
    (folder / "my-prompts.txt").write_text("a nurse\na chef\n")


def _labels(folder: Path) -> None:
    run = _run(folder)
    _label(run, folder / "labels.csv")
    _table(run, folder / "answers.csv")
    _correct(run, folder / "corrections.csv")


def _reference(folder: Path) -> None:
    run = _small(folder, "outputs/other", "outputs/real", "outputs/model")
    _photographs(run, folder / "photos")
    _photographs(run, folder / "programmers")
    shutil.copy(run / "answers.csv", folder)
    (folder / "census.yaml").write_text("gender: {male: 12, female: 88}\n")


def _comparison(folder: Path) -> None:
    _run(folder, "run")
    _small(folder, "outputs/before")
    copy_run(folder / "outputs" / "after", "build", *SMALL, "--model", "sandbox:debiased")


def _folder(folder: Path) -> None:
    _first_picture(_small(folder, "outputs/small"), folder / "librarians")


def _methods(folder: Path) -> None:
    _run(folder)
    (folder / "captions.txt").write_text("a doctor talking to a nurse\na chef in a busy kitchen\n")


def _mining(folder: Path) -> None:
    for name, seed in (("a", 0), ("b", 1)):
        least = [
            "--iterations",
            1,
            "--population",
            3,
            "--selected",
            1,
            "--best",
            2,
            "--fresh-batches",
            2,
        ]
        run_command("mine", *least, "--seed", seed, "-o", folder / "outputs" / name)


def _words(folder: Path) -> None:
    _run(folder)
    (folder / "prompts.txt").write_text("a nurse with a toolbox\na chef in a kitchen\n")


def _first_audit(folder: Path) -> None:
    (folder / "pictures").mkdir()
    shutil.copy(folder / "examples" / "faces" / "pictures" / "original.jpg", folder / "pictures")


MAKERS: dict[str, Callable[[Path], None]] = {
    "README": _readme,
    "comparison": _comparison,
    "first-audit": _first_audit,
    "folder": _folder,
    "labels": _labels,
    "methods": _methods,
    "mining": _mining,
    "reference": _reference,
    "words": _words,
}
