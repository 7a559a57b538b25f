"""Pictures that are there already: their numbers are for good."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.errors import InputError
from biasgraph.runs.ledger_rows import GivenPicture, PromptRow
from biasgraph.runs.wanted_images import given_images, number_pictures

HERE = Path("run")
SEEDS = st.lists(st.integers(0, 5), max_size=12)


def pictures(seeds: list[int]) -> list[GivenPicture]:
    return [GivenPicture(seed, f"{place}.png") for place, seed in enumerate(seeds)]


def seeds_of(numbers: dict[int, GivenPicture]) -> list[int]:
    return [numbers[number].seed for number in sorted(numbers)]


@given(SEEDS, SEEDS, st.randoms())
def test_a_grown_folder_extends_what_was_there(old: list[int], new: list[int], random) -> None:
    first = number_pictures({"p": pictures(old)}, {}, 99, HERE)
    both = [*old, *new]
    random.shuffle(both)
    then = number_pictures({"p": pictures(both)}, first, 99, HERE)["p"]
    assert seeds_of(then)[: len(old)] == old
    assert sorted(seeds_of(then)) == sorted(both)
    assert [*sorted(then)] == list(range(len(both)))


@given(SEEDS, st.integers(1, 9), st.integers(1, 9))
def test_the_first_are_taken_and_later_the_next(seeds: list[int], few: int, more: int) -> None:
    first = number_pictures({"p": pictures(seeds)}, {}, few, HERE)
    then = number_pictures({"p": pictures(seeds)}, first, few + more, HERE)["p"]
    assert sorted(seeds_of(then)) == sorted(seeds[: few + more])
    assert seeds_of(then)[:few] == seeds[:few]
    again = number_pictures({"p": pictures(seeds)}, {"p": then}, few, HERE)["p"]
    assert seeds_of(again) == seeds[:few]


def test_what_is_gone_is_named() -> None:
    before = number_pictures({"p": pictures([1, 2, 2, 3, 4, 5])}, {}, 9, HERE)
    with pytest.raises(InputError, match=r"run cannot be resumed: 2\.png is missing"):
        number_pictures({"p": pictures([1, 2, 3, 4, 5])}, before, 9, HERE)
    with pytest.raises(InputError, match=r"0\.png, 1\.png, 2\.png and 3 more are missing"):
        number_pictures({"p": []}, before, 9, HERE)
    assert seeds_of(number_pictures({"p": pictures([1])}, before, 1, HERE)["p"]) == [1]


def test_images_go_round_the_prompts() -> None:
    rows = [PromptRow(id, "a", id, "initial", "", "") for id in ("a", "b")]
    there = {
        "a": {0: GivenPicture(5, "x"), 1: GivenPicture(6, "y")},
        "b": {1: GivenPicture(7, "z")},
    }
    images = given_images(rows, 2, there)
    assert [(image.id, image.seed) for image in images] == [
        ("a-0000", 5),
        ("a-0001", 6),
        ("b-0001", 7),
    ]
