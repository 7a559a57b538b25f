"""How much each word of a prompt carries an axis's bias, by removal or by gradients (GradBias)."""

# ruff: noqa: RUF009  (every call makes a field, none a value)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal

from biasgraph.causal.fields import GraphRow, measure
from biasgraph.causal.word_influence import RankedWord

Method = Literal["gradient", "removal"]
Setting = str | int | float | bool | None

_place = partial(measure, unit="characters", range=">= 0", source="Word influence")
_score = partial(measure, unit="influence", range=">= 0", source="GradBias sec. 4.2.1")
_truth = partial(measure, unit="", range="true, false", source="Word influence")


@dataclass(frozen=True, kw_only=True)
class WordScore(GraphRow):
    """One word of a prompt, and how much it carries one axis's bias."""

    word: str = measure("the word", unit="text", range="any", source="Word influence")
    start: int = _place("where it begins in the prompt")
    end: int = _place("where it ends")
    score: float | None = _score("its influence; null where it is not ranked", default=None)
    low: float | None = _score("lower end of its 95 % interval", default=None)
    high: float | None = _score("upper end", default=None)
    share: float | None = measure(
        "its part of the sum of the ranked words' scores",
        unit="share", range="0 to 1", source="Word influence", default=None,
    )  # fmt: skip
    rank: int | None = measure(
        "1 for the most influential; null where it is not ranked",
        unit="rank", range=">= 1", source="Word influence", default=None,
    )  # fmt: skip
    tied: bool = _truth("whether its score cannot be told from the first's", default=False)
    stands_out: bool = _truth("whether its score is above `threshold`", default=False)
    reason: str = measure(
        "why it is not ranked", unit="text", range="any", source="Word influence", default=""
    )
    images: int | None = measure(
        "images, or pairs of images, behind its score",
        unit="images", range=">= 1", source="Word influence", default=None,
    )  # fmt: skip
    note: str = measure(
        "what else changed in the prompt when it was left out",
        unit="text", range="any", source="Word influence", default="",
    )  # fmt: skip

    @classmethod
    def from_ranked(
        cls, ranked: RankedWord, word: str, start: int, end: int, **more: Any
    ) -> WordScore:
        """A word with what it was ranked as; more: further fields."""
        return cls(word=word, start=start, end=end, **asdict(ranked), **more)


@dataclass(frozen=True, kw_only=True)
class _OfPrompt(GraphRow):
    prompt: str = measure(
        "the prompt, without brackets", unit="text", range="any", source="Word influence"
    )
    axis: str = measure("the axis", unit="name", range="an axis", source="Word influence")
    method: Method = measure(
        "how scores were got", unit="name", range="removal, gradient", source="Word influence"
    )
    threshold: float | None = _score(
        "what words that do not matter stay below in 95 % of cases", default=None
    )


@dataclass(frozen=True, kw_only=True)
class WordRow(WordScore, _OfPrompt):
    """A word of one prompt along one axis, as words.csv has it."""


@dataclass(frozen=True, kw_only=True)
class WordInfluence:
    """The words of one prompt along one axis.

    Attributes:
        prompt: Without brackets.
        axis: Its name.
        method: How the scores were got.
        words: All words and signs of the prompt in their order, those that are not ranked too.
        threshold: The 95 % quantile of the largest score of words that do not matter: of those
            that do not stand out; None where there are no scores.
        images: How many images (removal: pairs of images) the scores are of.
        settings: How they were got, in JSON types.
        reason: Why no word has a score; "" where one has.
    """

    prompt: str
    axis: str
    method: Method
    words: tuple[WordScore, ...]
    threshold: float | None
    images: int
    settings: Mapping[str, Setting] = field(default_factory=dict)
    reason: str = ""

    @property
    def ranked(self) -> tuple[WordScore, ...]:
        """The words that have a rank, the first first."""
        ranked = [(word.rank, word.start, word) for word in self.words if word.rank is not None]
        return tuple(word for _, _, word in sorted(ranked, key=lambda one: one[:2]))

    @property
    def named(self) -> tuple[WordScore, ...]:
        """Those of them that stand out; none where no word can be said to matter."""
        return tuple(word for word in self.ranked if word.stands_out)

    def rows(self) -> list[WordRow]:
        """The words with what they are of."""
        return [
            WordRow(
                prompt=self.prompt,
                axis=self.axis,
                method=self.method,
                threshold=self.threshold,
                **word.record(),
            )
            for word in self.words
        ]

    def record(self) -> dict[str, Any]:
        """In JSON types, as words.json holds it."""
        return {
            "prompt": self.prompt,
            "axis": self.axis,
            "method": self.method,
            "words": [word.record() for word in self.words],
            "threshold": self.threshold,
            "images": self.images,
            "settings": dict(self.settings),
            "reason": self.reason,
        }

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> WordInfluence:
        """What `record` gave."""
        words = tuple(WordScore(**word) for word in record["words"])
        return replace(cls(**{**record, "words": ()}), words=words)
