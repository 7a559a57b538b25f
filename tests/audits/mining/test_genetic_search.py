"""The search itself: who is selected, who is mutated, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import pytest

from biasgraph.audits.mining.genetic_search import Candidate, SearchSettings, best, search
from biasgraph.audits.mining.prompt_writer import Proposal
from biasgraph.errors import InputError
from biasgraph.methods.mining_objectives import PromptScore


class Numbers:
    """Writes numbers: random ones count up from 0, mutations of n are n + .1 and n + .2."""

    def __init__(self, most: int = 10_000) -> None:
        self.next = count()
        self.most = most

    def random(self, wanted: int, origin: str) -> list[Proposal]:
        drawn = [next(self.next) for _ in range(wanted)]
        return [Proposal(str(number), origin) for number in drawn if number < self.most]

    def mutations(self, prompt: str, parent: int, wanted: int) -> list[Proposal]:
        return [Proposal(f"{prompt}.{n}", "mutation", parent) for n in range(1, wanted + 1)]


class Worth:
    """A prompt is worth its first number; `most` prompts are scored at all."""

    def __init__(self, most: int = 10_000, without: Sequence[str] = ()) -> None:
        self.left, self.without = most, without
        self.populations: list[list[str]] = []

    def score(self, prompts: Sequence[str]) -> list[tuple[PromptScore, int]]:
        taken = list(prompts)[: self.left]
        self.left -= len(taken)
        self.populations.append(taken)
        return [
            (PromptScore(None if text in self.without else float(text.split(".")[0])), 3)
            for text in taken
        ]


def test_the_worst_of_a_population_are_mutated_and_random_prompts_fill_it_up() -> None:
    settings = SearchSettings(iterations=3, population=5, selected=2, mutations=2)
    assert settings.random == 1
    first, second, third = search(Numbers(), Worth(), settings, lower=False)
    assert [one.prompt for one in first] == ["0", "1", "2", "3", "4"]
    assert {one.origin for one in first} == {"initial"} and first[0].iteration == 1
    assert [one.prompt for one in second] == ["4.1", "4.2", "3.1", "3.2", "5"]
    assert [one.parent for one in second] == [4, 4, 3, 3, None]
    assert [one.number for one in second] == [5, 6, 7, 8, 9]
    assert second[-1].origin == "random"
    # Parents are no members: 4 and 3 are gone, the best of the second population are 5 and 4.1.
    assert [one.prompt for one in third] == ["5.1", "5.2", "4.1.1", "4.1.2", "6"]


def test_low_scores_are_selected_where_low_is_worse() -> None:
    settings = SearchSettings(iterations=2, population=3, selected=1, mutations=1)
    _, second = search(Numbers(), Worth(), settings, lower=True)
    assert second[0].prompt == "0.1"


def test_a_prompt_without_a_score_has_no_offspring() -> None:
    settings = SearchSettings(iterations=2, population=3, selected=2, mutations=1)
    _, second = search(Numbers(), Worth(without=["2"]), settings, lower=False)
    assert [one.parent for one in second] == [1, 0, None]


def test_the_search_ends_where_no_more_images_may_be_made() -> None:
    settings = SearchSettings(iterations=5, population=4, selected=1, mutations=1)
    worth = Worth(most=6)
    populations = list(search(Numbers(), worth, settings, lower=True))
    assert [len(now) for now in populations] == [4, 2] == [len(now) for now in worth.populations]
    assert list(search(Numbers(), Worth(most=0), settings, lower=True)) == []


def test_the_search_ends_where_nobody_writes_any_more() -> None:
    settings = SearchSettings(iterations=9, population=3, selected=0, mutations=0)
    populations = list(search(Numbers(most=5), Worth(), settings, lower=True))
    assert [len(now) for now in populations] == [3, 2]


def test_more_mutations_than_the_population_holds_are_refused() -> None:
    with pytest.raises(InputError, match="--selected 8 times --mutations 2 is more than"):
        SearchSettings(selected=8)


def test_the_best_of_all_are_in_order_and_ties_keep_the_earlier() -> None:
    values = [0.5, None, 0.2, 0.2, 0.9]
    candidates = [
        Candidate(number, str(number), 1, "initial", None, PromptScore(value), 3)
        for number, value in enumerate(values)
    ]
    assert [one.number for one in best(candidates, 3, lower=True)] == [2, 3, 0]
    assert [one.number for one in best(candidates, 9, lower=False)] == [4, 0, 2, 3]
