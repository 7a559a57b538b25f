"""Are mitigation plans right?  Recommendations and predictions against the sandbox's planted truth.

    python -m benchmarks.planning --work outputs/planning

No image is made: the answers are drawn from the exact distributions of 26 occupations in two
worlds, 48 and 200 images a prompt.  Each audit is planned for as ``biasgraph plan`` does and
written to ``DIR/planning-nN.jsonl`` as soon as it is done; rerun the same command to
resume.  The summary goes to ``DIR/planning.json`` and, as Markdown, to the terminal.

Every axis is also planned for *as if its own intervention had not been made* ("other axes only"):
in a world in which prompts are obeyed, an axis's own intervention always is the best one.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exact import (
    METRICS,
    VARIABLES,
    WORLDS,
    Audit,
    draw_audit,
    planned,
    planted_truth,
)
from benchmarks.planning_summary import PLANS, TIE, markdown, summarise
from benchmarks.resuming import measure_cases
from benchmarks.shares import write_json
from biasgraph.causal.graph import measure_axes
from biasgraph.causal.greedy import Edges, Shifts, Target, greedy_plan
from biasgraph.causal.planning import rank_strategies
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Pool
from biasgraph.causal.transport import Ideal, resolve_ideals, wasserstein
from biasgraph.sandbox.planted_truth import intervene
from biasgraph.sandbox.world import AXES, OCCUPATIONS, Scene, marginals, world

SIZES = (48, 200)
NAMES = [variable.name for variable in VARIABLES]
BOOTSTRAP = 1000


def true_after(world_name: str, occupation: str, source: str, target: str) -> float:
    """The true distance of the target to its ideal with the source diversified, itself included."""
    truth = planted_truth(world_name, occupation)
    arms = np.stack([truth.arms[source, attribute][target] for attribute in AXES[source]])
    return _distance(target, arms.mean(axis=0))


def true_before(world_name: str, occupation: str, target: str) -> float:
    """The true distance of the target to its ideal in the plain prompt."""
    return _distance(target, planted_truth(world_name, occupation).initial[target])


def _distance(target: str, shares: np.ndarray) -> float:
    even = np.full(len(shares), 1 / len(shares))
    return float(wasserstein(shares, even, METRICS[target]))


@cache
def true_joint(world_name: str, occupation: str, chosen: tuple[str, ...]) -> Mapping[str, Any]:
    """axis -> (k,) true shares with several axes set, all combinations of attributes alike."""
    parts = []
    for attributes in product(*(AXES[axis] for axis in chosen)):
        scene = Scene(occupation)
        for axis, attribute in zip(chosen, attributes, strict=True):
            scene = intervene(scene, axis, attribute)
        parts.append(marginals(world(world_name), scene))
    return {axis: np.mean([part[axis] for part in parts], axis=0) for axis in AXES}


def audit(case: Audit) -> dict[str, Any]:
    """Draw an audit and plan for it; what the summary needs of it, in plain JSON types."""
    world_name, occupation, images = case.world, case.occupation, case.images
    place = [WORLDS.index(world_name), OCCUPATIONS.index(occupation)]
    coded = draw_audit(world_name, occupation, images, np.random.default_rng([6_3, *place, images]))
    settings = AnalysisSettings.resolve(bootstrap=BOOTSTRAP, noise_draws=0)
    pool = Pool.of(coded.prompt, [coded])
    ideals = resolve_ideals(VARIABLES, None, None, None)
    nodes, pairs = records(pool, ideals, settings)
    indirect = [pair for pair in pairs if pair["source"] != pair["target"]]
    ranked = {
        "all": rank_strategies(pool, ideals, nodes, pairs, settings),
        "other axes only": rank_strategies(pool, ideals, nodes, indirect, settings),
    }
    truth = planted_truth(world_name, occupation)
    known = (world_name, occupation)
    return {
        "audit": case.name(),
        "axes": [
            _axis(kind, axis, *known) for kind, found in ranked.items() for axis in found["axes"]
        ],
        "signs": [
            [pair["sign"], truth.by_name[pair["source"], pair["target"]].sensitivity]
            for pair in indirect
            if pair["source"] in [one["axis"] for one in ranked["all"]["interventions"]]
        ],
        "effects": [
            [sign, truth.by_name[one["axis"], target].sensitivity]
            for one in ranked["all"]["interventions"]
            for sign in ("towards", "away", "undetermined")
            for target in one[sign]
        ],
        "plans": [_plan(kind, pool, ideals, edges_of(pairs), settings, *known) for kind in PLANS],
        "null": _null(coded, ideals, settings),
    }


def records(
    pool: Pool, ideals: Sequence[Ideal], settings: AnalysisSettings
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The nodes and pairs of the pool's graph, as graph.json and pairs.csv have them."""
    nodes, pairs = measure_axes(pool, ideals, settings, settings.prompt_rule)
    return [node.record() for node in nodes], [pair.record() for pair in pairs]


def edges_of(pairs: Sequence[Mapping[str, Any]]) -> Edges:
    """The pairs of indices that are edges."""
    return {(NAMES.index(p["source"]), NAMES.index(p["target"])) for p in pairs if p["edge"]}


def _null(
    coded: CodedImages, ideals: Sequence[Ideal], settings: AnalysisSettings
) -> dict[str, Any]:
    """What is recommended and planned where no intervention does anything, not even to its axis.

    All images are dealt out anew from the initial ones.
    """
    rng = np.random.default_rng(len(coded.initial))
    n = len(coded.initial)
    dealt = {arm: coded.initial[rng.integers(0, n, n)] for arm in sorted(coded.arms)}
    pool = Pool.of(coded.prompt, [replace(coded, arms=dealt)])
    nodes, pairs = records(pool, ideals, settings)
    axes = rank_strategies(pool, ideals, nodes, pairs, settings)["axes"]
    targets = [Target(y, 1.0, ideal) for y, ideal in enumerate(ideals)]
    return {
        "off": sum(axis["near_ideal"] is False for axis in axes),
        "recommended": sum(axis["verdict"] in ("recommended", "any") for axis in axes),
        "planned": bool(greedy_plan(pool, targets, edges_of(pairs), settings, steps=1)["steps"]),
    }


def _axis(kind: str, axis: Mapping[str, Any], world_name: str, occupation: str) -> dict[str, Any]:
    """One axis: what was said of it, and how that stands against the truth."""
    name = axis["axis"]
    before = true_before(world_name, occupation, name)
    sources = [one["axis"] for one in axis["strategies"]]
    after = {x: true_after(world_name, occupation, x, name) for x in sources}
    best = min(after.values())
    contenders = [after[x] for x in axis["contenders"]]
    return {
        "kind": kind,
        "axis": name,
        "verdict": axis["verdict"],
        "before": before,
        "best": best,
        "recommended": axis["recommended"] and after[axis["recommended"]],
        "holds_best": bool(contenders) and min(contenders) <= best + TIE,
        "worst_contender": max(contenders, default=None),
        "brought_by": [[after[one["axis"]], one["all_the_way"]] for one in axis["brought_by"]],
    }


def _plan(
    kind: str,
    pool: Pool,
    ideals: Sequence[Ideal],
    edges: Edges,
    settings: AnalysisSettings,
    world_name: str,
    occupation: str,
) -> dict[str, Any]:
    """A greedy plan: predicted distances against the true ones of the joint intervention."""
    if kind == "every axis":
        targets = [Target(y, 1.0, ideal) for y, ideal in enumerate(ideals)]
    else:  # the two furthest from their ideals
        far = sorted(
            range(len(NAMES)), key=lambda y: -true_before(world_name, occupation, NAMES[y])
        )
        targets = [Target(y, 1.0, ideals[y]) for y in sorted(far[:2])]
    found = greedy_plan(pool, targets, edges, settings)
    chosen = [NAMES.index(step["axis"]) for step in found["steps"]]
    every = range(len(NAMES))
    seen = Shifts.observe(pool, list(every), edges, settings.mix)
    rows = []
    for many in range(2, len(chosen) + 1):
        axes = tuple(sorted(NAMES[x] for x in chosen[:many]))
        joint = true_joint(world_name, occupation, axes)
        for row in found["steps"][many - 1]["targets"]:
            y = NAMES.index(row["axis"])
            plain = seen.initial[y] + sum(seen.after[x][y] - seen.initial[y] for x in chosen[:many])
            plain = np.clip(plain, 0, None)
            rows.append(
                {
                    "steps": many,
                    "axis": row["axis"],
                    "in_plan": y in chosen[:many],
                    "predicted": row["distance"],
                    "ci": row["distance_ci"],
                    "true": _distance(row["axis"], joint[row["axis"]]),
                    "all_shifts": float(_distance(row["axis"], (plain / plain.sum())[0])),
                }
            )
    total = {
        "before": sum(true_before(world_name, occupation, NAMES[t.variable]) for t in targets),
        "after": _true_sum(world_name, occupation, [NAMES[x] for x in chosen], targets),
        "best": min(
            _true_sum(world_name, occupation, subset, targets)
            for subset in combinations(NAMES, len(chosen))
        )
        if kind == "two axes" and chosen
        else None,
    }
    steps = []
    for many in range(1, len(chosen) + 1):
        ends = [[NAMES[x] for x in chosen[:n]] for n in (many - 1, many)]
        before, after = (_true_sum(world_name, occupation, end, targets) for end in ends)
        steps.append(before - after)
    return {"kind": kind, "chosen": [NAMES[x] for x in chosen], "rows": rows, "true_gains": steps,
            "total": total}  # fmt: skip


def _true_sum(
    world_name: str, occupation: str, chosen: Sequence[str], targets: Sequence[Target]
) -> float:
    joint = true_joint(world_name, occupation, tuple(sorted(chosen)))
    return sum(_distance(NAMES[t.variable], joint[NAMES[t.variable]]) for t in targets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("outputs/planning"))
    parser.add_argument("--small", action="store_true", help="2 occupations, to try the script")
    options = parser.parse_args()
    limit = 2 if options.small else None
    summary = {
        str(images): summarise(
            measure_cases(planned(images, limit), audit, options.work / f"planning-n{images}.jsonl")
        )
        for images in SIZES
    }
    write_json(options.work / "planning.json", summary)
    print(markdown(summary))


if __name__ == "__main__":
    main()
