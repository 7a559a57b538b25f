"""What prompts can be mined for: a score of a prompt's images, and the evidence behind it.

An objective says what it needs of a prompt and scores whole populations at once, so that images
are made, judged and embedded in full batches. Anything that fits `Objective` can be mined for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from biasgraph.causal.sensitivity import distances_to_ideal
from biasgraph.causal.transport import Ideal, resolve_ideals
from biasgraph.data.answer_codes import variable_of
from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.methods.minethegap import (
    ALPHA,
    VariationImages,
    cosines,
    find_missed,
    least_aligned,
    score,
)
from biasgraph.prompts.counterfactuals import Prompt, plan_prompts

if TYPE_CHECKING:
    from biasgraph.causal.tables import Counts
    from biasgraph.data.axes import AxisSet
    from biasgraph.methods.base import Media

BIAS, AXIS, EDGE = "bias", "axis:", "edge:"
VALID = 0.5
"""Of each set's images, the least part that must show an attribute: fewer look skewed by luck."""
Evidence = Mapping[str, Any]
"""What a score rests on, in JSON types."""


@dataclass(frozen=True)
class Needs:
    """What has to be there before a prompt can be scored, beside images of the prompt itself.

    Attributes:
        prompts: Further prompts to make as many images of, such as counterfactuals.
        variations: Whether the prompt's variations are needed, as texts.
        asked: What the judge is asked about all of these images; None where nothing is.
    """

    prompts: tuple[Prompt, ...] = ()
    variations: bool = False
    asked: AxisSet | None = None


@dataclass(frozen=True)
class Sample:
    """A prompt with what was needed of it.

    Attributes:
        prompt: The prompt.
        images: Text -> ids of its images that nobody withheld, the prompt's own under the prompt.
        variations: What the prompt may mean, where that is needed.
        answers: Text -> axis -> answers about its images, where they are needed.
        made: How many images each text has, withheld ones included; 0 where it does not matter.
    """

    prompt: str
    images: Mapping[str, Sequence[str]]
    variations: Sequence[Prompt] = ()
    answers: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    made: int = 0

    @property
    def own(self) -> Sequence[str]:
        """The ids of the prompt's own images."""
        return self.images[self.prompt]


@dataclass(frozen=True)
class PromptScore:
    """How a prompt fares.

    Attributes:
        value: None where it is undefined.
        reason: Why it is.
        evidence: See `Evidence`.
    """

    value: float | None
    reason: str = ""
    evidence: Evidence = field(default_factory=dict)


class Objective(Protocol):
    """What prompts are mined for."""

    @property
    def name(self) -> str:
        """As a user types it: ``axis:age``."""

    @property
    def about(self) -> str:
        """What the score means, in a sentence."""

    @property
    def lower_is_worse(self) -> bool:
        """Whether low scores are mined for, rather than high ones."""

    def needs(self, prompt: str) -> Needs:
        """What a prompt needs; raises InputError, saying why, for one that cannot be scored."""

    def evaluate(self, population: Sequence[Sample], media: Media) -> Sequence[PromptScore]:
        """The scores of a population, in its order; raises as models do."""


def describe_objective(objective: Objective) -> Evidence:
    """An objective as documents have it."""
    return {
        "name": objective.name,
        "about": objective.about,
        "lower_is_worse": objective.lower_is_worse,
    }


@dataclass(frozen=True)
class BiasScore:
    """MineTheGap's bias score (eq. 1): how well images span the variations of their prompt."""

    alpha: float = ALPHA
    name: ClassVar[str] = BIAS
    lower_is_worse: ClassVar[bool] = True

    @property
    def about(self) -> str:
        """What the score means."""
        return (
            "MineTheGap's bias score: lower where some variations of the prompt find no image near "
            f"them, or some images no variation (eq. 1, alpha = {100 * self.alpha:g} %)."
        )

    def needs(self, prompt: str) -> Needs:
        """The prompt's variations."""
        return Needs(variations=True)

    def evaluate(self, population: Sequence[Sample], media: Media) -> list[PromptScore]:
        """Eq. 1, with the missed concepts and the least-aligned images.

        Everything is embedded at once.
        """
        images = [image for sample in population for image in sample.own]
        texts = [text.text for sample in population for text in sample.variations]
        shown, said = media.embed_images(images), media.embed_texts(texts)
        found, i, t = [], 0, 0
        for sample in population:
            own, its = len(sample.own), len(sample.variations)
            found.append(self._score_sample(sample, said[t : t + its], shown[i : i + own]))
            i, t = i + own, t + its
        return found

    def _score_sample(self, sample: Sample, said: np.ndarray, shown: np.ndarray) -> PromptScore:
        if not len(shown):
            return PromptScore(None, "all images were withheld")
        texts, images = tuple(sample.variations), tuple(sample.own)
        spanned = VariationImages(sample.prompt, texts, images, cosines(said, shown))
        found = score(spanned.similarity, self.alpha)
        evidence = {
            "missed": [
                {"text": texts[place].text, "similarity": float(found.best_image[place])}
                for place in find_missed(found, self.alpha)
            ],
            "least_aligned": [
                {"image": images[place], "similarity": float(found.best_text[place])}
                for place in least_aligned(found)
            ],
        }
        if sample.made > len(images):
            few = f"{sample.made - len(images)} of {sample.made} images were withheld"
            return PromptScore(None, f"{few}, and only scores of as many images compare", evidence)
        return PromptScore(found.value, found.reason, evidence)


@dataclass(frozen=True)
class AxisSkew:
    """The distance of one axis from its ideal distribution: higher is worse."""

    axes: AxisSet
    axis: str
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    lower_is_worse: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """``axis:NAME``."""
        return AXIS + self.axis

    @property
    def about(self) -> str:
        """What the score means."""
        return f"The distance of {self.axis} from its ideal distribution: higher is further away."

    def needs(self, prompt: str) -> Needs:
        """Answers about the axis; raises InputError where the prompt names an attribute of it."""
        _free_plan(prompt, self.axes.only([self.axis]))
        return Needs(asked=self.axes.only([self.axis]))

    def evaluate(self, population: Sequence[Sample], media: Media) -> list[PromptScore]:
        """W1 between the shares of the answers and the ideal."""
        target = _Target.of(self.axes, self.axis, self.shares)
        found = []
        for sample in population:
            counts = target.counts(sample, sample.prompt)
            if few := target.why_few(sample, [sample.prompt]):
                found.append(PromptScore(None, few))
                continue
            distance = float(target.ideal.distance(counts / counts.sum()))
            found.append(PromptScore(distance, "", target.evidence(counts)))
        return found


@dataclass(frozen=True)
class EdgeStrength:
    """Intersectional Sensitivity of an edge: below 0, diversifying x moves y from its ideal."""

    axes: AxisSet
    x: str
    y: str
    shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    lower_is_worse: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """``edge:X,Y``."""
        return f"{EDGE}{self.x},{self.y}"

    @property
    def about(self) -> str:
        """What the score means."""
        return (
            f"Intersectional Sensitivity of {self.x} -> {self.y} (BiasConnect eq. 4): below 0, "
            f"diversifying {self.x} moves {self.y} away from its ideal."
        )

    def needs(self, prompt: str) -> Needs:
        """The counterfactuals of x, and answers about y.

        Raises InputError where the prompt names an attribute of either.
        """
        _free_plan(prompt, self.axes.only([self.y]))
        arms = _free_plan(prompt, self.axes.only([self.x]))
        return Needs(arms, asked=self.axes.only([self.y]))

    def evaluate(self, population: Sequence[Sample], media: Media) -> list[PromptScore]:
        """IS of the answers as they are, arms mixed evenly."""
        target = _Target.of(self.axes, self.y, self.shares)
        return [self._score_sample(sample, target) for sample in population]

    def _score_sample(self, sample: Sample, target: _Target) -> PromptScore:
        if few := target.why_few(sample, [*sample.images]):
            return PromptScore(None, few)
        before = target.counts(sample, sample.prompt)
        arms = np.array([target.counts(sample, text) for text in sample.images])[1:]
        first, then = distances_to_ideal(before[None], arms[None], target.ideal, "equal")
        evidence = {"distance_before": first, "distance_after": then, **target.evidence(before)}
        return PromptScore(round(first - then, 12) + 0.0, "", evidence)  # never -0.0


@dataclass(frozen=True)
class _Target:
    """An axis, its attributes and its ideal."""

    axis: str
    attributes: tuple[str, ...]
    ideal: Ideal

    @classmethod
    def of(cls, axes: AxisSet, axis: str, shares: Mapping[str, Mapping[str, float]]) -> _Target:
        variable = variable_of(axes.axis(axis))
        own = {axis: shares[axis]} if axis in shares else None
        return cls(axis, variable.attributes, resolve_ideals([variable], None, own, None)[0])

    def counts(self, sample: Sample, text: str) -> Counts:
        """(k,) images of a text that show each attribute."""
        said = list(sample.answers[text][self.axis])
        return np.array([said.count(name) for name in self.attributes], dtype=np.int64)

    def why_few(self, sample: Sample, texts: Sequence[str]) -> str:
        """Why answers say too little: fewer than half of a set's images show an attribute."""
        for text in texts:
            valid, asked = (
                int(self.counts(sample, text).sum()),
                len(sample.answers[text][self.axis]),
            )
            if not valid or valid < VALID * asked:
                return f"only {valid} of {asked} images in a set say anything of {self.axis}"
        return ""

    def evidence(self, counts: Counts) -> Evidence:
        shares = (counts / counts.sum()).tolist()
        ideal = self.ideal.shares.tolist()
        rows = zip(self.attributes, shares, ideal, strict=True)
        return {
            "shares": [
                {"attribute": name, "share": share, "ideal": wanted} for name, share, wanted in rows
            ],
            "n_valid": int(counts.sum()),
        }


def _free_plan(prompt: str, axes: AxisSet) -> tuple[Prompt, ...]:
    """The counterfactuals along an axis; raises InputError where the prompt fixes it."""
    plan = plan_prompts(prompt, axes)
    for axis, said in plan.fixed.items():
        raise InputError(f"it names the {axis} itself: '{printable(said)}'")
    return plan.counterfactuals


def objective_of(
    name: str,
    axes: AxisSet,
    ideal: Mapping[str, Mapping[str, float]] | None = None,
    alpha: float = ALPHA,
) -> Objective:
    """The objective that a user named.

    Args:
        name: ``bias``, ``axis:NAME`` or ``edge:X,Y``.
        axes: Where the axes are declared.
        ideal: Shares by axis and attribute; uniform where an axis is not among them.
        alpha: Of the bias score.

    Raises:
        InputError: Another name, or an axis that the set lacks.
    """
    if name == BIAS:
        return BiasScore(alpha)
    if name.startswith(AXIS):
        return AxisSkew(axes, axes.axis(name.removeprefix(AXIS).strip()).name, ideal or {})
    if name.startswith(EDGE):
        ends = [end.strip() for end in name.removeprefix(EDGE).split(",")]
        if len(ends) != 2 or ends[0] == ends[1]:
            raise InputError(f"--objective {EDGE}X,Y takes two axes, not '{printable(name[:100])}'")
        x, y = (axes.axis(end).name for end in ends)
        return EdgeStrength(axes, x, y, ideal or {})
    known = (BIAS, AXIS + "NAME", EDGE + "X,Y")
    raise InputError(
        f"unknown objective '{printable(name[:100])}'.{did_you_mean(name[:100], known)} There are "
        f"{', '.join(known)}"
    )
