"""What a pair of axes means in pictures: shares before and after, and by what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgraph.causal.settings import TAIL
from biasgraph.report.rounds_words import looks_of
from biasgraph.report.words import Record, join_words, name, with_ends

if TYPE_CHECKING:
    from biasgraph.causal.shares import Share

FEW = 3  # attributes that a sentence names


def in_pictures(pair: Record, document: Record) -> str | None:
    """An edge or a common shift as a sentence about pictures; None where its shares are not known.

    Where a direction is claimed, or all arms are shifted alike, it tells what mixing them does;
    of any other edge, how far its arms are apart.
    """
    mixture = pair["sign"] in ("towards", "away") or pair.get("verdict") == "common_shift"
    return _mixture(pair, document) if mixture else _arms(pair, document)


def _mixture(pair: Record, document: Record) -> str | None:
    if pair.get("moved") is None:
        return None
    before, after = (
        with_ends(*(pair[f"share_{when}{end}"] for end in ("", "_ci_low", "_ci_high")))
        for when in ("before", "after")
    )
    return (
        f"Asking for {describe_request(pair, document)} takes images called {name(pair['moved'])} "
        f"({name(pair['target'])}) from {before} to {after}."
    )


def describe_request(pair: Record, document: Record) -> str:
    """What the prompts of a pair's arms ask for, and how their images are mixed."""
    (source,) = (node for node in document["nodes"] if node["id"] == pair["source"])
    attributes, axis = source["attributes"], name(pair["source"])
    equally = " equally" if document["graph"]["settings"]["mix"] == "equal" else ""
    if "missing_arms" in pair["flags"]:
        return f"some of {axis}{equally}"
    if len(attributes) > FEW:
        return f"all {len(attributes)} of {axis}{equally}"
    return f"{join_words([name(attribute) for attribute in attributes])}{equally}"


def _arms(pair: Record, document: Record) -> str | None:
    import numpy as np

    from biasgraph.causal.shares import widest_gap

    counts = np.array(pair.get("table") or [[]], dtype=np.int64)
    if min(counts.shape) < 2 or not counts.any(axis=1).all():
        return None
    gap = widest_gap(counts, TAIL / max(1, len(looks_of(document["graph"]))))
    (low, least), (high, most) = gap.lowest, gap.highest
    return (
        f"Of the images that ask for {name(pair['rows'][high])} ({name(pair['source'])}), "
        f"{_words(most)} are called {name(pair['columns'][gap.attribute])} "
        f"({name(pair['target'])}); of those that ask for {name(pair['rows'][low])}, "
        f"{_words(least)}."
    )


def _words(share: Share) -> str:
    return with_ends(share.value, *share.ends)
