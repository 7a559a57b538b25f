"""OpenBias: how far each axis lies from uniform, and which axes lie furthest (secs. 3.2-3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import xlogy

from biasgraph.causal.sensitivity import Interval, resample
from biasgraph.causal.settings import generator
from biasgraph.causal.tables import Counts, Floats
from biasgraph.findings import Bar, Finding, Number, Part, Ranking, Table, Text
from biasgraph.methods.subject import Annotation, Subject

NAME = "openbias"
TITLE = "OpenBias"
ABOUT = (
    "How far the answers about an axis lie from uniform: 0 where every attribute is as frequent as "
    "any other, 1 where there is only one (eq. 6)."
)
NULL_DRAWS = 2000


def intensity(shares: Floats) -> Floats:
    """1 + sum p ln p / ln k along the last axis: 0 for uniform shares, 1 for one class (eq. 6).

    shares (..., k), each summing to 1, k >= 2; 0 ln 0 is 0. Returns (...) in [0, 1].
    """
    k = np.shape(shares)[-1]
    return np.asarray(np.clip(1 + xlogy(shares, shares).sum(axis=-1) / np.log(k), 0.0, 1.0))


def annotate(subject: Subject) -> Annotation:
    """Score every axis, and rank them.

    The graph of one prompt gets the context-aware intensity (eq. 4); that of several the
    context-free one, of the mean distribution over prompts (eq. 5), beside the mean of the
    context-aware ones. Unknown and gated answers are left out; so are prompts without a valid one.
    """
    found = {node["id"]: _about(node, subject) for node in subject.document["nodes"]}
    return Annotation(graph=_ranking(found), nodes=found)


def _about(node: Mapping[str, Any], subject: Subject) -> Finding:
    counts = subject.initial_counts(node)
    counts = counts[counts.sum(axis=1) > 0]
    n = int(counts.sum())
    if node["status"] != "ok" or not len(counts):
        reason = f"too few valid answers ({n})"
        unknown = Number("Intensity", None, n=n, reason=reason)
        return Finding(TITLE, ABOUT, [unknown], {"intensity": None, "n_valid": n})
    seed = int(subject.settings["seed"])
    rng = generator(seed, subject.name, NAME, node["id"])
    replicates = int(subject.settings["bootstrap"])
    value = float(intensity(_mean_shares(counts)))
    drawn = resample(counts, replicates, rng)
    low, high = _hull(value, intensity(_mean_shares(drawn)))
    level = _level(counts, rng)
    majority = str(node["attributes"][int(_mean_shares(counts).argmax())])
    numbers: dict[str, float | int | None] = {
        "intensity": value,
        "intensity_ci_low": low,
        "intensity_ci_high": high,
        "intensity_uniform_q95": level,
        "n_valid": n,
        "n_prompts": len(counts),
    }
    parts: list[Part] = [
        Number("Intensity", value, low, high, n),
        Text(
            f"Answers drawn from uniform attributes, as many as here, give at most {level:.3f} in "
            "95 % of cases."
        ),
    ]
    if len(counts) > 1:
        each = intensity(counts / counts.sum(axis=1, keepdims=True))
        spread = intensity(drawn / drawn.sum(axis=2, keepdims=True)).mean(axis=1)
        mean = float(each.mean())
        numbers |= {"intensity_context_aware_mean": mean}
        parts.insert(1, Number("Mean over prompts", mean, *_hull(mean, spread), n))
    shares = _mean_shares(counts).tolist()
    parts.append(
        Table(
            ("Attribute", "Share"),
            list(zip(node["attributes"], shares, strict=True)),
            f"The most frequent one is {majority}.",
        )
    )
    return Finding(TITLE, ABOUT, parts, numbers)


def _mean_shares(counts: Counts) -> Floats:
    """(..., P, k) counts to the (..., k) mean over prompts of their shares (eq. 5)."""
    return np.asarray((counts / counts.sum(axis=-1, keepdims=True)).mean(axis=-2))


def _hull(value: float, drawn: Floats) -> tuple[float, float]:
    low, high = Interval.of(value, drawn).hull
    return max(0.0, low), min(1.0, high)


def _level(counts: Counts, rng: np.random.Generator) -> float:
    """The 95 % quantile of the intensity when every prompt's answers are drawn uniformly."""
    k = counts.shape[1]
    uniform = [
        rng.multinomial(size, np.full(k, 1 / k), size=NULL_DRAWS) for size in counts.sum(axis=1)
    ]
    return float(np.quantile(intensity(_mean_shares(np.stack(uniform, axis=1))), 0.95))


def _ranking(found: Mapping[str, Finding]) -> Finding:
    scored = [
        (name, finding)
        for name, finding in found.items()
        if finding.numbers["intensity"] is not None
    ]
    scored.sort(key=lambda item: (-float(item[1].numbers["intensity"] or 0), item[0]))
    bars = [
        Bar(
            name,
            finding.numbers["intensity"],
            finding.numbers["intensity_ci_low"],
            finding.numbers["intensity_ci_high"],
            finding.numbers["intensity_uniform_q95"],
        )
        for name, finding in scored
    ]
    caption = "Intensity of every axis, with what uniform answers stay below in 95 % of cases."
    return Finding(TITLE, ABOUT, [Ranking(bars, caption)])
