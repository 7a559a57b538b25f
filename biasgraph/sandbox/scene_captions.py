"""The sandbox's language: what its captions are made of, and a scene read from a prompt.

The words are those of BiasConnect's table 2 and supp. A.3 with the synonyms that people type
(``templates/sandbox/phrases.yaml``); what is not there the sandbox never saw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from biasgraph.errors import InputError, printable
from biasgraph.io import resources
from biasgraph.sandbox.world import CONTEXTS, OCCUPATIONS, Scene

Wordings = Mapping[str, Mapping[str, Sequence[str]]]
"""Axis -> attribute -> phrases, the usual one first."""

_PHRASES = resources.read_yaml("sandbox", "phrases.yaml")
BEFORE: Wordings = _PHRASES["before"]
"""Words before the noun."""
AFTER: Wordings = _PHRASES["after"]
"""Words after the noun."""
NOUNS: Mapping[str, str] = _PHRASES["nouns"]
"""Nouns that stand for "person" and fix the gender."""
GATE_CAPTIONS: tuple[str, str] = tuple(_PHRASES["gate"])
"""What the gate question's yes and no say of a picture."""

EMPTY_SCENES: tuple[str, ...] = tuple(_PHRASES["empty"])
"""What the pictures without a person show."""

_MEANINGS = {
    wording: (axis, attribute)
    for side in (BEFORE, AFTER)
    for axis, attributes in side.items()
    for attribute, wordings in attributes.items()
    for wording in wordings
}
_READABLE = sorted(
    [*_MEANINGS, *OCCUPATIONS, *CONTEXTS, *NOUNS, "person"], key=lambda phrase: -len(phrase)
)
_READER = re.compile(r"(?<![\w-])(" + "|".join(re.escape(p) for p in _READABLE) + r")(?![\w-])")


def read_scene(prompt: str) -> Scene:
    """What a prompt asks of the world: its occupation, named attributes and context phrases.

    Raises:
        InputError: it names no occupation of the world and no person.
    """
    occupation: str | None = None
    person = False
    do: dict[str, str] = {}
    contexts: list[str] = []
    for phrase in _READER.findall(" ".join(prompt.lower().split())):
        if phrase in _MEANINGS:
            axis, attribute = _MEANINGS[phrase]
            do[axis] = attribute
        elif phrase in CONTEXTS:
            contexts.append(phrase)
        elif phrase in OCCUPATIONS:
            occupation = occupation or phrase
        else:
            person = True
            if phrase in NOUNS:
                do["gender"] = NOUNS[phrase]
    if occupation is None and not person:
        raise InputError(
            f"the sandbox does not know the subject of '{printable(prompt)}'; it knows 26 "
            "occupations and 'person'"
        )
    return Scene(occupation, do, tuple(contexts))


def vocabulary() -> frozenset[str]:
    """Every word that a training caption can hold, in lower case."""
    texts = [*_MEANINGS, *OCCUPATIONS, *CONTEXTS, *NOUNS, *EMPTY_SCENES]
    texts += ["a an the person photo portrait of without"]
    return frozenset(word for text in texts for word in re.findall(r"\w+", text.lower()))
