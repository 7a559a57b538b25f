from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from biasgraph.causal.nodes import bounds, measure_node, null_band
from biasgraph.causal.sensitivity import TargetDraws
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import Counts, Tally, Variable
from biasgraph.causal.transport import Ideal

SETTINGS = AnalysisSettings(bootstrap=400)


def variable(k: int) -> Variable:
    return Variable("age", tuple(f"a{i}" for i in range(k)))


def spread(n: int, k: int) -> Counts:
    """(k,) n images in all; against a given ideal only their number counts."""
    return np.array([n, *[0] * (k - 1)])


def measure(
    counts: list[int], *, gated: int = 0, unknown: int = 0, ideal: Ideal | None = None
) -> dict[str, object]:
    one = Tally(np.array(counts), n_gated=gated, n_unknown=unknown)
    ideal = ideal or Ideal("nominal", np.full(len(counts), 1 / len(counts)))
    draws = None
    if one.n_valid >= SETTINGS.min_valid:
        draws = TargetDraws.of(one.counts[None], ideal, 400, np.random.default_rng(0))
    name = "a librarian"
    return measure_node(name, variable(len(counts)), one, ideal, draws, SETTINGS).record()


@pytest.mark.parametrize(
    ("k", "mean", "q95"),
    [(2, 0.057, 0.146), (3, 0.081, 0.167), (4, 0.099, 0.167), (6, 0.127, 0.208)],
)
def test_the_null_band_at_48_images_is_the_tabled_one(k: int, mean: float, q95: float) -> None:
    ideal = Ideal("nominal", np.full(k, 1 / k))
    found = null_band("a librarian", variable(k), spread(48, k), ideal, SETTINGS)
    assert found == (pytest.approx(mean, abs=0.0015), pytest.approx(q95, abs=0.001))
    exact = 0.5 * k * (binom.pmf(np.arange(49), 48, 1 / k) @ np.abs(np.arange(49) / 48 - 1 / k))
    assert found[0] == pytest.approx(exact, abs=0.0015)


@pytest.mark.parametrize(
    ("n", "means"), [(96, [0.041, 0.057, 0.070, 0.091]), (288, [0.023, 0.033, 0.041, 0.052])]
)
def test_the_null_means_at_more_images_are_the_tabled_ones(n: int, means: list[float]) -> None:
    found = [
        null_band("p", variable(k), spread(n, k), Ideal("nominal", np.full(k, 1 / k)), SETTINGS)[0]
        for k in (2, 3, 4, 6)
    ]
    assert found == pytest.approx(means, abs=0.0015)


def test_the_band_of_an_ideal_from_images_knows_that_it_is_uncertain() -> None:
    shares, counts = np.array([0.5, 0.5]), np.array([24, 24])
    sure = null_band("p", variable(2), counts, Ideal("nominal", shares), SETTINGS)
    unsure = null_band(
        "p", variable(2), counts, Ideal("nominal", shares, reference=counts), SETTINGS
    )
    assert unsure[0] == pytest.approx(np.sqrt(2) * sure[0], rel=0.05)


@pytest.mark.slow(reason="hundreds of audits")
@pytest.mark.parametrize("share", [0.7, 0.97, 0.99])
def test_images_of_the_same_truth_as_a_reference_are_near_it(share: float) -> None:
    rng, far, count = np.random.default_rng(0), 0, 300
    for _ in range(count):
        counts, reference = rng.multinomial(48, [share, 1 - share], size=2)
        ideal = Ideal("nominal", reference / 48, reference=reference)
        _, q95 = null_band("p", variable(2), counts, ideal, SETTINGS)
        far += ideal.distance(counts / 48) > q95 + 1e-12
    assert far / count <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / count)


def test_images_unlike_a_reference_are_not_near_it() -> None:
    reference = np.array([46, 2])
    ideal = Ideal("nominal", reference / 48, reference=reference)
    assert measure([46, 2], ideal=ideal)["near_ideal"] is True
    assert measure([30, 18], ideal=ideal)["near_ideal"] is False


@given(st.lists(st.integers(0, 20), min_size=1, max_size=5), st.integers(0, 20), st.integers(0, 5))
def test_bounds_hold_whatever_the_unknown_answers_were(
    counts: list[int], unknown: int, gated: int
) -> None:
    found = bounds(Tally(np.array(counts), gated, unknown))
    m = sum(counts) + unknown
    if m == 0:
        assert found is None
        return
    assert found is not None
    for i, (low, high) in enumerate(found):
        assert low == counts[i] / m  # none of the unknown were i
        assert high == (counts[i] + unknown) / m  # all of them were
        assert 0 <= low <= high <= 1


def test_a_node_by_hand() -> None:
    found = measure([36, 8, 0], gated=3, unknown=1)
    assert found["initial"] == {
        "counts": [36, 8, 0],
        "distribution": [36 / 44, 8 / 44, 0.0],
        "n_total": 48,
        "n_gated": 3,
        "n_unknown": 1,
        "n_valid": 44,
    }
    assert found["w1"] == pytest.approx(36 / 44 - 1 / 3)
    assert found["near_ideal"] is False and found["flags"] == [] and found["status"] == "ok"
    low, high = found["w1_ci"]
    assert low < found["w1"] < high
    assert found["distribution_bounds"] == [[36 / 45, 37 / 45], [8 / 45, 9 / 45], [0, 1 / 45]]
    assert found["attributes"] == ["a0", "a1", "a2"] and found["id"] == "age"
    assert found["ideal"] == pytest.approx([1 / 3] * 3)
    assert found["findings"] == {}


def test_near_the_ideal_is_inside_the_null_band() -> None:
    near = measure([24 + 7, 24 - 7])  # W1 .1458, the 95 % quantile itself
    assert near["near_ideal"] is True and near["flags"] == ["near_ideal"]
    assert measure([24, 24])["w1_ci"][0] == 0
    assert measure([24 + 8, 24 - 8])["near_ideal"] is False


def test_all_the_same_answer_is_said_and_its_interval_ends_at_the_farthest() -> None:
    found = measure([48, 0])
    assert found["flags"] == ["single_answer"]
    low, high = found["w1_ci"]
    assert low < 0.5 == high
    assert measure([47, 1])["flags"] == []
    skewed = Ideal("nominal", np.array([0.7, 0.3]))
    assert measure([0, 48], ideal=skewed)["w1_ci"][1] == skewed.farthest == pytest.approx(0.7)


def test_few_answers_are_flagged_and_fewer_are_not_measured() -> None:
    assert measure([31, 0, 1])["flags"] == []
    assert measure([30, 0, 1])["flags"] == ["small_sample"]
    missing = measure([15, 0], unknown=30)
    assert missing["w1"] is None and missing["w1_ci"] is None and missing["near_ideal"] is None
    assert missing["w1_null"] == {"mean": None, "q95": None}
    assert missing["status"] == "insufficient"
    assert missing["initial"]["distribution"] == [1.0, 0.0]


def test_all_unknown_is_no_distribution() -> None:
    found = measure([0, 0], unknown=48)
    assert found["initial"]["distribution"] is None
    assert found["distribution_ci"] is None and found["w1"] is None
    assert found["distribution_bounds"] == [[0, 1], [0, 1]]


def test_no_images_at_all() -> None:
    found = measure([0, 0])
    assert found["distribution_bounds"] is None and found["status"] == "insufficient"
