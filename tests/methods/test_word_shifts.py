"""Words that a search brings in, drops, dampens and augments, and what goes with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.methods.word_shifts import WordShift, word_shifts

FOUND = [
    ("a nurse holding a toolbox", 0.9), ("a toolbox, a toolbox and a hat", 0.7),
    ("a nurse in a hat", 0.2), ("a nurse", None),
]  # fmt: skip
BASELINE = [
    ("a nurse with a hat", 0.5), ("a nurse with a hat", None), ("a nurse reading", 0.4),
    ("a clown in a hat", 0.1),
]  # fmt: skip


def shifts(*args: object) -> dict[str, WordShift]:
    return {one.word: one for one in word_shifts(*args)}  # type: ignore[arg-type]


def test_each_word_by_its_occurrences() -> None:
    found = shifts(FOUND, BASELINE)
    assert {word: one.kind for word, one in found.items()} == {
        "toolbox": "injected", "holding": "injected", "reading": "deleted", "clown": "deleted",
        "hat": "dampened", "nurse": "unchanged",
    }  # fmt: skip
    assert (found["toolbox"].found, found["toolbox"].baseline) == (3, 0)
    assert (found["hat"].found, found["hat"].baseline) == (2, 3)


def test_delta_is_by_presence_over_found_prompts_with_a_share() -> None:
    found = shifts(FOUND, BASELINE)
    assert found["toolbox"].delta == pytest.approx((0.9 + 0.7) / 2 - 0.2)
    assert (found["toolbox"].n_with, found["toolbox"].n_without) == (2, 1)
    assert found["hat"].delta == pytest.approx((0.7 + 0.2) / 2 - 0.9)
    assert found["clown"].delta is None
    assert (found["clown"].n_with, found["clown"].n_without) == (0, 3)


def test_a_word_of_every_prompt_has_no_delta() -> None:
    [one] = word_shifts([("a nurse", 0.4), ("the nurse", 0.6)], [])
    assert one == WordShift("nurse", 2, 0, "injected", None, 2, 0)


def test_sets_of_other_sizes_are_compared_by_rates() -> None:
    found = shifts([("hat cap", 1.0), ("hat", 0.0)], [("hat cap", 1.0)])
    assert found["hat"].kind == "unchanged"
    assert found["cap"].kind == "dampened"
    found = shifts([("hat", 1.0)], [("hat", 1.0), ("cap", 0.0)])
    assert found["hat"].kind == "augmented"


def test_a_shared_opening_does_not_count() -> None:
    opening = "A photo of a person working as a"
    found = shifts([(f"{opening} clerk in a photo", 1.0)], [("a photo", 0.5)], opening)
    assert set(found) == {"clerk", "photo"}
    assert (found["photo"].found, found["photo"].baseline) == (1, 1)


def test_the_largest_changes_stand_first() -> None:
    order = [one.word for one in word_shifts(FOUND, BASELINE)]
    assert order == ["toolbox", "clown", "hat", "holding", "reading", "nurse"]


def test_nothing_shifts_nothing() -> None:
    assert word_shifts([], []) == []
    [one] = word_shifts([], [("hats", 0.5)])
    assert (one.kind, one.delta) == ("deleted", None)


PROMPTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["hat", "cap", "dog", "the"]), max_size=4).map(" ".join),
        st.none() | st.floats(0, 1),
    ),
    max_size=8,
)


@given(PROMPTS, PROMPTS)
def test_kinds_agree_with_rates(
    found: list[tuple[str, float | None]], baseline: list[tuple[str, float | None]]
) -> None:
    scored = sum(share is not None for _, share in found)
    for one in word_shifts(found, baseline):
        assert one.word != "the"
        assert one.n_with + one.n_without == scored
        assert (one.delta is None) == (0 in (one.n_with, one.n_without))
        assert one.delta is None or -1 <= one.delta <= 1
        assert one.found + one.baseline > 0
        if one.kind in ("augmented", "dampened", "unchanged"):
            more = one.found / len(found) - one.baseline / len(baseline)
            sign = 0 if abs(more) < 1e-9 else 1 if more > 0 else -1
            assert one.kind == ("unchanged", "augmented", "dampened")[sign]
