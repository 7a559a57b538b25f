"""Which words of a prompt carry each axis's bias (GradBias, secs. 3.4 and 4.2), on the nodes.

By removal: as many images of the prompt without each of its words as the run has of the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from biasgraph.data.findings import Bar, Finding, Part, Ranking, Text
from biasgraph.data.word_influence import WordInfluence
from biasgraph.errors import InputError
from biasgraph.methods.base import Annotation, MethodInput, MethodPlan
from biasgraph.methods.over_prompts import over_prompts
from biasgraph.methods.word_findings import marked_text, word_table
from biasgraph.methods.word_removal import ShortPrompts, influence_by_removal, refuse_without_words
from biasgraph.models.registry import traits_of

NAME = "gradbias"
TITLE = "GradBias"
ABOUT = (
    "Which words of the prompt carry an axis's bias: each is left out, images are made from the "
    "same seeds, and its influence is how far the shares of answers change in all, from 0 to 2."
)
NONE = "No word stands out: chance could have moved the answers as far."
KEEP = (
    "Leaving a word out changes more than a bias: the scene, and the grammar. Influence has no "
    "direction."
)
MOST = 10
"""Words over several prompts that an axis shows."""


def check_words(plan: MethodPlan) -> None:
    """Refuse, before any image is made, what no word can be left out of.

    Raises:
        InputError: No prompt has such a word, or images are made elsewhere.
    """
    if traits_of(plan.generator).pictures_given:
        raise InputError(
            f"{NAME} makes images of the prompt without each of its words, and a folder makes "
            "none: name a generator"
        )
    refuse_without_words([ShortPrompts.of(prompt, plan.axes) for prompt in plan.prompts])


def count_images(plan: MethodPlan) -> int:
    """How many images it makes: of each prompt without each word, as many as of the prompt."""
    texts = sum(len(ShortPrompts.of(prompt, plan.axes).texts) for prompt in plan.prompts)
    return texts * (plan.images // max(1, len(plan.prompts)))


def annotate(given: MethodInput) -> Annotation:
    """The influence of the prompt's words on each axis; of several prompts, over all of them.

    Raises:
        InputError: There is no run, or nobody can be asked about further images.
        ModelError: A model failed.
    """
    axes, media = given.run()
    prompts = [ShortPrompts.of(given.typed.get(one, one), axes) for one in given.prompts]
    images = min(len(given.initial_images(prompt)) for prompt in given.prompts)
    seed = int(given.settings["seed"])
    influences = influence_by_removal(prompts, axes, media, images, seed)
    if len(prompts) > 1:
        return _over_all(influences)
    nodes = {one.axis: _of_axis(one) for one in influences}
    named = sum(bool(one.named) for one in influences)
    parts: list[Part] = [marked_text(influences), word_table(influences), Text(KEEP)]
    numbers = {"n_images": images, "n_axes": len(influences), "n_axes_with_words": named}
    return Annotation(Finding(TITLE, ABOUT, parts, numbers), nodes)


def _of_axis(influence: WordInfluence) -> Finding:
    """One axis: the prompt shaded, the words ranked; the mark is what chance reaches."""
    parts: list[Part] = [marked_text([influence])]
    if influence.ranked:
        bars = [
            Bar(word.word, word.score, word.low, word.high, influence.threshold)
            for word in influence.ranked
        ]
        parts.append(Ranking(bars, "Influence of each word; the mark: what chance reaches"))
        if not influence.named:
            parts.append(Text(NONE))
    first = influence.ranked[0] if influence.ranked else None
    numbers: Mapping[str, float | int | None] = {
        "largest": first.score if first else None,
        "largest_ci_low": first.low if first else None,
        "largest_ci_high": first.high if first else None,
        "threshold": influence.threshold,
        "n_words": len(influence.ranked),
        "n_stand_out": len(influence.named),
        "n_images": influence.images,
    }
    return Finding(TITLE, ABOUT, parts, numbers)


def _over_all(influences: Sequence[WordInfluence]) -> Annotation:
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
        parts: list[Part] = [Ranking(bars, caption), Text(told)] if bars else [Text(NONE)]
        numbers = {"n_prompts": prompts, "n_prompts_with_words": out, "n_words": len(own)}
        nodes[axis] = Finding(TITLE, ABOUT, parts, numbers)
    named = sum(bool(one.named) for one in influences)
    told = f"In {named} of {len(influences)} pairs of prompt and axis a word stands out."
    numbers = {"n_prompts": prompts, "n_pairs": len(influences), "n_pairs_with_words": named}
    return Annotation(Finding(TITLE, ABOUT, [Text(told), Text(KEEP)], numbers), nodes)
