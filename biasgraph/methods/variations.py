"""What a prompt may mean, as texts: combinations of attributes, or a language model's (sec. 4)."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, create_model

from biasgraph.errors import InputError
from biasgraph.models.base import Message
from biasgraph.prompts.counterfactuals import JOINT, Prompt, joint_prompts, plan_prompts
from biasgraph.prompts.instructions import Texts
from biasgraph.prompts.mining_target import MiningTarget

if TYPE_CHECKING:
    from biasgraph.data.axes import Axis, AxisSet

MOST_VARIATIONS = 64
PROPOSED = 15
"""How many a language model is asked for, as in the paper (sec. 5)."""


def variations(prompt: str, axes: AxisSet, vary: Sequence[str]) -> tuple[Prompt, ...]:
    """The prompt with every combination of the attributes of some axes (sec. 4.2).

    Raises InputError for an axis that the set lacks, for more than 64 texts, and as
    `counterfactuals.joint_prompts` does.
    """
    varied = axes.only(vary).axes
    count = math.prod(len(axis.attributes) for axis in varied)
    if count > MOST_VARIATIONS:
        raise InputError(
            f"--vary {','.join(vary)} gives {count} variations, more than {MOST_VARIATIONS}: name "
            "fewer axes"
        )
    if len(varied) == 1 and _whole(varied[0]):
        return tuple(
            Prompt(str(attribute.prompt), "other", varied[0].name, attribute.name)
            for attribute in varied[0].attributes
        )
    return joint_prompts(prompt, varied)


def usual_axes(axes: AxisSet) -> tuple[str, ...]:
    """Gender and ethnicity, as in the paper, where the set has them; its first axis otherwise.

    An axis whose counterfactuals are whole prompts combines with no other: then, too, the first.
    """
    usual = [axis for axis in axes.axes if axis.name in ("gender", "ethnicity")]
    if not usual or any(map(_whole, usual)):
        return (axes.axes[0].name,)
    return tuple(axis.name for axis in usual)


def conversation(
    prompt: str, count: int = PROPOSED, target: MiningTarget | None = None
) -> tuple[list[Message], type[BaseModel]]:
    """What a language model is asked (app. C.1), and the form of its reply.

    Args:
        prompt: To be varied.
        count: How many variations.
        target: What is mined for; `open` where none is given.
    """
    target = target or MiningTarget.of()
    return turns(target, target.variations_of(prompt, count)), _form(count)


def turns(target: MiningTarget, request: str) -> list[Message]:
    """A request of a target as a conversation: its system message, and the user's turn."""
    return [Message("system", target.system), Message("user", request)]


def propose_prompts(texts: Sequence[str], count: int = PROPOSED) -> tuple[Prompt, ...]:
    """A language model's texts as prompts: as many as were asked for."""
    return tuple(Prompt(text, "other") for text in texts[:count])


def read_attributes(axes: AxisSet, variation: Prompt, prompt: str) -> dict[str, str]:
    """What a variation says of its subject and the prompt does not: axis -> attribute.

    Those of a combination are known. Of other texts they are read as those of prompts are; nothing
    is read where the subject cannot be told.
    """
    if variation.axis:
        names, attributes = variation.axis.split(JOINT), variation.attribute.split(JOINT)
        return dict(zip(names, attributes, strict=True))
    before = _find_fixed(axes, prompt)
    known = {axis.name: axis.names for axis in axes.axes}
    return {
        axis: attribute
        for axis, attribute in _find_fixed(axes, variation.text).items()
        if attribute in known[axis] and before.get(axis) != attribute
    }


def _find_fixed(axes: AxisSet, text: str) -> Mapping[str, str]:
    try:
        return plan_prompts(text, axes).fixed
    except InputError:
        return {}


def _whole(axis: Axis) -> bool:
    return any(attribute.prompt for attribute in axis.attributes)


@functools.cache
def _form(count: int) -> type[BaseModel]:
    """At least so many texts: scores compare only over as many."""
    texts = Annotated[Texts, Field(min_length=count)]
    return create_model("Variations", variations=(texts, ...))
