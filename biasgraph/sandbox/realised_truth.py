"""The realised truth: what the shipped generators were seen to draw, counted over many images.

The planted truth is what the training pictures were drawn from; no network learns it exactly.
``templates/sandbox/realised.csv`` holds the answers of both judges about 2,000 images a prompt, for
three occupations and all their counterfactuals, measured at commit d532d76.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from biasgraph.causal.settings import MetricName
from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.io import resources
from biasgraph.sandbox.planted_truth import Truth, truth_of
from biasgraph.sandbox.world import AXES

TABLE = ("sandbox", "realised.csv")
COLUMNS = ("model", "prompt", "axis", "attribute", "judge", "target", "answer", "count")
"""As in tables.csv, with the generator and the judge; answers never given are left out."""

Counts = Mapping[tuple[str, str], Mapping[str, Mapping[str, int]]]
"""(axis, attribute), or ("", "") for the initial prompt -> target -> answer -> images."""


def known_prompts(model: str = "sandbox:stereotyped", table: Path | None = None) -> tuple[str, ...]:
    """The initial prompts whose realised truth is known."""
    return tuple(dict.fromkeys(prompt for spec, prompt, _ in _read(table) if spec == model))


def realised_counts(prompt: str, model: str, judge: str, table: Path | None = None) -> Counts:
    """How often each answer was given about the images of a prompt and its counterfactuals.

    Raises:
        InputError: it was not measured for this model and judge.
    """
    known = _read(table)
    if (model, prompt, judge) not in known:
        prompts = known_prompts(model, table)
        raise InputError(
            f"no realised truth of '{printable(prompt)}' for {printable(model)} and the judge "
            f"{printable(judge)}: it was measured for {', '.join(prompts) or 'none'}."
            f"{did_you_mean(prompt, prompts)}"
        )
    return known[model, prompt, judge]


def realised_truth(
    prompt: str,
    model: str,
    judge: str,
    metrics: Mapping[str, MetricName],
    table: Path | None = None,
) -> Truth:
    """The distributions and pairs that an audit of these very many images finds.

    Args:
        prompt: the initial prompt.
        model: the generator's spec.
        judge: the judge's spec.
        metrics: ground metric by axis; nominal where not given.
        table: the counts; those that ship unless given.

    Raises:
        InputError: as `realised_counts`.
    """
    counts = realised_counts(prompt, model, judge, table)
    arms = {arm: _shares(counts[arm]) for arm in counts if arm != ("", "")}
    return truth_of(_shares(counts["", ""]), arms, metrics)


def _shares(counts: Mapping[str, Mapping[str, int]]) -> dict[str, np.ndarray]:
    """Shares of the valid answers by axis; unknown and gated ones are left out."""
    shares = {}
    for axis, attributes in AXES.items():
        valid = np.array([counts[axis].get(attribute, 0) for attribute in attributes], dtype=float)
        shares[axis] = valid / valid.sum()
    return shares


@cache
def _read(
    table: Path | None,
) -> dict[tuple[str, str, str], dict[tuple[str, str], dict[str, dict[str, int]]]]:
    """Counts by model, prompt and judge."""
    known: dict[tuple[str, str, str], dict[tuple[str, str], dict[str, dict[str, int]]]] = {}
    text = resources.read_text(*TABLE) if table is None else table.read_text(encoding="utf-8")
    for row in csv.DictReader(io.StringIO(text)):
        arms = known.setdefault((row["model"], row["prompt"], row["judge"]), {})
        answers = arms.setdefault((row["axis"], row["attribute"]), {})
        answers.setdefault(row["target"], {})[row["answer"]] = int(row["count"])
    return known
