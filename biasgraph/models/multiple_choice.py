"""How a multiple-choice question is put to a model that reads, and how its replies are combined.

The options are lettered and the model is asked for a letter.  Models prefer some letters and some
places whatever the question, so the question is asked several times with the options in other
orders, and the probabilities of an option are averaged over the places where it stood.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase

from biasgraph.models.base import Answer, Question

LETTERS = ascii_uppercase + ascii_lowercase
"""An axis has at most 50 attributes, and unknown beside them."""

UNKNOWN_OPTION = "unknown (the image does not show it)"
PERMUTATIONS = 4
"""The default: three options (yes, no, unknown) come in 3 orders, each once at every letter."""

ROUNDING = 1e-9
"""Means of the same numbers in another order differ by less."""

WORDING = 1
"""To be raised whenever a sheet's words change: answers to other words are other answers."""

INSTRUCTION = "Answer with the letter of the right option only."


@dataclass(frozen=True)
class LetteredQuestion:
    """A question with its options in one order.

    Attributes:
        text: What the model reads.
        letters: One an option, in their order.
        order: What each letter stands for: an index into the question's choices, None for unknown.
    """

    text: str
    letters: tuple[str, ...]
    order: tuple[int | None, ...]


def letter_question(question: Question, permutations: int | None = None) -> list[LetteredQuestion]:
    """A question in several orders of its options, unknown always among them.

    Args:
        question: The question.
        permutations: How many orders, at most; orders that would give an option one letter more
            often than another are left out where possible (`orders`).
    """
    options: list[int | None] = [*range(len(question.choices)), None]
    return [
        _sheet(question, tuple(options[place] for place in order))
        for order in orders(len(options), permutations or PERMUTATIONS)
    ]


def orders(count: int, permutations: int) -> list[tuple[int, ...]]:
    """At most `permutations` orders of `count` options, the same every time.

    With `count` of them or more, every option stands equally often at every letter: all
    rotations, or all rotations and their reverses.  An even number below `count` are rotations
    with their reverses, so that all options stand at the same place on average; an odd one are
    rotations as far apart as can be.
    """
    if permutations >= count:
        turned = [_rotate(count, by) for by in range(count)]
        return turned + [order[::-1] for order in turned] if permutations >= 2 * count else turned
    if permutations % 2:
        return [_rotate(count, by * count // permutations) for by in range(permutations)]
    pairs = permutations // 2
    turned = [_rotate(count, by * count // pairs) for by in range(pairs)]
    return [order for forth in turned for order in (forth, forth[::-1])]


def combine_shares(
    question: Question,
    asked: Sequence[LetteredQuestion],
    shares: Sequence[Sequence[float]],
    unknown_below: float | None = None,
) -> Answer:
    """The answer that a model's replies to all sheets of a question come to.

    An option's probability is its mean over the sheets.  The answer is unknown where unknown's is
    the largest (or as large), and where the likeliest choice, unknown set aside, has less than
    `unknown_below`.  The answer's probabilities are of the choices alone and sum to one.

    Args:
        question: The question.
        asked: The forms in which it was asked.
        shares: A row for each form: the probability of each of its letters, or any weights in
            proportion to them.
        unknown_below: In [0, 1].

    Raises:
        ValueError: A row is not one of weights of these letters.
    """
    means = [0.0] * len(question.choices)
    unknown = 0.0
    for sheet, row in zip(asked, shares, strict=True):
        total = math.fsum(row)
        if len(row) != len(sheet.order) or not 0 < total < math.inf or min(row) < 0:
            raise ValueError("each sheet needs a weight for each of its letters")
        for option, share in zip(sheet.order, row, strict=True):
            part = share / total / len(asked)
            if option is None:
                unknown += part
            else:
                means[option] += part
    best = max(means)
    chosen: int | None = means.index(best)
    known = math.fsum(means)
    probabilities = tuple(mean / known if known > 0 else 1 / len(means) for mean in means)
    if unknown >= best - ROUNDING or max(probabilities) < (unknown_below or 0.0):
        chosen = None
    return Answer(chosen, probabilities)


def _sheet(question: Question, order: tuple[int | None, ...]) -> LetteredQuestion:
    letters = tuple(LETTERS[: len(order)])
    names = [UNKNOWN_OPTION if option is None else question.choices[option] for option in order]
    lines = [f"{letter}. {name}" for letter, name in zip(letters, names, strict=True)]
    return LetteredQuestion("\n".join([question.text, *lines, INSTRUCTION]), letters, order)


def _rotate(count: int, by: int) -> tuple[int, ...]:
    return tuple((place + by) % count for place in range(count))
