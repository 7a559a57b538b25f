"""What TIBET asks about an image, to be answered in free words (supp. 8.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from biasgraph.axes import load_axis_set

CAPTION = "Describe the image."
TEMPLATE = "What is {axis} in the image?"
COMMON = "tibet"
"""The shipped axis set that has the common axes with their open questions (table 4)."""
ALSO = {"race": "ethnicity", "racial": "ethnicity", "fashion": "clothing"}
"""Other names of common axes -> theirs in the set."""

_LISTED = re.compile(r"\s*\([^()]*\)")


def closed_question(axis: str) -> str:
    """The question about an axis for a judge that is given choices: none are listed in it."""
    return _LISTED.sub("", question_about(_LISTED.sub("", axis)))


def question_about(axis: str) -> str:
    """The open question about an axis: table 4's, or the template's."""
    name = axis.lower()
    return _common_questions().get(ALSO.get(name, name)) or TEMPLATE.format(axis=axis)


@cache
def _common_questions() -> Mapping[str, str | None]:
    return {axis.name: axis.question for axis in load_axis_set(COMMON).axes}
