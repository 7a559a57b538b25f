"""The simulation behind `--correct`, at a size that a test can afford."""

from __future__ import annotations

import numpy as np

from benchmarks.correction import Audit, audit, flipped, summary


def test_flips_are_as_many_as_planted_and_even() -> None:
    rng = np.random.default_rng(0)
    codes = np.full((20_000, 2), 1, dtype=np.int16)
    seen = flipped(codes, [2, 4], 0.1, rng)
    assert abs((seen[:, 0] == 0).mean() - 0.1) < 0.01
    counts = np.bincount(seen[:, 1], minlength=4) / len(seen)
    assert np.abs(counts - [0.1 / 3, 0.9, 0.1 / 3, 0.1 / 3]).max() < 0.01


def test_corrected_intervals_cover_the_planted_truth() -> None:
    found = [audit(Audit(replicate, 48, 0.1, 108)) for replicate in range(6)]
    about = summary(found)
    assert found[0] == audit(Audit(0, 48, 0.1, 108))
    assert sum(one["corrected"]["pairs"] for one in found) >= 300
    assert about["corrected"]["coverage"]["value"] >= 0.93
    assert about["corrected"]["slope_of_strong"] > about["plain"]["slope_of_strong"]
