"""What a saved result was computed from can be had back from its files."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import biasgraph
from biasgraph.audits.compare.evidence import Evidence, evidence_of
from biasgraph.causal.baseline import Baseline
from biasgraph.causal.graph import analyze
from biasgraph.causal.transport import resolve_ideals
from biasgraph.errors import InputError
from tests.answer_tables import AXES, librarian_table

COST = {
    "name": "shop",
    "subject": "person",
    "gate": "Is there a person?",
    "axes": [
        {
            "name": axis,
            "question": f"Which {axis}?",
            "attributes": [
                {"name": name, "phrase": name, "placement": "before"} for name in attributes
            ],
            **(
                {"metric": "cost", "cost": [[0, 1, 3], [1, 0, 1], [3, 1, 0]]}
                if axis == "age"
                else {}
            ),
        }
        for axis, attributes in AXES.items()
    ],
}


def again(evidence: Evidence) -> list[dict[str, object]]:
    """The pairs, analysed anew from the evidence."""
    images = evidence.images[0]
    ideal = {
        variable.name: dict(zip(variable.attributes, map(float, one.shares), strict=True))
        for variable, one in zip(images.variables, evidence.ideals, strict=True)
    }
    settings = evidence.settings
    if settings.unknown == "class":  # it is one of the attributes already
        settings = biasgraph.causal.settings.AnalysisSettings.resolve(
            bootstrap=settings.bootstrap, seed=settings.seed
        )
    return [pair.record() for pair in analyze(images, settings, Baseline(ideal)).pairs]


@pytest.mark.parametrize("options", [{}, {"only": "clothing,gender"}, {"preset": "paper"}])
def test_a_saved_result_can_be_computed_again(tmp_path: Path, options: dict[str, str]) -> None:
    table = librarian_table()
    table.loc[::17, "answer"] = "unknown"
    biasgraph.save(biasgraph.analyze(table, bootstrap=200, **options), tmp_path / "run")
    result = biasgraph.load(tmp_path / "run")

    evidence = evidence_of(result)

    assert evidence.axes == [node["id"] for node in result.document["nodes"]]
    assert len(evidence.images) == 1
    found = json.loads(json.dumps(again(evidence)))
    recorded = result.pair_records()
    assert [pair["statistic"] for pair in found] == [pair["statistic"] for pair in recorded]
    assert [pair["is"] for pair in found] == [pair["is"] for pair in recorded]
    assert [pair["is_ci_low"] for pair in found] == [pair["is_ci_low"] for pair in recorded]


def test_unknown_answers_as_a_class_come_back_as_one(tmp_path: Path) -> None:
    table = librarian_table()
    table.loc[::7, "answer"] = "unknown"
    ideal = {
        axis: {**dict.fromkeys(names, 1 / len(names)), "unknown": 0} for axis, names in AXES.items()
    }
    result = biasgraph.analyze(table, bootstrap=200, unknown="class", ideal=ideal)

    evidence = evidence_of(result)

    assert evidence.images[0].variables[0].attributes == ("male", "female", "unknown")
    counts = result.document["nodes"][0]["initial"]["counts"]
    assert counts[2] > 0
    codes = evidence.images[0].initial[:, 0]
    assert [int((codes == code).sum()) for code in range(3)] == counts


def test_a_cost_matrix_is_part_of_the_graph(tmp_path: Path) -> None:
    axes = tmp_path / "shop.yaml"
    axes.write_text(json.dumps(COST), encoding="utf-8")  # JSON is YAML
    result = biasgraph.analyze(librarian_table(), axes=str(axes), bootstrap=200)

    evidence = evidence_of(result)

    age = evidence.axes.index("age")
    assert evidence.ideals[age].metric == "cost"
    shares = evidence.images[0].initial[:, age]
    node = result.document["nodes"][age]
    assert len(shares) == node["initial"]["n_total"]
    again_w1 = evidence.ideals[age].distance(
        pd.Series(shares).value_counts(normalize=True).sort_index().to_numpy()
    )
    assert float(again_w1) == pytest.approx(node["w1"])
    variable = evidence.images[0].variables[age]
    [other] = resolve_ideals([variable], None, {"age": {variable.attributes[0]: 1.0}}, None)
    assert float(other.distance(np.array([0.0, 0.0, 1.0]))) == 3


def test_several_prompts_give_one_set_of_images_each() -> None:
    both = pd.concat([librarian_table(), librarian_table(prompt="a nurse", seed=1)])

    evidence = evidence_of(biasgraph.analyze(both, bootstrap=200))

    assert [images.prompt for images in evidence.images] == ["a librarian", "a nurse"]


def test_answers_that_were_cut_short_are_refused() -> None:
    result = biasgraph.analyze(librarian_table(), bootstrap=200)
    for rows in (slice(0, 600), slice(30, None)):
        cut = replace(result, frames=replace(result.frames, answers=result.answers[rows]))
        with pytest.raises(InputError, match="does not fit"):
            evidence_of(cut)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("axis", "hair", "the result has no axis 'hair'"),
        ("attribute", "tall", "'tall' is not an attribute of gender"),
    ],
)
def test_answers_of_another_table_are_refused(column: str, value: str, said: str) -> None:
    result = biasgraph.analyze(librarian_table(), bootstrap=200)
    other = result.answers.astype(str).replace({"None": "", "nan": ""})
    rows = other["axis"] == "gender"
    other.loc[rows, column] = value

    with pytest.raises(InputError, match=f"column {column}: {said}"):
        evidence_of(replace(result, frames=replace(result.frames, answers=other)))
