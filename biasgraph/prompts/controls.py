"""Neutral rewordings of a prompt: what a counterfactual does to a sentence, without its content.

Their images tell how far wording alone moves an answer: "a certain librarian" and "a librarian
shown here" have a phrase where "a young librarian" and "a librarian in formal attire" have theirs.
"""

from __future__ import annotations

from collections.abc import Mapping

from biasgraph.data.axes import AxisSet, Rewording, find_axis_word, load_axis_set
from biasgraph.errors import InputError, printable

USUAL = 2
"""Rewordings of a prompt whose images are made: one before its noun, one after."""
SHIPPED: Mapping[str, str] = {
    "person": "occupation",
    "animal": "animal",
    "object": "object",
    "scene": "scene",
}
"""The set whose rewordings stand in for those of a set about the same that has none."""


def usual_number(axes: AxisSet) -> int:
    """How many rewordings of a prompt are made unless somebody says otherwise."""
    return min(USUAL, len(rewordings(axes)))


def rewordings(axes: AxisSet, number: int | None = None) -> tuple[Rewording, ...]:
    """The first rewordings that suit a set: its own, or those of the shipped set for its subject.

    One of the latter that speaks of an axis of the set is left out.

    Args:
        axes: the set.
        number: how many; all unless given.

    Raises:
        InputError: there are not as many.
    """
    if number == 0:
        return ()
    declared = [axis.model_dump() for axis in axes.axes]
    neutral = axes.controls or tuple(
        one
        for one in load_axis_set(SHIPPED[axes.subject]).controls
        if find_axis_word(one.phrase, declared) is None
    )
    if number is not None and number > len(neutral):
        raise InputError(
            f"--controls {number}: axis set '{printable(axes.name)}' has {len(neutral)} neutral "
            "rewordings; its file may list more of them under 'controls'"
        )
    return neutral[:number]
