"""The script that measures what the numbers about many prompts promise."""

from __future__ import annotations

import pytest

from benchmarks.prompt_sums import line, measure, worlds


def test_worlds_have_names_of_their_own_and_what_cancels_is_known() -> None:
    known = {world.name: world.cancels for world in worlds()}
    assert len(known) == len(list(worlds()))
    assert known["half at .97, half against; 12 x 48, k = 2"] == pytest.approx(0.47)
    assert known["half at the ideal, half at .97; 12 x 48, k = 2"] == pytest.approx(0)


def test_a_row_tells_cancelling_prompts_from_equal_ones() -> None:
    known = {world.name: world for world in worlds()}
    opposite = measure((known["half at .97, half against; 12 x 48, k = 2"], 20, 20))
    equal = measure((known["equal, 0.97; 12 x 48, k = 2"], 20, 20))
    assert opposite["rejected"]["value"] == opposite["flagged"]["value"] == 1
    assert equal["flagged"]["value"] == 0 and equal["rejected"]["value"] < 0.3
    assert min(one["covered"]["value"] for one in (opposite, equal)) > 0.7
    assert line(equal).startswith("| equal, 0.97; 12 x 48, k = 2 | 0.000 | ")
