"""Batches cover the plan exactly once, are always full, and do not depend on what is done."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from biasgraph.runs.batches import batches_to_do

plans = st.lists(st.integers(), unique=True, max_size=60)
sizes = st.integers(min_value=1, max_value=17)


def nothing_done(item: int) -> bool:
    return False


@given(plans, sizes)
def test_cover_the_plan_exactly_once_in_order(plan: list[int], size: int) -> None:
    batches = batches_to_do(plan, size, is_done=nothing_done)
    kept = [item for batch in batches for item, _ in batch.keep(batch.items)]
    assert kept == plan


@given(plans, sizes)
def test_are_always_full_of_items_of_the_plan(plan: list[int], size: int) -> None:
    for batch in batches_to_do(plan, size, is_done=nothing_done):
        assert len(batch.items) == size
        assert set(batch.items) <= set(plan)


@given(plans, sizes, st.data())
def test_are_the_same_whichever_were_recorded_before(plan: list[int], size: int, data) -> None:
    undisturbed = batches_to_do(plan, size, is_done=nothing_done)
    recorded = data.draw(st.sets(st.sampled_from(undisturbed))) if undisturbed else set()
    done = {item for batch in recorded for item in batch.items}
    rest = batches_to_do(plan, size, is_done=done.__contains__)
    assert rest == [batch for batch in undisturbed if batch not in recorded]


@given(plans, sizes, st.data())
def test_done_in_part_runs_again_as_it_was_and_keeps_what_was_missing(
    plan: list[int], size: int, data
) -> None:
    undisturbed = {batch.items for batch in batches_to_do(plan, size, is_done=nothing_done)}
    done = data.draw(st.sets(st.sampled_from(plan))) if plan else set()
    rest = batches_to_do(plan, size, is_done=done.__contains__)
    assert {batch.items for batch in rest} <= undisturbed
    kept = [item for batch in rest for item, _ in batch.keep(batch.items)]
    assert kept == [item for item in plan if item not in done]


def test_the_last_one_is_padded_by_repeating_its_items() -> None:
    first, last = batches_to_do("abcdef", 4, is_done=lambda item: False)
    assert "".join(first.items) == "abcd"
    assert "".join(last.items) == "efef"
    assert last.keep([1, 2, 3, 4]) == [("e", 1), ("f", 2)]
