"""`biasgraph label`: which pictures are on the page, and what the page does not tell."""

from __future__ import annotations

import json
import re
from contextlib import closing
from pathlib import Path

import pytest

import biasgraph
from biasgraph.audits.agreement.label_page import label_page, sample
from biasgraph.audits.pipeline_options import LabelOptions
from biasgraph.commands import main
from biasgraph.data.result import load
from biasgraph.errors import InputError, ModelError
from biasgraph.runs.directory import read_run
from tests.judged_run import labels_of

JUDGE = "fake:judge"


def chosen(run: Path, number: int, seed: int = 0) -> list[str]:
    with closing(read_run(run)) as opened:
        return [image.id for image in sample(opened, JUDGE, number, seed)]


def model_of(page: bytes) -> dict[str, object]:
    found = re.search(rb'<script type="application/json" id="model">(.*?)</script>', page, re.S)
    assert found is not None
    return dict(json.loads(found[1]))


def test_a_sample_takes_every_set_evenly(run: Path) -> None:
    sets = load(run).answers.astype(str).drop_duplicates("image").set_index("image")
    for number in (9, 18, 45):
        arms = sets.loc[chosen(run, number), ["axis", "attribute"]].value_counts(dropna=False)
        assert len(arms) == 9 and set(arms) == {number // 9}
    arms = sets.loc[chosen(run, 13), ["axis", "attribute"]].value_counts(dropna=False)
    assert set(arms) == {1, 2}


def test_a_larger_sample_begins_with_the_smaller_one(run: Path) -> None:
    large = chosen(run, 60)
    assert chosen(run, 25) == large[:25]
    assert len(set(large)) == 60
    assert chosen(run, 25, seed=1) != large[:25]


def test_there_are_no_more_pictures_than_there_are(run: Path) -> None:
    assert len(chosen(run, 1000)) == 108
    assert label_page(run, LabelOptions(sample=1000))[1] == 108


def test_the_page_tells_neither_prompts_nor_answers(run: Path) -> None:
    page, count = label_page(run, LabelOptions(sample=12))
    assert count == 12
    text = page.decode()
    for secret in ("a librarian", "counterfactual", "intervention", "confidence", "graph.json"):
        assert secret not in text
    model = model_of(page)
    assert {*model} == {"key", "images", "questions"}
    assert all({*image} == {"picture", "image", "src", "pixels"} for image in model["images"])
    assert "drawGraph" not in text and len(page) < 100_000


def test_it_asks_the_very_questions_of_the_run(run: Path) -> None:
    questions = model_of(label_page(run, LabelOptions(sample=1))[0])["questions"]
    assert [one["axis"] for one in questions] == ["", "gender", "age", "disability", "disability"]
    assert questions[2]["text"] == "Age?" and questions[2]["choices"] == ["y", "m", "o"]
    fewer = model_of(label_page(run, LabelOptions(sample=1, only=("age",)))[0])["questions"]
    assert [one["axis"] for one in fewer] == ["", "age"]


def test_pictures_are_known_by_their_pixels(run: Path) -> None:
    labels = labels_of(run).set_index("image")["picture"]
    for image in model_of(label_page(run, LabelOptions(sample=9))[0])["images"]:
        assert {image["picture"]} == set(labels[image["image"]])


def test_the_same_page_every_time(run: Path) -> None:
    assert label_page(run, LabelOptions(sample=9)) == label_page(run, LabelOptions(sample=9))


def test_withheld_pictures_are_left_out(run: Path) -> None:
    import sqlite3

    gone = chosen(run, 3)[1]
    ledger = sqlite3.connect(run / "ledger.sqlite")
    ledger.execute("UPDATE images SET withheld = 'nudity' WHERE id = ?", (gone,))
    ledger.commit()
    ledger.close()
    assert gone not in chosen(run, 1000)


def test_what_has_no_pictures(run: Path, tmp_path: Path) -> None:
    biasgraph.save(load(run), tmp_path / "table")
    with pytest.raises(InputError, match="has no pictures to label"):
        label_page(tmp_path / "table", LabelOptions())
    with pytest.raises(InputError, match=r"no axis 'agee'.*Did you mean 'age'"):
        label_page(run, LabelOptions(only=("agee",)))
    first = chosen(run, 1)[0]
    with closing(read_run(run)) as opened:
        row = next(image for image in opened.ledger.images() if image.id == first)
        opened.image_path(row).write_bytes(b"not a picture")
    with pytest.raises(ModelError, match="missing or damaged"):
        label_page(run, LabelOptions(sample=1))


def test_the_command(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["label", str(run), "--sample", "5"]) == 0
    assert "Wrote 5 pictures to" in capsys.readouterr().out
    assert (run / "label.html").read_bytes().startswith(b"<!doctype html>")
    assert main(["label", str(run), "--sample", "6"]) == 0
    (tmp_path / "mine.txt").write_text("do not touch")
    assert main(["label", str(run), "-o", str(tmp_path / "mine.txt")]) == 2
    assert (tmp_path / "mine.txt").read_text() == "do not touch"
    assert main(["label", str(tmp_path)]) == 2
    assert "holds no result" in capsys.readouterr().err
    assert main(["label", f"{run}n"]) == 2
    assert f"Did you mean '{run.name}'?" in capsys.readouterr().err
    part = run / "prompts" / "a-librarian"
    part.mkdir(parents=True)
    (part / "graph.json").write_bytes((run / "graph.json").read_bytes())
    assert main(["label", str(part)]) == 2
    assert f"it is one prompt of the run in {run}, which has them" in capsys.readouterr().err
