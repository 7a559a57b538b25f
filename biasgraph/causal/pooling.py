"""One graph of several prompts: their counts summed, edges of one kind (BiasConnect supp. A.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from biasgraph.causal.baseline import UNIFORM, Baseline
from biasgraph.causal.graph import (
    Analysis,
    assembled,
    edges,
    image_numbers,
    measured,
    treat_unknown,
)
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Counts, Pool

NAME = "all prompts"
CLEAR = 0.03  # an |IS| that one would look at, as supp. A.8 does
NOTE = (
    "Mediation is checked within each prompt: prompts that differ in both ends of an edge would "
    "look like a mediator here. The verdicts stand in the prompts' own graphs"
)


def analyze_global(
    prompts: Sequence[CodedImages],
    analyses: Sequence[Analysis],
    settings: AnalysisSettings,
    baseline: Baseline = UNIFORM,
) -> Analysis:
    """Sum the counts of all prompts and weigh every pair of axes in the sum.

    prompts: the coded images, all with the same variables; analyses: the graph of each.
    A pair is an edge by `AnalysisSettings.global_rule`. It also says how many prompts have answers
    in it (`n_prompts`), how many a sensitivity of their own (`n_mean_prompts`), and the mean of
    these (`is_mean_prompt`, None without any): opposite effects cancel in the sum. The graph lists
    the prompts; mediation is left to theirs. Raises InputError as `analyze` does.
    """
    counted = [treat_unknown(images, settings, baseline.axes) for images in prompts]
    ideals = baseline.ideals(counted[0].variables, settings.metric)
    # By their texts, so that the order in which they came changes no random draw.
    pool = Pool.of(NAME, sorted(counted, key=lambda images: images.prompt))
    nodes, pairs = measured(pool, ideals, settings, settings.global_rule, baseline.labelled)
    _compare(pairs, pool, analyses)
    about = {
        "kind": "global",
        "prompt": None,
        "prompts": _listed(prompts, analyses),
        "edge_rule": asdict(settings.global_rule),
    }
    return assembled(about, nodes, pairs, edges(pool, pairs), pool, ideals, settings, prompts)


def _compare(pairs: Sequence[dict[str, Any]], pool: Pool, analyses: Sequence[Analysis]) -> None:
    """Set what the prompts say one by one beside every pair of their sum."""
    index = {variable.name: i for i, variable in enumerate(pool.variables)}
    each = [
        {(pair["source"], pair["target"]): pair["is"] for pair in analysis.pairs}
        for analysis in analyses
    ]
    for pair in pairs:
        x, y = index[pair["source"]], index[pair["target"]]
        answers = pool.strata(x, y).sum(axis=2)
        values = [values[pair["source"], pair["target"]] for values in each]
        defined = [value for value in values if value is not None]
        pair["n_prompts"] = int(answers.any(axis=1).sum())
        pair["n_mean_prompts"] = len(defined)
        pair["is_mean_prompt"] = float(np.mean(defined)) if defined else None
        if pair["is"] is not None and _uneven(pool.initial(y).sum(axis=1), answers):
            pair["flags"].append("uneven_prompts")
        if _opposite(pair["is"], pair["is_mean_prompt"]):
            pair["flags"].append("opposite_mean")


def _uneven(initial: Counts, arms: Counts) -> bool:
    """Whether prompts weigh differently in the initial images (P,) and in the arms (P, J).

    Without any effect, W1 (nominal) then moves by at most the total variation between the weights.
    """
    before, after = initial / initial.sum(), arms / arms.sum(axis=0)
    return bool(np.abs(after - before[:, None]).sum(axis=0).mean() / 2 >= CLEAR)


def _opposite(total: float | None, mean: float | None) -> bool:
    """Whether the sum and the average prompt move clearly, and against each other."""
    if total is None or mean is None:
        return False
    return total * mean < 0 and min(abs(total), abs(mean)) >= CLEAR


def _listed(prompts: Sequence[CodedImages], analyses: Sequence[Analysis]) -> list[dict[str, Any]]:
    return [
        {
            "prompt": images.prompt,
            "images": image_numbers([images]),
            "edges": len(analysis.links),
        }
        for images, analysis in zip(prompts, analyses, strict=True)
    ]
