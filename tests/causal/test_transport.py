from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from biasgraph.causal.settings import MetricName
from biasgraph.causal.tables import Variable
from biasgraph.causal.transport import Ideal, resolve_ideals, wasserstein
from biasgraph.errors import InputError

os.environ["POT_BACKEND_DISABLE_PYTORCH"] = "1"
import ot

METRICS: tuple[MetricName, ...] = ("nominal", "ordinal", "index", "values", "cost")


@st.composite
def distributions(draw: st.DrawFn, how_many: int = 2) -> tuple[np.ndarray, ...]:
    k = draw(st.integers(2, 6))
    counts = st.lists(st.integers(0, 50), min_size=k, max_size=k).filter(any)
    return tuple(np.array(c) / sum(c) for c in (draw(counts) for _ in range(how_many)))


def steps(k: int) -> np.ndarray:
    return np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(float)


@given(distributions())
def test_every_metric_is_an_optimal_transport(pair: tuple[np.ndarray, np.ndarray]) -> None:
    p, q = pair
    k = len(p)
    exact = {
        "nominal": ot.emd2(p, q, 1 - np.eye(k)),
        "index": ot.emd2(p, q, steps(k)),
        "ordinal": ot.emd2(p, q, steps(k) / (k - 1)),
        "values": wasserstein_distance(p, q),
    }
    for metric, expected in exact.items():
        assert wasserstein(p, q, metric) == pytest.approx(expected, abs=1e-9)


@given(distributions())
def test_index_is_scipys_distance_on_positions(pair: tuple[np.ndarray, np.ndarray]) -> None:
    p, q = pair
    places = np.arange(len(p))
    expected = wasserstein_distance(places, places, p, q)
    assert wasserstein(p, q, "index") == pytest.approx(expected, abs=1e-9)


@given(distributions(), st.integers(0, 2**32))
def test_a_cost_matrix_is_pots_emd2(pair: tuple[np.ndarray, np.ndarray], seed: int) -> None:
    p, q = pair
    cost = np.random.default_rng(seed).random((len(p), len(p)))
    cost = cost + cost.T
    np.fill_diagonal(cost, 0)
    assert wasserstein(p, q, "cost", cost) == pytest.approx(ot.emd2(p, q, cost), abs=1e-9)


@given(distributions(3))
def test_distances_are_symmetric_zero_at_home_and_obey_the_triangle(
    three: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    p, q, r = three
    for metric in METRICS:
        cost = steps(len(p))
        d_pq = float(wasserstein(p, q, metric, cost))
        assert d_pq >= 0
        assert wasserstein(p, p, metric, cost) == pytest.approx(0, abs=1e-12)
        assert wasserstein(q, p, metric, cost) == pytest.approx(d_pq, abs=1e-9)
        through = wasserstein(p, r, metric, cost) + wasserstein(r, q, metric, cost)
        assert d_pq <= through + 1e-9


@given(distributions(), st.randoms(use_true_random=False))
def test_nominal_does_not_mind_relabelling(pair: tuple[np.ndarray, np.ndarray], shuffle) -> None:
    p, q = pair
    order = list(range(len(p)))
    shuffle.shuffle(order)
    moved = wasserstein(p[order], q[order], "nominal")
    assert moved == pytest.approx(float(wasserstein(p, q, "nominal")), abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_the_farthest_from_uniform_is_as_tabled(k: int) -> None:
    point, uniform = np.eye(k)[0], np.full(k, 1 / k)
    assert wasserstein(point, uniform, "nominal") == pytest.approx(1 - 1 / k)
    assert wasserstein(point, uniform, "ordinal") == pytest.approx(1 / 2)
    assert wasserstein(point, uniform, "index") == pytest.approx((k - 1) / 2)
    assert wasserstein(point, uniform, "values") == pytest.approx(2 / k * (1 - 1 / k))
    assert wasserstein(point, uniform, "cost", steps(k)) == pytest.approx((k - 1) / 2)


def test_with_two_attributes_all_metrics_agree() -> None:
    p, q = np.array([0.8, 0.2]), np.array([0.5, 0.5])
    for metric in METRICS:
        assert wasserstein(p, q, metric, steps(2)) == pytest.approx(0.3)


def test_values_ignores_which_attribute_is_which() -> None:
    p, q = np.array([0.7, 0.2, 0.1]), np.array([0.1, 0.2, 0.7])
    assert wasserstein(p, q, "values") == pytest.approx(0)
    assert wasserstein(p, q, "nominal") == pytest.approx(0.6)


def test_many_distributions_at_once_are_each_as_alone() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(4), (5, 3)), rng.dirichlet(np.ones(4), 3)
    for metric in METRICS:
        together = wasserstein(p, q, metric, steps(4))
        assert together.shape == (5, 3)
        for i in range(5):
            for j in range(3):
                alone = wasserstein(p[i, j], q[j], metric, steps(4))
                assert together[i, j] == pytest.approx(float(alone), abs=1e-12)


def test_an_undefined_distribution_has_no_distance() -> None:
    p = np.array([[np.nan, np.nan], [1.0, 0.0]])
    found = wasserstein(p, np.array([0.5, 0.5]), "cost", steps(2))
    assert np.isnan(found[0]) and found[1] == pytest.approx(0.5)


def test_one_attribute_is_never_away_from_its_ideal() -> None:
    for metric in METRICS:
        assert wasserstein(np.array([1.0]), np.array([1.0]), metric, np.zeros((1, 1))) == 0


def test_pot_is_loaded_without_torch() -> None:
    code = (
        "import sys, numpy as np\n"
        "from biasgraph.causal.transport import wasserstein\n"
        "assert 'ot' not in sys.modules\n"
        "wasserstein(np.array([1., 0.]), np.array([.5, .5]), 'cost', 1 - np.eye(2))\n"
        "assert 'ot' in sys.modules and 'torch' not in sys.modules\n"
    )
    clean = {k: v for k, v in os.environ.items() if k != "POT_BACKEND_DISABLE_PYTORCH"}
    subprocess.run([sys.executable, "-c", code], check=True, env=clean)


GENDER = Variable("gender", ("male", "female"))
AGE = Variable("age", ("young", "middle", "old"), "ordinal")
SHOES = Variable("shoes", ("boot", "clog"), "cost", np.array([[0, 2.0], [2.0, 0]]))


def test_axes_that_are_not_named_are_uniform_and_keep_their_metric() -> None:
    gender, age, shoes = resolve_ideals(
        (GENDER, AGE, SHOES), None, {"gender": {"female": 1.0}}, None
    )
    assert gender.shares.tolist() == [0, 1]
    assert age.shares.tolist() == pytest.approx([1 / 3] * 3)
    assert (gender.metric, age.metric, shoes.metric) == ("nominal", "ordinal", "cost")
    assert shoes.distance(np.array([1.0, 0.0])) == pytest.approx(1.0)
    assert gender.distance(np.array([1.0, 0.0]), np.array([1.0, 0.0])) == 0


def test_the_sum_of_an_ideal_may_be_off_by_a_millionth() -> None:
    (ideal,) = resolve_ideals((GENDER,), None, {"gender": {"male": 0.5, "female": 0.5000009}}, None)
    assert ideal.shares.sum() == pytest.approx(1, abs=1e-15)


def test_an_ideal_from_images_is_resampled_and_a_given_one_is_not() -> None:
    rng = np.random.default_rng(0)
    given, counted = resolve_ideals(
        (GENDER, AGE),
        "nominal",
        {"gender": {"male": 0.5, "female": 0.5}},
        {"age": {"young": 30, "old": 10}},
    )
    assert given.draws(7, rng).shape == (2,)
    drawn = counted.draws(4000, rng)
    assert drawn.shape == (4000, 3)
    assert drawn.sum(axis=1) == pytest.approx(np.ones(4000))
    likely = (np.array([30, 0, 10]) + 2 / 3) / 42  # with two pseudo answers
    assert drawn.mean(axis=0) == pytest.approx(likely, abs=0.005)
    assert drawn[:, 0].std() == pytest.approx(np.sqrt(0.75 * 0.25 / 40), rel=0.1)


@pytest.mark.parametrize(
    ("metric", "ideal", "reference", "message"),
    [
        (None, {"gendr": {"male": 1.0}}, None, "unknown axis: gendr. Did you mean 'gender'"),
        (None, {"gender": {"mal": 1.0}}, None, "unknown attribute: mal. Did you mean 'male'"),
        (None, {"gender": {"male": 0.5}}, None, "sums to 0.5 instead of 1"),
        (None, {"gender": {"male": 1.5, "female": -0.5}}, None, "numbers of at least 0"),
        (None, {"gender": {"male": float("nan"), "female": 1.0}}, None, "numbers of at least 0"),
        (None, {"gender": {"male": "half", "female": 0.5}}, None, "numbers of at least 0"),
        (None, {"gender": {"male": 1.0}}, {"gender": {"male": 3}}, "both an ideal and a reference"),
        (None, None, {"gender": {"male": 0}}, "whole counts"),
        (None, None, {"gender": {"male": 2.5, "female": 1}}, "whole counts"),
        (None, None, {"gender": {"male": True, "female": 1}}, "whole counts"),
        (None, None, {"gender": {"male": -1, "female": 3}}, "whole counts"),
        ("ordinal", None, None, "ordinal needs ordered attributes, but gender"),
        ("index", None, None, "index needs ordered attributes, but gender"),
        ("cost", None, None, "2 x 2 cost matrix for gender"),
        ("values", {"gender": {"male": 0.7, "female": 0.3}}, None, "not uniform"),
        ("values", None, {"gender": {"male": 5, "female": 5}}, "not uniform"),
    ],
)
def test_what_an_ideal_must_not_be(
    metric: MetricName | None,
    ideal: Mapping[str, Mapping[str, float]] | None,
    reference: Mapping[str, Mapping[str, int]] | None,
    message: str,
) -> None:
    with pytest.raises(InputError, match=message):
        resolve_ideals((GENDER, AGE), metric, ideal, reference)


def test_a_hostile_axis_name_is_shown_harmless() -> None:
    with pytest.raises(InputError) as caught:
        resolve_ideals((GENDER,), None, {"\x1b[31mred": {}}, None)
    assert "\x1b" not in str(caught.value)


def test_the_order_may_be_used_where_it_is_declared() -> None:
    (ideal,) = resolve_ideals((AGE,), "index", None, None)
    assert ideal.distance(np.array([1.0, 0, 0])) == pytest.approx(1.0)
    assert Ideal("values", np.array([0.5, 0.5])).distance(np.array([1.0, 0])) == 0.5
