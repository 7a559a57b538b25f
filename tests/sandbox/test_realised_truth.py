"""The realised table: read, counted and turned into the pairs that it implies."""

from __future__ import annotations

from pathlib import Path

import pytest

from biasgraph.errors import InputError
from biasgraph.sandbox.realised_truth import (
    COLUMNS,
    known_prompts,
    realised_counts,
    realised_truth,
)
from biasgraph.sandbox.world import AXES

MODEL, PROMPT, JUDGE = "sandbox:stereotyped", "a librarian", "sandbox"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Every answer is the axis's first attribute, or the one intervened on; ages vary by gender."""
    lines = [",".join(COLUMNS)]
    arms = [("", ""), *((axis, value) for axis, values in AXES.items() for value in values)]
    for axis, attribute in arms:
        for target, values in AXES.items():
            counts = {attribute if target == axis else values[0]: 90, "unknown": 10}
            if target == "age" and axis == "gender":
                young = {"male": 30, "female": 60}[attribute]
                counts = {"young": young, "old": 90 - young, "gated": 10}
            lines += [
                f"{MODEL},{PROMPT},{axis},{attribute},{JUDGE},{target},{answer},{count}"
                for answer, count in counts.items()
            ]
    path = tmp_path / "realised.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_counts_are_read_as_they_stand(table: Path) -> None:
    counts = realised_counts(PROMPT, MODEL, JUDGE, table)
    assert len(counts) == 27
    assert counts["", ""]["gender"] == {"male": 90, "unknown": 10}
    assert counts["gender", "female"]["age"] == {"young": 60, "old": 30, "gated": 10}
    assert known_prompts(MODEL, table) == (PROMPT,)
    assert known_prompts("sandbox:debiased", table) == ()


def test_the_truth_leaves_unknown_and_gated_answers_out(table: Path) -> None:
    found = realised_truth(PROMPT, MODEL, JUDGE, {"age": "ordinal"}, table)
    assert found.initial["gender"].tolist() == [1, 0]
    assert found.arms["gender", "female"]["age"].tolist() == pytest.approx([2 / 3, 0, 1 / 3])
    pair = found.by_name["gender", "age"]
    assert pair.cramers_v == pytest.approx(1 / 3)
    # all young, one step of two from the middle: (2/3 + 1/3) / 2, then |1/2-1/3| + |1/2-2/3|
    assert (pair.w1_before, pair.w1_after) == pytest.approx((1 / 2, 1 / 6))
    assert found.by_name["age", "gender"].cramers_v is None


def test_what_was_not_measured_is_refused_by_name(table: Path) -> None:
    with pytest.raises(InputError, match=r"'a libarian'.*Did you mean 'a librarian'"):
        realised_counts("a libarian", MODEL, JUDGE, table)
    with pytest.raises(InputError, match="measured for none"):
        realised_counts(PROMPT, "sandbox:debiased", JUDGE, table)
