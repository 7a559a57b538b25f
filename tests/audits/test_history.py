"""The history of a prompt: which runs are held against each other, and which are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import biasgraph
from biasgraph.audits.history import histories
from biasgraph.audits.run_list import Document, RunEntry, RunRow
from tests.answer_tables import librarian_table


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """A result about gender, age and clothing, judged by a named judge."""
    table = librarian_table(images=20).assign(judge="vlm:judge")
    return biasgraph.analyze(table, bootstrap=100).document


def found(document: dict[str, Any], number: int, **graph: Any) -> RunEntry:
    about = {**document["graph"], **graph}
    date = f"2026-0{number}-01T00:00:00+00:00"
    row = RunRow(f"run {number}", page="report.html", date=date, model=about["model"])
    return RunEntry(row, Document.model_validate({**document, "graph": about}))


def changed(document: dict[str, Any], axis: str, **fields: Any) -> dict[str, Any]:
    nodes = [node | fields if node["id"] == axis else node for node in document["nodes"]]
    return {**document, "nodes": nodes}


def settings(runs: list[RunEntry], axis: str) -> list[list[str]]:
    """The runs of each setting of an axis of the one history there is."""
    [history] = histories(runs)
    [own] = [one for one in history["axes"] if one["axis"] == axis]
    return [[point["directory"] for point in one["points"]] for one in own["settings"]]


def test_points_are_what_the_graphs_say_in_the_order_of_dates(document: dict[str, Any]) -> None:
    runs = [found(document, number, model=f"shop:v{number}") for number in (3, 1, 2)]
    [history] = histories(runs)
    assert (history["prompt"], history["runs"]) == ("a librarian", 3)
    node = next(node for node in document["nodes"] if node["id"] == "gender")
    [setting] = history["axes"][0]["settings"]
    assert setting["attributes"] == ("female", "male")
    assert setting["ideal"] == (0.5, 0.5)
    assert (setting["judge"], setting["metric"]) == ("vlm:judge", "nominal")
    assert [point["model"] for point in setting["points"]] == ["shop:v1", "shop:v2", "shop:v3"]
    point = setting["points"][0]
    assert (point["w1"], point["w1_ci"]) == (node["w1"], list(node["w1_ci"]))
    assert point["shares"] == [*reversed(node["initial"]["distribution"])]
    assert point["shares_ci"] == [list(ends) for ends in reversed(node["distribution_ci"])]
    assert point["valid"] == 20


@pytest.mark.parametrize(
    "graph",
    [{"vqa": "vlm:other"}, {"vqa_fingerprint": "sha256:0"}, {"vqa": None}, {"people": True}],
)
def test_another_judge_stands_apart_on_every_axis(
    document: dict[str, Any], graph: dict[str, Any]
) -> None:
    runs = [found(document, 1), found(document, 2), found(document, 3, **graph)]
    for axis in ("gender", "age", "clothing"):
        assert settings(runs, axis) == [["run 1", "run 2"], ["run 3"]]


@pytest.mark.parametrize(
    "fields",
    [
        {"ideal": [0.3, 0.7]},
        {"metric": "values"},
        {"attributes": ["male", "other"]},
        {"metric": "cost", "cost": [[0.0, 1.0], [1.0, 0.0]]},
        {"reference": [5, 5]},
    ],
)
def test_what_differs_on_one_axis_parts_that_axis(
    document: dict[str, Any], fields: dict[str, Any]
) -> None:
    runs = [found(document, 1), found(document, 2)]
    runs.append(found(changed(document, "gender", **fields), 3))
    assert settings(runs, "gender") == [["run 1", "run 2"], ["run 3"]]
    assert settings(runs, "age") == [["run 1", "run 2", "run 3"]]


def test_the_order_of_attributes_counts_where_the_metric_heeds_it(document: dict[str, Any]) -> None:
    turned = {"attributes": ["female", "male"], "ideal": [0.5, 0.5]}
    runs = [found(document, 1), found(changed(document, "gender", **turned), 2)]
    assert settings(runs, "gender") == [["run 1", "run 2"]]
    order = {"metric": "ordinal"}
    runs = [
        found(changed(document, "gender", **order), 1),
        found(changed(document, "gender", **order, **turned), 2),
    ]
    assert settings(runs, "gender") == [["run 1"], ["run 2"]]


def test_people_are_one_judge_whatever_their_file(document: dict[str, Any]) -> None:
    runs = [found(document, n, people=True, vqa=f"human:{n}.csv") for n in (1, 2)]
    assert settings(runs, "age") == [["run 1", "run 2"]]


def test_what_is_no_history(document: dict[str, Any]) -> None:
    alone, second = found(document, 1), found(document, 2)
    assert histories([alone, found(document, 2, prompt="a nurse")]) == []
    assert histories([alone, RunEntry(second.row)]) == []
    assert histories([alone, found(document, 2, prompt=None)]) == []
    for date in (None, "", "yesterday", "2026-99-01"):
        assert histories([alone, replace(second, row=replace(second.row, date=date))]) == []


def test_dates_are_told_in_utc(document: dict[str, Any]) -> None:
    runs = [found(document, 1), found(document, 2)]
    runs[0] = replace(runs[0], row=replace(runs[0].row, date="2026-02-01T01:00:00+02:00"))
    runs[1] = replace(runs[1], row=replace(runs[1].row, date="2026-01-31"))
    [history] = histories(runs)
    dates = [point["date"] for point in history["axes"][0]["settings"][0]["points"]]
    assert dates == ["2026-01-31T00:00:00+00:00", "2026-01-31T23:00:00+00:00"]
