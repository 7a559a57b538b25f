"""What language models are asked to propose: the papers' instructions, and the forms of replies."""

from __future__ import annotations

import functools
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel

from biasgraph.data.axes import PromptText, ShortText
from biasgraph.io import resources

MOST_CATEGORIES = 15
"""Bias categories of mined prompts, as in MineTheGap (sec. 5)."""
_PLACE = re.compile(r"\{(\w+)\}")


def instruction(paper: str, task: str, **values: str | int) -> str:
    """One instruction of a paper in ``templates/llm``, with its ``{places}`` filled.

    ``instruction("tibet", "axes", prompt="a librarian")``; values are put in as they are.

    Raises:
        KeyError: the paper has no such task.
    """
    return fill(_instructions(paper)[task], **values)


def fill(text: str, **values: str | int) -> str:
    """A text with its ``{places}`` filled; one without a value stays as it is."""
    return _PLACE.sub(lambda place: str(values.get(place[1], place[0])), text)


def read_instruction(paper: str, task: str, text: str) -> dict[str, str] | None:
    """The values that fill an instruction at the beginning of a text; None where it is another.

    What stands behind it, after an empty line, is not looked at.
    """
    match = _pattern(paper, task).match(text)
    return match.groupdict() if match else None


@functools.cache
def _instructions(paper: str) -> dict[str, str]:
    texts = resources.read_yaml("llm", f"{paper}.yaml")
    return {task: str(text).strip() for task, text in texts.items()}


@functools.cache
def _pattern(paper: str, task: str) -> re.Pattern[str]:
    seen: set[str] = set()
    pattern = ""
    for i, part in enumerate(_PLACE.split(_instructions(paper)[task])):
        if i % 2 == 0:
            pattern += re.escape(part)
        else:
            pattern += f"(?P={part})" if part in seen else f"(?P<{part}>.+?)"
            seen.add(part)
    return re.compile(rf"\s*{pattern}\s*(?:\Z|\n\n)", re.DOTALL)


def _different(texts: list[str]) -> list[str]:
    if len({text.casefold() for text in texts}) < len(texts):
        raise ValueError("contains an entry twice")
    return texts


def _axes_named_once(axes: dict[str, list[str]]) -> dict[str, list[str]]:
    _different([name.strip() for name in axes])
    return axes


Texts = Annotated[list[PromptText], Field(min_length=1, max_length=64), AfterValidator(_different)]


class Counterfactuals(RootModel[dict[str, list[str]]]):
    """TIBET: counterfactual prompts by bias axis."""

    root: Annotated[
        dict[ShortText, Texts], Field(min_length=1, max_length=50), AfterValidator(_axes_named_once)
    ]


class Bias(BaseModel):
    """OpenBias: a bias that images may show, its classes, and the question that tells them."""

    model_config = ConfigDict(frozen=True)

    name: ShortText
    classes: Annotated[
        list[ShortText], Field(min_length=2, max_length=30), AfterValidator(_different)
    ]
    question: PromptText
    present_in_prompt: bool


class Category(BaseModel):
    """MineTheGap: a bias category, and the terms that tell it."""

    model_config = ConfigDict(frozen=True)

    name: ShortText
    terms: Annotated[list[ShortText], Field(min_length=1, max_length=100)]


def _categories_named_once(categories: list[Category]) -> list[Category]:
    _different([category.name for category in categories])
    return categories


class Categories(BaseModel):
    """MineTheGap: the bias categories of mined prompts."""

    categories: Annotated[
        list[Category],
        Field(min_length=1, max_length=MOST_CATEGORIES),
        AfterValidator(_categories_named_once),
    ]


class Biases(BaseModel):
    """OpenBias: what may be biased in the images of a prompt."""

    biases: Annotated[list[Bias], Field(min_length=1, max_length=50)]
