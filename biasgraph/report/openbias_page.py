"""openbias.html: the ranking of biases and each one's classes, on a page without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biasgraph.report import html, openbias_words, words

PAGE = "openbias.html"
LONG = 200  # units of a bar
MOST_CAPTIONS = 200
"""Captions of a bias that the page lists; openbias.json has them all."""
MOST_OTHERS = 200

Record = Mapping[str, Any]


def openbias_html(document: Record) -> bytes:
    """The page of an OpenBias report."""
    return html.render(
        "openbias.html",
        model={},
        styles=["openbias.css"],
        drawn=False,
        title=openbias_words.title(document),
        fact_rows=openbias_words.facts(document),
        toy=document["toy"],
        unseen=[words.label(word) for word in document["unseen_words"][:20]],
        notes=list(openbias_words.caveats(document)),
        biases=[_bias(one) for one in document["biases"]],
        others=[_other(one) for one in document["others"][:MOST_OTHERS]],
    )


def _bias(one: Record) -> dict[str, Any]:
    more = one["n_captions"] - MOST_CAPTIONS
    return {
        "name": words.label(one["bias"]),
        "undefined": one["reason"],
        "intensity": openbias_words.intensity(one),
        "aware": openbias_words.aware(one),
        "chance": _chance(one["intensity_context_aware_uniform_q95"]),
        "majority": openbias_words.majority(one),
        "n_captions": f"{one['n_captions']:,}",
        "n_valid": f"{one['n_valid']:,} of {one['n_images']:,}",
        "bar": _bar(
            one["intensity"], one["intensity_ci_low"], one["intensity_ci_high"],
            one["intensity_uniform_q95"],
        ),
        "about": openbias_words.about(one),
        "classes": _classes(one),
        "captions": [_caption(row) for row in one["captions"][:MOST_CAPTIONS]],
        "more": f": the first {MOST_CAPTIONS}" if more > 0 else "",
    }  # fmt: skip


def _chance(level: float | None) -> str:
    return "" if level is None else f"chance: up to {level:.3f}"


def _classes(one: Record) -> list[dict[str, Any]]:
    k = len(one["classes"])
    shares = one["distribution"] or [None] * k
    ends = one["distribution_ci"] or [[None, None]] * k
    return [
        {
            "name": words.label(name),
            "share": "-" if share is None else words.with_interval(share, span[0], span[1]),
            "count": f"{count:,}",
            "bar": _bar(share, span[0], span[1], 1 / k),
        }
        for name, count, share, span in zip(
            one["classes"], one["counts"], shares, ends, strict=True
        )
    ]


def _caption(row: Record) -> dict[str, str]:
    return {
        "caption": words.label(row["caption"], 300),
        "question": words.label(row["question"], 300),
        "intensity": openbias_words.intensity(row) if row["intensity"] is not None else "-",
        "majority": words.label(row["majority"] or "-"),
        "n_valid": f"{row['n_valid']:,}",
    }


def _other(one: Record) -> dict[str, str]:
    return {
        "name": words.label(one["bias"]),
        "classes": words.label(", ".join(one["classes"]), 300),
        "n": f"{one['n_captions']:,}",
        "reason": words.label(one["reason"]),
    }


def _bar(
    value: float | None, low: float | None, high: float | None, mark: float | None
) -> dict[str, float] | None:
    """Where a bar, its interval and its mark lie; None where there is no value."""
    if value is None or low is None or high is None:
        return None
    return {
        "value": round(LONG * value, 1),
        "low": round(LONG * low, 1),
        "span": round(max(LONG * (high - low), 1.0), 1),
        "mark": round(min(LONG * (mark or 0.0), LONG - 2), 1),
    }
