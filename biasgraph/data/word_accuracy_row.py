"""How often a ranking of words is right, as evaluation.csv has it."""

# ruff: noqa: RUF009  (every call makes a field, none a value)

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

from biasgraph.causal.fields import GraphRow, measure

SOURCE = "GradBias, table 3"

_name = partial(measure, unit="name", source=SOURCE)
_text = partial(measure, unit="text", range="any", source=SOURCE)
_share = partial(measure, unit="share", range="0 to 1", source=SOURCE)
_ahead = partial(measure, unit="share", range="-1 to 1", source=SOURCE)
_count = partial(measure, unit="", range=">= 0", source=SOURCE)

Counted = Literal["tied", "equal", "first"]


@dataclass(frozen=True, kw_only=True)
class WordAccuracyRow(GraphRow):
    """One method's top-k accuracy on the pairs whose largest influence is large enough."""

    least: float = measure(
        "the least that a pair's largest influence by removal is; 0: all pairs",
        unit="influence", range=">= 0", source=SOURCE,
    )  # fmt: skip
    method: str = _name("what ranks the words", range="any")
    top: int = measure("k: how many of its first words count", unit="words", range="1 to 3",
                       source=SOURCE)  # fmt: skip
    ties: Counted = _name(
        "a hit is any word that cannot be told from the truth's first (tied), any with the same "
        "influence as it (equal), or the first alone, each of the same influence as likely (first)",
        range="tied, equal, first",
    )
    accuracy: float | None = _share("how often the truth's first word is among them")
    low: float | None = _share("lower end of its 95 % interval, for new prompts")
    high: float | None = _share("upper end")
    pairs: int = _count("pairs of prompt and axis that it is of")
    prompts: int = _count("their prompts")
    interval: str = _name("how its interval was got", range="wilson, bootstrap")
    reason: str = _text("why it, or its interval, is undefined")
    ahead_of_random: float | None = _ahead("how much more often than a random order, in pairs")
    ahead_of_random_low: float | None = _ahead("lower end of its 95 % interval")
    ahead_of_random_high: float | None = _ahead("upper end")
    ahead_of_random_reason: str = _text("why it, or its interval, is undefined")
    ahead_of_tree: float | None = _ahead("how much more often than the order of the tree, in pairs")
    ahead_of_tree_low: float | None = _ahead("lower end of its 95 % interval")
    ahead_of_tree_high: float | None = _ahead("upper end")
    ahead_of_tree_reason: str = _text("why it, or its interval, is undefined")
