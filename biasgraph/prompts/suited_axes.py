"""Which shipped axis set suits a prompt, by rules over word lists."""

from __future__ import annotations

from collections.abc import Sequence

from biasgraph.data.axes import AxisSet, load_axis_set
from biasgraph.errors import InputError
from biasgraph.io import resources
from biasgraph.prompts.grammar import indefinite_article
from biasgraph.prompts.subject import find_subject
from biasgraph.prompts.tokens import excerpt

SETS = {"person": "occupation", "animal": "animal", "object": "object", "scene": "scene"}
"""Which shipped axis set suits which kind of subject."""


def kind_of_subject(prompt: str) -> str:
    """What a prompt is about, a key of `SETS`, or "unknown".

    Raises:
        InputError: as `find_subject` does.
    """
    subject = find_subject(prompt)
    if subject.kind == "thing":
        return "scene" if subject.place else "object"
    return "unknown" if subject.kind == "abstract" else subject.kind


def suited_axes(prompt: str) -> AxisSet:
    """The shipped axis set that suits a prompt's subject; an unknown subject is taken for a person.

    Raises:
        InputError: no set ships for such a subject, or as `find_subject` does.
    """
    kind = kind_of_subject(prompt)
    name = SETS["person" if kind == "unknown" else kind]
    if name not in resources.names("axes", ".yaml"):
        subject = find_subject(prompt)
        raise InputError(
            f"'{excerpt(subject.text)}' is about {indefinite_article(kind)} {kind}, "
            f"and no shipped axis set covers {kind}s: write one and pass it with --axes FILE"
        )
    return load_axis_set(name)


def suit_all(prompts: Sequence[str]) -> AxisSet:
    """The shipped axis set that suits all of several prompts.

    Raises:
        InputError: two of them need different sets, or as `find_subject` does.
    """
    first = suited_axes(prompts[0])
    for prompt in prompts[1:]:
        other = suited_axes(prompt)
        if other.name != first.name:
            raise InputError(
                f"no axis set suits all prompts: '{excerpt(prompts[0])}' needs "
                f"'{first.name}' and '{excerpt(prompt)}' needs '{other.name}'; choose a set "
                "with --axes, or build them separately"
            )
    return first


def note_guesses(prompts: Sequence[str]) -> tuple[str, ...]:
    """A sentence about the subjects that no word list has; none where all are known.

    Raises:
        InputError: as `find_subject` does.
    """
    heads = [
        find_subject(prompt).head for prompt in prompts if kind_of_subject(prompt) == "unknown"
    ]
    unknown = [f"'{excerpt(head, 40)}'" for head in dict.fromkeys(heads)]
    if not unknown:
        return ()
    shown = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
    return (f"no word list has {shown}: treated as a person; --axes chooses another set",)
