"""Frames and CSV files of a result."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

import biasgraph
from biasgraph.data.frames import TABLE_COLUMNS, counts_from_cells
from biasgraph.data.result import load_intact
from tests.answer_tables import AXES, librarian_table, with_controls

DOCS = Path(__file__).parents[2] / "docs" / "files.md"
PAIR_FIELDS = [
    "source",
    "target",
    "metric",
    "statistic",
    "dof",
    "p",
    "p_adjusted",
    "method",
    "cramers_v",
    "cramers_v_corrected",
    "detectable_v",
    "w1_before",
    "w1_after",
    "is",
    "is_matched",
    "is_matched_ci_low",
    "is_matched_ci_high",
    "is_ci_low",
    "is_ci_high",
    "ci_percentile_low",
    "ci_percentile_high",
    "ci_basic_low",
    "ci_basic_high",
    "sign",
    "sign_probability",
    "shift_p",
    "edge",
    "status",
    "flags",
]
NODE_FIELDS = [
    "id",
    "metric",
    "attributes",
    "initial",
    "distribution_ci",
    "distribution_bounds",
    "ideal",
    "w1",
    "w1_ci",
    "w1_null",
    "near_ideal",
    "diagonal",
    "out_degree",
    "in_degree",
    "out_strength",
    "in_strength",
    "flags",
    "findings",
]


@pytest.fixture(scope="module")
def result() -> biasgraph.Result:
    return biasgraph.analyze(librarian_table(), bootstrap=100)


def csv(result: biasgraph.Result, name: str) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(result.files()[name]))


def test_pairs_csv_has_every_pair_and_field(result: biasgraph.Result) -> None:
    pairs = csv(result, "pairs.csv")
    assert {*PAIR_FIELDS} <= {*pairs.columns}
    assert len(pairs) == 9
    assert not pairs[pairs["source"] == pairs["target"]]["edge"].any()
    [edge] = pairs[pairs["edge"]].to_dict("records")
    [link] = result.document["links"]
    assert (edge["source"], edge["target"]) == ("gender", "clothing")
    assert edge["is"] == link["is"]
    assert edge["dof"] == 1


def test_undefined_numbers_are_missing_and_flags_stand_side_by_side() -> None:
    result = biasgraph.analyze(librarian_table(images=20), bootstrap=100)
    diagonal = result.pairs[result.pairs["source"] == result.pairs["target"]]
    assert diagonal["p_adjusted"].isna().all()
    assert "expected_low;small_sample" in {*result.pairs["flags"]}
    few = biasgraph.analyze(librarian_table(images=5), bootstrap=100).pairs
    assert few["is"].isna().all()
    assert few["sign"].isna().all()
    assert {*few["status"]} == {"insufficient"}


def test_nodes_csv_flattens_the_nodes(result: biasgraph.Result) -> None:
    nodes = csv(result, "nodes.csv")
    assert {*NODE_FIELDS} <= {*result.document["nodes"][0]}
    first = result.document["nodes"][0]
    assert nodes["id"].tolist() == ["gender", "age", "clothing"]
    assert nodes["w1_null.q95"][0] == first["w1_null"]["q95"]
    assert json.loads(nodes["initial.counts"][0]) == first["initial"]["counts"]
    assert result.nodes["initial.counts"][0] == first["initial"]["counts"]


def test_tables_csv_counts_every_image(result: biasgraph.Result) -> None:
    tables = csv(result, "tables.csv").fillna({"axis": "", "attribute": ""})
    assert tables.columns.tolist() == [*TABLE_COLUMNS]
    sums = tables.groupby(["axis", "attribute", "target"])["count"].sum()
    assert (sums == 48).all()
    assert len(sums) == 8 * 3


def test_counts_of_controls_stand_apart() -> None:
    result = biasgraph.analyze(with_controls(librarian_table(images=20), 24), bootstrap=100)
    plain = biasgraph.analyze(librarian_table(images=20), bootstrap=100)
    tables = csv(result, "tables.csv")
    own = tables[tables["role"] == "control"]
    assert own["axis"].isna().all() and own["attribute"].isna().all()
    assert own.groupby("target")["count"].sum().to_dict() == dict.fromkeys(AXES, 24)
    assert (tables["role"] != "control").sum() == len(plain.tables)
    for name in ("statistic", "p", "cramers_v", "w1_before", "w1_after", "is"):
        pd.testing.assert_series_equal(result.pairs[name], plain.pairs[name], check_exact=True)
    for one, other in zip(result.document["nodes"], plain.document["nodes"], strict=True):
        assert (one["initial"], one["w1"]) == (other["initial"], other["w1"])


def test_tables_csv_of_before_controls_is_read(result: biasgraph.Result, tmp_path: Path) -> None:
    biasgraph.save(result, tmp_path)
    path = tmp_path / "tables.csv"
    pd.read_csv(path, keep_default_na=False).drop(columns="role").to_csv(path, index=False)
    pd.testing.assert_frame_equal(biasgraph.load(tmp_path).tables, result.tables)


@pytest.mark.parametrize(
    ("role", "axis", "message"),
    [
        ("other", "gender", "column role: none of initial, counterfactual, control"),
        ("initial", "gender", "column role: counterfactuals, and only they, have an axis"),
        ("control", "gender", "column role: counterfactuals, and only they, have an axis"),
        ("counterfactual", "", "column role: counterfactuals, and only they, have an axis"),
    ],
)
def test_counts_of_strange_roles(role: str, axis: str, message: str) -> None:
    cells = pd.DataFrame([["p", role, axis, axis and "male", "age", "old", "3"]])
    with pytest.raises(ValueError, match=message):
        counts_from_cells(cells.set_axis(TABLE_COLUMNS, axis="columns"))


def test_the_documentation_names_every_column(result: biasgraph.Result) -> None:
    words = DOCS.read_text(encoding="utf-8")
    graph = result.document["graph"]
    for field in [*result.pairs.columns, *result.document["nodes"][0], *graph]:
        assert f"`{field}`" in words, field


def test_toy_results_say_so_in_every_file(result: biasgraph.Result, tmp_path: Path) -> None:
    toy = biasgraph.analyze(librarian_table(model="sandbox:stereotyped"), bootstrap=100)
    files = toy.files()
    for name, content in files.items():
        assert b"sandbox" in content, name
    for name in ("tables.csv", "pairs.csv", "nodes.csv"):
        assert csv(toy, name)["toy"].str.contains("toy").all()
    assert "toy" not in csv(result, "pairs.csv")
    biasgraph.save(toy, tmp_path / "toy")
    back = biasgraph.load(tmp_path / "toy")
    pd.testing.assert_frame_equal(back.pairs, toy.pairs, check_exact=True)
    assert back.files() == files


def test_pairs_as_records_are_those_of_the_frame(tmp_path: Path) -> None:
    """Controls and unusual names included, read with pandas or without."""
    table = with_controls(librarian_table())
    result = biasgraph.build(answers=table, output=tmp_path / "run", bootstrap=100)
    records = load_intact(tmp_path / "run").pair_records()
    assert records == result.pair_records() == biasgraph.load(tmp_path / "run").pair_records()
    for record, other in zip(records, result.pair_records(), strict=True):
        assert [*record] == [*other]
        assert [*map(type, record.values())] == [*map(type, other.values())]
