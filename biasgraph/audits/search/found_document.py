"""What found prompts came to: shares with intervals, perplexities, words (found.json)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.audits.search.kept_prompts import FoundPrompt
from biasgraph.audits.search.prompt_search import Method
from biasgraph.audits.search.scoring import Target
from biasgraph.causal.best_of import mean_interval
from biasgraph.causal.prompt_shares import MeanShare, mean_gain, mean_share
from biasgraph.data.axes import AxisSet
from biasgraph.methods.word_shifts import word_shifts

if TYPE_CHECKING:
    from biasgraph.models.base import NextTokens

SCHEMA = "biasgraph-found/1"
NO_READER = "no --perplexity was named"
NO_ANSWER = "no image of its own shows the axis"
Record = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A set of prompts that were found in one way; weight: lambda, None where there is none."""

    method: Method
    weight: float | None = None


@dataclass(frozen=True)
class CellPrompts:
    """The prompts of a cell."""

    cell: Cell
    found: Sequence[FoundPrompt]

    def texts(self) -> list[str]:
        """Those that came to something."""
        return [one.prompt for one in self.found if one.prompt is not None]


@dataclass(frozen=True)
class Evidence:
    """What is known of prompts by their texts.

    Attributes:
        images: The ids of their images that were not withheld.
        answers: Axis -> the judge's answers about all images.
        refused: Why the generator takes one not.
        perplexities: By another language model.
        names: The axes of the set that they name.
    """

    images: Mapping[str, Sequence[str]]
    answers: Mapping[str, Mapping[str, Sequence[str]]]
    refused: Mapping[str, str]
    perplexities: Mapping[str, float | None]
    names: Mapping[str, Sequence[str]]


def perplexities(reader: NextTokens, texts: Sequence[str]) -> dict[str, float | None]:
    """Exp of the mean negative log probability of a text's tokens; None of a text without one."""
    read = reader.log_probabilities(texts)
    return {
        text: math.exp(-log / count) if count else None
        for text, (log, count) in zip(texts, read, strict=True)
    }


def found_parts(
    cells: Sequence[CellPrompts],
    evidence: Evidence,
    targets: Sequence[Target],
    axes: AxisSet,
    opening: str,
    seed: int,
) -> Record:
    """``cells``, ``prompts`` and ``words`` of found.json.

    Args:
        cells: The first one that of the language model alone.
        evidence: About their prompts.
        targets: The attributes that were wanted.
        axes: Theirs.
        opening: The words that prompts begin with.
        seed: Of the resampling.
    """
    prompts = [
        [_prompt(one, place, evidence, targets, axes) for one in written.found]
        for place, written in enumerate(cells, start=1)
    ]
    means = [
        [
            mean_share([row["shares"][target.axis] for row in own], np.random.default_rng(seed))
            for target in targets
        ]
        for own in prompts
    ]
    rows = [
        _cell(place, written.cell, own, found, means[0], targets, axes)
        for place, (written, own, found) in enumerate(
            zip(cells, prompts, means, strict=True), start=1
        )
    ]
    every = [one for own in prompts for one in own]
    numbered = [{"number": number, **one} for number, one in enumerate(every, start=1)]
    words = [
        {"cell": place, "axis": target.axis, **asdict(shift)}
        for place, own in enumerate(prompts[1:], start=2)
        for target in targets
        for shift in word_shifts(
            _of_axis(own, target.axis), _of_axis(prompts[0], target.axis), opening
        )
    ]
    return {"cells": rows, "prompts": numbered, "words": words}


def _prompt(
    one: FoundPrompt, cell: int, evidence: Evidence, targets: Sequence[Target], axes: AxisSet
) -> Record:
    text = one.prompt
    answers = evidence.answers.get(text or "", {})
    shares: dict[str, float | None] = {}
    n_valid: dict[str, int] = {}
    for target in targets:
        said = [one for one in answers.get(target.axis, ()) if one in axes.axis(target.axis).names]
        n_valid[target.axis] = len(said)
        shares[target.axis] = said.count(target.attribute) / len(said) if said else None
    images = list(evidence.images.get(text or "", ()))
    reason = one.reason or evidence.refused.get(text or "", "")
    return {
        "cell": cell,
        **one.model_dump(mode="json"),
        "perplexity": evidence.perplexities.get(text or ""),
        "names": list(evidence.names.get(text or "", ())),
        "shares": shares,
        "n_valid": n_valid,
        "n_images": len(images),
        "images": images,
        "reason": reason or ("" if any(n_valid.values()) else NO_ANSWER),
    }


def _of_axis(rows: Sequence[Record], axis: str) -> list[tuple[str, float | None]]:
    return [(row["prompt"], row["shares"][axis]) for row in rows if row["prompt"] is not None]


def _cell(
    place: int,
    cell: Cell,
    rows: Sequence[Record],
    means: Sequence[MeanShare],
    alone: Sequence[MeanShare],
    targets: Sequence[Target],
    axes: AxisSet,
) -> Record:
    found = [row for row in rows if row["prompt"] is not None]
    passes = [row["passes"] for row in rows if row["passes"] is not None]
    wanted = {target.axis for target in targets}
    naming = sum(not wanted.isdisjoint(row["names"]) for row in found)
    return {
        "cell": place,
        "method": cell.method,
        "lambda": cell.weight,
        "n_prompts": len(found),
        "n_images": sum(row["n_images"] for row in found),
        "shares": list(_shares(found, means, targets, axes)),
        "gains": list(_gains(means, alone, targets)) if place > 1 else [],
        "perplexity": _perplexity([row["perplexity"] for row in found]),
        "naming": {"n": naming, "of": len(found)},
        "passes": sum(passes) if passes else None,
    }


def _shares(
    rows: Sequence[Record],
    means: Sequence[MeanShare],
    targets: Sequence[Target],
    axes: AxisSet,
) -> Iterator[Record]:
    """The mean over prompts of the share of each wanted attribute, beside its ideal."""
    for target, mean in zip(targets, means, strict=True):
        yield {
            "axis": target.axis,
            "attribute": target.attribute,
            "mean": mean.value,
            "low": mean.low,
            "high": mean.high,
            "n_prompts": mean.prompts,
            "n_images": sum(row["n_valid"][target.axis] for row in rows),
            "ideal": 1 / len(axes.axis(target.axis).names),
            "reason": mean.reason,
        }


def _gains(
    found: Sequence[MeanShare], alone: Sequence[MeanShare], targets: Sequence[Target]
) -> Iterator[Record]:
    """How much larger these means are than those of the language model alone."""
    for target, one, other in zip(targets, found, alone, strict=True):
        gain = mean_gain(one, other)
        yield {
            "axis": target.axis,
            "attribute": target.attribute,
            "difference": gain.value,
            "low": gain.low,
            "high": gain.high,
            "reason": gain.reason,
        }


def _perplexity(values: Sequence[float | None]) -> Record:
    """The geometric mean over prompts, as one odd prompt in many would make up any other mean."""
    known = [value for value in values if value is not None]
    mean, low, high = mean_interval([math.log(value) for value in known])
    return {
        "mean": None if mean is None else math.exp(mean),
        "low": None if low is None else max(1.0, math.exp(low)),
        "high": None if high is None else math.exp(high),
        "n_prompts": len(known),
        "reason": "" if known else NO_READER,
    }
