from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from biasgraph.causal.tables import GATED, UNKNOWN, Pool, Tallies, counts_rows, reduce_table, tally
from tests.causal.worlds import audit, codes, column, independent, variables


def test_a_tally_adds_up() -> None:
    one = tally(np.array([0, 0, 2, UNKNOWN, GATED, GATED], dtype=np.int16), 4)
    assert one.counts.tolist() == [2, 0, 1, 0]
    assert (one.n_total, one.n_gated, one.n_unknown, one.n_valid) == (6, 2, 1, 3)
    assert one.shares.tolist() == pytest.approx([2 / 3, 0, 1 / 3, 0])


def test_all_unknown_has_no_shares() -> None:
    one = tally(np.full(5, UNKNOWN, dtype=np.int16), 3)
    assert (one.n_valid, one.n_unknown, one.n_total) == (0, 5, 5)
    assert np.isnan(one.shares).all()


def test_no_images_and_no_attributes() -> None:
    assert tally(np.zeros(0, dtype=np.int16), 2).n_total == 0
    assert tally(np.array([UNKNOWN], dtype=np.int16), 0).counts.tolist() == []


@given(hnp.arrays(np.int16, st.integers(0, 60), elements=st.integers(-2, 4)))
def test_totals_hold_for_any_answers(answers: np.ndarray) -> None:
    one = tally(answers, 5)
    assert one.n_total == len(answers)
    assert one.counts.sum() == (answers >= 0).sum()
    assert one.n_gated == (answers == GATED).sum()


def test_the_contingency_table_has_arms_as_rows_and_leaves_the_initial_images_out() -> None:
    images = audit(
        codes([[10, 0], [9, 1]]),
        {(0, 1): codes([[0, 4], [1, 3]]), (0, 0): codes([[5, 0], [5, 0]])},
        variables(2, 2),
    )
    tallies = Tallies.of(images)
    assert tallies.contingency(0, 1).tolist() == [[5, 0], [1, 3]]
    assert tallies.contingency(0, 0).tolist() == [[5, 0], [0, 4]]
    assert tallies.contingency(1, 0).shape == (0, 2)


def test_an_arm_without_images_is_no_arm() -> None:
    empty = np.zeros((0, 1), dtype=np.int16)
    images = audit(column(0, 1), {(0, 0): column(0), (0, 1): empty}, variables(2))
    assert images.arms_of(0) == [(0, 0)]


def test_controls_are_counted_by_themselves() -> None:
    images = independent([2, 3], n=20)
    assert images.controls.shape == (0, 2)
    none = Pool.of("p", [images])
    assert none.controls(1).tolist() == [[0, 0, 0]]
    assert {row.role for row in counts_rows(images, none.total)} == {"initial", "counterfactual"}
    reworded = replace(images, controls=codes([[4, 3], [2, 0, 5]]))
    pool = Pool.of("both", [images, reworded])
    assert pool.controls(1).tolist() == [[0, 0, 0], [2, 0, 5]]
    assert pool.controls(0).tolist() == [[0, 0], [4, 3]]
    assert [one.n_total for one in pool.total.controls] == [7, 7]
    assert (pool.initial(1) == none.initial(1)).all()
    assert (pool.strata(0, 1) == none.strata(0, 1)).all()
    rows = [row for row in counts_rows(reworded, pool.tallies[1]) if row.role == "control"]
    assert [row.count for row in rows] == [4, 3, 0, 0, 2, 0, 5, 0, 0]
    assert {(row.axis, row.attribute) for row in rows} == {("", "")}


@pytest.mark.parametrize("controls", [column(2), np.zeros((3, 2), dtype=np.int16)])
def test_controls_that_cannot_be_are_refused(controls: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"outside its variable|must be"):
        replace(audit(column(0), {}, variables(2)), controls=controls)


def test_empty_rows_and_columns_go() -> None:
    table, rows, columns = reduce_table(np.array([[3, 0, 1], [0, 0, 0], [2, 0, 2]]))
    assert table.tolist() == [[3, 1], [2, 2]]
    assert rows.tolist() == [0, 2]
    assert columns.tolist() == [0, 2]


@given(hnp.arrays(np.int64, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.integers(0, 3)))
def test_reducing_keeps_every_answer(table: np.ndarray) -> None:
    small, rows, columns = reduce_table(table)
    assert small.sum() == table.sum()
    assert (small.sum(axis=0) > 0).all() and (small.sum(axis=1) > 0).all()
    assert (table[np.ix_(rows, columns)] == small).all()


@pytest.mark.parametrize(
    ("initial", "arms", "message"),
    [
        (column(0, 2), {}, "outside its variable's attributes"),
        (column(0, -3), {}, "outside its variable's attributes"),
        (column(0), {(0, 0): column(5)}, "outside its variable's attributes"),
        (column(0), {(0, 2): column(0)}, "no variable and attribute"),
        (column(0), {(1, 0): column(0)}, "no variable and attribute"),
        (np.zeros((3, 2), dtype=np.int16), {}, r"codes must be \(images, 1\)"),
        (np.zeros(3, dtype=np.int16), {}, r"codes must be \(images, 1\)"),
    ],
)
def test_codes_that_cannot_be_are_refused(initial: object, arms: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        audit(initial, arms, variables(2))


def test_the_rows_of_tables_csv_hold_every_answer() -> None:
    images = independent([2, 3], n=20, lost=0.3)
    rows = [row.record() for row in counts_rows(images, Tallies.of(images))]
    names = ["prompt", "role", "axis", "attribute", "target", "answer", "count"]
    assert list(rows[0]) == names
    assert len(rows) == 6 * (2 + 2 + 3 + 2)
    assert sum(row["count"] for row in rows) == 6 * 20 * 2
    first = [row for row in rows if row["axis"] == "" and row["target"] == "b"]
    assert [row["answer"] for row in first] == ["b0", "b1", "b2", "unknown", "gated"]
    assert [row["attribute"] for row in first] == [""] * 5
    assert [row["count"] for row in first] == [
        int((images.initial[:, 1] == code).sum()) for code in (0, 1, 2, UNKNOWN, GATED)
    ]
    assert {row["role"] for row in first} == {"initial"}
    assert {row["role"] for row in rows if row["axis"]} == {"counterfactual"}
    arm = [row["count"] for row in rows if row["attribute"] == "b2" and row["target"] == "a"]
    assert sum(arm) == 20
    assert arm[0] == (images.arms[(1, 2)][:, 0] == 0).sum()
