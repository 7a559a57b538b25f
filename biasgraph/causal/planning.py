"""Which single intervention brings an axis closest to its ideal (BiasConnect sec. 6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biasgraph.causal.intervals import ROUNDING
from biasgraph.causal.matching import matched_distance
from biasgraph.causal.resampling import resample
from biasgraph.causal.sensitivity import weigh_alike
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import Counts, Floats, Pool
from biasgraph.causal.transport import Ideal

Record = Mapping[str, Any]

SURE = 0.95  # of being the best; without it nothing is recommended

STRATEGY_FIELDS = ("is", "is_ci_low", "is_ci_high", "w1_after", "sign", "sign_probability", "flags")


def rank_strategies(
    pool: Pool,
    ideals: Sequence[Ideal],
    nodes: Sequence[Record],
    pairs: Sequence[Record],
    settings: AnalysisSettings,
) -> dict[str, Any]:
    """Rank the single interventions for every axis, its own among them.

    Args:
        pool: The images.
        ideals: Of the pool's variables.
        nodes: Those of the pool's graph, as graph.json has them.
        pairs: Those of the pool's graph, as pairs.csv has them; numbers and signs are taken over.
        settings: Of the analysis.

    Returns:
        In plain JSON types, `axes`: for each its `strategies`, best first, each with `helps` (see
        `_helps`) and `p_best`, its share of bootstrap replicates in which it leaves the axis
        closest to the ideal, at one common number of images; `verdict`; `recommended`, where one
        is; `contenders`, the fewest strategies that are best in 95 % of replicates; `brought_by`,
        see `_brought_by`. `interventions`: for each that is recommended, what it does to the other
        axes. `comparisons`: how many strategies were weighed for all axes off their ideal.

        A verdict is "near_ideal": the axis cannot be told from its ideal by so many images, which
        is not closeness, and nothing they show calls for an intervention;
        "recommended": one strategy is best in 95 % of replicates, and helps; "any": several share
        these 95 %, and each helps; "undecided": some that do help, or may, cannot be told apart;
        "nothing": none is seen to help; "insufficient": too few valid answers.
    """
    index = {variable.name: y for y, variable in enumerate(pool.variables)}
    measured = [pair for pair in pairs if pair["is"] is not None]
    axes = []
    for node in nodes:
        into, y = [pair for pair in measured if pair["target"] == node["id"]], index[node["id"]]
        sources = [index[pair["source"]] for pair in into]
        best = _best_shares(pool, y, sources, ideals[y], settings)
        axes.append(_rank_strategies(node, into, best, settings))
    recommended = [axis["recommended"] for axis in axes if axis["recommended"]]
    chosen = [name for name in index if name in recommended]
    for axis in axes:
        axis["brought_by"] = _brought_by(axis, chosen)
    return {
        "axes": axes,
        "interventions": [_effects(name, axes, measured) for name in chosen],
        "comparisons": sum(len(axis["strategies"]) for axis in axes if axis["near_ideal"] is False),
    }


def _rank_strategies(
    node: Record, into: Sequence[Record], best: Floats, settings: AnalysisSettings
) -> dict[str, Any]:
    """An axis with its strategies, best first."""
    strategies = [
        {
            "axis": pair["source"],
            "direct": pair["source"] == pair["target"],
            **{name: pair[name] for name in STRATEGY_FIELDS},
            "helps": _helps(pair, settings),
            "p_best": float(share),
        }
        for pair, share in zip(into, best, strict=True)
    ]
    strategies.sort(key=lambda strategy: (-strategy["p_best"], -strategy["is"]))
    reach = np.cumsum([strategy["p_best"] for strategy in strategies])
    contenders = strategies[: int(np.searchsorted(reach, SURE - 1e-9)) + 1]
    verdict = _verdict(node, strategies, contenders)
    return {
        "axis": node["id"],
        "w1": node["w1"],
        "w1_ci": node["w1_ci"],
        "by_chance": node["w1_null"]["q95"],
        "near_ideal": node["near_ideal"],
        "n_valid": node["initial"]["n_valid"],
        "ideal": node["ideal"],
        "metric": node["metric"],
        "verdict": verdict,
        "recommended": contenders[0]["axis"] if verdict == "recommended" else None,
        "contenders": [strategy["axis"] for strategy in contenders],
        "strategies": strategies,
    }


def _verdict(node: Record, strategies: Sequence[Record], contenders: Sequence[Record]) -> str:
    if node["near_ideal"] is None or not strategies:
        return "insufficient"
    if node["near_ideal"]:
        return "near_ideal"
    if all(strategy["helps"] for strategy in contenders):
        return "recommended" if len(contenders) == 1 else "any"
    return "undecided" if any(strategy["helps"] for strategy in strategies) else "nothing"


def _brought_by(axis: Record, chosen: Sequence[str]) -> list[dict[str, Any]]:
    """The recommended interventions on other axes that bring this one closer as well.

    `all_the_way`: what is left then is no more than chance gives images drawn from the ideal, so
    that nothing calls for an intervention of its own.
    """
    if axis["near_ideal"] is not False:
        return []
    return [
        {
            "axis": strategy["axis"],
            "w1_after": strategy["w1_after"],
            "all_the_way": bool(strategy["w1_after"] <= axis["by_chance"] + ROUNDING),
        }
        for strategy in axis["strategies"]
        if strategy["axis"] in chosen and strategy["helps"] and not strategy["direct"]
    ]


def _effects(name: str, axes: Sequence[Record], measured: Sequence[Record]) -> dict[str, Any]:
    """What a recommended intervention does: to whom it is recommended, and to all others.

    An axis is moved where the graph has an edge with a direction. In the sandbox's worlds the
    direction alone, without the edge's test, is no effect at all in a third of cases.
    """
    others = [pair for pair in measured if pair["source"] == name != pair["target"]]
    moved = {
        sign: [pair["target"] for pair in others if pair["edge"] and pair["sign"] == sign]
        for sign in ("towards", "away")
    }
    known = [*moved["towards"], *moved["away"]]
    return {
        "axis": name,
        "recommended_for": [axis["axis"] for axis in axes if axis["recommended"] == name],
        **moved,
        "undetermined": [pair["target"] for pair in others if pair["target"] not in known],
    }


def _helps(pair: Record, settings: AnalysisSettings) -> bool:
    """Whether an intervention is seen to move the target towards its ideal.

    It must be an edge of the graph; an axis's own intervention, which never is one, must pass the
    same test at the level for one prompt.
    """
    direct = pair["source"] == pair["target"]
    seen = pair["p"] <= settings.alpha if direct else pair["edge"]
    return bool(seen and pair["sign"] == "towards")


def _best_shares(
    pool: Pool, y: int, sources: Sequence[int], ideal: Ideal, settings: AnalysisSettings
) -> Floats:
    """(sources,) the share of replicates in which each leaves y closest to the ideal; ties split.

    Interventions on different axes share no images, so resampling each one's valid answers about
    y is the same as resampling whole images. A distance leans upwards the more, the fewer images
    it rests on; all are therefore taken at the number of answers that the smallest intervention has
    with its arms even.
    """
    if not sources:
        return np.zeros(0)
    rng = generator(settings.seed, pool.name, "plan", pool.variables[y].name)
    shares = ideal.draws(settings.bootstrap, rng)
    strata = [pool.strata(x, y) for x in sources]
    fewest = min(_usable(counts.sum(axis=(0, 2))) for counts in strata)
    after = np.stack(
        [
            _distance_after(draws.sum(axis=1), fewest, ideal, shares, rng)
            for draws in (resample(counts, settings.bootstrap, rng) for counts in strata)
        ]
    )
    is_best = after <= after.min(axis=0) + ROUNDING
    return np.asarray((is_best / is_best.sum(axis=0)).mean(axis=1))


def _usable(sizes: Counts) -> int:
    """The answers of arms (J,) when those that lost many weigh no less than the others."""
    return int(sizes.sum() if weigh_alike(sizes) else len(sizes) * sizes.min())


def _distance_after(
    arms: Counts, images: int, ideal: Ideal, shares: Floats, rng: np.random.Generator
) -> Floats:
    """(B,) expected distance of `images` answers out of all arms (B, J, k), arms kept even."""
    sizes = arms[0].sum(axis=1)
    if weigh_alike(sizes):
        arms, taken = arms.sum(axis=1, keepdims=True), np.array([images])
    else:
        taken = np.full(len(sizes), images // len(sizes))
    return matched_distance(arms, taken, ideal, rng, shares=shares)
