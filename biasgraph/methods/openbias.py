"""OpenBias: how far each axis lies from uniform, and which axes lie furthest (secs. 3.2-3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from biasgraph.causal.intervals import Interval, wilson
from biasgraph.causal.resampling import PSEUDO, resample
from biasgraph.causal.settings import generator
from biasgraph.causal.tables import Counts, Floats
from biasgraph.data.findings import Finding, Number, Part, Ranking, Table, Text
from biasgraph.errors import InputError
from biasgraph.methods.base import Annotation, MethodInput, rank_axes
from biasgraph.methods.bias_knowledge import TASK, conversation, lacking
from biasgraph.methods.bias_wording import CaptionReader
from biasgraph.methods.wordnet import best_synonyms
from biasgraph.models.json_chat import ReplyError
from biasgraph.prompts.instructions import Biases

NAME = "openbias"
TITLE = "OpenBias"
ABOUT = (
    "How far the answers about an axis lie from uniform: 0 where every attribute is as frequent as "
    "any other, 1 where there is only one (eq. 6)."
)
NULL_DRAWS = 2000


def intensity(shares: Floats) -> Floats:
    """1 + sum p ln p / ln k, where 0 ln 0 is 0 (eq. 6).

    Args:
        shares: (..., k), each summing to 1, k >= 2.

    Returns:
        (...) in [0, 1]: 0 for uniform shares, 1 for a single class.
    """
    k = np.shape(shares)[-1]
    return np.asarray(np.clip(1 + xlogy(shares, shares).sum(axis=-1) / np.log(k), 0.0, 1.0))


Ends = tuple[float, float]


@dataclass(frozen=True)
class Assessment:
    """How far answers lie from uniform, in P sets of images over k classes.

    Every ``_ci`` holds the ends of 95 % intervals, by multinomial resamples of every set.

    Attributes:
        shares: (k,) the mean of the sets' distributions (eq. 5), the context-free one.
        shares_ci: (k) ends.
        intensity: Of `shares`.
        intensity_ci: Its ends.
        uniform_q95: What intensity stays below in 95 % of cases if every set's answers are drawn
            uniformly.
        mean_uniform_q95: What `mean` stays below then.
        each: (P,) the intensity of every set's own distribution (eq. 4), the context-aware one.
        each_ci: (P) ends.
        mean: Of `each`.
        mean_ci: Its ends.
    """

    shares: Floats
    shares_ci: tuple[Ends, ...]
    intensity: float
    intensity_ci: Ends
    uniform_q95: float
    mean_uniform_q95: float
    each: Floats
    each_ci: tuple[Ends, ...]
    mean: float
    mean_ci: Ends


def assess(counts: Counts, replicates: int, rng: np.random.Generator) -> Assessment:
    """Assess how far the answers about P sets of images lie from uniform.

    Where all resamples are alike, as those of a single class are, they are drawn from
    (c + 1/k) / (n + 1) in place of c / n, so that a class never seen may appear. Shares of 0 and 1,
    which every resample repeats, have Wilson's interval.

    Args:
        counts: (P, k) valid answers: at least one in each of P >= 1 sets, k >= 2 classes.
        replicates: How many resamples.
        rng: Draws them.
    """
    shares = _shares(counts)
    each, mixed = intensity(shares), shares.mean(axis=0)
    drawn = _Resamples.of(counts, replicates, rng)
    level, mean_level = _levels(counts, rng)
    fixed = wilson(counts.sum(axis=0), int(counts.sum())).tolist()
    return Assessment(
        shares=mixed,
        shares_ci=tuple(
            _hull(share, draws) if 0 < share < 1 else (low, high)
            for share, draws, (low, high) in zip(mixed.tolist(), drawn.mixed.T, fixed, strict=True)
        ),
        intensity=float(intensity(mixed)),
        intensity_ci=_hull(float(intensity(mixed)), intensity(drawn.mixed)),
        uniform_q95=level,
        mean_uniform_q95=mean_level,
        each=each,
        each_ci=tuple(
            _hull(float(own), draws) for own, draws in zip(each, drawn.each, strict=True)
        ),
        mean=float(each.mean()),
        mean_ci=_hull(float(each.mean()), drawn.mean),
    )


@dataclass(frozen=True)
class _Resamples:
    """Resamples: of the mean shares (R, k), of each set's intensity (P, R), of their mean (R,)."""

    mixed: Floats
    each: Floats
    mean: Floats

    @classmethod
    def of(cls, counts: Counts, replicates: int, rng: np.random.Generator) -> _Resamples:
        mixed, mean = np.zeros((replicates, counts.shape[1])), np.zeros(replicates)
        each = np.empty((len(counts), replicates))
        for place, row in enumerate(counts):  # one by one: there may be thousands
            each[place] = intensity(_shares(resample(row[None], replicates, rng)[:, 0]))
            # In a mean of many sets, pseudo answers are those of all of them together.
            one = resample(row[None], replicates, rng, PSEUDO / len(counts))[:, 0]
            mixed += _shares(one) / len(counts)
            mean += intensity(_shares(one)) / len(counts)
        return cls(mixed, each, mean)


def _shares(counts: Counts) -> Floats:
    """(..., k) counts to shares."""
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def _hull(value: float, drawn: Floats) -> Ends:
    low, high = Interval.of(value, drawn).hull
    return max(0.0, low), min(1.0, high)


def _levels(counts: Counts, rng: np.random.Generator) -> Ends:
    """The 95 % quantiles of the intensity of the mean distribution, and of the mean intensity.

    Every set's answers are drawn uniformly.
    """
    k = counts.shape[1]
    mixed, mean = np.zeros((NULL_DRAWS, k)), np.zeros(NULL_DRAWS)
    for size in counts.sum(axis=1):
        shares = _shares(rng.multinomial(size, np.full(k, 1 / k), size=NULL_DRAWS))
        mixed += shares / len(counts)
        mean += intensity(shares) / len(counts)
    return float(np.quantile(intensity(mixed), 0.95)), float(np.quantile(mean, 0.95))


def annotate(given: MethodInput) -> Annotation:
    """Score every axis, and rank them.

    The graph of one prompt gets the context-aware intensity (eq. 4); that of several the
    context-free one, of the mean distribution over prompts (eq. 5), beside the mean of the
    context-aware ones. Unknown and gated answers are left out; so are prompts without a valid one.
    """
    findings = {node["id"]: _about(node, given) for node in given.document["nodes"]}
    return Annotation(graph=_ranking(findings, _further(given)), nodes=findings)


def _further(given: MethodInput) -> list[Part]:
    """Axes that the graph of a prompt lacks and a language model proposes, where one is named."""
    media, prompt = given.media, given.document["graph"]["prompt"]
    if media is None or media.proposer is None or prompt is None:
        return []
    try:
        biases = media.propose(TASK, conversation(prompt), Biases).biases
    except (ReplyError, InputError) as error:  # the graph is worth having without
        reason = error.in_run if isinstance(error, ReplyError) else error
        return [Text(f"No further axes were proposed: {reason}", "warning")]
    axes = {str(node["id"]): node["attributes"] for node in given.document["nodes"]}
    others = lacking(biases, prompt, axes, CaptionReader(best_synonyms()))
    by = f"proposed by {media.proposer}"
    if not others:
        return [Text(f"Every axis {by} is in the graph, or said by the prompt.")]
    rows = [(bias.name, ", ".join(bias.classes), bias.question) for bias in others]
    caption = f"Also look at, {by}: axes that the graph does not have."
    return [Table(("Axis", "Classes", "Question"), rows, caption)]


def _about(node: Mapping[str, Any], given: MethodInput) -> Finding:
    counts = given.initial_counts(node)
    counts = counts[counts.sum(axis=1) > 0]
    n = int(counts.sum())
    single = len(node["attributes"]) == 1
    if node["status"] != "ok" or not len(counts) or single:
        reason = "there is one attribute" if single else f"too few valid answers ({n})"
        unknown = Number("Intensity", None, n=n, reason=reason)
        return Finding(TITLE, ABOUT, [unknown], {"intensity": None, "n_valid": n})
    rng = generator(int(given.settings["seed"]), given.name, NAME, node["id"])
    score = assess(counts, int(given.settings["bootstrap"]), rng)
    low, high = score.intensity_ci
    numbers: dict[str, float | int | None] = {
        "intensity": score.intensity,
        "intensity_ci_low": low,
        "intensity_ci_high": high,
        "intensity_uniform_q95": score.uniform_q95,
        "n_valid": n,
        "n_prompts": len(counts),
    }
    parts: list[Part] = [
        Number("Intensity", score.intensity, low, high, n),
        Text(
            f"Answers drawn from uniform attributes, as many as here, give at most "
            f"{score.uniform_q95:.3f} in 95 % of cases."
        ),
    ]
    if len(counts) > 1:
        numbers |= {"intensity_context_aware_mean": score.mean}
        parts.insert(1, Number("Mean over prompts", score.mean, *score.mean_ci, n))
    majority = str(node["attributes"][int(score.shares.argmax())])
    parts.append(
        Table(
            ("Attribute", "Share"),
            list(zip(node["attributes"], score.shares.tolist(), strict=True)),
            f"The most frequent one is {majority}.",
        )
    )
    return Finding(TITLE, ABOUT, parts, numbers)


def _ranking(findings: Mapping[str, Finding], further: Sequence[Part]) -> Finding:
    bars = rank_axes(findings, "intensity", "intensity_uniform_q95")
    if not bars:
        undefined = Number("Intensity", None, reason="no axis has enough valid answers")
        return Finding(TITLE, ABOUT, [undefined, *further])
    sizes = sorted(int(findings[bar.label].numbers["n_valid"] or 0) for bar in bars)
    answers = " to ".join(f"{size:,}" for size in dict.fromkeys([*sizes[:1], *sizes[-1:]]))
    caption = (
        f"Intensity of every axis ({answers} valid answers each), with what uniform "
        "answers stay below in 95 % of cases."
    )
    return Finding(TITLE, ABOUT, [Ranking(bars, caption), *further])
