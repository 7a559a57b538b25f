"""MineTheGap's bias score: do the images span the variations of their prompt (sec. 4.1)?

Images and variations of the prompt stand in one space. A variation that no image comes near is a
missed visual concept; an image that no variation comes near is least aligned. Lower is more biased.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.causal.settings import TAIL, generator
from biasgraph.causal.tables import Floats
from biasgraph.counterfactuals import JOINT, joint_prompts
from biasgraph.errors import InputError
from biasgraph.findings import Bar, Bars, Finding, Images, Number, Part, Picture, Ranking, Text
from biasgraph.methods.subject import Annotation, Media, Subject

if TYPE_CHECKING:
    from biasgraph.axes import AxisSet
    from biasgraph.counterfactuals import Prompt

NAME = "minethegap"
TITLE = "MineTheGap"
ABOUT = (
    "How well the images span the variations of their prompt: lower where some variations find no "
    "image near them, or some images no variation (eq. 1, alpha = 25 %). Only scores of as many "
    "images and variations, in one embedder's space, can be compared."
)
ALPHA = 0.25
SUBSAMPLE = 15
"""Images of the paper's setting (sec. 5); the spread is that over subsamples of so many."""
SUBSAMPLES = 200
MOST_VARIATIONS = 64
SHOWN = 5


@dataclass(frozen=True)
class Score:
    """Eq. 1 and its parts.

    value: None where the mean similarity is not above 0, which eq. 1 cannot divide by.
    best_image (V,), best_text (N,): the largest similarity of each variation and of each image.
    """

    value: float | None
    best_image: Floats
    best_text: Floats


def lower_percentile(values: Floats, alpha: float = ALPHA) -> Floats:
    """The order statistic max(1, ceil(alpha N)) along the last axis."""
    rank = max(1, math.ceil(alpha * values.shape[-1]))
    return np.asarray(np.partition(values, rank - 1, axis=-1)[..., rank - 1])


def score(similarity: Floats, alpha: float = ALPHA) -> Score:
    """Eq. 1 of the (V, N) similarities of V variations and N images, V and N at least 1."""
    best_image, best_text = similarity.max(axis=1), similarity.max(axis=0)
    mean = float(similarity.mean())
    ends = float(lower_percentile(best_image, alpha) + lower_percentile(best_text, alpha))
    return Score(ends / 2 / mean if mean > 0 else None, best_image, best_text)


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
    return joint_prompts(prompt, varied)


def usual_axes(axes: AxisSet) -> tuple[str, ...]:
    """Gender and ethnicity, as in the paper, where the set has them; its first axis otherwise."""
    names = [axis.name for axis in axes.axes]
    return tuple(name for name in ("gender", "ethnicity") if name in names) or (names[0],)


def annotate(subject: Subject) -> Annotation:
    """Score each prompt's images against the variations of the prompt.

    The graph of several prompts gets the mean of the scores, and their ranking. Raises InputError
    where there is no run, no embedder or no axis set.
    """
    if subject.media is None or subject.axes is None:
        raise InputError(
            f"{NAME} needs images: the result of an answers table, which has none, cannot be scored"
        )
    vary = tuple(subject.options.get("vary") or usual_axes(subject.axes))
    scoring = _Scoring(subject, subject.media, subject.axes, vary)
    if len(subject.prompts) == 1:
        return scoring.of_prompt(subject.prompts[0])
    return Annotation(graph=scoring.ranking())


@dataclass(frozen=True)
class _Scoring:
    subject: Subject
    media: Media
    axes: AxisSet
    vary: tuple[str, ...]

    def of_prompt(self, prompt: str) -> Annotation:
        texts, images, similarity = self._similarity(prompt)
        scored = score(similarity)
        numbers: dict[str, float | int | None] = {
            "score": scored.value,
            "n_images": len(images),
            "n_variations": len(texts),
        }
        parts: list[Part] = [_number("Score", scored, len(images))]
        if len(images) > SUBSAMPLE:
            parts.append(self._spread(similarity, numbers))
        missed = math.ceil(ALPHA * len(texts))
        worst = np.argsort(scored.best_image, kind="stable")[: min(SHOWN, max(1, missed))]
        strange = np.argsort(scored.best_text, kind="stable")[:SHOWN]
        parts += [
            self._setting(len(texts)),
            Ranking(
                [Bar(texts[i].text, float(scored.best_image[i])) for i in worst],
                "Missed visual concepts: the variations whose nearest image is furthest, with "
                "that similarity",
            ),
            Images(
                [Picture(images[j], f"{scored.best_text[j]:.3f}") for j in strange],
                "Least-aligned images: those whose nearest variation is furthest",
            ),
        ]
        order = {str(node["id"]): node["attributes"] for node in self.subject.document["nodes"]}
        nodes = {axis: _about_axis(axis, order.get(axis, ()), texts, scored) for axis in self.vary}
        return Annotation(Finding(TITLE, ABOUT, parts, numbers), nodes)

    def ranking(self) -> Finding:
        scored = {prompt: self._similarity(prompt) for prompt in self.subject.prompts}
        values = {prompt: score(similarity).value for prompt, (_, _, similarity) in scored.items()}
        known = {prompt: value for prompt, value in values.items() if value is not None}
        mean = float(np.mean(list(known.values()))) if len(known) == len(values) else None
        reason = "" if mean is not None else "a prompt has no score"
        order = sorted(known, key=lambda prompt: (known[prompt], prompt))
        count = len(next(iter(scored.values()))[0])
        parts: list[Part] = [
            Number("Mean score over prompts", mean, n=len(known), reason=reason),
            self._setting(count),
            Ranking([Bar(prompt, known[prompt]) for prompt in order], "Prompts, most biased first"),
        ]
        return Finding(TITLE, ABOUT, parts, {"score": mean, "n_prompts": len(values)})

    def _similarity(self, prompt: str) -> tuple[tuple[Prompt, ...], list[str], Floats]:
        """The variations, the ids of the images, and how similar they are (V, N)."""
        texts = variations(self.subject.typed.get(prompt, prompt), self.axes, self.vary)
        images = self.subject.initial_images(prompt)
        said = self.media.embedded_texts([text.text for text in texts])
        return texts, images, _similarity(said, self.media.embedded_images(images))

    def _setting(self, count: int) -> Text:
        return Text(
            f"{count} variations: every combination of {' and '.join(self.vary)}; similarities by "
            f"{self.media.embedder}."
        )

    def _spread(self, similarity: Floats, numbers: dict[str, float | int | None]) -> Part:
        """The score of subsamples of 15 images without replacement.

        An order statistic of maxima has no ordinary bootstrap.
        """
        rng = self._generator("spread")
        n = similarity.shape[1]
        values = [
            score(similarity[:, rng.choice(n, SUBSAMPLE, replace=False)]).value
            for _ in range(SUBSAMPLES)
        ]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return Text("Some subsamples of 15 images have no score.", "warning")
        low, high = (float(q) for q in np.quantile(known, [TAIL, 1 - TAIL]))
        mean = float(np.mean(known))
        numbers |= {"score_15": mean, "score_15_low": low, "score_15_high": high}
        label = f"Score of {SUBSAMPLE} images, mean and 95 % of {SUBSAMPLES} subsamples"
        return Number(label, mean, low, high, SUBSAMPLE)

    def _generator(self, what: str) -> np.random.Generator:
        return generator(int(self.subject.settings["seed"]), self.subject.name, NAME, what)


def _similarity(texts: np.ndarray, images: np.ndarray) -> Floats:
    """(V, N) cosines of unit vectors."""
    return np.asarray(texts @ images.T, dtype=float)


def _number(label: str, scored: Score, n: int) -> Number:
    reason = "" if scored.value is not None else "the mean similarity is not above 0"
    return Number(label, scored.value, n=n, reason=reason)


def _about_axis(
    axis: str, attributes: Sequence[str], texts: Sequence[Prompt], scored: Score
) -> Finding:
    """How near the images come to each attribute of an axis, over its variations."""
    found: dict[str, list[float]] = {}
    for text, best in zip(texts, scored.best_image, strict=True):
        said = dict(zip(text.axis.split(JOINT), text.attribute.split(JOINT), strict=True))
        found.setdefault(said[axis], []).append(float(best))
    means = {attribute: float(np.mean(values)) for attribute, values in found.items()}
    missed = min(means, key=lambda attribute: (means[attribute], attribute))
    bars = Bars(
        [Bar(attribute, mean) for attribute, mean in means.items()],
        "Similarity of the nearest image, mean over the variations that say the attribute",
    )
    numbers: Mapping[str, Any] = {"lowest": means[missed], "highest": max(means.values())}
    lists = {"nearest": [means.get(attribute) for attribute in attributes]}
    parts: list[Part] = [Text(f"Furthest from the images: {missed}."), bars]
    return Finding(TITLE, ABOUT, parts, numbers, lists)
