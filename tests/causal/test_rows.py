"""The rows of a graph and what their fields say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from biasgraph.causal.fields import GraphRow, change, columns
from biasgraph.causal.rows import CountRow, InitialAnswers, LinkRow, NodeRow, PairRow, flag

PAIR = PairRow(source="gender", target="age", metric="nominal")


@pytest.mark.parametrize(
    ("row", "types"),
    [
        (
            NodeRow,
            {
                "id": "string",
                "attributes": "list<string>",
                "initial.counts": "list<int64>",
                "distribution_ci": "list<list<double>>",
                "near_ideal": "bool",
                "w1_null.q95": "double",
                "corrected.w1_ci": "list<double>",
                "reference": "list<int64>",
                "out_degree": "int64",
                "findings": None,
            },
        ),
        (PairRow, {"is": "double", "dof": "int64", "edge": "bool", "sign": "string"}),
        (LinkRow, {"table": "list<list<int64>>", "mediation": None, "weight": "double"}),
        (CountRow, {"answer": "string", "count": "int64"}),
    ],
)
def test_columns_have_the_types_of_their_fields(
    row: type[GraphRow], types: dict[str, str | None]
) -> None:
    found = {name: column.type for name, column in columns(row).items()}
    assert {name: found[name] for name in types} == types


def test_a_changed_row_is_what_replace_makes() -> None:
    values = {"p": 0.5, "flags": ("near_ideal",), "n_prompts": 3}
    assert change(PAIR, **values) == replace(PAIR, **values)
    assert PAIR.p is None
    with pytest.raises(TypeError, match="a row has no q"):
        change(PAIR, q=1)


def test_a_record_is_in_json_types_and_lacks_what_is_unset() -> None:
    record = PAIR.record()
    assert record["is"] is None and record["flags"] == []
    assert "is_corrected" not in record and "n_prompts" not in record
    known = replace(PAIR, is_corrected=None, n_prompts=2).record()
    assert known["is_corrected"] is None and known["n_prompts"] == 2
    assert [*columns(PairRow)][: len(record)] == [*record]


def test_records_within_a_row_are_records_too() -> None:
    answers = InitialAnswers(
        counts=(1, 2), distribution=None, n_total=3, n_gated=0, n_unknown=0, n_valid=3
    )
    node = NodeRow(
        id="gender",
        metric="nominal",
        attributes=("male", "female"),
        initial=answers,
        distribution_ci=((0.0, 0.5), (0.5, 1.0)),
        distribution_bounds=None,
        ideal=(0.5, 0.5),
        status="ok",
    )
    record = node.record()
    assert record["initial"]["counts"] == [1, 2]
    assert record["distribution_ci"] == [[0.0, 0.5], [0.5, 1.0]]
    assert record["w1_null"] == {"mean": None, "q95": None}
    assert "cost" not in record and "corrected" not in record
    assert replace(node, corrected=None).record()["corrected"] is None


def test_flags_are_added_behind_those_there() -> None:
    assert flag(flag(PAIR, "near_ideal"), "small_sample").flags == ("near_ideal", "small_sample")
    assert PAIR.flags == ()
