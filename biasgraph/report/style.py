"""How an edge and an axis look, and what stands under a picture: the same in every format.

The colours are Okabe and Ito's, which people with any colour vision can tell apart. No meaning
hangs on colour alone: the arrow's head, its dash and the sign of its number say the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from biasgraph.causal.mediation import CONSISTENT
from biasgraph.errors import printable
from biasgraph.report import judge_words, words

Record = Mapping[str, Any]
Dash = Literal["solid", "dashed", "dotted"]

MEDIATED = "consistent with mediation by another axis"


@dataclass(frozen=True)
class SignStyle:
    """What the sign means, in words, and the look of its arrow."""

    meaning: str
    colour: str
    head: Literal["triangle", "bar", "vee"]
    dash: Dash


SIGNS = {
    "towards": SignStyle("moves towards its ideal", "#0072b2", "triangle", "solid"),
    "away": SignStyle("moves away from its ideal", "#d55e00", "bar", "solid"),
    "undetermined": SignStyle("moves, direction undetermined", "#5f5f5f", "vee", "dotted"),
}
AT_IDEAL, FAR = "#ffffff", "#009e73"
"""Fill of an axis at distance 0 from its ideal, and at distance 1."""


def sign_style(link: Record) -> SignStyle:
    """The look of an edge by its sign; without one it is undetermined."""
    return SIGNS.get(link["sign"] or "", SIGNS["undetermined"])


def dash(link: Record) -> Dash:
    """Dashed for an edge that is consistent with mediation, or else as its sign has it."""
    return "dashed" if is_mediated(link) else sign_style(link).dash


def is_mediated(pair: Record) -> bool:
    """Whether the checks of any candidate mediator are consistent with it."""
    checks = pair.get("mediation") or ()
    return any(check["verdict"] == CONSISTENT.format(z=check["through"]) for check in checks)


def width(sensitivity: float) -> float:
    """Points, 0.8 to 5, by |IS|; the same in every picture."""
    return min(0.8 + 8 * abs(sensitivity), 5.0)


def fill(distance: float | None) -> str:
    """Colour of an axis by its W1 to the ideal; white where that is undefined."""
    return blend(AT_IDEAL, FAR, distance or 0.0)


def blend(near: str, far: str, share: float) -> str:
    """The colour at `share` of the way from one colour to another, cut to 0..1."""
    share = min(max(share, 0.0), 1.0)
    ends = zip(channels(near), channels(far), strict=True)
    return "#" + bytes(round(start + (end - start) * share) for start, end in ends).hex()


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of "#rrggbb"."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue


def show_sign(number: float | None) -> str:
    """An IS as text, "+0.123", with a hyphen for minus; "n/a" where it is undefined."""
    if number is None or math.isnan(number):
        return "n/a"
    return f"{number:+.3f}"


def clip(text: str, longest: int = 40) -> str:
    """Untrusted text for a picture: nothing in it is hidden or reorders, and it stays short."""
    return words.clip(printable(text), longest)


def title(document: Record) -> str:
    """What the picture shows, in a line."""
    return f"Bias graph of {subject(document)}"


def subject(document: Record) -> str:
    """What a graph is about: its prompt, or how many it has."""
    graph = document["graph"]
    if graph["prompt"] is not None:
        return f"“{clip(graph['prompt'], 120)}”"
    return f"{len(graph['prompts'])} prompts"


def caption(document: Record) -> str:
    """What the numbers in a picture were computed from, in sentences."""
    graph = document["graph"]
    return words.plain(
        f"{title(document)}. {origin(document)} "
        f"Ideal: {words.ideal_words(graph, len(document['nodes']))}. "
        f"Metric of the distance W1 to it: {words.metric_words(document['nodes'])}. "
        f"Edges: {words.rule_words(graph, document['nodes'])}. "
        "IS: what diversifying an axis takes off (+) or adds to (-) another axis's distance to "
        "its ideal."
    )


def origin(document: Record) -> str:
    """The model, the judge and the number of images, in sentences."""
    graph, images = document["graph"], document["graph"]["images"]
    return (
        f"Model: {clip(graph['model'], 80)}. "
        f"Judge: {clip(judge_words.judge(graph), 120)}. "
        f"Images: {words.images_words(images)}."
    )
