"""What TIBET asks about an image, to be answered in free words (supp. 8.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from biasgraph.data.axes import load_axis_set

CAPTION = "Describe the image."
TEMPLATE = "What is {axis} in the image?"
COMMON = "tibet"
"""The shipped axis set that has the common axes with their open questions (table 4)."""
PERSON = "person"
ALSO = {"race": "ethnicity", "racial": "ethnicity", "fashion": "clothing"}
"""Other names of common axes -> theirs in the set."""

_LISTED = re.compile(r"\s*\([^()]*\)")


def closed_question(axis: str, subject: str = PERSON) -> str:
    """The question about an axis for a judge that is given choices: none are listed in it."""
    return _LISTED.sub("", question_about(_LISTED.sub("", axis), subject))


def question_about(axis: str, subject: str = PERSON) -> str:
    """The open question about an axis: table 4's, or the template's.

    Args:
        axis: its name.
        subject: what the images are about. Table 4 asks about persons; of other subjects it is the
            question of the axis set that ships for them, where that has the axis.
    """
    name = axis.lower()
    name = ALSO.get(name, name)
    common = _questions(COMMON).get(name)
    if subject != PERSON:
        common = _questions(subject).get(name) or (None if PERSON in (common or "") else common)
    return common or TEMPLATE.format(axis=axis)


@cache
def _questions(axis_set: str) -> Mapping[str, str | None]:
    return {axis.name: axis.question for axis in load_axis_set(axis_set).axes}
