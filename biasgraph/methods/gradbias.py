"""Which words of a prompt carry each axis's bias (GradBias, secs. 3.4 and 4.2), on the nodes.

By gradient: some of the run's images, followed step by step. By removal: as many images of the
prompt without each of its words as the run has of the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from biasgraph.data.axes import AxisSet
from biasgraph.data.findings import Bar, Finding, Part, Ranking, Text
from biasgraph.data.word_influence import WordInfluence
from biasgraph.errors import InputError
from biasgraph.methods import word_gradients, word_removal
from biasgraph.methods.base import Annotation, Media, MethodInput, MethodPlan
from biasgraph.methods.over_prompts import over_prompts
from biasgraph.methods.word_findings import marked_text, word_table
from biasgraph.methods.word_gradients import GradientSettings, influence_by_gradient
from biasgraph.methods.word_removal import ShortPrompts, influence_by_removal, refuse_without_words
from biasgraph.models.registry import traits_of

Measured = Literal["gradient", "removal"]
By = Literal["gradient", "removal", "both"]
MEASURED: Mapping[str, tuple[Measured, ...]] = {
    "gradient": ("gradient",),
    "removal": ("removal",),
    "both": ("gradient", "removal"),
}
USUAL: Mapping[Measured, int] = {
    "gradient": word_gradients.IMAGES,
    "removal": word_removal.IMAGES,
}
"""Images of a prompt, where nobody asks for another number."""
NAME = "gradbias"
TITLE = "GradBias"
BY_GRADIENT = (
    "Which words of the prompt carry an axis's bias: how much the judge's answer about the image "
    "that each step predicts depends on each word, by its gradient."
)
BY_REMOVAL = (
    "Which words of the prompt carry an axis's bias: each is left out, images are made from the "
    "same seeds, and its influence is how far the shares of answers change in all, from 0 to 2."
)
ABOUT = {
    "gradient": BY_GRADIENT,
    "removal": BY_REMOVAL,
    "both": f"By gradient: {BY_GRADIENT} By removal: {BY_REMOVAL}",
}
NONE: Mapping[str, str] = {
    "gradient": "By gradient no word stands out: for an answer drawn at random it is as large.",
    "removal": "By removal no word stands out: chance could have moved the answers as far.",
}
LOCAL = (
    "A gradient is local: it ranks words, but does not say how far the answers would move without "
    "them, which removal measures."
)
CHANGES = (
    "Leaving a word out changes more than a bias: the scene, and the grammar. Influence has no "
    "direction."
)
KEEP = {"gradient": LOCAL, "removal": CHANGES, "both": f"{LOCAL} {CHANGES}"}
MOST = 10
"""Words over several prompts that an axis shows."""


def check_words(plan: MethodPlan) -> None:
    """Refuse, before any image is made, what no word of it can be told.

    Raises:
        InputError: No prompt has such a word, images are made elsewhere, or a model gives no
            gradients.
    """
    if traits_of(plan.generator).pictures_given:
        raise InputError(
            f"{NAME} follows images while they are made, or makes others, and a folder makes none: "
            "name a generator"
        )
    refuse_without_words([ShortPrompts.of(prompt, plan.axes) for prompt in plan.prompts])
    if "gradient" in MEASURED[_by(plan.options)] and plan.why_no_gradients:
        raise InputError(f"{plan.why_no_gradients}; --word-by removal needs none")


def count_images(plan: MethodPlan) -> int:
    """How many images it makes: by removal as many without each word as of the prompt."""
    if "removal" not in MEASURED[_by(plan.options)]:
        return 0
    texts = sum(len(ShortPrompts.of(prompt, plan.axes).texts) for prompt in plan.prompts)
    return texts * (plan.images // max(1, len(plan.prompts)))


def _by(options: Mapping[str, object]) -> str:
    return str(options.get("word_by", "gradient"))


def measure_influence(
    by: str,
    prompts: Sequence[ShortPrompts],
    axes: AxisSet,
    media: Media,
    images: Mapping[Measured, int],
    seed: int,
    how: GradientSettings | None = None,
) -> list[WordInfluence]:
    """The influence of each prompt's words on each axis, prompt by prompt and axis by axis.

    Args:
        by: A key of `MEASURED`.
        prompts: Each with its words.
        axes: The axes, with the set's gate question.
        media: Makes, follows and asks about the images.
        images: Of each prompt.
        seed: Of the bootstrap and the nulls.
        how: How gradients are taken.

    Raises:
        InputError: A model gives no gradients, or nobody can be asked.
        ModelError: A model failed.
        Interrupted: The user stopped it.
    """
    found: list[WordInfluence] = []
    for measured in MEASURED[by]:
        count = images[measured]
        if measured == "gradient":
            found += influence_by_gradient(prompts, axes, media, count, seed, how)
        else:
            found += influence_by_removal(prompts, axes, media, count, seed)
    order = {one.prompt: place for place, one in enumerate(prompts)}
    axis_order = [axis.name for axis in axes.axes]
    return sorted(found, key=lambda one: (order[one.prompt], axis_order.index(one.axis)))


def annotate(given: MethodInput) -> Annotation:
    """The influence of the prompt's words on each axis; of several prompts, over all of them.

    Raises:
        InputError: There is no run, or a model cannot do what is asked.
        ModelError: A model failed.
    """
    axes, media = given.run()
    by = _by(given.options)
    prompts = [ShortPrompts.of(given.typed.get(one, one), axes) for one in given.prompts]
    there = min(len(given.initial_images(prompt)) for prompt in given.prompts)
    images: dict[Measured, int] = {"gradient": min(there, USUAL["gradient"]), "removal": there}
    seed = int(given.settings["seed"])
    influences = measure_influence(by, prompts, axes, media, images, seed)
    if len(prompts) > 1:
        return _over_all(influences, by)
    nodes = {
        axis: _of_axis([one for one in influences if one.axis == axis], by)
        for axis in dict.fromkeys(one.axis for one in influences)
    }
    named = sum(bool(one.named) for one in influences)
    parts: list[Part] = [marked_text(influences), word_table(influences), Text(KEEP[by])]
    most = max(images[measured] for measured in MEASURED[by])
    numbers = {"n_images": most, "n_axes": len(nodes), "n_axes_with_words": named}
    return Annotation(Finding(TITLE, ABOUT[by], parts, numbers), nodes)


def _of_axis(influences: Sequence[WordInfluence], by: str) -> Finding:
    """One axis: the prompt shaded, the words ranked; the mark is what chance reaches."""
    parts: list[Part] = [marked_text(influences)]
    numbers: dict[str, float | int | None] = {}
    for one in influences:
        if one.ranked:
            bars = [
                Bar(word.word, word.score, word.low, word.high, one.threshold)
                for word in one.ranked
            ]
            said = f"Influence of each word, by {one.method}; the mark: what chance reaches"
            parts.append(Ranking(bars, said))
            if not one.named:
                parts.append(Text(NONE[one.method]))
        first = one.ranked[0] if one.ranked else None
        own: dict[str, float | int | None] = {
            "largest": first.score if first else None,
            "largest_ci_low": first.low if first else None,
            "largest_ci_high": first.high if first else None,
            "threshold": one.threshold,
            "n_words": len(one.ranked),
            "n_stand_out": len(one.named),
            "n_images": one.images,
        }
        prefix = f"{one.method}_" if len(influences) > 1 else ""
        numbers |= {f"{prefix}{name}": value for name, value in own.items()}
    return Finding(TITLE, ABOUT[by], parts, numbers)


def _over_all(influences: Sequence[WordInfluence], by: str) -> Annotation:
    """Several prompts: which words matter over all of them."""
    rows = over_prompts(influences)
    prompts = len({one.prompt for one in influences})
    nodes = {}
    for axis in dict.fromkeys(one.axis for one in influences):
        own = [row for row in rows if row["axis"] == axis]
        bars = [Bar(row["word"], row["share"], row["low"], row["high"]) for row in own[:MOST]]
        caption = "Share of a prompt's influence, mean over the prompts that have the word"
        out = sum(bool(one.named) for one in influences if one.axis == axis)
        told = f"In {out} of {prompts} prompts a word stands out from chance."
        parts: list[Part] = [*([Ranking(bars, caption)] if bars else ()), Text(told)]
        numbers = {"n_prompts": prompts, "n_prompts_with_words": out, "n_words": len(own)}
        nodes[axis] = Finding(TITLE, ABOUT[by], parts, numbers)
    named = sum(bool(one.named) for one in influences)
    told = f"In {named} of {len(influences)} pairs of prompt and axis a word stands out."
    numbers = {"n_prompts": prompts, "n_pairs": len(influences), "n_pairs_with_words": named}
    return Annotation(Finding(TITLE, ABOUT[by], [Text(told), Text(KEEP[by])], numbers), nodes)
