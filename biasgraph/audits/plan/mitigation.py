"""A mitigation plan for a finished run (BiasConnect sec. 6.3), and what it came to.

Which single intervention brings each axis closest to its ideal; in which order several should be
added to reach some targets; and, where asked, images of the joint prompts as the check.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.compare.evidence import Evidence, evidence_of
from biasgraph.audits.pipeline_options import PlanOptions
from biasgraph.audits.plan.targets import every_axis, read_targets
from biasgraph.audits.plan.verification import JointPlan, run_of
from biasgraph.causal.greedy import Target, greedy_plan
from biasgraph.causal.outcome import compare_outcome
from biasgraph.causal.planning import rank_strategies
from biasgraph.causal.pooling import NAME
from biasgraph.causal.tables import Pool
from biasgraph.data.result import Result, load
from biasgraph.io.writing import write_files
from biasgraph.runs.progress import duration
from biasgraph.runs.record import installed_versions

if TYPE_CHECKING:
    from biasgraph.runs.progress import Progress

SCHEMA = "biasgraph-plan/1"
PLAN = "plan.json"

Document = dict[str, Any]

NO_PLAN: Document = {
    "assumption": None, "before": None, "steps": [], "stopped": "insufficient", "next": None,
    "left_out": [],
}  # fmt: skip


def plan(
    options: PlanOptions, progress: Progress | None = None, command: Sequence[str] = ()
) -> Document:
    """Plan, verify if asked to, and write plan.json; returns its document.

    Raises:
        InputError: there is no finished run, or the options or the targets are wrong; nothing has
            been made or written by then.
        Interrupted: the user stopped the verification; the same call goes on from there.
        ModelError: a model or the disk failed.
    """
    result = load(options.run)
    if options.verify:
        run_of(result)
    evidence = evidence_of(result)
    name = result.document["graph"]["prompt"] or NAME
    pool = Pool.of(name, sorted(evidence.images, key=lambda images: images.prompt))
    targets = _targets(options.targets, evidence)
    document = _planned(result, evidence, pool, targets, options)
    if options.verify:
        document["verification"] = _verified(
            result, evidence, pool, targets, document["plan"], options, progress, command
        )
    content = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_files(options.output or options.run, {PLAN: content.encode("utf-8", "surrogatepass")})
    return document


def _targets(path: Path | None, evidence: Evidence) -> list[Target]:
    if path is None:
        return every_axis(evidence.ideals)
    variables = evidence.images[0].variables
    return read_targets(path, variables, evidence.ideals, evidence.settings.metric)


def _planned(
    result: Result, evidence: Evidence, pool: Pool, targets: Sequence[Target], options: PlanOptions
) -> Document:
    settings, graph = evidence.settings, result.document["graph"]
    edges = _edges(result, evidence)
    enough = [target for target in targets if _answered(pool, target, settings.min_valid)]
    return {
        "schema": SCHEMA,
        "graph": {
            name: graph.get(name)
            for name in ("kind", "prompt", "prompts", "subject", "model", "vqa", "toy", "images",
                         "ideal", "settings")
        },
        "versions": installed_versions(),
        "strategies": rank_strategies(
            pool, evidence.ideals, result.document["nodes"], result.pair_records(), settings
        ),
        "plan": {
            "source": None if options.targets is None else options.targets.name,
            "goals": [_goal(pool, target, target in enough) for target in targets],
            **(greedy_plan(pool, enough, edges, settings, options.steps) if enough else NO_PLAN),
        },
        "verification": None,
    }  # fmt: skip


def _edges(result: Result, evidence: Evidence) -> set[tuple[int, int]]:
    place = {name: y for y, name in enumerate(evidence.axes)}
    return {(place[link["source"]], place[link["target"]]) for link in result.document["links"]}


def _answered(pool: Pool, target: Target, min_valid: int) -> bool:
    return pool.total.initial[target.variable].n_valid >= min_valid


def _goal(pool: Pool, target: Target, enough: bool) -> dict[str, Any]:
    variable, counts = pool.variables[target.variable], pool.total.initial[target.variable]
    return {
        "axis": variable.name,
        "attributes": list(variable.attributes),
        "weight": target.weight,
        "ideal": target.ideal.shares.tolist(),
        "metric": target.ideal.metric,
        "n_valid": counts.n_valid,
        "status": "ok" if enough else "insufficient",
    }


def _verified(
    result: Result,
    evidence: Evidence,
    pool: Pool,
    targets: Sequence[Target],
    planned: Document,
    options: PlanOptions,
    progress: Progress | None,
    command: Sequence[str],
) -> Document:
    """The joint images of the planned interventions, set against what was predicted."""
    names = [variable.name for variable in pool.variables]
    chosen = [name for name in names if name in {step["axis"] for step in planned["steps"]}]
    document: Document = {"axes": chosen, "status": "ok"}
    if len(chosen) < 2:  # what a single intervention does is what the run has measured
        return {**document, "status": "nothing_joint" if chosen else "nothing_planned"}
    work = JointPlan.of(result, chosen, options.verify_images, options.axes, command, progress)
    size = work.size()
    if progress is not None:
        progress.note(cost(size))
    joint = work.carry_out(pool.variables)
    with_answers = [t for t in targets if _answered(pool, t, evidence.settings.min_valid)]
    indices = [names.index(name) for name in chosen]
    return {
        **document,
        **size,
        "prompts": [prompt.text for prompt in work.prompts],
        "targets": compare_outcome(
            joint, pool, indices, with_answers, _edges(result, evidence), evidence.settings
        ),
    }


def cost(size: Document) -> str:
    """What a verification takes, in a line."""
    seconds = size["seconds"]
    pace = "time not known" if seconds is None else f"about {duration(seconds)} on two CPU cores"
    return (
        f"Verification: {size['combinations']:,} combinations x {size['images_per_combination']:,} "
        f"images = {size['images']:,} images, {size['questions']:,} questions; {pace}; what the "
        "run has already is not made again"
    )
