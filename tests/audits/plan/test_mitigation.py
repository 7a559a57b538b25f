"""A mitigation plan for a saved result, from its files to plan.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.audits.pipeline_options import PlanOptions
from biasgraph.audits.plan.mitigation import PLAN, cost, plan
from biasgraph.causal.greedy import ASSUMPTION
from biasgraph.errors import InputError
from tests.answer_tables import librarian_table


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("mitigation") / "run"
    biasgraph.save(biasgraph.analyze(librarian_table(), bootstrap=300), directory)
    return directory


def planned(directory: Path, **options: Any) -> dict[str, Any]:
    return plan(PlanOptions(run=directory, **options))


def axis(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in document["strategies"]["axes"] if one["axis"] == name)


def test_a_plan_for_every_axis(saved: Path) -> None:
    document = planned(saved)
    assert json.loads((saved / PLAN).read_text("utf-8")) == document
    assert document["schema"] == "biasgraph-plan/1"
    assert document["graph"]["prompt"] == "a librarian"
    assert document["graph"]["settings"]["bootstrap"] == 300
    assert axis(document, "gender")["recommended"] == "gender"
    assert document["strategies"]["comparisons"] == 9
    goals = {goal["axis"]: goal["weight"] for goal in document["plan"]["goals"]}
    assert goals == {"gender": 1, "age": 1, "clothing": 1}
    assert document["plan"]["assumption"] == ASSUMPTION
    assert document["plan"]["steps"][0]["axis"] in goals
    assert document["verification"] is None
    result = biasgraph.load(saved)
    own = {(pair["source"], pair["target"]): pair for pair in result.pair_records()}
    for one in axis(document, "age")["strategies"]:
        assert one["is"] == own[one["axis"], "age"]["is"]


def test_clothing_is_brought_along_by_gender(saved: Path) -> None:
    brought = axis(planned(saved), "clothing")["brought_by"]
    assert [one["axis"] for one in brought] == ["gender"]
    assert brought[0]["all_the_way"]


def test_targets_and_steps(saved: Path, tmp_path: Path) -> None:
    targets = tmp_path / "targets.yaml"
    targets.write_text("age: {weight: 3, ideal: {young: 0.5, old: 0.5}}\nclothing:\n")
    found = planned(saved, targets=targets, steps=1, output=tmp_path / "out")["plan"]
    assert (tmp_path / "out" / PLAN).exists()
    assert found["source"] == "targets.yaml"
    assert [goal["axis"] for goal in found["goals"]] == ["age", "clothing"]
    assert found["goals"][0]["ideal"] == [0.5, 0, 0.5]
    assert len(found["steps"]) <= 1
    assert [row["axis"] for row in found["before"]["targets"]] == ["age", "clothing"]


def test_the_same_plan_every_time(saved: Path) -> None:
    assert planned(saved) == planned(saved)


def test_too_few_images_plan_nothing(tmp_path: Path) -> None:
    biasgraph.save(biasgraph.analyze(librarian_table(images=10), bootstrap=100), tmp_path)
    document = planned(tmp_path)
    assert {one["verdict"] for one in document["strategies"]["axes"]} == {"insufficient"}
    assert (document["plan"]["steps"], document["plan"]["stopped"]) == ([], "insufficient")
    assert {goal["status"] for goal in document["plan"]["goals"]} == {"insufficient"}


def test_some_targets_with_too_few_answers(tmp_path: Path) -> None:
    table = librarian_table()
    table.loc[table["target"].eq("age") & table["axis"].eq(""), "answer"] = "unknown"
    biasgraph.save(biasgraph.analyze(table, bootstrap=100), tmp_path)
    document = planned(tmp_path)["plan"]
    status = {goal["axis"]: goal["status"] for goal in document["goals"]}
    assert status == {"gender": "ok", "age": "insufficient", "clothing": "ok"}
    assert [row["axis"] for row in document["before"]["targets"]] == ["gender", "clothing"]


def test_several_prompts_are_planned_for_together(tmp_path: Path) -> None:
    both = pd.concat([librarian_table(), librarian_table(prompt="a nurse", seed=1)])
    biasgraph.save(biasgraph.analyze(both, bootstrap=200), tmp_path)
    document = planned(tmp_path)
    assert document["graph"]["kind"] == "global"
    assert axis(document, "gender")["n_valid"] == 96
    assert axis(document, "gender")["recommended"] == "gender"
    with pytest.raises(InputError, match="single prompt"):
        planned(tmp_path, verify=True)


def test_unknown_answers_as_a_class(tmp_path: Path) -> None:
    table = librarian_table()
    table.loc[::7, "answer"] = "unknown"
    names = {"gender": ("male", "female"), "age": ("young", "middle", "old"),
             "clothing": ("formal", "casual")}  # fmt: skip
    ideal = {
        one: {**dict.fromkeys(attributes, 1 / len(attributes)), "unknown": 0}
        for one, attributes in names.items()
    }
    biasgraph.save(biasgraph.analyze(table, bootstrap=100, unknown="class", ideal=ideal), tmp_path)
    goals = planned(tmp_path)["plan"]["goals"]
    assert goals[0]["attributes"] == ["male", "female", "unknown"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"verify_images": 3}, "--verify-images needs --verify"),
        ({"axes": "occupation"}, "--axes needs --verify"),
        ({"verify": True}, "--verify needs models .* made from an answers table"),
        ({"targets": Path("nowhere.yaml")}, "cannot read targets 'nowhere.yaml'"),
    ],
)
def test_what_makes_no_sense_is_refused(
    saved: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        planned(saved, output=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no result"):
        planned(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_cost_in_a_line() -> None:
    size = {"combinations": 4, "images_per_combination": 48, "images": 192, "questions": 2112}
    assert "4 combinations x 48 images = 192 images" in cost({**size, "seconds": 4.2})
    assert "about 4 s" in cost({**size, "seconds": 4.2})
    assert "time not known" in cost({**size, "seconds": None})
