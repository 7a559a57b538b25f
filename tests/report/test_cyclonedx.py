"""The bill of materials is valid by CycloneDX's own schema and has the numbers of the graph."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

import pandas as pd
import pytest

import biasgraph
from biasgraph.report import words
from biasgraph.report.cyclonedx import DISTANCE, SENSITIVITY, bom_files
from biasgraph.report.lead import lead
from tests.answer_tables import AXES, librarian_table
from tests.hostile import HOSTILE


@functools.cache
def validator() -> Any:
    """CycloneDX's own, which is strict."""
    from cyclonedx.schema import SchemaVersion  # takes seconds to import
    from cyclonedx.validation.json import JsonStrictValidator

    return JsonStrictValidator(SchemaVersion.V1_6)


Metrics = dict[tuple[str, str], dict[str, Any]]


def read(result: biasgraph.Result) -> dict[str, Any]:
    """The document, once it is known to be valid."""
    text = bom_files(result)["bom.cdx.json"].decode()
    problem = validator().validate_str(text)
    assert problem is None, str(problem)[:2000]
    found: dict[str, Any] = json.loads(text)
    return found


def card(bom: dict[str, Any]) -> dict[str, Any]:
    (model,) = bom["components"]
    found: dict[str, Any] = model["modelCard"]
    return found


def metrics(bom: dict[str, Any]) -> Metrics:
    listed = card(bom)["quantitativeAnalysis"]["performanceMetrics"]
    found = {(metric["type"], metric["slice"]): metric for metric in listed}
    assert len(found) == len(listed)
    return found


def interval(metric: dict[str, Any]) -> list[float]:
    ends = metric["confidenceInterval"]
    return [float(ends["lowerBound"]), float(ends["upperBound"])]


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(model="sandbox:stereotyped"), bootstrap=100)


def test_the_schema_refuses_what_is_no_bill_of_materials() -> None:
    assert validator().validate_str('{"bomFormat": "CycloneDX", "specVersion": "1.6", "x": 1}')


def test_metrics_are_the_numbers_of_the_graph(result: biasgraph.Result) -> None:
    found = metrics(read(result))
    for node in result.document["nodes"]:
        axis, initial = node["id"], node["initial"]
        assert float(found[DISTANCE, axis]["value"]) == node["w1"]
        assert interval(found[DISTANCE, axis]) == list(node["w1_ci"])
        valid = found["initial images with a valid answer", axis]["value"]
        assert int(valid) == initial["n_valid"]
        for place, attribute in enumerate(node["attributes"]):
            one = f"{axis} = {attribute}"
            share = found["share of initial images", one]
            assert float(share["value"]) == initial["distribution"][place]
            assert interval(share) == list(node["distribution_ci"][place])
            assert float(found["ideal share", one]["value"]) == node["ideal"][place]
    assert result.document["links"]
    for link in result.document["links"]:
        metric = found[SENSITIVITY, f"{link['source']} → {link['target']}"]
        assert float(metric["value"]) == link["is"]
        assert interval(metric) == [link["is_ci_low"], link["is_ci_high"]]
    assert len([kind for kind, _ in found if kind == SENSITIVITY]) == len(result.document["links"])


def test_it_says_what_was_audited_and_what_limits_it(result: biasgraph.Result) -> None:
    bom = read(result)
    (model,) = bom["components"]
    assert model["name"] == "sandbox:stereotyped"
    said = " ".join(lead(result.document, result.pair_records()))
    assert model["description"].endswith(words.plain(said))
    toy, *limits = card(bom)["considerations"]["technicalLimitations"]
    assert toy.startswith("These results describe a toy")
    assert any("has not been validated" in limit for limit in limits)
    properties = {one["name"]: one["value"] for one in card(bom)["properties"]}
    assert properties["biasgraph:Prompt"] == "a librarian"
    assert properties["biasgraph:Images"] == "48 initial, 336 counterfactual"
    assert properties["biasgraph:Ideal"] == "uniform"
    (tool,) = bom["metadata"]["tools"]["components"]
    assert (tool["name"], tool["version"]) == ("biasgraph", biasgraph.__version__)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bom["serialNumber"])


def test_what_is_undefined_is_left_out_and_said(result: biasgraph.Result) -> None:
    bom = read(biasgraph.analyze(librarian_table(images=5), bootstrap=100))
    kinds = {kind for kind, _ in metrics(bom)}
    assert not kinds & {DISTANCE, SENSITIVITY}
    limits = " ".join(card(bom)["considerations"]["technicalLimitations"])
    assert "too few valid answers to measure the distance to the ideal" in limits


def test_of_many_prompts_every_prompt_is_named() -> None:
    prompts = [f"a worker of kind {number}" for number in range(7)]
    tables = [librarian_table(prompt=prompt, images=12) for prompt in prompts]
    made = biasgraph.analyze(pd.concat(tables), bootstrap=100, min_valid=8)
    properties = card(read(made))["properties"]
    told = [one["value"] for one in properties if one["name"] == "biasgraph:Prompt"]
    assert told == prompts


@pytest.mark.slow(reason="a document for every payload")
def test_hostile_names_are_valid_and_whole() -> None:
    writable = [name for name in HOSTILE if not any("\ud800" <= each <= "\udfff" for each in name)]
    names = iter(writable)
    for _ in range(len(writable) // 10):
        axes = {next(names): [next(names) for _ in own] for own in AXES.values()}
        prompt = next(iter(axes))
        table = librarian_table(axes=axes, images=8, prompt=prompt, model=prompt)
        bom = read(biasgraph.analyze(table, bootstrap=100, min_valid=4))
        slices = {part for kind, part in metrics(bom) if kind == DISTANCE}
        assert slices == {*axes}
