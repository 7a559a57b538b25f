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
    "deleted": "no longer in the found prompts",
}
"""What became of a word, in words."""
LIMITS = (
    "A share is the mean over prompts of the share of the attribute among the images of a prompt "
    "that the judge answered about; intervals are over prompts, for new prompts written in the "
    "same way. The probes only steer the search; no share comes from them.",
    "A single prompt's share rests on a few images, and the first of many prompts owes its place "
    "partly to chance: make new images of it before you rely on it.",
    "Word lists decide whether a prompt names an axis: a prompt may describe an axis in words "
    "that no list has, and a listed word may mean something else.",
    "delta compares found prompts with a word and without it. It has no interval and, for a word "
    "in few prompts, is mostly chance; the words beside it may be the reason.",
    "Attributes are labels that a judge gave to pictures, not identities. A share is compared "
    "with a declared ideal; that is not a verdict.",
)


def cell_name(cell: Record) -> str:
    """What a cell is called: "search, λ = 10", "PEZ"."""
    name = METHODS.get(cell["method"], words.label(str(cell["method"]), 40))
    return f"{name}, {weight_words(cell)}" if cell["method"] == "search" else name


def short_name(cell: Record) -> str:
    """What a cell is called beside a point: "λ = 10", "PEZ"."""
    if cell["method"] in ("lm", "search"):
        return weight_words(cell)
    return {"lm-biased": "told to bias", "pez": "PEZ", "curated": "given"}.get(
        cell["method"], words.label(str(cell["method"]), 20)
    )


def weight_words(cell: Record) -> str:
    """A cell's lambda, as "λ = 10"."""
    return f"λ = {'-' if cell['lambda'] is None else format(cell['lambda'], 'g')}"


def found_cells(document: Record) -> list[Record]:
    """The cells that were searched for, the smallest lambda first."""
    own = [one for one in document["cells"] if one["method"] == "search"]
    return sorted(own, key=lambda one: float(one["lambda"] or 0))


def weighted_cells(cells: Sequence[Record]) -> list[Record]:
    """Those by the language model alone and by search, lambda from 0 up; none without a search."""
    own = [one for one in cells if one["method"] in ("lm", "search")]
    searched = any(one["method"] == "search" for one in own)
    return sorted(own, key=lambda one: float(one["lambda"] or 0)) if searched else []


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


def of_perplexity(cell: Record) -> str:
    """A cell's mean perplexity with its interval, or why it has none."""
    perplexity = cell["perplexity"]
    if perplexity["mean"] is None:
        return f"unknown ({words.label(perplexity['reason'] or 'not known why', 120)})"
    return perplexity_words(*(perplexity[end] for end in ("mean", "low", "high")))


def naming_words(cell: Record) -> str:
    """How many of a cell's prompts name an axis."""
    return f"{cell['naming']['n']:,} of {cell['naming']['of']:,}"


def passes_words(cell: Record) -> str:
    """How many passes through the denoiser a cell's prompt took."""
    if cell["passes"] is None or not cell["n_prompts"]:
        return "-"
    return f"{cell['passes'] / cell['n_prompts']:,.0f}"


def say_targets(document: Record) -> str:
    """The targets: "gender male and age old"."""
    return " and ".join(
        f"{words.name(one['axis'])} {words.name(one['attribute'])}" for one in document["targets"]
    )


def axes_words(document: Record) -> str:
    """The axes of the targets: "gender or age"."""
    return " or ".join(words.name(one["axis"]) for one in document["targets"])


def probe_accuracies(document: Record) -> dict[str, str]:
    """By axis, how often its probe is right about images of held-out prompts, with its interval."""
    return {
        one["axis"]: words.with_interval(one["accuracy"], one["low"], one["high"])
        for one in document["targets"]
    }


def title(document: Record) -> str:
    """What the search was about."""
    return f"Prompts that steer {words.name(document['model'], 80)} towards {say_targets(document)}"


def facts(document: Record) -> Iterator[tuple[str, str]]:
    """Who wrote what for whom."""
    yield "Model", words.name(document["model"], 200)
    yield "Prompts by", words.name(document["lm"], 200)
    if document.get("vqa"):
        yield "Judge", words.name(document["vqa"], 200)
    if document.get("perplexity_by"):
        yield "Perplexity by", words.name(document["perplexity_by"], 200)
    images = sum(one["n_images"] for one in document["cells"])
    yield "Prompts", f"{len(document['prompts']):,}, {words.count_noun(images, 'image')} of them"


def lead(document: Record) -> Iterator[str]:
    """What the prompts of the largest lambda show, beside those of the language model alone."""
    searched, alone = found_cells(document), language_cell(document)
    if not searched:
        yield "There was no search: these are the prompts of other methods."
        return
    cell = searched[-1]  # not the one that came out best: that would be chosen by its chance
    told = [_describe_cell(cell, alone, target) for target in document["targets"]]
    yield f"{_whose(document, cell)} ({weight_words(cell)}): {'; '.join(told)}."
    known = [share for share in cell["shares"] if share["mean"] is not None]
    counts = dict.fromkeys(
        f"{words.count_noun(share['n_prompts'], 'prompt')}, "
        f"{words.count_noun(share['n_images'], 'image')}"
        for share in known
    )
    if counts:
        yield f"Means over {' and '.join(counts)}."
    perplexity, before = cell["perplexity"], alone and alone["perplexity"]
    if perplexity["mean"] is not None and before and before["mean"] is not None:
        yield (
            f"Their perplexity is {perplexity_words(perplexity['mean'])}, that of the language "
            f"model alone {perplexity_words(before['mean'])}."
        )


def _describe_cell(cell: Record, alone: Record | None, target: Record) -> str:
    axis, attribute = target["axis"], words.name(target["attribute"])
    share = of_axis(cell["shares"], axis)
    known = of_axis(alone["shares"], axis) if alone else None
    said = f"{share_words(share)} {attribute}"
    if share is None or share["mean"] is None or known is None or known["mean"] is None:
        return said
    return (
        f"{said}, where the same language model alone gets {percent_words(known)}"
        f"{_describe_gain(of_axis(cell['gains'], axis))}"
    )


def _whose(document: Record, cell: Record) -> str:
    naming = cell["naming"]
    if naming["n"]:
        return f"Prompts of which {naming['n']:,} of {naming['of']:,} name {axes_words(document)}"
    return f"Prompts that never name {axes_words(document)}"


def _describe_gain(gain: Record | None) -> str:
    if gain is None or gain["difference"] is None:
        return ""
    chance = gain["low"] is not None and gain["low"] <= 0 <= gain["high"]
    return f" ({gain_words(gain)} points{', which may be chance' if chance else ''})"


def percent_words(share: Record) -> str:
    """A share with its interval in percent: "83 % [75, 90]"."""
    if share["mean"] is None:
        return "-"
    point = words.percent(share["mean"])
    if share["low"] is None:
        return point
    return f"{point} [{100 * share['low']:.0f}, {100 * share['high']:.0f}]"


def share_words(share: Record | None) -> str:
    """A cell's share with its interval, or why it has none."""
    if share is None or share["mean"] is None:
        return f"no share ({words.label((share or {}).get('reason') or 'not known why', 120)})"
    return percent_words(share)


def gain_words(gain: Record | None) -> str:
    """How many points a share is above that of the language model alone: "+18 [+3, +32]"."""
    if gain is None or gain["difference"] is None:
        return "-"
    point = _points(gain["difference"])
    if gain["low"] is None:
        return point
    return f"{point} [{_points(gain['low'])}, {_points(gain['high'])}]"


def _points(difference: float) -> str:
    """Points of percent with their sign; 0 has none."""
    points = round(100 * difference)
    return f"{points:+d}" if points else "0"


def counted_share(row: Record, axis: str) -> str:
    """How many of a prompt's images with an answer show the target: "9 of 10"."""
    share, of = row["shares"].get(axis), row["n_valid"].get(axis, 0)
    return "no answer" if share is None else f"{round(share * of):,} of {of:,}"


def words_of(document: Record, cell: Record, axis: str) -> list[Record]:
    """The words of a cell, as found.json has them."""
    return [one for one in document["words"] if one["cell"] == cell["cell"] and one["axis"] == axis]


def remarks(document: Record) -> Iterator[str]:
    """What limits this search, one sentence for each."""
    if document["unseen_words"]:
        named = ", ".join(words.name(word) for word in document["unseen_words"])
        yield f"The generator never saw these words: {named}."
    came_to_nothing = sum(one["prompt"] is None for one in document["prompts"])
    if came_to_nothing:
        yield f"{words.count_noun(came_to_nothing, 'search', 'searches')} found no prompt."
    for target in document["targets"]:
        lacking = sum(
            one["prompt"] is not None and one["shares"].get(target["axis"]) is None
            for one in document["prompts"]
        )
        if lacking:
            yield (
                f"{words.count_noun(lacking, 'prompt')} without a share of "
                f"{words.name(target['attribute'])}: the judge answered about none of the images."
            )
