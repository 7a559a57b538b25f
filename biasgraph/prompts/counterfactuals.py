"""From a prompt and an axis set to the prompt's counterfactuals (BiasConnect sec. 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Literal

from biasgraph.data.axes import Axis, AxisSet
from biasgraph.errors import InputError, printable
from biasgraph.prompts.controls import rewordings
from biasgraph.prompts.intervention import intervene, intervene_jointly, reword
from biasgraph.prompts.kinds import Kind
from biasgraph.prompts.subject import Subject, find_subject, strip_brackets
from biasgraph.prompts.tokens import excerpt

STRANGERS: Mapping[str, tuple[Kind, ...]] = {
    "person": ("thing", "animal"),
    "animal": ("person", "thing"),
    "object": ("person",),
    "scene": ("person", "animal"),
}
"""The kinds of subjects that a set's phrases do not fit, by what the set is about."""
EXAMPLES = {
    "person": "a kitchen with a [chef]",
    "animal": "a farmer with a [dog]",
    "object": "a child with a [ball]",
    "scene": "a child in a [park]",
}


@dataclass(frozen=True)
class Prompt:
    """A text for the generator, and its role; a counterfactual has its axis and attribute."""

    text: str
    role: Literal["initial", "counterfactual", "control", "other"]
    axis: str = ""
    attribute: str = ""


@dataclass(frozen=True)
class PromptPlan:
    """A prompt with its counterfactuals, one for each attribute of each axis, in their order.

    `typed` is the prompt with its brackets. `fixed` maps an axis that the prompt itself fixes to
    the attribute it says, or to its own word where that means none of the axis's attributes
    ("angry"); such an axis is intervened on too. `controls` are its neutral rewordings.
    """

    initial: Prompt
    counterfactuals: tuple[Prompt, ...]
    subject: Subject
    fixed: Mapping[str, str]
    typed: str = ""
    controls: tuple[Prompt, ...] = ()

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        """All prompts, the initial one first, its controls last."""
        return (self.initial, *self.counterfactuals, *self.controls)


def plan_prompts(text: str, axes: AxisSet, controls: int = 0) -> PromptPlan:
    """Return a prompt's counterfactuals along all axes of a set (BiasConnect, supp. A.1).

    The initial text is the prompt without brackets, otherwise unchanged.

    Args:
        text: the prompt, with or without brackets around its subject.
        axes: along which to intervene.
        controls: how many of the set's neutral rewordings to add, in their order; fewer where the
            prompt has one of their phrases itself.

    Raises:
        InputError: as `find_subject` does; a set about persons meets a subject that is a thing, or
            the like; a set holds prompts that were written for another one; there are not as many
            rewordings.
    """
    clean, bracket = strip_brackets(text)
    subject = find_subject(text)
    if axes.prompt not in (None, clean) and _whole(axes.axes):
        raise InputError(
            f"axis set '{axes.name}' contains complete prompts written for "
            f"'{excerpt(str(axes.prompt))}' and fits no other prompt"
        )
    if subject.kind in STRANGERS[axes.subject] and bracket is None:
        own = "scene" if subject.place else {"thing": "object"}.get(subject.kind, subject.kind)
        suited = {"person": "occupation"}.get(own, own)
        raise InputError(
            f"the prompt seems to be about '{excerpt(subject.text)}', but axis set '{axes.name}' "
            f"is about {axes.subject}s: choose --axes {suited}, or put the {axes.subject} in "
            f"brackets, as in '{EXAMPLES[axes.subject]}'"
        )
    if subject.named and bracket is None and axes.prompt is None:
        name = excerpt(subject.text)
        raise InputError(
            f"the prompt seems to be about one person or character, '{name}', whose "
            "pictures have no population to compare: name a kind of person instead, or put the "
            "name in brackets if it is one"
        )
    fixed: dict[str, str] = {}
    counterfactuals: list[Prompt] = []
    for axis in axes.axes:
        intervention = intervene(clean, subject, axis)
        if intervention.fixed is not None:
            fixed[axis.name] = intervention.fixed
        for attribute in axis.attributes:
            changed = attribute.prompt or intervention.text(attribute)
            if changed == clean and attribute.prompt:
                fixed[axis.name] = attribute.name
            counterfactuals.append(Prompt(changed, "counterfactual", axis.name, attribute.name))
    initial = Prompt(clean, "initial")
    neutral = tuple(
        Prompt(reword(clean, subject, one.phrase, one.placement), "control")
        for one in rewordings(axes, controls)
        if one.phrase.casefold() not in clean.casefold()
    )
    texts = tuple(counterfactuals)
    return PromptPlan(initial, texts, subject, MappingProxyType(fixed), text, neutral)


def _whole(axes: Sequence[Axis]) -> list[str]:
    """The axes that have attributes with a prompt of their own."""
    return [axis.name for axis in axes if any(attribute.prompt for attribute in axis.attributes)]


JOINT = " + "
"""Stands between the axes, and between the attributes, of a prompt that sets several."""


def joint_prompts(text: str, axes: Sequence[Axis]) -> tuple[Prompt, ...]:
    """Return a prompt with several axes set at once, one for each combination of attributes.

    The last axis runs fastest. Their role is `other`: they set more than a single axis.

    Raises:
        InputError: as `find_subject` does, or an axis has whole prompts.
    """
    clean, _ = strip_brackets(text)
    subject = find_subject(text)
    if whole := _whole(axes):
        raise InputError(
            f"axis '{printable(whole[0])}' has complete prompts, which cannot be combined with "
            "other axes: give its attributes phrases, or leave it out"
        )
    return tuple(
        Prompt(
            intervene_jointly(clean, subject, list(zip(axes, attributes, strict=True))),
            "other",
            JOINT.join(axis.name for axis in axes),
            JOINT.join(attribute.name for attribute in attributes),
        )
        for attributes in product(*(axis.attributes for axis in axes))
    )


def describe(axis: Axis, attribute: str, subject: str = "a photo of a person") -> str:
    """Return a caption true of an image that shows an attribute: "a photo of an old person".

    Args:
        axis: the attribute's axis.
        attribute: its name.
        subject: a prompt; the caption is its counterfactual, or the attribute's own prompt.

    Raises:
        InputError: the axis lacks the attribute, or as `find_subject` does.
    """
    clean, _ = strip_brackets(subject)
    chosen = axis.attribute(attribute)
    return chosen.prompt or intervene(clean, find_subject(subject), axis).text(chosen)
