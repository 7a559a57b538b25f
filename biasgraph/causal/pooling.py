"""One graph of several prompts: their counts summed, edges of one kind (BiasConnect supp. A.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from biasgraph.causal.baseline import UNIFORM, Baseline
from biasgraph.causal.graph import Analysis, assemble, image_numbers, measure_axes, select_edges
from biasgraph.causal.prompt_differences import CLEAR, compare_prompts
from biasgraph.causal.rows import PairRow, flag
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Counts, Pool
from biasgraph.causal.unknown_answers import treat_unknown

NOTE = (
    "Mediation is checked within each prompt: prompts that differ in both ends of an edge would "
    "look like a mediator here. The verdicts are in the prompts' own graphs"
)


def analyze_global(
    prompts: Sequence[CodedImages],
    analyses: Sequence[Analysis],
    settings: AnalysisSettings,
    baseline: Baseline = UNIFORM,
) -> Analysis:
    """Sum the counts of all prompts and weigh every pair of axes in the sum (supp. A.8).

    A pair is an edge by `AnalysisSettings.global_rule`. It also says how many prompts have answers
    in it (`n_prompts`), how many a sensitivity of their own (`n_mean_prompts`), and the mean of
    these (`is_mean_prompt`, None without any): opposite effects cancel in the sum. So do opposite
    leanings of the prompts: see `compare_prompts`. The graph lists the prompts; mediation is left
    to theirs.

    Args:
        prompts: The coded images, all with the same variables.
        analyses: The graph of each prompt.
        settings: Of the analysis.
        baseline: What the distributions are compared with.

    Raises:
        InputError: As `analyze` does.
    """
    counted = [treat_unknown(images, settings, baseline.axes) for images in prompts]
    ideals = baseline.ideals(counted[0].variables, settings.metric)
    pool = Pool.sum(counted)
    nodes, pairs = measure_axes(pool, ideals, settings, settings.global_rule, baseline.labelled)
    own = {one.prompt: analysis.nodes for one, analysis in zip(prompts, analyses, strict=True)}
    nodes = compare_prompts(pool.name, nodes, own, settings)
    pairs = _compare_with_prompts(pairs, pool, analyses)
    about = {
        "kind": "global",
        "prompt": None,
        "prompts": [
            {
                "prompt": images.prompt,
                "images": image_numbers([images]),
                "edges": len(analysis.links),
            }
            for images, analysis in zip(prompts, analyses, strict=True)
        ],
        "edge_rule": asdict(settings.global_rule),
    }
    links = select_edges(pool, pairs)
    return assemble(about, nodes, pairs, links, pool, ideals, settings, prompts)


def _compare_with_prompts(
    pairs: Sequence[PairRow], pool: Pool, analyses: Sequence[Analysis]
) -> list[PairRow]:
    """Every pair of the sum with what the prompts say one by one."""
    index = {variable.name: i for i, variable in enumerate(pool.variables)}
    own: dict[tuple[str, str], list[float]] = {}
    for pair in (pair for analysis in analyses for pair in analysis.pairs):
        if pair.is_ is not None:
            own.setdefault((pair.source, pair.target), []).append(pair.is_)
    compared = []
    for pair in pairs:
        x, y = index[pair.source], index[pair.target]
        answers = pool.strata(x, y).sum(axis=2)
        values = own.get((pair.source, pair.target), [])
        mean = float(np.mean(values)) if values else None
        if pair.is_ is not None and _uneven(pool.initial(y).sum(axis=1), answers):
            pair = flag(pair, "uneven_prompts")
        if _opposite(pair.is_, mean):
            pair = flag(pair, "opposite_mean")
        compared.append(
            replace(
                pair,
                n_prompts=int(answers.any(axis=1).sum()),
                n_mean_prompts=len(values),
                is_mean_prompt=mean,
            )
        )
    return compared


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
