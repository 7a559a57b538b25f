"""Multiple choice for models that read: orders are balanced, and letters lose their pull."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.models.base import Question
from biasgraph.models.multiple_choice import combine_shares, letter_question, orders

AGE = Question("How old?", ("young", "middle", "old"), ("a", "b", "c"))


def test_a_sheet_letters_every_choice_and_unknown() -> None:
    first = letter_question(AGE, 1)[0]
    assert first.order == (0, 1, 2, None)
    assert first.letters == ("A", "B", "C", "D")
    lines = first.text.splitlines()
    assert lines[0] == "How old?"
    assert lines[1:4] == ["A. young", "B. middle", "C. old"]
    assert lines[4].startswith("D. unknown")


@given(count=st.integers(3, 51), permutations=st.integers(1, 120))
def test_orders_are_distinct_permutations_and_no_more_than_asked(count, permutations) -> None:
    found = orders(count, permutations)
    assert 1 <= len(found) <= permutations
    assert len(set(found)) == len(found)
    assert all(sorted(order) == list(range(count)) for order in found)


@given(count=st.integers(3, 51), permutations=st.integers(3, 120))
def test_orders_are_balanced(count, permutations) -> None:
    found = orders(count, permutations)
    if permutations >= count:
        for place in range(count):
            assert len(set(Counter(order[place] for order in found).values())) == 1
    elif permutations % 2 == 0:
        means = [sum(order.index(option) for order in found) for option in range(count)]
        assert len(set(means)) == 1


def test_a_judge_that_only_likes_a_letter_says_unknown() -> None:
    asked = letter_question(AGE, 4)
    answer = combine_shares(AGE, asked, [[0.9, 0.1, 0.0, 0.0]] * len(asked))
    assert answer.choice is None
    assert answer.probabilities == pytest.approx((1 / 3,) * 3)


def test_knowledge_survives_a_liking_for_a_letter() -> None:
    asked = letter_question(AGE, 4)
    weights = [
        [
            (3.0 if option == 2 else 1.0) * (2.0 if place == 0 else 1.0)
            for place, option in enumerate(sheet.order)
        ]
        for sheet in asked
    ]
    answer = combine_shares(AGE, asked, weights)
    assert answer.choice == 2
    assert sum(answer.probabilities) == pytest.approx(1)
    assert answer.probabilities[0] == pytest.approx(answer.probabilities[1])


def test_unknown_wins_where_it_is_likeliest_or_the_best_choice_is_too_weak() -> None:
    asked = letter_question(AGE, 1)
    assert combine_shares(AGE, asked, [[0.2, 0.2, 0.2, 0.4]]).choice is None
    weak = [[0.4, 0.3, 0.2, 0.1]]
    assert combine_shares(AGE, asked, weak).choice == 0
    assert combine_shares(AGE, asked, weak, unknown_below=0.5).choice is None
    sure = combine_shares(AGE, asked, weak, unknown_below=0.4)
    assert (sure.choice, sure.probabilities) == (0, pytest.approx((4 / 9, 3 / 9, 2 / 9)))


def test_all_on_unknown_leaves_even_probabilities() -> None:
    answer = combine_shares(AGE, letter_question(AGE, 1), [[0, 0, 0, 1]])
    assert answer.choice is None
    assert answer.probabilities == pytest.approx((1 / 3,) * 3)


@pytest.mark.parametrize(
    "row",
    [[1, 0, 0], [0, 0, 0, 0], [-1, 1, 1, 1], [float("nan"), 1, 1, 1], [float("inf"), 1, 1, 1]],
)
def test_rows_that_are_no_weights_are_refused(row) -> None:
    with pytest.raises(ValueError, match="weight"):
        combine_shares(AGE, letter_question(AGE, 1), [row])
