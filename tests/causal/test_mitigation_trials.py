"""Predictions from one half of the images, observations from the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from biasgraph.causal.mitigation_trials import (
    SPLITS,
    Claims,
    Mitigation,
    Moments,
    Trial,
    _halves,
    try_mitigation,
)
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import GATED, UNKNOWN, CodedImages, Codes, Variable
from biasgraph.causal.transport import resolve_ideals

SETTINGS = AnalysisSettings.resolve(bootstrap=100, noise_draws=0, min_valid=4)
VARIABLES = (
    Variable("gender", ("male", "female")),
    Variable("age", ("young", "middle", "old")),
    Variable("clothing", ("formal", "casual")),
)
LINKS = np.array([[0, 0, 1], [0, 0, 0], [0, 0, 0]], dtype=bool)


def drawn(n: int, seed: int, do: tuple[int, int] | None = None, gender: float = 0.2) -> Codes:
    """Images in which gender decides on clothing and nothing on age."""
    rng = np.random.default_rng(seed)
    people = np.stack(
        [rng.random(n) < gender, rng.choice(3, n, p=[0.7, 0.2, 0.1]), rng.random(n) < 0.5], axis=1
    ).astype(np.int16)
    if do is not None:
        people[:, do[0]] = do[1]
    if do is None or do[0] != 2:
        people[:, 2] = np.where(rng.random(n) < 0.9, people[:, 0], 1 - people[:, 0])
    return people


def audited(n: int, seed: int = 0) -> CodedImages:
    arms = {
        (x, a): drawn(n, 100 * seed + 10 * x + a + 1, (x, a))
        for x, variable in enumerate(VARIABLES)
        for a in range(variable.size)
    }
    return CodedImages("a librarian", VARIABLES, drawn(n, 100 * seed), arms)


def tried(images: CodedImages, mitigation: Mitigation, edges: np.ndarray = LINKS) -> Trial:
    ideals = resolve_ideals(VARIABLES, None, None, None)
    claims = Claims.of(images, ideals, SETTINGS)
    return try_mitigation(images, mitigation, ideals, edges, claims, SETTINGS)


def test_halves_are_the_whole_and_the_same_wherever_they_are_drawn() -> None:
    codes, draw = drawn(31, 0), _halves(0, "x")
    first, again = draw("initial", codes, [2, 3, 2]), draw("initial", codes, [2, 3, 2])
    for one, other in zip(first, again, strict=True):
        assert (one == other).all()
        halves = one.reshape(2, SPLITS, -1)
        assert (halves.sum(axis=0) == one[0] + one[SPLITS]).all()
        assert set(halves[0].sum(axis=-1).tolist()) == {15}
    assert not (draw("arm", codes, [2, 3, 2])[0] == first[0]).all()


def test_moments_are_those_of_a_correlation() -> None:
    rng = np.random.default_rng(0)
    predicted, observed = rng.random((2, 1, 7)), rng.random((2, 1, 7))
    found = Moments.of(predicted, observed)
    (p1,), (p2,) = predicted
    assert found.pairs == 7
    assert found.predicted_again == pytest.approx(6 * np.cov(p1, p2)[0, 1])
    other = [6 * np.cov(predicted[i, 0], observed[1 - i, 0])[0, 1] for i in range(2)]
    assert found.disjoint == pytest.approx(np.mean(other))
    assert Moments.of(predicted[..., :2], observed[..., :2]) == Moments()


def test_fresh_prompts_repeat_what_was_predicted() -> None:
    images = audited(400)
    found = tried(images, Mitigation("fresh", arms=audited(400, seed=1).arms))
    assert (found.axes, found.pairs, found.edges) == (3, 6, 1)
    assert found.after == pytest.approx(0, abs=1e-9), "prompts are obeyed"
    assert found.before == pytest.approx(0.3 + 0.37 + 0.24, abs=0.1)
    moments = found.along_all
    again = np.sqrt(moments.predicted_again * moments.observed_again)
    assert moments.disjoint / again == pytest.approx(1, abs=0.1)
    assert (found.signs, found.signs_kept) == (2, 2)
    assert (found.clear_signs, found.clear_signs_kept) == (2, 2)


@pytest.mark.slow(reason="hundreds of plans")
def test_without_any_effect_only_shared_images_agree() -> None:
    """The reason for halves: one initial set on both sides is a correlation by itself."""
    disjoint = shared = spread = 0.0
    for seed in range(30):
        sets = [drawn(24, 50 * seed + number) for number in range(15)]
        arms = sorted(audited(1).arms)
        own = dict(zip(arms, sets[1:8], strict=True))
        others = dict(zip(arms, sets[8:], strict=True))
        images = CodedImages(f"prompt {seed}", VARIABLES, sets[0], own)
        moments = tried(images, Mitigation("fresh", arms=others)).along_all
        disjoint, shared = disjoint + moments.disjoint, shared + moments.shared
        spread += np.sqrt(moments.predicted * moments.observed)
    assert shared / spread > 0.5
    assert abs(disjoint / spread) < 0.15


def test_reweighting_by_hand() -> None:
    """6 men, all formal, 2 women, both casual: even weights make clothing even."""
    initial = np.array([[0, 0, 0]] * 6 + [[1, 1, 1]] * 2, dtype=np.int16)
    images = replace(audited(8), initial=initial)
    found = tried(images, Mitigation("reweighted"))
    assert found.before == pytest.approx(0.25 + (0.75 - 1 / 3) + 0.25)
    assert found.after == pytest.approx(0 + 1 / 3 + 0), "nobody is old"
    assert found.harmed == 0
    lost = initial.copy()
    lost[6:, 0] = UNKNOWN, GATED
    unseen = tried(replace(images, initial=lost), Mitigation("reweighted"))
    assert unseen.after == pytest.approx(0.5 + 1 / 3 + 0), "only men are seen"


def test_another_model_counts_where_it_brings_an_axis_closer() -> None:
    images = audited(200)
    fairer = tried(images, Mitigation("other_model", plain=drawn(200, 999, gender=0.5)))
    assert fairer.axes == 2, "gender, and clothing with it; age is as it was"
    assert fairer.pairs == 4
    assert (fairer.signs, fairer.signs_kept) == (2, 2)
    same = tried(images, Mitigation("other_model", plain=drawn(200, 998, gender=0.05)))
    assert (same.axes, same.pairs, same.edges) == (0, 0, 0)
    assert same.along_all == Moments()


def linked(n: int, seed: int, do: tuple[int, int] | None = None, even: bool = False) -> Codes:
    """Images in which gender decides on three axes, more and less, and nothing on a fourth."""
    rng = np.random.default_rng(seed)
    gender = rng.random(n) < (0.5 if even else 0.1)
    if do is not None and do[0] == 0:
        gender[:] = do[1]
    links = [np.where(rng.random(n) < share, gender, rng.random(n) < 0.5)
             for share in (0.9, 0.6, 0.3, 0.0)]  # fmt: skip
    people = np.stack([gender, *links], axis=1).astype(np.int16)
    if do is not None:
        people[:, do[0]] = do[1]
    return people


def test_a_model_that_makes_an_axis_even_is_foreseen_for_all_others_at_once() -> None:
    names = ("gender", "clothing", "age", "emotion", "place")
    variables = tuple(Variable(name, ("a", "b")) for name in names)
    arms = {(x, a): linked(300, 10 * x + a + 1, (x, a)) for x in range(5) for a in range(2)}
    images = CodedImages("a librarian", variables, linked(300, 0), arms)
    ideals = resolve_ideals(variables, None, None, None)
    edges = np.zeros((5, 5), dtype=bool)
    edges[0, 1:4] = True
    claims = Claims.of(images, ideals, SETTINGS)
    plain = linked(300, 99, even=True)

    def found(axes: frozenset[int] | None) -> Trial:
        mitigation = Mitigation("other_model", plain=plain, axes=axes)
        return try_mitigation(images, mitigation, ideals, edges, claims, SETTINGS)

    known = found(frozenset({0}))
    assert (known.axes, known.edges, known.at_once.pairs) == (1, 3, 4)
    again = np.sqrt(known.at_once.predicted_again * known.at_once.observed_again)
    assert known.at_once.disjoint / again == pytest.approx(1, abs=0.1)
    assert found(frozenset({4})).at_once == Moments(), "no edge leaves it"
    images.initial[:, 3] = UNKNOWN
    assert found(frozenset({0})).at_once.pairs == 3
    images.initial[:, 3] = linked(300, 0)[:, 3]
    guessed = found(None)
    assert guessed.axes > 1, "what follows gender is brought closer, too"
    assert guessed.at_once == Moments(), "and is not told from it"


def test_harm_is_seen() -> None:
    """A mitigation after which everybody is young and formal."""
    images = audited(100)
    arms = {arm: np.where([True, False, False], codes, 0).astype(np.int16)
            for arm, codes in images.arms.items()}  # fmt: skip
    found = tried(images, Mitigation("fresh", arms=arms))
    assert (found.pairs, found.harmed, found.harmed_clearly) == (6, 4, 4)


def test_arms_without_answers_leave_pairs_out() -> None:
    images = audited(40)
    arms = dict(images.arms)
    arms[0, 1] = np.full_like(arms[0, 1], UNKNOWN)
    found = tried(images, Mitigation("fresh", arms=arms))
    assert (found.pairs, found.edges) == (4, 0)
