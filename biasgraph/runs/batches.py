"""Cuts work into batches that depend on nothing but the plan.

The last bits of a model's arithmetic may depend on the size of a batch and on what else is in it.
So batches are cut from the whole plan in its order, are always full, and are recorded whole: a
run that was cut short continues with the very batches it would have had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Batch(Generic[Item]):
    """`items` fills the batch, repeating where the plan ran out; `missing` are places to keep.

    missing: positions in `items` whose outcome is to be recorded, each item of the plan once.
    """

    items: tuple[Item, ...]
    missing: tuple[int, ...]

    def keep(self, outcomes: Sequence[Outcome]) -> list[tuple[Item, Outcome]]:
        """The missing items with their outcomes; those of the padding are dropped."""
        return [(self.items[place], outcomes[place]) for place in self.missing]


Outcome = TypeVar("Outcome")


def batches_to_do(
    items: Sequence[Item], size: int, *, is_done: Callable[[Item], bool]
) -> list[Batch[Item]]:
    """Batches of exactly `size` items, cut from `items` in order, that have work left in them.

    A batch that was done in part runs again as it was, for the sake of what is missing.
    """
    batches = []
    for start in range(0, len(items), size):
        part = items[start : start + size]
        missing = tuple(place for place, item in enumerate(part) if not is_done(item))
        if missing:
            full = tuple(part[place % len(part)] for place in range(size))
            batches.append(Batch(full, missing))
    return batches
