"""MineTheGap's bias score: do the images span the variations of their prompt (sec. 4.1)?

Images and variations of the prompt stand in one space. A variation that no image comes near is a
missed visual concept; an image that no variation comes near is least aligned. Lower is more biased.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.causal.settings import TAIL, generator
from biasgraph.causal.tables import Floats
from biasgraph.data.findings import (
    Bar,
    Bars,
    Finding,
    Images,
    Number,
    Part,
    Ranking,
    ShownImage,
    Text,
)
from biasgraph.errors import InputError, printable
from biasgraph.methods.base import Annotation, Media, MethodInput, MethodPlan
from biasgraph.methods.variations import (
    PROPOSED,
    conversation,
    propose_prompts,
    usual_axes,
    variations,
)
from biasgraph.methods.variations import read_attributes as said_by
from biasgraph.models.registry import traits_of
from biasgraph.prompts.mining_target import MiningTarget
from biasgraph.prompts.subject import strip_brackets

if TYPE_CHECKING:
    from biasgraph.data.axes import AxisSet
    from biasgraph.prompts.counterfactuals import Prompt

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
SHOWN = 5
MISSED_SHOWN = 8
MISSED = "Missed visual concepts: the variations whose nearest image is furthest"
_NOTHING = (np.empty(0), np.empty(0))


@dataclass(frozen=True)
class Score:
    """Eq. 1 and its parts.

    Attributes:
        value: None where the mean similarity is not above 0, which eq. 1 cannot divide by.
        best_image: (V,) the largest similarity of each variation.
        best_text: (N,) the largest similarity of each image.
    """

    value: float | None
    best_image: Floats
    best_text: Floats

    @property
    def reason(self) -> str:
        """Why there is no value; nothing where there is one."""
        return "" if self.value is not None else "the mean similarity is not above 0"


def lower_percentile(values: Floats, alpha: float = ALPHA) -> Floats:
    """The order statistic max(1, ceil(alpha N)) along the last axis."""
    rank = max(1, math.ceil(alpha * values.shape[-1]))
    return np.asarray(np.partition(values, rank - 1, axis=-1)[..., rank - 1])


def score(similarity: Floats, alpha: float = ALPHA) -> Score:
    """Eq. 1 of V variations and N images.

    Args:
        similarity: (V, N) cosines, V and N at least 1.
        alpha: The part of each side that counts as its worst end.
    """
    best_image, best_text = similarity.max(axis=1), similarity.max(axis=0)
    mean = float(similarity.mean())
    ends = float(lower_percentile(best_image, alpha) + lower_percentile(best_text, alpha))
    return Score(ends / 2 / mean if mean > 0 else None, best_image, best_text)


@dataclass(frozen=True)
class VariationImages:
    """The images of a prompt against its variations.

    Attributes:
        prompt: The prompt.
        texts: (V) variations.
        images: (N) ids.
        similarity: (V, N) cosines.
    """

    prompt: str
    texts: tuple[Prompt, ...]
    images: tuple[str, ...]
    similarity: Floats


@dataclass(frozen=True)
class Varying:
    """How the variations of prompts come about.

    Attributes:
        axes: The axis set.
        vary: Axes whose attributes are combined; without any, a language model proposes variations.
        count: How many it is asked for.
        target: What is mined for: how it is asked.
    """

    axes: AxisSet
    vary: tuple[str, ...] = ()
    count: int = PROPOSED
    target: MiningTarget = field(default_factory=MiningTarget.of)

    @classmethod
    def of(cls, axes: AxisSet, options: Mapping[str, Any]) -> Varying:
        """What a user chose (``vary``, ``llm``), or the usual axes."""
        vary = tuple(options.get("vary") or ())
        return cls(axes, vary if vary or options.get("llm") else usual_axes(axes))

    def texts(self, typed: str, media: Media | None = None) -> tuple[Prompt, ...]:
        """The variations of a prompt; raises InputError as `variations` does."""
        if self.vary:
            return variations(typed, self.axes, self.vary)
        if media is None:
            return ()
        messages, form = conversation(strip_brackets(typed)[0], self.count, self.target)
        replied: Any = media.propose(f"{NAME}-variations", messages, form)
        return propose_prompts(replied.variations, self.count)

    def span(
        self, prompt: str, images: Sequence[str], media: Media, typed: str | None = None
    ) -> VariationImages:
        """A prompt's images, those left out that a service withheld. Raises as models do."""
        texts, seen = self.texts(typed or prompt, media), media.find_shown(images)
        if not seen:
            return VariationImages(prompt, texts, (), np.empty((len(texts), 0)))
        said = media.embed_texts([text.text for text in texts])
        return VariationImages(prompt, texts, tuple(seen), cosines(said, media.embed_images(seen)))

    def ceiling(self, spanned: VariationImages, media: Media) -> Score:
        """The score of as many images made from the variations themselves."""
        made = media.imagine(spanned.prompt, spanned.texts, len(spanned.images))
        said = media.embed_texts([text.text for text in spanned.texts])
        return score(cosines(said, made)) if len(made) else Score(None, *_NOTHING)

    def about(self, count: int, media: Media) -> str:
        """How it was got, in a sentence."""
        source = describe_variations(self.vary) if self.vary else f"proposed by {media.proposer}"
        return f"{count} variations: {source}; similarities by {printable(str(media.embedder))}."


def check_variations(plan: MethodPlan) -> None:
    """Refuse, before any image is made, prompts that have no variations.

    Raises:
        InputError: See `variations`; or ``--null`` is given for images that are made elsewhere.
    """
    varying = Varying.of(plan.axes, plan.options)
    for prompt in plan.prompts:
        varying.texts(prompt)
    if plan.options.get("null") and traits_of(plan.generator).pictures_given:
        raise InputError(
            "--null generates images of the variations, but images of a folder are made elsewhere: "
            "remove --null"
        )


def count_null_images(plan: MethodPlan) -> int:
    """How many images ``--null`` generates: as many as the prompts have."""
    return plan.images if plan.options.get("null") else 0


def annotate(given: MethodInput) -> Annotation:
    """Score each prompt's images against the variations of the prompt.

    The graph of several prompts gets the mean of the scores, and their ranking.

    Raises:
        InputError: There is no run.
        ModelError: A model failed.
    """
    axes, media = given.run()
    scoring = _Scoring(given, media, Varying.of(axes, given.options))
    if len(given.prompts) == 1:
        return scoring.of_prompt(given.prompts[0])
    return Annotation(graph=scoring.ranking())


@dataclass(frozen=True)
class _Scoring:
    given: MethodInput
    media: Media
    varying: Varying

    @property
    def null(self) -> bool:
        return bool(self.given.options.get("null"))

    def of_prompt(self, prompt: str) -> Annotation:
        spanned = self._span(prompt)
        scored = score_spanned(spanned)
        numbers: dict[str, float | int | None] = {
            "score": scored.value,
            "n_images": len(spanned.images),
            "n_variations": len(spanned.texts),
        }
        parts: list[Part] = [_number("Score", scored, len(spanned.images))]
        if len(spanned.images) > SUBSAMPLE:
            parts.append(self._spread(spanned.similarity, numbers))
        if self.null and spanned.images:
            parts += self._ceiling(spanned, numbers)
        parts.append(Text(self.varying.about(len(spanned.texts), self.media)))
        if not spanned.images:
            return Annotation(Finding(TITLE, ABOUT, parts, numbers))
        said = [said_by(self.varying.axes, text, prompt) for text in spanned.texts]
        least = [(spanned.images[j], scored.best_text[j]) for j in least_aligned(scored)]
        parts += [
            _ranking(spanned, scored, find_missed(scored), "with that similarity"),
            Images(
                [ShownImage(image, f"{similarity:.3f}") for image, similarity in least],
                "Least-aligned images: those whose nearest variation is furthest",
            ),
        ]
        nodes = {
            str(node["id"]): _about_axis(node, spanned, scored, said)
            for node in self.given.document["nodes"]
            if any(node["id"] in attributes for attributes in said)
        }
        return Annotation(Finding(TITLE, ABOUT, parts, numbers), nodes)

    def ranking(self) -> Finding:
        spanned = [self._span(prompt) for prompt in self.given.prompts]
        values = {own.prompt: score_spanned(own).value for own in spanned}
        known = {prompt: value for prompt, value in values.items() if value is not None}
        mean = float(np.mean(list(known.values()))) if len(known) == len(values) else None
        reason = "" if mean is not None else "a prompt has no score"
        numbers: dict[str, float | int | None] = {"score": mean, "n_prompts": len(values)}
        parts: list[Part] = [
            Number("Mean score over prompts", mean, n=len(known), reason=reason),
            Text(self.varying.about(len(spanned[0].texts), self.media)),
        ]
        ceilings: dict[str, float | None] = {}
        if self.null:
            ceilings = {
                own.prompt: self.varying.ceiling(own, self.media).value
                for own in spanned
                if own.images
            }
            reached = [value for value in ceilings.values() if value is not None]
            numbers["score_null"] = float(np.mean(reached)) if reached else None
        order = sorted(known, key=lambda prompt: (known[prompt], prompt))
        caption = "Prompts, the lowest score first"
        if self.null:
            caption += "; the mark: images made from the variations"
        bars = [Bar(prompt, known[prompt], reference=ceilings.get(prompt)) for prompt in order]
        parts.append(Ranking(bars, caption))
        return Finding(TITLE, ABOUT, parts, numbers)

    def _span(self, prompt: str) -> VariationImages:
        images = self.given.initial_images(prompt)
        typed = self.given.typed.get(prompt)
        return self.varying.span(prompt, images, self.media, typed)

    def _ceiling(
        self, spanned: VariationImages, numbers: dict[str, float | int | None]
    ) -> list[Part]:
        best = self.varying.ceiling(spanned, self.media)
        numbers["score_null"] = best.value
        return [
            _number("Score of images made from the variations", best, len(best.best_text)),
            Text(
                "A score far below that is about the prompt's own images. Where the two are near, "
                "this model, embedder and these variations allow little more."
            ),
        ]

    def _spread(self, similarity: Floats, numbers: dict[str, float | int | None]) -> Part:
        """The score of subsamples of 15 images without replacement.

        An order statistic of maxima has no ordinary bootstrap.
        """
        rng = generator(int(self.given.settings["seed"]), self.given.name, NAME, "spread")
        n = similarity.shape[1]
        values = [
            score(similarity[:, rng.choice(n, SUBSAMPLE, replace=False)]).value
            for _ in range(SUBSAMPLES)
        ]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return Text("Some subsamples of 15 images have no score.", "warning")
        mean = float(np.mean(known))
        low, high = np.quantile(known, [TAIL, 1 - TAIL]).tolist()
        numbers |= {"score_15": mean, "score_15_low": low, "score_15_high": high}
        label = f"Score of {SUBSAMPLE} images, mean and 95 % of {SUBSAMPLES} subsamples"
        return Number(label, mean, low, high, SUBSAMPLE)


def score_spanned(spanned: VariationImages) -> Score:
    """Eq. 1; no value where there is no image."""
    return score(spanned.similarity) if spanned.images else Score(None, *_NOTHING)


def find_missed(scored: Score, alpha: float = ALPHA) -> list[int]:
    """The variations in the lowest alpha of their best images, the worst first."""
    count = max(1, math.ceil(alpha * len(scored.best_image)))
    return [int(place) for place in np.argsort(scored.best_image, kind="stable")[:count]]


def least_aligned(scored: Score) -> list[int]:
    """The few images whose nearest variation is furthest, the worst first."""
    return [int(place) for place in np.argsort(scored.best_text, kind="stable")[:SHOWN]]


def _ranking(spanned: VariationImages, scored: Score, places: Sequence[int], what: str) -> Ranking:
    """The first of some missed variations."""
    texts = [(spanned.texts[i].text, float(scored.best_image[i])) for i in places[:MISSED_SHOWN]]
    return Ranking([Bar(text, similarity) for text, similarity in texts], f"{MISSED}, {what}")


def describe_variations(axes: Sequence[str]) -> str:
    """What the variations are, in words."""
    every = "every attribute" if len(axes) == 1 else "every combination"
    return f"{every} of {' and '.join(axes)}"


def cosines(texts: np.ndarray, images: np.ndarray) -> Floats:
    """(V, N) cosines of (V, d) and (N, d) unit vectors."""
    return np.asarray(texts @ images.T, dtype=float)


def _number(label: str, scored: Score, n: int) -> Number:
    return Number(label, scored.value, n=n, reason=scored.reason if n else "there is no image")


def _about_axis(
    node: Mapping[str, Any],
    spanned: VariationImages,
    scored: Score,
    said: Sequence[Mapping[str, str]],
) -> Finding:
    """How near the images come to each attribute of an axis, over the variations that say it."""
    axis, attributes = str(node["id"]), [str(name) for name in node["attributes"]]
    of: dict[str, list[float]] = {}
    for says, best in zip(said, scored.best_image, strict=True):
        if axis in says:
            of.setdefault(says[axis], []).append(float(best))
    means = {attribute: float(np.mean(values)) for attribute, values in of.items()}
    furthest = min(means, key=lambda attribute: (means[attribute], attribute))
    shown = [name for name in attributes if name in means]
    parts: list[Part] = []
    if len(shown) > 1:
        parts.append(Text(f"Furthest from the images: {printable(furthest)}."))
    parts.append(
        Bars(
            [Bar(name, means[name]) for name in shown],
            "Similarity of the nearest image, mean over the variations that say the attribute",
        )
    )
    own = [place for place in find_missed(scored) if axis in said[place]]
    if own:
        parts.append(_ranking(spanned, scored, own, "that say an attribute"))
    nearest = spanned.similarity.argmax(axis=0)
    strange = [
        ShownImage(spanned.images[j], f"{said[nearest[j]][axis]}, {scored.best_text[j]:.3f}")
        for j in least_aligned(scored)
        if axis in said[nearest[j]]
    ]
    if strange:
        parts.append(
            Images(strange, "Least-aligned images, with what their nearest variation says")
        )
    numbers = {"lowest": means[furthest], "highest": max(means.values()), "n_missed": len(own)}
    lists = {"nearest": [means.get(attribute) for attribute in attributes]}
    return Finding(TITLE, ABOUT, parts, numbers, lists)
