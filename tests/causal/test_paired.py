"""Audits of paired images: what pairs share is no chance between them."""

from __future__ import annotations

import numpy as np
import pytest

from biasgraph.causal.comparing import Comparing
from biasgraph.causal.paired import paired_answers, paired_counts, paired_resamples
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import GATED, UNKNOWN, CodedImages, Pool, Variable
from biasgraph.causal.transport import Ideal

TWO = (Variable("gender", ("male", "female")),)
SETTINGS = AnalysisSettings(min_valid=8, bootstrap=400)


def audit(*answers: list[int]) -> Pool:
    """An audit of a prompt for each list of answers."""
    images = [
        CodedImages(f"prompt {n}", TWO, np.array(own, dtype=np.int16)[:, None], {})
        for n, own in enumerate(answers)
    ]
    return Pool.of("test", images)


def growth(first: Pool, second: Pool, *, paired: bool) -> dict:
    ideal = Ideal("nominal", np.array([0.5, 0.5]))
    _, of_second = Comparing([first, second], [ideal], SETTINGS, paired).distances()[0]
    return of_second


def test_only_images_with_a_valid_answer_in_every_audit_count() -> None:
    answers = paired_answers([audit([0, 1, UNKNOWN, 0]), audit([0, 0, 1, GATED])], 0)
    assert answers[0].tolist() == [[0, 0], [1, 0]]
    assert [one.tolist() for one in paired_counts(answers, 2)] == [[[1, 1]], [[2, 0]]]


def test_a_prompt_without_pairs_adds_nothing() -> None:
    answers = paired_answers([audit([0, 1], [UNKNOWN]), audit([0, 0], [0])], 0)
    first, second = paired_resamples(answers, 2, 50, np.random.default_rng(0))
    assert first.shape == second.shape == (50, 2, 2)
    assert not first[:, 1].any() and (first[:, 0].sum(axis=1) == 2).all()


def test_what_pairs_share_does_not_widen_the_interval() -> None:
    same = [0] * 30 + [1] * 18
    alike, apart = (growth(audit(same), audit(same), paired=paired) for paired in (True, False))
    assert alike["growth"] == apart["growth"] == 0
    assert alike["n"] == 48 and not alike["at_common_size"]
    widths = [one["growth_ci"][1] - one["growth_ci"][0] for one in (alike, apart)]
    assert widths[0] < widths[1] / 2


@pytest.mark.parametrize("paired", [True, False])
def test_the_interval_of_a_distance_stays_within_what_distances_can_be(paired: bool) -> None:
    low, high = growth(audit([0] * 24 + [1] * 24), audit([0] * 46 + [1] * 2), paired=paired)[
        "w1_ci"
    ]
    assert 0 <= low <= high <= 0.5


def test_too_few_pairs_are_no_number() -> None:
    first, second = audit([0] * 7 + [UNKNOWN] * 41), audit([1] * 48)
    assert growth(first, second, paired=True)["w1"] is None


@pytest.mark.slow(reason="300 comparisons with 400 resamples each")
def test_the_interval_holds_the_true_growth() -> None:
    rng = np.random.default_rng(4)
    held = []
    for _ in range(300):
        noise = rng.random(48)
        first, second = (noise < 0.85).astype(int), (noise < 0.7).astype(int)
        # The shares lie on one side of the ideal, so that W1 = share - 1/2.
        low, high = growth(audit([*first]), audit([*second]), paired=True)["growth_ci"]
        held.append(low <= 0.7 - 0.85 <= high)
    assert 0.92 <= np.mean(held) <= 0.99
