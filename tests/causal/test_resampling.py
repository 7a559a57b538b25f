"""Resampling with two answers more than were given."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from biasgraph.causal import resampling
from biasgraph.causal.graph import analyze
from biasgraph.causal.resampling import Resamples, image_counts, pool_counts, resample, smooth
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Counts, Pool, Variable
from tests.causal.worlds import audit, codes, column, independent, variables


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("counts", [[30, 10, 8], [48, 0, 0], [0, 16, 0]])
def test_a_resample_is_multinomial_of_the_answers_and_two_more(counts: list[int]) -> None:
    n, k = sum(counts), len(counts)
    p = (np.array(counts) + 2 / k) / (n + 2)
    assert smooth(np.array(counts)) == pytest.approx(p)
    drawn = resample(np.array([counts]), 20_000, rng())[:, 0]
    assert (drawn.sum(axis=-1) == n).all()
    assert drawn.mean(axis=0) == pytest.approx(n * p, abs=0.08)
    assert drawn.var(axis=0) == pytest.approx(n * p * (1 - p), rel=0.06)


def test_without_pseudo_answers_it_is_the_plain_bootstrap() -> None:
    drawn = resample(np.array([[30, 10, 8], [0, 24, 0]]), 4000, rng(), pseudo=0)
    assert drawn.shape == (4000, 2, 3)
    assert (drawn.sum(axis=-1) == [48, 24]).all()
    assert (drawn[:, 1] == [0, 24, 0]).all()
    assert drawn[:, 0].mean(axis=0) == pytest.approx([30, 10, 8], rel=0.02)
    assert drawn[:, 0, 0].var() == pytest.approx(48 * 30 / 48 * 18 / 48, rel=0.1)


def test_prompts_share_the_pseudo_answers() -> None:
    """A sum over prompts is smoothed no more than one prompt is, however many there are."""
    for prompts in (1, 4, 16):
        counts = np.tile([[48, 0]], (prompts, 1))
        unseen = resample(counts, 4000, rng())[..., 1].sum(axis=1)
        assert unseen.mean() == pytest.approx(1, abs=0.08)


def test_every_arm_has_the_pseudo_answers_of_its_prompt() -> None:
    counts = np.array([[[48, 0], [24, 24]], [[0, 16], [0, 0]]])  # (prompts, arms, k)
    drawn = resample(counts, 20_000, rng())
    assert drawn.shape == (20_000, 2, 2, 2)
    assert (drawn.sum(axis=-1) == [[48, 48], [16, 0]]).all()
    expected = 48 * (0.5 / 49), 24.0, 16 * (16.5 / 17)
    found = drawn[:, [0, 0, 1], [0, 1, 0], 1].mean(axis=0)
    assert found == pytest.approx(expected, abs=0.08)


@pytest.mark.parametrize("held", [10_000_000, 30_000, 1], ids=["all", "some", "each"])
def test_resamples_of_many_prompts_are_the_same_in_blocks(
    monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    counts = rng(1).integers(0, 300, (7, 2, 3))
    whole, other = rng(), rng()
    drawn = resample(counts, 1_000, whole)
    monkeypatch.setattr(resampling, "HELD", held)
    sets = Resamples.of(counts, 1_000, other)
    assert (sets.total == drawn.sum(axis=1)).all()
    assert other.random() == whole.random(), "what is drawn afterwards is the same, too"
    assert [len(list(sets.blocks())) for _ in range(2)] == [{1: 7, 30_000: 2}.get(held, 1)] * 2
    assert (sets.all() == drawn).all() and (sets.all() == drawn).all()
    assert sets.is_held == (held == 10_000_000) and sets.all().dtype == np.uint16


def test_no_answers_stay_none() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pseudo in (0.0, 2.0):
            assert not resample(np.zeros((2, 3), dtype=np.int64), 5, rng(), pseudo).any()


def test_whole_images_vary_as_answers_do() -> None:
    """An axis of resampled images has the distribution that resampled answers have."""
    counts = [45, 3, 0]
    one = resample(np.array([counts]), 20_000, rng())[:, 0]
    (other,) = image_counts(codes([counts]), [3], 48, 20_000, rng(1))
    assert (other.sum(axis=1) == 48).all()
    assert other.mean(axis=0) == pytest.approx(one.mean(axis=0), abs=0.08)
    assert other.var(axis=0) == pytest.approx(one.var(axis=0), rel=0.08)


def test_images_without_a_valid_answer_get_none() -> None:
    images = np.concatenate([column(0, repeat=36), column(-1, -2, repeat=6)])
    (found,) = image_counts(images, [2], 48, 4000, rng())
    valid = found.sum(axis=1)
    assert valid.mean() == pytest.approx(36, abs=0.2)
    assert valid.std() == pytest.approx(np.sqrt(48 * 0.75 * 0.25), rel=0.1)
    assert found[:, 1].mean() == pytest.approx(36 / 38, abs=0.1)


def test_drawing_without_replacement_adds_nothing() -> None:
    counts = [45, 3, 0]
    (found,) = image_counts(codes([counts]), [3], 48, 50, rng(), replace=False)
    assert (found == counts).all()
    (fewer,) = image_counts(codes([counts]), [3], 24, 50, rng(), replace=False)
    assert (fewer.sum(axis=1) == 24).all() and not fewer[:, 2].any()


def alike(prompts: int, arms: dict[tuple[int, int], Counts] | None = None) -> Pool:
    start = codes([[48, 0]])
    own = {(0, a): column(0, repeat=48) for a in range(2)} if arms is None else arms
    return Pool.of("p", [audit(start, own, variables(2), f"p{i}") for i in range(prompts)])


def test_prompts_of_whole_images_share_the_pseudo_images() -> None:
    for prompts in (1, 8):
        for noise in (False, True):
            initial, arms = pool_counts(alike(prompts), [0], 4000, rng(), noise=noise)
            assert initial[0][:, 1].mean() == pytest.approx(1, abs=0.1)
            assert arms[0][0][..., 1].mean(axis=0) == pytest.approx([1, 1], abs=0.1)


def test_arms_that_some_prompts_lack_are_drawn_from_the_others() -> None:
    whole, part = alike(1).prompts[0], alike(1, {(0, 0): column(0, repeat=20)}).prompts[0]
    _, arms = pool_counts(Pool.of("p", [whole, part]), [0], 100, rng(), noise=False)
    assert (arms[0][0].sum(axis=2) == [68, 48]).all()


def test_an_axis_that_nobody_could_name_is_resampled_too() -> None:
    two = independent([2, 2])

    def silent(images: Counts) -> Counts:
        return np.concatenate([images, np.full((len(images), 1), -1, dtype=np.int16)], axis=1)

    images = CodedImages(
        "p",
        (*two.variables, Variable("mood", ())),
        silent(two.initial),
        {arm: silent(one) for arm, one in two.arms.items()},
    )
    quick = AnalysisSettings(bootstrap=100, noise_draws=20)
    total = analyze(images, quick).graph["amplification"]
    assert (total["pairs"], total["pairs_defined"]) == (6, 2)
    assert total["noise_floor"]["mean"] > 0
