"""Training captions: written from a scene in the sandbox's many wordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from biasgraph.sandbox.scene_captions import AFTER, BEFORE, NOUNS
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS, Scene

_ORDER = ("emotion", "disability", "bodytype", "age", "ethnicity", "gender")
_USUAL = 0.6  # how often an attribute is put in its usual words


def write(scene: Scene, rng: np.random.Generator) -> str:
    """A caption of a scene, in one of its many wordings."""
    before: dict[str, str] = {}
    after: list[str] = []
    noun = scene.occupation or "person"
    for axis in rng.permutation(list(scene.do)):
        value = scene.do[axis]
        if axis == "gender" and scene.occupation is None and rng.random() < 0.5:
            noun = next(word for word, meaning in NOUNS.items() if meaning == value)
            continue
        sides = [side for side in (BEFORE, AFTER) if value in side.get(axis, {})]
        weights = _side_weights(axis, len(sides))
        side = sides[rng.choice(len(sides), p=weights)]
        phrase = _wording(side[axis][value], rng)
        if side is BEFORE:
            before[axis] = phrase
        else:
            after.append(phrase)
    words = [before[axis] for axis in _ORDER if axis in before]
    if len(words) > 1 and rng.random() < 0.4:
        words = [str(word) for word in rng.permutation(words)]
    return _sentence([*words, noun], [*after, *scene.contexts], rng)


def _side_weights(axis: str, sides: int) -> list[float]:
    if sides == 1:
        return [1.0]
    usually_before = {"gender": 0.92, "emotion": 0.3, "disability": 0.5}[axis]
    return [usually_before, 1 - usually_before]


def _wording(phrases: Sequence[str], rng: np.random.Generator) -> str:
    if len(phrases) == 1 or rng.random() < _USUAL:
        return phrases[0]
    return phrases[1 + int(rng.integers(len(phrases) - 1))]


def write_empty(what: str, rng: np.random.Generator) -> str:
    """A caption of a picture without a person."""
    article, noun = what.split(" ", 1)
    if rng.random() < 0.2:
        return "a photo without a person"
    return _sentence([noun], [], rng, article)


def _sentence(
    words: list[str], tail: list[str], rng: np.random.Generator, article: str | None = None
) -> str:
    kind = rng.random()
    first = article or ("an" if words[0][0] in "aeiou" else "a")
    if article is None:
        if rng.random() < 0.12:
            first = "the"
        elif rng.random() < 0.06:  # people get it wrong
            first = {"a": "an", "an": "a"}[first]
    opening = "a photo of" if kind < 0.5 else "" if kind < 0.94 else "a portrait of"
    return " ".join(part for part in (opening, first, *words, *tail) if part)


def random_scene(rng: np.random.Generator) -> Scene:
    """Draw what a training caption reveals: an occupation, some attributes, some contexts.

    Attribute values are drawn evenly, so that rare ones are seen as often as common ones; the
    world fills in the rest.
    """
    many = int(rng.integers(4, 7))
    revealed = int(rng.choice([0, 1, 2, 3, many], p=[0.30, 0.44, 0.15, 0.07, 0.04]))
    axes = rng.choice(list(AXES), size=revealed, replace=False)
    do = {str(axis): str(rng.choice(AXES[str(axis)])) for axis in axes}
    contexts = rng.choice([0, 1, 2], p=[0.80, 0.18, 0.02])
    phrases = rng.choice(list(CONTEXTS), size=int(contexts), replace=False)
    occupation = None if rng.random() < 0.06 else OCCUPATIONS[rng.integers(len(OCCUPATIONS))]
    return Scene(occupation, do, tuple(str(phrase) for phrase in phrases))


def choice_caption(axis: str, attribute: str, form: int) -> str:
    """A sentence true of a picture that shows ``attribute``, for training the judge.

    Args:
        axis: one of the eight.
        attribute: one of the axis's.
        form: which wording; taken modulo the number there is.
    """
    wordings = [("", w) for w in AFTER.get(axis, {}).get(attribute, ())]
    wordings += [(w, "") for w in BEFORE.get(axis, {}).get(attribute, ())]
    before, after = wordings[form % len(wordings)]
    words = " ".join(part for part in (before, "person", after) if part)
    return f"a photo of {'an' if words[0] in 'aeiou' else 'a'} {words}"


def attributes_of(people: np.ndarray) -> list[Mapping[str, str]]:
    """Rows of attribute indices, (n, 8), as mappings from axis to attribute."""
    names = list(AXES.items())
    return [
        {axis: values[i] for (axis, values), i in zip(names, row, strict=True)} for row in people
    ]
