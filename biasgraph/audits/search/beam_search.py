"""A prompt, written token by token by a language model that an image model steers (BGPS).

A beam search over texts for the highest J = log P(text) + lambda log P(attribute | text), by eq. 4
and Algorithm 1 (app. E). What the second term is, a scorer tells; here are only the beams.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from biasgraph.models.continuations import Continuations

Numbers = np.ndarray


@dataclass(frozen=True)
class BeamSettings:
    """How wide the search is (app. A.3).

    Attributes:
        beams: B, the number of texts kept at each step.
        expand: E, the number of candidates for each text.
        spread: E'; candidates are drawn from as many times more.
        temperature: Of that draw.
        least_share: Candidates are at least so probable, beside the likeliest that continues the
            same text; 0 lets all be drawn (min-p; Nguyen et al. 2024).
        least_tokens: What a prompt has at least, its end not counted.
        most_tokens: The most tokens that a prompt adds to the opening.
        whole_words: Candidates are whole words: each begins one, or ends the text, and goes on as
            the language model likes best until the next one begins.
    """

    beams: int = 10
    expand: int = 10
    spread: int = 2
    temperature: float = 10.0
    least_share: float = 0.0
    least_tokens: int = 1
    most_tokens: int = 20
    whole_words: bool = True


@dataclass(frozen=True)
class WrittenPrompt:
    """A prompt as the search found it.

    Attributes:
        text: The opening and what was written behind it.
        log_probability: Of its tokens and its end, by the language model; a natural logarithm.
        n_tokens: How many these are.
        score: J.
    """

    text: str
    log_probability: float
    n_tokens: int
    score: float


class Scorer(Protocol):
    """Tells how much a text is worth beside its probability."""

    def scores(self, texts: Sequence[str], logs: Numbers, keep: int) -> Numbers:
        """(n,) J of texts; -inf where one is surely not, or hardly ever, among the best `keep`.

        logs: (n,) their log probabilities.
        """

    def final(self, texts: Sequence[str], logs: Numbers) -> Numbers:
        """(n,) J of texts that are to be compared in the end, as exactly as it is ever known."""


@dataclass(frozen=True)
class _Texts:
    """Texts side by side: rows of what continues them, log probabilities and numbers of tokens."""

    rows: Continuations
    logs: Numbers
    counts: Numbers
    ended: Numbers

    def select(self, places: Sequence[int] | Numbers) -> _Texts:
        """Some of them, in this order."""
        which = np.asarray(places, dtype=int)
        rows = self.rows.select(which.tolist())
        return _Texts(rows, self.logs[which], self.counts[which], self.ended[which])

    def texts(self) -> list[str]:
        """What they say."""
        return [self.rows.text(row) for row in range(len(self.logs))]


@dataclass
class BeamSearch:
    """One search for one prompt.

    Attributes:
        settings: How wide it is.
        scorer: Of texts.
        allowed: Which texts may be written at all; asked of whole words only where candidates are
            completed.
        rng: Draws the candidates.
        taken: Prompts that there are: a text that ends as one of them is no candidate.
    """

    settings: BeamSettings
    scorer: Scorer
    allowed: Callable[[str], bool]
    rng: np.random.Generator
    taken: Collection[str] = ()
    _finished: list[WrittenPrompt] = field(default_factory=list)
    _inside: Numbers | None = None

    def prompts(self, opening: Continuations) -> list[WrittenPrompt]:
        """The prompts that the search ends with, the best first; none where none was allowed."""
        now = _Texts(opening, np.zeros(1), np.zeros(1, dtype=int), np.zeros(1, dtype=bool))
        places, first = self.settings.beams, True
        while places > 0:
            grown = self._grow(now, first=first)
            first = False
            if grown is None:
                break
            texts = grown.texts()
            scores = self.scorer.scores(texts, grown.logs, places)
            best = [place for place in np.argsort(-scores, kind="stable")[:places].tolist()
                    if scores[place] > -math.inf]  # fmt: skip
            over = [place for place in best if self._is_over(grown, place)]
            self._finished += [self._write(grown, texts, place) for place in over]
            places -= len(over)
            going = [place for place in best if place not in over]
            if not going:
                break
            now = grown.select(going)
        return self._rank()

    def _write(self, grown: _Texts, texts: Sequence[str], place: int) -> WrittenPrompt:
        log = float(grown.logs[place])
        return WrittenPrompt(texts[place], log, int(grown.counts[place]), math.nan)

    def _is_over(self, grown: _Texts, place: int) -> bool:
        return bool(grown.ended[place] or grown.counts[place] >= self.settings.most_tokens)

    def _rank(self) -> list[WrittenPrompt]:
        if not self._finished:
            return []
        logs = np.array([one.log_probability for one in self._finished])
        scores = self.scorer.final([one.text for one in self._finished], logs)
        found = [
            replace(one, score=float(score))
            for one, score in zip(self._finished, scores, strict=True)
        ]
        return sorted(found, key=lambda one: -one.score)

    def _grow(self, now: _Texts, *, first: bool) -> _Texts | None:
        """The candidates of the next step, each a text of its own; None where there is none."""
        logs = self._possible(now)
        parents, tokens = self._draw(now.logs[:, None] + logs, first=first)
        if not len(tokens):
            return None
        grown = now.select(parents)
        grown = self._extend(grown, tokens.tolist(), logs[parents, tokens])
        if self.settings.whole_words:
            grown = self._complete(grown)
        return self._tell_apart(grown)

    def _possible(self, now: _Texts) -> Numbers:
        """(rows, V) log probabilities of the next token; -inf of what may not stand there."""
        logs = now.rows.next_log_probabilities().double().numpy().copy()
        logs[:, list(now.rows.refused)] = -np.inf
        short = now.counts < self.settings.least_tokens
        if short.any():
            logs[np.ix_(short, np.array(sorted(now.rows.ends)))] = -np.inf
        if self.settings.least_share:
            least = logs.max(axis=1, keepdims=True) + math.log(self.settings.least_share)
            logs[logs < least] = -np.inf
        if self.settings.whole_words and now.counts.any():
            logs[:, self._goes_on(now.rows, logs.shape[1])] = -np.inf
        return np.asarray(logs)

    def _goes_on(self, rows: Continuations, size: int) -> Numbers:
        """(V,) whether a token goes on with the word before it."""
        if self._inside is None:
            self._inside = np.array(
                [token not in rows.ends and not rows.begins_word(token) for token in range(size)]
            )
        return self._inside

    def _draw(self, logs: Numbers, *, first: bool) -> tuple[Numbers, Numbers]:
        """Rows and tokens of candidates.

        The first tokens are drawn from all that the language model says; later ones without
        replacement from the likeliest continuations, at a temperature (app. A.3, E).
        """
        own = self.settings
        wanted = own.beams * own.expand
        flat = logs.ravel()
        if first:
            if not np.isfinite(flat).any():
                return np.empty(0, dtype=int), np.empty(0, dtype=int)
            weights = np.exp(flat - flat.max())
            places = np.unique(self.rng.choice(len(flat), size=wanted, p=weights / weights.sum()))
        else:
            most = min(wanted * own.spread, int(np.isfinite(flat).sum()))
            likeliest = np.argsort(-flat, kind="stable")[:most]
            keys = flat[likeliest] / own.temperature + self.rng.gumbel(size=most)
            places = likeliest[np.argsort(-keys, kind="stable")[:wanted]]
        return places // logs.shape[1], places % logs.shape[1]

    def _extend(
        self, now: _Texts, tokens: Sequence[int | None], added: Sequence[float] | Numbers
    ) -> _Texts:
        """Texts with a token more; None leaves one as it is."""
        ended = [token in now.rows.ends for token in tokens]
        now.rows.extend([None if end else token for token, end in zip(tokens, ended, strict=True)])
        longer = np.array([token is not None for token in tokens])
        return _Texts(
            now.rows,
            now.logs + np.where(longer, added, 0.0),
            now.counts + (longer & ~np.array(ended)),
            now.ended | ended,
        )

    def _complete(self, now: _Texts) -> _Texts:
        """Texts whose last word is whole: its likeliest tokens are added until another begins."""
        while True:
            going = ~now.ended & (now.counts < self.settings.most_tokens)
            if not going.any():
                return now
            logs = now.rows.next_log_probabilities().double().numpy().copy()
            logs[:, list(now.rows.refused)] = -np.inf
            likeliest = logs.argmax(axis=1)
            tokens = [
                int(token)
                if alive and token not in now.rows.ends and not now.rows.begins_word(int(token))
                else None
                for alive, token in zip(going, likeliest, strict=True)
            ]
            if all(token is None for token in tokens):
                return now
            now = self._extend(now, tokens, logs[np.arange(len(logs)), likeliest])

    def _tell_apart(self, now: _Texts) -> _Texts | None:
        """Each allowed text once, the likelier of equal ones; one that ended is another text."""
        texts = now.texts()
        kept: dict[tuple[str, bool], int] = {}
        allowed: dict[str, bool] = {}
        for place in np.argsort(-now.logs, kind="stable").tolist():
            text = texts[place]
            if text not in allowed:
                allowed[text] = self.allowed(text)
            is_taken = self._is_over(now, place) and text.strip() in self.taken
            if allowed[text] and not is_taken:
                kept.setdefault((text, bool(now.ended[place])), place)
        return now.select(sorted(kept.values())) if kept else None
