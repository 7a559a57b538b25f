"""What is exported for Every Eval Ever fits its schema, and its samples alone tell every share."""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.errors import WIDEST
from biasgraph.report import words
from biasgraph.report.audit_card import card_files
from biasgraph.report.every_eval_ever import eval_files, model_id
from biasgraph.report.exports import export
from tests.answer_tables import AXES, librarian_table, with_controls
from tests.hostile import HOSTILE
from tests.report.markdown_page import tables

SCHEMAS = Path(__file__).parent / "schemas"
Rows = list[dict[str, Any]]


@functools.cache
def validator(name: str) -> Any:
    """That of a pinned schema."""
    from jsonschema import Draft7Validator  # takes seconds to import

    return Draft7Validator(json.loads((SCHEMAS / f"{name}.schema.json").read_bytes()))


def read(files: Mapping[str, bytes]) -> tuple[dict[str, Any], Rows]:
    """The aggregate and the samples, once they are known to fit the schemas and each other."""
    (one, whole), (other, lines) = files.items()
    log, rows = json.loads(whole), [json.loads(line) for line in lines.splitlines()]
    validator("eval").validate(log)
    for row in rows:
        validator("instance_level_eval").validate(row)
    details = log["detailed_evaluation_results"]
    assert details["file_path"] == other and other == one.replace(".json", "_samples.jsonl")
    assert details["checksum"] == hashlib.sha256(lines).hexdigest()
    assert details["total_rows"] == len(rows)
    assert {row["evaluation_id"] for row in rows} == {log["evaluation_id"]}
    assert {row["model_id"] for row in rows} == {log["model_info"]["id"]}
    return log, rows


def scores(log: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found = {one["evaluation_result_id"]: one for one in log["evaluation_results"]}
    assert len(found) == len(log["evaluation_results"])
    return found


def shares(rows: Rows) -> dict[tuple[str, str], str]:
    """Images of every attribute and their share, of the initial images: from the samples alone."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    choices: dict[str, list[str]] = {}
    for row in rows:
        if row["metadata"]["role"] == "initial":
            axis = row["metadata"]["target"]
            choices[axis] = row["input"]["choices"]
            counts[axis][row["answer_attribution"][0]["extracted_value"]] += 1
    told = {}
    for axis, own in choices.items():
        valid = sum(counts[axis][choice] for choice in own)
        for choice in own:
            count = counts[axis][choice]
            share = words.percent(count / valid) if valid else "-"
            told[axis, choice] = f"{count:,} of {valid:,}: {share}"
    return told


def shares_in_card(result: biasgraph.Result) -> dict[tuple[str, str], str]:
    page = card_files(result, "svg", 1)["card.md"].decode()
    told, axis = {}, ""
    for name, called, images, share, *_ in tables(page)[0][1:]:
        axis = name or axis
        told[axis, called] = f"{images}: {share.partition(' [')[0]}"
    return told


def lossy(table: pd.DataFrame) -> pd.DataFrame:
    """The table with an answer in seven unknown, and one in eleven gated."""
    answers = table["answer"].where(table.index % 7 != 0, "unknown")
    return table.assign(answer=answers.where(table.index % 11 != 0, "gated"))


@pytest.mark.slow(reason="five runs are recounted")
@pytest.mark.parametrize(
    "table",
    [
        lossy(librarian_table(images=24)),
        with_controls(librarian_table()),
        librarian_table(images=5),
        librarian_table()[librarian_table()["role"] == "initial"],
        pd.concat([librarian_table(), librarian_table(prompt="a nurse", seed=1)]),
    ],
    ids=["lossy", "controls", "few", "initial", "prompts"],
)
def test_the_samples_alone_tell_every_share_of_the_card(table: pd.DataFrame) -> None:
    result = biasgraph.analyze(table, bootstrap=100)
    log, rows = read(eval_files(result))
    assert shares(rows) == shares_in_card(result)
    assert len(rows) == len(table)
    linked = {row.get("evaluation_result_id") for row in rows} - {None}
    assert linked == {*scores(log)}


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(model="sandbox:stereotyped"), bootstrap=100)


def test_scores_are_those_of_the_graph_with_their_intervals(result: biasgraph.Result) -> None:
    log, rows = read(eval_files(result))
    found = scores(log)
    for node in result.document["nodes"]:
        score = found[f"w1/{node['id']}"]
        uncertainty = score["score_details"]["uncertainty"]
        low, high = node["w1_ci"]
        assert score["score_details"]["score"] == node["w1"]
        assert uncertainty["confidence_interval"]["lower"] == low
        assert uncertainty["confidence_interval"]["upper"] == high
        assert uncertainty["confidence_interval"]["confidence_level"] == 0.95
        assert uncertainty["num_samples"] == node["initial"]["n_valid"]
        assert json.loads(score["score_details"]["details"]["ideal"]) == node["ideal"]
        assert score["metric_config"]["lower_is_better"] is True
    for pair in result.pair_records():
        if pair["source"] == pair["target"]:
            right = [
                row["evaluation"]["score"]
                for row in rows
                if row.get("evaluation_result_id") == f"accuracy/{pair['source']}"
            ]
            accuracy = found[f"accuracy/{pair['source']}"]["score_details"]["score"]
            assert sum(right) / len(right) == pytest.approx(accuracy)
            continue
        score = found[f"is/{pair['source']}/{pair['target']}"]["score_details"]
        interval = score["uncertainty"]["confidence_interval"]
        assert score["score"] == pair["is"]
        assert (interval["lower"], interval["upper"]) == (pair["is_ci_low"], pair["is_ci_high"])
        assert score["details"]["edge"] == json.dumps(pair["edge"])
    for score in found.values():
        config = score["metric_config"]
        assert config["min_score"] <= score["score_details"]["score"] <= config["max_score"]
    assert "describe a toy" in log["source_metadata"]["additional_details"]["toy"]


def test_what_is_undefined_has_no_score_but_a_reason() -> None:
    few = biasgraph.analyze(librarian_table(images=5), bootstrap=100)
    log, rows = read(eval_files(few))
    assert not [name for name in scores(log) if not name.startswith("accuracy")]
    about = log["source_metadata"]["additional_details"]
    assert "too few valid answers" in about["no score: w1/gender"]
    assert "too few valid answers" in about["no score: is/gender/age"]
    assert not any("evaluation_result_id" in row for row in rows if not row["input"]["reference"])


def test_hostile_names_stay_whole_and_apart(tmp_path: Path) -> None:
    writable = [name for name in HOSTILE if not any("\ud800" <= each <= "\udfff" for each in name)]
    names = iter(writable)
    axes = {next(names): [next(names) for _ in own] for own in AXES.values()}
    for name in ("a/b", "a", "b/c"):
        axes[name] = [next(names), next(names)]
    table = librarian_table(axes=axes, images=8, prompt=next(names), model="diffusers:../..@x")
    made = biasgraph.analyze(table, bootstrap=100, min_valid=4)
    log, rows = read(eval_files(made))
    assert {row["metadata"]["target"] for row in rows} == {*axes}
    assert {*scores(log)} >= {"w1/a%2Fb", "is/a/b%2Fc", "is/a%2Fb/b%2Fc"}
    export(made, ["everyevalever"], tmp_path)
    for path in tmp_path.rglob("*.json*"):
        assert path.resolve().is_relative_to(tmp_path)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("diffusers:black-forest-labs/FLUX.2@abc", "black-forest-labs/FLUX.2"),
        ("openai:gpt-image-1-mini", "openai/gpt-image-1-mini"),
        ("diffusers:/home/me/model", "diffusers//home/me/model"),
        ("not recorded", "unknown/not recorded"),
    ],
)
def test_models_are_named_as_the_hub_does(spec: str, expected: str) -> None:
    assert model_id(spec) == expected


def test_a_reanalysis_replaces_the_files_and_other_images_do_not(
    result: biasgraph.Result,
) -> None:
    graph = result.document["graph"]
    settings = {**graph["settings"], "alpha": 0.01}
    again = replace(result, document={**result.document, "graph": {**graph, "settings": settings}})
    assert [*eval_files(again)] == [*eval_files(result)]
    more = {**graph, "images": {**graph["images"], "initial": 96}}
    other = replace(result, document={**result.document, "graph": more})
    assert {*eval_files(other)}.isdisjoint(eval_files(result))


def test_a_long_cell_of_a_damaged_table_is_shortened_in_the_error(tmp_path: Path) -> None:
    biasgraph.build(answers=librarian_table(images=40), output=tmp_path / "run", bootstrap=100)
    path = tmp_path / "run" / "pairs.csv"
    table = pd.read_csv(path, keep_default_na=False, dtype=str)
    table.loc[1, "p"] = "0.5" + 5_000 * "x"
    table.to_csv(path, index=False)
    with pytest.raises(
        biasgraph.InputError, match=r"pairs\.csv is damaged: .*0\.5xx.* \.\.\. "
    ) as it:
        biasgraph.load(tmp_path / "run")
    assert len(str(it.value)) <= WIDEST


@pytest.mark.parametrize("column", ["target", "axis"])
def test_answers_about_an_axis_that_the_graph_lacks_are_damage(tmp_path: Path, column: str) -> None:
    biasgraph.build(answers=librarian_table(images=40), output=tmp_path / "run", bootstrap=100)
    path = tmp_path / "run" / "answers.csv"
    table = pd.read_csv(path, keep_default_na=False)
    about = table[column] == "age"
    assert about.any()
    table.loc[about, column] = "1"
    table.to_csv(path, index=False)
    with pytest.raises(biasgraph.InputError, match=r"answers\.csv is damaged: graph\.json has no"):
        biasgraph.load(tmp_path / "run")
