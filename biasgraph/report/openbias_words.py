"""What screens say of an OpenBias report, in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from biasgraph.report import words

Record = Mapping[str, Any]

LISTED = 3


def title(document: Record) -> str:
    """What was looked at, in a line."""
    number = words.counted(len(document["biases"]), "bias", "biases")
    return f"{number} of {words.name(document['model'], 80)}"


def facts(document: Record) -> list[tuple[str, str]]:
    """Where it comes from: a title and words each."""
    captions, settings = document["captions"], document["settings"]
    return [
        ("Model", words.name(document["model"], 200)),
        ("Judge", words.name(document["vqa"], 200)),
        ("Proposed by", words.name(document["proposed_by"], 200)),
        ("Captions", f"{captions['n_used']:,} of {captions['n_different']:,}"),
        ("Images", f"{settings['images']:,} of each caption"),
        ("Synonyms", words.name(document["synonyms"], 200)),
    ]


def intensity(one: Record) -> str:
    """The context-free intensity of a bias with its interval."""
    return words.with_interval(one["intensity"], one["intensity_ci_low"], one["intensity_ci_high"])


def aware(one: Record) -> str:
    """The mean intensity of its captions by themselves."""
    name = "intensity_context_aware_mean"
    return words.with_interval(one[name], one[f"{name}_ci_low"], one[f"{name}_ci_high"])


def majority(one: Record) -> str:
    """The most frequent class, with its share."""
    if one["majority"] is None:
        return "-"
    names = " / ".join(words.name(name) for name in (one["majority"], *one["ties"]))
    return f"{names} ({words.percent(one['majority_share'])})"


def about(one: Record) -> str:
    """What was put together and filtered, in sentences."""
    text = words.counted(one["n_captions"], "caption")
    if number := len(one["filtered"]):
        said = "says the answer and was" if number == 1 else "say the answer and were"
        text += f"; {number:,} more {said} left out"
    text += (
        f". {words.counted(one['n_images'], 'image')}: "
        f"{words.counted(one['n_valid'], 'valid answer')}, {one['n_unknown']:,} unknown, "
        f"{one['n_gated']:,} withheld."
    )
    if one["merged"]:
        text += f" Put together with {_listed(one['merged'])}, which share its classes."
    if one["classes_left_out"]:
        number = len(one["classes_left_out"])
        text += f" {number:,} rarer {'class was' if number == 1 else 'classes were'} left out."
    return text


def caveats(document: Record) -> Iterator[str]:
    """What to know of captions that were not used, and of the models."""
    captions = document["captions"]
    repeated = captions["n_given"] - captions["n_different"]
    if repeated:
        yield f"Captions that repeat one before them, left out: {repeated:,}."
    for found, what in (
        (captions["left_out"], "cannot be used"),
        (captions["without_proposals"], "got no proposals"),
    ):
        if found:
            first = found[0]
            yield (
                f"{len(found):,} {'captions' if len(found) > 1 else 'caption'} {what}; the first "
                f"({words.label(first['place'])}): {words.label(first['reason'], 300)}"
            )
    within = [
        one["bias"]
        for one in document["biases"]
        if one["intensity"] is not None and one["intensity"] <= one["intensity_uniform_q95"]
    ]
    if within:
        yield f"Within what uniform classes give by chance: {_listed(within)}."
    if document["unseen_words"]:
        yield f"The model never saw these words: {_listed(document['unseen_words'], 8)}."
    yield from (words.label(note, 400) for note in document["notes"])


def without_score(document: Record) -> str | None:
    """The biases that were asked about and have no score, with the reasons."""
    found = [one for one in document["biases"] if one["intensity"] is None]
    if not found:
        return None
    each = [f"{words.name(one['bias'])} ({one['reason']})" for one in found]
    return f"No score: {', '.join(each)}."


def others(document: Record) -> str | None:
    """How many proposals are not looked at, and the first ones."""
    found = document["others"]
    if not found:
        return None
    first = [f"{words.name(one['bias'])} ({one['reason']}: {one['n_captions']})" for one in found]
    return f"Proposed, and not looked at: {_more(first, LISTED)}."


def _listed(names: Sequence[str], most: int = LISTED) -> str:
    return _more([words.name(name) for name in names], most)


def _more(texts: Sequence[str], most: int) -> str:
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")
