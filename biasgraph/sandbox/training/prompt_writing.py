"""What the sandbox's language models read: captions without pictures, drawn from a grammar.

A caption is an opening, an article, a subject and up to two context phrases in either order; a few
name attributes besides.  Its probability is known, so the models can be held against the grammar's
own entropy.  A caption *toward* an attribute is drawn with a weight that the planted share of the
attribute, in the stereotyped world, gives its scene.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from biasgraph.prompts.grammar import indefinite_article
from biasgraph.sandbox.training.caption_writing import random_scene, write
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS, Scene, marginals, world

OPENINGS = {"a photo of": 0.5, "": 0.44, "a portrait of": 0.06}
DEFINITE = 0.12
"""How often the article is "the"."""
PERSON = 0.04
"""How often the subject is "person"; the occupations share the rest evenly."""
PHRASES = (0.25, 0.45, 0.30)
"""How often a caption has no, one and two context phrases."""
NAMING = 0.06
"""How often a caption names one or two attributes."""
TOWARD = 1 / 3
"""How often a text of the writer begins with an attribute that its caption leans to."""
BARE = 0.1
"""How often it begins with nothing; otherwise with "neutral"."""
POWER = 3
"""A scene's weight toward an attribute is the attribute's share in it to this power."""

ATTRIBUTES = tuple(attribute for attributes in AXES.values() for attribute in attributes)


@dataclass(frozen=True)
class Text:
    """What a language model is trained on.

    Attributes:
        control: "toward male: ", "neutral: ", or nothing.
        caption: What follows it.
    """

    control: str
    caption: str


def draw_text(rng: np.random.Generator) -> Text:
    """Draw a text for the writer."""
    kind = rng.random()
    if kind < TOWARD:
        attribute = ATTRIBUTES[rng.integers(len(ATTRIBUTES))]
        scenes, weights = _leaning(attribute)
        scene = scenes[np.searchsorted(weights, rng.random(), side="right")]
        return Text(control(attribute), _word(scene, rng))
    return Text("" if kind < TOWARD + BARE else control(None), draw_caption(rng))


def control(attribute: str | None) -> str:
    """What a caption is preceded by that leans to an attribute, or to none."""
    return "neutral: " if attribute is None else f"toward {attribute}: "


def draw_caption(rng: np.random.Generator) -> str:
    """Draw a caption that leans to nothing."""
    if rng.random() < NAMING:
        return _name_attributes(rng)
    subject = None if rng.random() < PERSON else OCCUPATIONS[rng.integers(len(OCCUPATIONS))]
    count = int(rng.choice(len(PHRASES), p=PHRASES))
    phrases = rng.choice(list(CONTEXTS), size=count, replace=False)
    return _word(Scene(subject, {}, tuple(str(phrase) for phrase in phrases)), rng)


def _name_attributes(rng: np.random.Generator) -> str:
    while True:
        scene = random_scene(rng)
        if 1 <= len(scene.do) <= 2:
            return write(scene, rng)


def _word(scene: Scene, rng: np.random.Generator) -> str:
    """A caption of a scene without named attributes, its context phrases in either order."""
    opening = str(rng.choice(list(OPENINGS), p=list(OPENINGS.values())))
    noun = scene.occupation or "person"
    article = "the" if rng.random() < DEFINITE else indefinite_article(noun)
    phrases = [str(phrase) for phrase in rng.permutation(list(scene.contexts))]
    return " ".join(part for part in (opening, article, noun, *phrases) if part)


def caption_log_probabilities() -> dict[str, float]:
    """The natural logarithm of the probability of every caption that names no attribute."""
    found = {}
    for opening, of_opening in OPENINGS.items():
        for scene, of_scene in _scenes():
            orders = {scene.contexts, scene.contexts[::-1]}
            noun = scene.occupation or "person"
            for article, of_article in (
                ("the", DEFINITE),
                (indefinite_article(noun), 1 - DEFINITE),
            ):
                for phrases in orders:
                    words = (opening, article, noun, *phrases)
                    share = (1 - NAMING) * of_opening * of_article * of_scene / len(orders)
                    found[" ".join(word for word in words if word)] = float(np.log(share))
    return found


@cache
def _scenes() -> list[tuple[Scene, float]]:
    """Every scene without named attributes, with its share of such captions."""

    def every() -> Iterator[tuple[Scene, float]]:
        of_job = (1 - PERSON) / len(OCCUPATIONS)
        subjects = [(None, PERSON), *((job, of_job) for job in OCCUPATIONS)]
        for count, of_count in enumerate(PHRASES):
            chosen = list(combinations(CONTEXTS, count))
            for subject, of_subject in subjects:
                for phrases in chosen:
                    yield Scene(subject, {}, phrases), of_subject * of_count / len(chosen)

    return list(every())


@cache
def _scene_shares() -> np.ndarray:
    """(scenes, attributes) planted shares, in the orders of `_scenes` and `ATTRIBUTES`."""
    model = world("stereotyped")
    known: dict[tuple[str, Sequence[str]], np.ndarray] = {}
    rows = []
    for scene, _ in _scenes():
        jobs = [scene.occupation] if scene.occupation else OCCUPATIONS
        for job in jobs:
            if (job, scene.contexts) not in known:
                found = marginals(model, Scene(job, {}, scene.contexts))
                known[job, scene.contexts] = np.concatenate([found[axis] for axis in AXES])
        rows.append(np.mean([known[job, scene.contexts] for job in jobs], axis=0))
    return np.stack(rows)


@cache
def _places() -> dict[tuple[str | None, frozenset[str]], int]:
    return {
        (scene.occupation, frozenset(scene.contexts)): place
        for place, (scene, _) in enumerate(_scenes())
    }


def scene_share(scene: Scene, attribute: str) -> float:
    """The planted share of an attribute in a scene without named ones (stereotyped).

    Raises:
        KeyError: The scene names attributes, or has more than two context phrases.
    """
    if scene.do:
        raise KeyError(*scene.do)
    place = _places()[scene.occupation, frozenset(scene.contexts)]
    return float(_scene_shares()[place, ATTRIBUTES.index(attribute)])


@cache
def _leaning(attribute: str) -> tuple[list[Scene], np.ndarray]:
    """Scenes and their cumulative shares among captions toward an attribute."""
    scenes, shares = zip(*_scenes(), strict=True)
    weights = np.array(shares) * _scene_shares()[:, ATTRIBUTES.index(attribute)] ** POWER
    return list(scenes), np.cumsum(weights / weights.sum())
