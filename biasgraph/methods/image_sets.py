"""The concepts in one prompt's images, set by set (TIBET sec. 3.3).

A closed vocabulary is the judge's choices, each a concept of its axis: "middle" of age is not
"middle" of anything else, and nothing is split or merged. An open one is the words of a caption
and of answers to open questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from biasgraph.causal.tables import Counts, Floats
from biasgraph.data.axes import RESERVED_ANSWERS
from biasgraph.methods.base import Media, MethodInput
from biasgraph.methods.concepts import Indices, Mentions, Synonyms, tally
from biasgraph.prompts.tibet_questions import CAPTION, PERSON, question_about

if TYPE_CHECKING:
    import pandas as pd

Intervention = tuple[str, str]
"""Axis and attribute; both empty for the initial images."""
INITIAL: Intervention = ("", "")


@dataclass(frozen=True)
class ImageSet:
    """The concepts of one set of images.

    Attributes:
        counts: (n, C) how often each concept is said about each image.
        about: (A, C) how often per image it is said in answer to the question about each axis.
    """

    counts: Counts
    about: Floats

    @property
    def frequencies(self) -> Floats:
        """(C,) how often each concept is said per image."""
        return np.asarray(self.counts.sum(axis=0) / len(self.counts))

    @property
    def telling(self) -> int:
        """The images about which any concept is said."""
        return int(self.counts.any(axis=1).sum())


@dataclass(frozen=True)
class ImageSets:
    """The sets of one prompt that have images, over the same concepts and axes.

    Attributes:
        concepts: (C,) the concepts.
        axes: (A,) the axes.
        sets: By intervention.
        mentions: (M, 3) of every mention: image, question and concept. Images are numbered set by
            set; a question past the axes is a caption.
    """

    concepts: tuple[str, ...]
    axes: tuple[str, ...]
    sets: Mapping[Intervention, ImageSet]
    mentions: Indices = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))

    def words(self, question: int) -> dict[Intervention, Counts]:
        """(n, C') for every set how often each concept of the answers to a question is said."""
        image, _, concept = self.mentions[self.mentions[:, 1] == question].T
        used, place = np.unique(concept, return_inverse=True)
        sizes = [len(images.counts) for images in self.sets.values()]
        counts = tally(image, place, (sum(sizes), len(used)))
        return dict(zip(self.sets, np.split(counts, np.cumsum(sizes)[:-1]), strict=True))


def closed_sets(given: MethodInput, prompt: str) -> ImageSets:
    """Every choice of the judge as a concept; unknown and gated answers say nothing."""
    nodes = given.document["nodes"]
    axes = tuple(str(node["id"]) for node in nodes)
    choices = [
        (axis, str(attribute))
        for axis, node in zip(axes, nodes, strict=True)
        for attribute in node["attributes"]
        if attribute not in RESERVED_ANSWERS
    ]
    images, rows = _images(given.answers, prompt)
    column = {choice: place for place, choice in enumerate(choices)}
    said = [
        (image, column[target, answer])
        for image, target, answer in zip(
            rows["image"], rows["target"].astype(str), rows["answer"].astype(str), strict=True
        )
        if (target, answer) in column
    ]
    image, concept = np.array(said, dtype=np.int64).reshape(-1, 2).T
    place = {axis: number for number, axis in enumerate(axes)}
    axis_of = np.array([place[axis] for axis, _ in choices], dtype=np.int64)
    return _sets(images, image, axis_of[concept], concept, _labels(choices), axes)


def open_sets(given: MethodInput, prompt: str, media: Media, synonyms: Synonyms) -> ImageSets:
    """The words of a caption and of an answer about each axis, synonyms merged.

    Images about which no question could be asked (gated, every answer) are not described.
    """
    axes = tuple(str(node["id"]) for node in given.document["nodes"])
    images, rows = _images(given.answers, prompt)
    seen = np.unique(rows.loc[(rows["answer"] != "gated").to_numpy(), "image"]).astype(np.int64)
    ids = [images[place][0] for place in seen]
    about = given.axes.subject if given.axes else PERSON
    questions = [*(question_about(axis, about) for axis in axes), CAPTION]
    texts = [text for question in questions for text in media.describe(ids, question)]
    mentions = Mentions.of(texts).merge(synonyms)
    question_of, place_of = np.divmod(mentions.text, max(len(ids), 1))
    return _sets(images, seen[place_of], question_of, mentions.concept, mentions.concepts, axes)


def _images(
    answers: pd.DataFrame, prompt: str
) -> tuple[list[tuple[str, Intervention]], pd.DataFrame]:
    """A prompt's images in the order of their ids, with their sets; its rows, images as places."""
    own = (answers["prompt"] == prompt) & (answers["role"] != "control")
    rows = answers[own.to_numpy()]
    texts = {name: rows[name].astype(object) for name in ("image", "axis", "attribute")}
    keys = zip(*(column.where(column.notna(), "") for column in texts.values()), strict=True)
    set_of = {str(image): (str(axis), str(attribute)) for image, axis, attribute in keys}
    images = sorted(set_of.items())
    places = {image: place for place, (image, _) in enumerate(images)}
    return images, rows.assign(image=[places[str(image)] for image in texts["image"]])


def _sets(
    images: Sequence[tuple[str, Intervention]],
    image: Indices,
    question: Indices,
    concept: Indices,
    concepts: tuple[str, ...],
    axes: tuple[str, ...],
) -> ImageSets:
    """The sets of images; image, question, concept: (M,) of every mention."""
    interventions = list(dict.fromkeys(intervention for _, intervention in images))
    number = {intervention: place for place, intervention in enumerate(interventions)}
    set_of = np.array([number[intervention] for _, intervention in images], dtype=np.int64)
    counts = tally(image, concept, (len(images), len(concepts)))
    about = tally(
        set_of[image] * (len(axes) + 1) + question,
        concept,
        (len(interventions) * (len(axes) + 1), len(concepts)),
    ).reshape(len(interventions), len(axes) + 1, len(concepts))
    sets = {}
    for intervention, place in number.items():
        of_set = counts[set_of == place]
        sets[intervention] = ImageSet(of_set, about[place, :-1] / len(of_set))
    in_sets = np.argsort(np.argsort(set_of, kind="stable"), kind="stable")
    return ImageSets(concepts, axes, sets, np.stack([in_sets[image], question, concept], axis=1))


def _labels(choices: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Attributes, with their axis where another axis has one of the same name."""
    times = Counter(attribute for _, attribute in choices)
    return tuple(
        attribute if times[attribute] == 1 else f"{attribute} ({axis})"
        for axis, attribute in choices
    )
