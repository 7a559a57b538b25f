"""What screens say of a search for prompts that a language model wrote, in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any

from biasgraph.report import words

Record = Mapping[str, Any]

METHODS = {
    "lm": "language model alone",
    "search": "search",
    "lm-biased": "language model told to bias",
    "pez": "PEZ",
    "curated": "given prompts",
}
"""What a cell's method is called, in the order of a legend."""
KINDS = {
    "injected": "only in the found prompts",
    "augmented": "more often in the found prompts",
    "unchanged": "as often",
    "dampened": "less often",
    "deleted": "not in the found prompts any more",
}
"""What became of a word, in words."""
LIMITS = (
    "A share is the mean over prompts of the share of the attribute among the images of a prompt "
    "that the judge answered about; intervals are over prompts, for new prompts written in the "
    "same way. The probes steer the search, and no share is theirs.",
    "A single prompt's share rests on a few images, and the first of many prompts is there by "
    "chance in part: make new images of it before you rely on it.",
    "That a prompt names no axis is said by lists of words: an axis may be spoken of in words that "
    "no list has, and a listed word may mean something else.",
    "delta compares found prompts with a word and without it. It has no interval and, of a word in "
    "few prompts, is mostly chance; what stands beside the word may be the reason.",
    "Attributes are labels that a judge gave to pictures, not identities. A share is compared with "
    "a declared ideal; that is no verdict.",
)


def cell_name(cell: Record) -> str:
    """What a cell is called: "search, λ = 10", "PEZ"."""
    name = METHODS.get(cell["method"], words.label(str(cell["method"]), 40))
    return f"{name}, {weight_words(cell)}" if cell["method"] == "search" else name


def weight_words(cell: Record) -> str:
    """A cell's lambda, as "λ = 10"."""
    return f"λ = {'-' if cell['lambda'] is None else format(cell['lambda'], 'g')}"


def found_cells(document: Record) -> list[Record]:
    """The cells that were searched for, the smallest lambda first."""
    own = [one for one in document["cells"] if one["method"] == "search"]
    return sorted(own, key=lambda one: float(one["lambda"] or 0))


def language_cell(document: Record) -> Record | None:
    """The prompts of the language model alone, what others are compared with."""
    return next((one for one in document["cells"] if one["method"] == "lm"), None)


def of_axis(rows: Sequence[Record], axis: str) -> Record | None:
    """A cell's share or gain of one target; None where it has none."""
    return next((one for one in rows if one["axis"] == axis), None)


def prompts_of(document: Record, cell: Record) -> list[Record]:
    """A cell's prompts: the largest share first, the mean over targets; those without one last."""
    axes = [one["axis"] for one in document["targets"]]

    def place(one: Record) -> tuple[bool, float, int]:
        shares = [one["shares"].get(axis) for axis in axes]
        known = [share for share in shares if share is not None]
        return len(known) < len(shares), -fsum(known), one["number"]

    return sorted((one for one in document["prompts"] if one["cell"] == cell["cell"]), key=place)


def perplexity_words(
    value: float | None, low: float | None = None, high: float | None = None
) -> str:
    """A perplexity with its interval, to so many digits as it needs."""
    if value is None:
        return "-"
    form = ",.0f" if value >= 100 else ".1f"
    point = f"{value:{form}}"
    return point if low is None or high is None else f"{point} [{low:{form}}, {high:{form}}]"


def naming_words(cell: Record) -> str:
    """How many of a cell's prompts name an axis."""
    return f"{cell['naming']['n']:,} of {cell['naming']['of']:,}"


def passes_words(cell: Record) -> str:
    """How many passes through the denoiser a cell's prompt took."""
    if cell["passes"] is None or not cell["n_prompts"]:
        return "-"
    return f"{cell['passes'] / cell['n_prompts']:,.0f}"


def wanted(document: Record) -> str:
    """The targets: "gender male and age old"."""
    return " and ".join(
        f"{words.name(one['axis'])} {words.name(one['attribute'])}" for one in document["targets"]
    )


def axes_words(document: Record) -> str:
    """The axes of the targets: "gender or age"."""
    return " or ".join(words.name(one["axis"]) for one in document["targets"])


def title(document: Record) -> str:
    """What the search was about."""
    return f"Prompts that steer {words.name(document['model'], 80)} towards {wanted(document)}"


def facts(document: Record) -> Iterator[tuple[str, str]]:
    """Who wrote what for whom."""
    yield "Model", words.name(document["model"], 200)
    yield "Prompts by", words.name(document["lm"], 200)
    if document.get("vqa"):
        yield "Judge", words.name(document["vqa"], 200)
    if document.get("perplexity_by"):
        yield "Perplexity by", words.name(document["perplexity_by"], 200)
    images = sum(one["n_images"] for one in document["cells"])
    yield "Prompts", f"{len(document['prompts']):,}, {words.counted(images, 'image')} of them"


def lead(document: Record) -> Iterator[str]:
    """For each target, what the prompts of the largest lambda show beside the language model's."""
    searched, alone = found_cells(document), language_cell(document)
    if not searched:
        yield "Nothing was searched for: these are the prompts of other methods."
        return
    cell = searched[-1]  # not the one that came out best: that would be chosen by its chance
    for target in document["targets"]:
        yield _told(document, cell, alone, target)
    perplexity, before = cell["perplexity"], alone and alone["perplexity"]
    if perplexity["mean"] is not None and before and before["mean"] is not None:
        yield (
            f"Their perplexity is {perplexity_words(perplexity['mean'])}, that of the language "
            f"model alone {perplexity_words(before['mean'])}."
        )


def _told(document: Record, cell: Record, alone: Record | None, target: Record) -> str:
    axis, attribute = target["axis"], words.name(target["attribute"])
    share = of_axis(cell["shares"], axis)
    who = f"{_whose(document, cell)} ({weight_words(cell)})"
    if share is None or share["mean"] is None:
        why = words.label((share or {}).get("reason") or "not known why", 200)
        return f"{who}: no share of {attribute}, {why}."
    known = of_axis(alone["shares"], axis) if alone else None
    said = f"{who}: {percent_words(share)} {attribute}"
    if known is not None and known["mean"] is not None:
        said += (
            f", where the same language model alone gets {percent_words(known)}"
            f"{_compared(of_axis(cell['gains'], axis))}"
        )
    counts = words.counted(share["n_images"], "image")
    return f"{said}. Means over {words.counted(share['n_prompts'], 'prompt')}, {counts}."


def _whose(document: Record, cell: Record) -> str:
    naming = cell["naming"]
    if naming["n"]:
        return f"Prompts of which {naming['n']:,} of {naming['of']:,} name {axes_words(document)}"
    return f"Prompts that never name {axes_words(document)}"


def _compared(gain: Record | None) -> str:
    if gain is None or gain["difference"] is None:
        return ""
    points = f"{100 * gain['difference']:+.0f} points"
    if gain["low"] is None:
        return f" ({points})"
    between = f" ({points} [{100 * gain['low']:+.0f}, {100 * gain['high']:+.0f}]"
    if gain["low"] <= 0 <= gain["high"]:
        return f"{between}, which may be chance)"
    return f"{between})"


def percent_words(share: Record) -> str:
    """A share with its interval in percent: "83 % [75, 90]"."""
    if share["mean"] is None:
        return "-"
    point = words.percent(share["mean"])
    if share["low"] is None:
        return point
    return f"{point} [{100 * share['low']:.0f}, {100 * share['high']:.0f}]"


def remarks(document: Record) -> Iterator[str]:
    """What limits this search, one sentence for each."""
    if document["unseen_words"]:
        named = ", ".join(words.name(word) for word in document["unseen_words"])
        yield f"The generator never saw these words: {named}."
    came_to_nothing = sum(one["prompt"] is None for one in document["prompts"])
    if came_to_nothing:
        yield f"{words.counted(came_to_nothing, 'search', 'searches')} came to no prompt."
    for target in document["targets"]:
        lacking = sum(
            one["prompt"] is not None and one["shares"].get(target["axis"]) is None
            for one in document["prompts"]
        )
        if lacking:
            yield (
                f"{words.counted(lacking, 'prompt')} without a share of "
                f"{words.name(target['attribute'])}: the judge answered about none of the images."
            )
