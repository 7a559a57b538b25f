"""Beam search over a language whose every probability is known."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest
import torch

from biasgraph.audits.search.beam_search import BeamSearch, BeamSettings, WrittenPrompt
from biasgraph.audits.search.scoring import BiasScores

TOKENS = ["", " cat", " dog", " fire", "man", " red"]
END = 0
OPENING = "a"


@dataclass
class Language:
    """A Markov chain over `TOKENS`; "man" only ever goes on with the word before."""

    table: np.ndarray
    written: list[list[int]] = field(default_factory=lambda: [[]])
    ends: frozenset[int] = frozenset({END})
    refused: frozenset[int] = frozenset()

    @classmethod
    def of(cls, seed: int) -> Language:
        table = np.random.default_rng(seed).gamma(1.0, size=(len(TOKENS), len(TOKENS))) + 0.05
        table[3, 4] += 20  # " fire" is nearly always "fireman"
        table[:, 4] = np.where(np.arange(len(TOKENS)) == 3, table[:, 4], 1e-6)
        return cls(np.log(table / table.sum(axis=1, keepdims=True)))

    @property
    def rows(self) -> int:
        return len(self.written)

    def next_log_probabilities(self) -> torch.Tensor:
        rows = [self.table[own[-1] if own else 0] for own in self.written]
        return torch.from_numpy(np.stack(rows)).float()

    def select(self, rows: Sequence[int]) -> Language:
        return Language(self.table, [list(self.written[row]) for row in rows])

    def extend(self, tokens: Sequence[int | None]) -> None:
        for own, token in zip(self.written, tokens, strict=True):
            own += [] if token is None else [token]

    def text(self, row: int) -> str:
        return OPENING + "".join(TOKENS[token] for token in self.written[row])

    def begins_word(self, token: int) -> bool:
        return not TOKENS[token] or TOKENS[token].startswith(" ")

    def log_probability(self, tokens: Sequence[int]) -> float:
        return float(sum(self.table[a, b] for a, b in zip([0, *tokens], tokens, strict=False)))


@dataclass
class Worth:
    """A scorer that pays for red things."""

    weight: float = 0.0
    asked: list[str] = field(default_factory=list)

    def scores(self, texts: Sequence[str], logs: np.ndarray, keep: int) -> np.ndarray:
        return self.final(texts, logs)

    def final(self, texts: Sequence[str], logs: np.ndarray) -> np.ndarray:
        self.asked += texts
        return logs + self.weight * np.array([text.count("red") for text in texts])


def found(
    language: Language,
    scorer: Worth,
    allowed: Callable[[str], bool] = lambda text: True,
    seed: int = 0,
    taken: Collection[str] = (),
    **settings: object,
) -> list[WrittenPrompt]:
    wide = {"beams": 200, "expand": 10, "spread": 2, "most_tokens": 3, "whole_words": False}
    beam = BeamSettings(**{**wide, **settings})  # type: ignore[arg-type]
    search = BeamSearch(beam, scorer, allowed, np.random.default_rng(seed), taken)
    return search.prompts(language)  # type: ignore[arg-type]


def every_text(language: Language, most: int, weight: float) -> dict[str, float]:
    """J of all texts that end, or are as long as texts may be, by enumeration."""
    best: dict[str, float] = {}
    for length in range(1, most + 1):
        for tokens in product(range(1, len(TOKENS)), repeat=length):
            ended = [*tokens, END] if length < most else [*tokens]
            text = OPENING + "".join(TOKENS[token] for token in tokens)
            score = language.log_probability(ended) + weight * text.count("red")
            best[text] = max(best.get(text, -math.inf), score)
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weight", [0.0, 3.0])
def test_a_wide_search_finds_the_best_of_all_texts(seed: int, weight: float) -> None:
    language = Language.of(seed)
    best = every_text(language, 3, weight)
    prompts = found(language, Worth(weight))
    assert prompts[0].score == pytest.approx(max(best.values()), abs=1e-5)
    assert prompts[0].text == max(best, key=lambda text: best[text])
    for one in prompts:
        assert one.score <= best[one.text] + 1e-5


def test_a_log_probability_is_that_of_all_tokens_and_the_end() -> None:
    language = Language.of(1)
    for one in found(language, Worth()):
        tokens = _tokens(one.text)
        ended = [*tokens, END] if one.n_tokens < 3 else tokens
        assert one.n_tokens == len(tokens)
        assert one.log_probability == pytest.approx(language.log_probability(ended), abs=1e-5)


def _tokens(text: str) -> list[int]:
    """Of a text of `TOKENS`."""
    rest, tokens = text.removeprefix(OPENING), []
    while rest:
        place = next(i for i, token in enumerate(TOKENS) if token and rest.startswith(token))
        tokens.append(place)
        rest = rest.removeprefix(TOKENS[place])
    return tokens


def test_more_weight_finds_more_of_what_is_wanted() -> None:
    def reds(weight: float) -> int:
        return found(Language.of(2), Worth(weight))[0].text.count("red")

    assert reds(0.0) <= reds(2.0) <= reds(50.0) == 3


def test_only_whole_words_are_scored_where_words_are_completed() -> None:
    halves, whole = Worth(), Worth()
    found(Language.of(0), halves, most_tokens=4)
    found(Language.of(0), whole, most_tokens=4, whole_words=True)
    assert any(text.endswith(" fire") for text in halves.asked)
    # A word at the very end may be cut off by the limit.
    assert not any(text.endswith(" fire") and len(_tokens(text)) < 4 for text in whole.asked)
    assert any("fireman" in text for text in whole.asked)


def test_a_text_that_is_not_allowed_is_neither_scored_nor_found() -> None:
    worth = Worth(5.0)
    prompts = found(Language.of(0), worth, allowed=lambda text: "red" not in text)
    assert prompts
    assert not any("red" in text for text in [*worth.asked, *(one.text for one in prompts)])


@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_the_rest_is_found_where_texts_are_taken(seed: int) -> None:
    language = Language.of(seed)
    best = every_text(language, 3, 3.0)
    taken: list[str] = []
    for expected in sorted(best, key=lambda text: -best[text])[:6]:
        prompts = found(language, Worth(3.0), taken=taken)
        assert prompts[0].text == expected
        taken.append(expected)


def test_taken_texts_of_full_length_use_up_no_place() -> None:
    language = Language.of(1)
    narrow = {"beams": 2, "expand": 30, "spread": 30, "most_tokens": 1, "temperature": 1e6}
    taken: list[str] = []
    for _ in range(4):  # one word each: cat, dog, fire, red
        prompts = found(language, Worth(), taken=taken, **narrow)
        taken.append(prompts[0].text)
    assert len(set(taken)) == 4


def test_a_whole_word_goes_on_as_the_language_model_likes_best() -> None:
    for seed in range(6):
        language, worth = Language.of(seed), Worth()
        fire, man = TOKENS.index(" fire"), TOKENS.index("man")
        language.table[fire, man] -= 3 * (seed % 2)  # then other words are likelier
        found(language, worth, most_tokens=4, whole_words=True)
        goes_on = int(np.argmax(language.table[fire])) == man
        inside = [text for text in worth.asked if len(_tokens(text)) < 4]
        assert any(" fireman" in text for text in inside) is goes_on is (seed % 2 == 0)
        assert any(text.endswith(" fire") for text in inside) is not goes_on
        assert not any("redman" in text for text in inside)


def test_nothing_is_found_where_nothing_is_allowed() -> None:
    assert found(Language.of(0), Worth(), allowed=lambda text: False) == []


def test_prompts_have_the_least_length_that_is_asked_for() -> None:
    lengths = [one.n_tokens for one in found(Language.of(3), Worth(), least_tokens=2)]
    assert min(lengths) == 2


def test_the_same_seed_finds_the_same_and_others_something_else() -> None:
    narrow = {"beams": 2, "expand": 2, "spread": 2, "most_tokens": 6}
    runs = [found(Language.of(5), Worth(1.0), seed=seed, **narrow) for seed in (0, 0, 1, 2, 3)]
    texts = [[one.text for one in prompts] for prompts in runs]
    assert texts[0] == texts[1]
    assert len({tuple(own) for own in texts}) > 1


def test_finished_prompts_leave_their_place_and_are_compared_in_the_end() -> None:
    prompts = found(Language.of(4), Worth(), beams=3, most_tokens=6)
    assert 1 <= len(prompts) <= 3
    assert [one.score for one in prompts] == sorted((one.score for one in prompts), reverse=True)


# What a race is worth


def looks(shares: dict[str, np.ndarray], seen: list[tuple[str, int]]) -> Callable[..., np.ndarray]:
    def look(pairs: Sequence[tuple[str, int]]) -> np.ndarray:
        seen.extend(pairs)
        return np.stack([shares[text][number] for text, number in pairs])

    return look


def candidates(rng: np.random.Generator, n: int, latents: int) -> dict[str, np.ndarray]:
    """Probabilities of texts, most of which rise and fall together with the latent."""
    level = rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, latents))
    both = level + rng.normal(size=latents)
    return {str(place): 1 / (1 + np.exp(-row[:, None])) for place, row in enumerate(both)}


def test_a_race_keeps_the_best_with_fewer_passes() -> None:
    rng = np.random.default_rng(0)
    agreed, raced, every = [], 0, 0
    for _ in range(40):
        shares = candidates(rng, 100, 10)
        texts, logs = list(shares), -rng.gamma(2.0, 2.0, size=100)
        all_seen: list[tuple[str, int]] = []
        some_seen: list[tuple[str, int]] = []
        exact = BiasScores(1, looks(shares, all_seen), 10, 10.0, race=False)
        race = BiasScores(1, looks(shares, some_seen), 10, 10.0, race=True)
        want = set(np.argsort(-exact.scores(texts, logs, 10))[:10])
        got = set(np.argsort(-race.scores(texts, logs, 10))[:10])
        agreed.append(len(want & got) / 10)
        raced, every = raced + len(some_seen), every + len(all_seen)
    assert np.mean(agreed) > 0.9
    assert raced < 0.5 * every


def test_no_text_is_looked_at_twice_with_the_same_latent() -> None:
    rng = np.random.default_rng(1)
    shares = candidates(rng, 30, 6)
    texts, logs = list(shares), -rng.gamma(2.0, 2.0, size=30)
    seen: list[tuple[str, int]] = []
    race = BiasScores(1, looks(shares, seen), 6, 10.0, race=True)
    race.scores(texts, logs, 5)
    race.scores(texts[::-1], logs[::-1], 5)
    race.final(texts[:8], logs[:8])
    assert len(seen) == len(set(seen))


def test_a_final_score_is_equation_4() -> None:
    rng = np.random.default_rng(2)
    shares = {"a": rng.uniform(size=(5, 2)), "b": rng.uniform(size=(5, 2))}
    race = BiasScores(2, looks(shares, []), 5, 7.0, race=True)
    logs = np.array([-3.0, -4.0])
    expected = [
        log + 7.0 * sum(math.log(shares[text][:, place].mean()) for place in (0, 1))
        for text, log in zip("ab", logs, strict=True)
    ]
    assert race.final(["a", "b"], logs).tolist() == pytest.approx(expected)


def test_without_weight_nothing_is_looked_at() -> None:
    seen: list[tuple[str, int]] = []
    none = BiasScores(1, looks({}, seen), 5, 0.0, race=True)
    assert none.scores(["x"], np.array([-1.0]), 1).tolist() == [-1.0]
    assert not seen


def test_a_probability_of_zero_has_a_finite_logarithm() -> None:
    scores = BiasScores(1, looks({"x": np.zeros((4, 1))}, []), 4, 1.0, race=False)
    assert math.isfinite(scores.scores(["x"], np.array([-1.0]), 1)[0])


def test_what_even_certainty_cannot_save_is_given_up_at_once() -> None:
    shares = {"good": np.full((10, 1), 0.9), "bad": np.full((10, 1), 0.9)}
    seen: list[tuple[str, int]] = []
    race = BiasScores(1, looks(shares, seen), 10, 1.0, race=True)
    found = race.scores(["good", "bad"], np.array([-1.0, -40.0]), 1)
    assert found[1] == -math.inf
    assert sum(text == "bad" for text, _ in seen) == 2
