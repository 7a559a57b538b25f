"""What a run found beside the truth: only where both speak of the same thing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from biasgraph.data.result import Result, load
from biasgraph.sandbox.run_truth import compare_with_truth
from tests.browser.conftest import SMALL
from tests.shared_runs import copy_run


@pytest.fixture
def result(tmp_path: Path) -> Result:
    copy_run(tmp_path / "run", "build", "--prompt", "a librarian", *SMALL)
    return load(tmp_path / "run")


def test_attributes_in_another_order_are_no_axis_of_the_world(result: Result) -> None:
    node = next(node for node in result.document["nodes"] if node["id"] == "gender")
    turned = {**node, "attributes": node["attributes"][::-1]}
    nodes = [turned if other is node else other for other in result.document["nodes"]]
    told = compare_with_truth(replace(result, document={**result.document, "nodes": nodes}))
    assert "gender" not in [axis["axis"] for axis in told["axes"]]
    assert all("gender" not in (pair["source"], pair["target"]) for pair in told["pairs"])


@pytest.mark.parametrize("change", [{"metric": "nominal"}, {"ideal": [0.5, 0.3, 0.2]}])
def test_another_measure_has_no_is_to_compare(result: Result, change: dict[str, object]) -> None:
    nodes = [
        {**node, **change} if node["id"] == "age" else node for node in result.document["nodes"]
    ]
    assert compare_with_truth(result)["comparable"]
    told = compare_with_truth(replace(result, document={**result.document, "nodes": nodes}))
    assert not told["comparable"]
    assert all(pair["is_planted"] is None for pair in told["pairs"])
    assert any(pair["cramers_v_planted"] for pair in told["pairs"])
