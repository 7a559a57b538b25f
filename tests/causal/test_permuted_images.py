"""Sets of images that have changed places, as if no intervention did anything."""

from __future__ import annotations

import numpy as np
import pytest

from biasgraph.causal import permuted_images
from biasgraph.causal.aggregate import amplification
from biasgraph.causal.permuted_images import permuted_counts
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Codes, Pool
from biasgraph.causal.transport import resolve_ideals
from tests.causal.test_aggregate import values_of
from tests.causal.worlds import audit, codes, column, independent, variables


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def pool(*prompts: CodedImages) -> Pool:
    return Pool.of("p", prompts)


def test_every_set_keeps_its_valid_answers_and_all_answers_stay() -> None:
    prompts = [independent([2, 3, 4], n=20, seed=seed, lost=0.2) for seed in range(2)]
    both = pool(*prompts)
    initial, arms = permuted_counts(both, [0, 1, 2], 50, rng())
    for y in range(3):
        others = [x for x in range(3) if x != y]
        assert (initial[y].sum(axis=1) == both.initial(y).sum()).all()
        answers = initial[y] + sum(arms[x][y].sum(axis=1) for x in others)
        everything = both.initial(y).sum(axis=0) + sum(
            both.total.contingency(x, y).sum(axis=0) for x in others
        )
        assert (answers == everything).all()
        for x in others:
            assert (arms[x][y].sum(axis=2) == both.total.contingency(x, y).sum(axis=1)).all()
        assert not arms[y][y].any()  # arms of y itself say nothing about what chance does to y
        assert len(np.unique(initial[y], axis=0)) > 10


def test_every_order_of_the_answers_is_as_likely() -> None:
    """The initial images' counts are hypergeometric, though orders are followed past other arms."""
    start, one, other = codes([[8, 4], [4, 8]]), codes([[12, 0], [2, 10]]), codes([[0, 12], [6, 6]])
    shifted = {(0, 0): one, (0, 1): other, (1, 0): one[:, ::-1], (1, 1): other[:, ::-1]}
    images = audit(start, shifted, variables(2, 2))
    initial, arms = permuted_counts(pool(images), [0, 1], 40_000, rng())
    for y, hits in ((0, 8 + 2 + 6), (1, 4 + 2 + 6)):  # of 36 images that count for y, 12 a set
        share = hits / 36
        for drawn in (initial[y][:, 0], arms[1 - y][y][:, 1, 0]):
            assert drawn.mean() == pytest.approx(12 * share, abs=0.04)
            assert drawn.var() == pytest.approx(12 * share * (1 - share) * 24 / 35, rel=0.03)


def test_images_stay_whole() -> None:
    images = independent([2, 2, 3], n=30, seed=1)
    for part in (images.initial, *images.arms.values()):
        part[:, 1] = part[:, 0]
    third = {arm: part for arm, part in images.arms.items() if arm[0] == 2}
    initial, arms = permuted_counts(
        pool(audit(images.initial, third, images.variables)), [2], 60, rng()
    )
    assert (initial[0] == initial[1]).all() and (arms[2][0] == arms[2][1]).all()
    # Arms of the two axes themselves count for one of them alone; most images count for both.
    initial, _ = permuted_counts(pool(images), [0, 1, 2], 4000, rng())
    assert np.corrcoef(initial[0][:, 0], initial[1][:, 0])[0, 1] > 0.25


def test_images_change_places_within_their_prompt() -> None:
    full = {(0, a): column(0, repeat=9).repeat(2, axis=1) for a in range(2)}
    prompts = [
        audit(
            full[0, 0] + b, {arm: part + b for arm, part in full.items()}, variables(2, 2), f"p{b}"
        )
        for b in (0, 1)
    ]
    initial, arms = permuted_counts(pool(*prompts), [0], 30, rng())
    assert (initial[1] == 9).all() and (arms[0][1] == 9).all()


def test_fewer_places_are_drawn_at_random() -> None:
    images = independent([2, 3], n=20, seed=3)
    images.initial[:10, 1] = -1
    take: dict[tuple[int, int] | None, int] = {None: 10, (0, 0): 5, (0, 1): 20}
    initial, arms = permuted_counts(pool(images), [0], 400, rng(), [take])
    assert (arms[0][1].sum(axis=2) == [5, 20]).all()
    valid = initial[1].sum(axis=1)
    assert valid.mean() == pytest.approx(5, abs=0.3) and valid.std() > 0.5


def test_blocks_hold_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    images = independent([2, 3], n=20)
    monkeypatch.setattr(permuted_images, "BLOCK", 200)
    initial, arms = permuted_counts(pool(images), [0, 1], 7, rng())
    assert (initial[0].sum(axis=1) == 20).all() and (arms[0][1].sum(axis=2) == 20).all()


@pytest.mark.slow(reason="hundreds of audits")
def test_a_twentieth_of_small_audits_without_any_effect_exceeds_the_floor() -> None:
    """Sets drawn from the initial images alone were exceeded in a tenth of these audits."""
    two, world = variables(2, 2), rng(1)
    ideals = resolve_ideals(two, None, None, None)

    def draw() -> Codes:
        return (world.random((12, 2)) < 0.3).astype(np.int16)

    exceeded = 0
    for seed in range(400):
        images = audit(draw(), {(x, a): draw() for x in range(2) for a in range(2)}, two)
        settings = AnalysisSettings(noise_draws=100, seed=seed)
        found = amplification(pool(images), ideals, values_of(images, ideals), settings)
        exceeded += found["value"] > found["noise_floor"]["q95"]
    assert 8 <= exceeded <= 29  # .05 with three standard errors
