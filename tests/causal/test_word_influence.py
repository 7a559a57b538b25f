"""Word influence as arithmetic: scores, ties, and the null of exchanged answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.word_null import World, rates
from biasgraph.causal.tables import GATED, UNKNOWN
from biasgraph.causal.word_influence import (
    PairedAnswers,
    mean_draws,
    mean_over_prompts,
    rank_removals,
    rank_words,
    removal_influence,
)


def answers(full: list[int], *without: list[int], size: int = 2) -> PairedAnswers:
    columns = np.array(without, dtype=np.int16).T
    return PairedAnswers(np.array(full, dtype=np.int16), columns, size)


def test_influence_by_hand() -> None:
    """Shares (3/4, 1/4) with all words; (1/4, 3/4), and unchanged, without the two."""
    given = answers([0, 0, 0, 1], [0, 1, 1, 1], [1, 0, 0, 0])
    assert removal_influence(given).tolist() == pytest.approx([1.0, 0.0])


def test_pairs_without_an_answer_on_either_side_are_left_out() -> None:
    given = answers([0, 0, UNKNOWN, 1, 1], [1, GATED, 0, 1, 1], [0, 0, 0, 1, 1])
    assert given.pairs == [3, 4]
    assert removal_influence(given).tolist() == pytest.approx([2 / 3, 0.0])


def test_opposite_changes_add_up_to_two() -> None:
    given = answers([0] * 8, [1] * 8)
    (word,) = rank_removals(given, np.random.default_rng(0)).words
    assert (word.score, word.share, word.rank, word.high) == (2.0, 1.0, 1, 2.0)
    assert word.low > 0 and word.stands_out and not word.tied


def test_nothing_changes_nothing() -> None:
    given = answers([0, 1, 0, 1], [0, 1, 0, 1], [0, 1, 0, 1])
    ranking = rank_removals(given, np.random.default_rng(0))
    first, second = ranking.words
    assert ranking.threshold == 0.0
    assert first.score == second.score == 0.0
    assert first.share is None and first.rank == second.rank == 1 and second.tied
    assert not first.stands_out and not second.stands_out


def test_words_are_ranked_with_their_ties() -> None:
    rng = np.random.default_rng(1)
    given = answers([0] * 48, [1] * 40 + [0] * 8, [1] * 38 + [0] * 10, [1] * 2 + [0] * 46)
    ranking = rank_removals(given, rng)
    assert [word.rank for word in ranking.words] == [1, 2, 3]
    assert [word.tied for word in ranking.words] == [False, True, False]
    assert [word.stands_out for word in ranking.words] == [True, True, False]
    assert sum(word.share or 0 for word in ranking.words) == pytest.approx(1)


def test_the_same_seed_ranks_alike() -> None:
    given = World(20, 3, True).draw(np.random.default_rng(3))
    one, other = (rank_removals(given, np.random.default_rng(5)) for _ in range(2))
    assert one == other


def test_scores_of_images_are_ranked_by_their_means() -> None:
    """The gradient's way: a score of each image and word."""
    rng = np.random.default_rng(0)
    images = np.abs(rng.normal([1.0, 0.95, 0.2], 0.1, (10, 3)))
    draws = mean_draws(images, rng)
    assert draws.shape == (2_000, 3)
    ranking = rank_words(images.mean(axis=0), draws, np.full(100, 0.5))
    assert ranking.threshold == 0.5
    assert [word.stands_out for word in ranking.words] == [True, True, False]
    assert not ranking.words[2].tied


@given(st.integers(1, 12), st.integers(1, 4), st.integers(2, 4), st.integers(0, 10_000))
def test_scores_stay_in_their_range(n: int, words: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-2, k, (n, words + 1)).astype(np.int16)
    codes[0] = 0  # every word has a pair
    given = PairedAnswers(codes[:, 0], codes[:, 1:], k)
    ranking = rank_removals(given, rng, 50)
    assert 0 <= ranking.threshold <= 2
    for word in ranking.words:
        assert 0 <= word.low <= word.score <= word.high <= 2
        assert 1 <= word.rank <= words
    shares = [word.share for word in ranking.words if word.share is not None]
    assert not shares or sum(shares) == pytest.approx(1)


@pytest.mark.slow(reason="hundreds of prompts; benchmarks/word_null.py measures the same")
@pytest.mark.parametrize("images", [10, 48])
@pytest.mark.parametrize("attributes", [2, 3, 6])
@pytest.mark.parametrize("paired", [False, True])
def test_no_word_is_named_where_none_matters(images: int, attributes: int, paired: bool) -> None:
    assert rates(World(images, attributes, paired), 200, 200).named <= 0.05


@pytest.mark.parametrize("attributes", [2, 3, 6])
@pytest.mark.parametrize("paired", [False, True])
def test_a_share_that_moves_by_forty_percent_is_found(attributes: int, paired: bool) -> None:
    assert rates(World(48, attributes, paired, influence=0.8), 40, 200).found >= 0.95


def test_the_mean_over_prompts_by_hand() -> None:
    """Mean .4, standard error .1 of three: Student's t with two degrees is 4.3027."""
    spread = 0.1 * np.sqrt(3)
    mean, low, high = mean_over_prompts([0.4 - spread, 0.4, 0.4 + spread], 2.0)
    assert (mean, low) == (pytest.approx(0.4), 0.0)
    assert high == pytest.approx(0.4 + 0.43027, abs=1e-5)
    assert mean_over_prompts([0.4], 1.0) == (0.4, None, None)
    assert mean_over_prompts([], 1.0) == (None, None, None)


def test_once_a_word_stands_out_the_others_are_held_against_the_others() -> None:
    null = np.column_stack([np.full(100, 0.9), np.full(100, 0.3), np.full(100, 0.1)])
    scores, draws = np.array([1.0, 0.5, 0.05]), np.tile([1.0, 0.5, 0.05], (50, 1))
    ranking = rank_words(scores, draws, null)
    assert ranking.threshold == pytest.approx(0.1)
    assert [word.stands_out for word in ranking.words] == [True, True, False]
    together = rank_words(scores, draws, null.max(axis=1))
    assert [word.stands_out for word in together.words] == [True, False, False]
    assert rank_words(scores * 0.8, draws, null).threshold == pytest.approx(0.9)
    assert rank_words(scores * 9, draws, null).threshold == pytest.approx(0.1)


def test_a_word_that_does_not_matter_is_rarely_named_beside_one_that_does() -> None:
    rng, named = np.random.default_rng(0), 0
    for _ in range(100):
        words = rank_removals(World(48, 2, False, influence=1.2).draw(rng), rng, 200).words
        named += any(word.stands_out for word in words[1:])
    assert named <= 8
