"""Does Intersectional Sensitivity predict mitigations?  On audits drawn from the sandbox's worlds.

    python -m benchmarks.validating --work outputs/validating

No image is made: the answers are drawn from the exact distributions of 26 occupations in two
worlds, 48 and 200 images a prompt, and every axis is diversified again as `biasgraph validate`
does.  The other model of the stereotyped world is the debiased one; the debiased world has none.
Each audit is written to ``DIR/validating-nN.jsonl`` as soon as it is done; rerun the same command
to resume.  The summary goes to ``DIR/validating.json`` and, as Markdown, to the terminal.

"Right in truth" and "r without noise" take the planted distributions in the place of the images.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
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
from benchmarks.resuming import measure_cases
from benchmarks.shares import write_json
from benchmarks.validating_summary import markdown, summarise
from biasgraph.causal.graph import measure_axes
from biasgraph.causal.mitigation_trials import (
    Claims,
    Kind,
    Mitigation,
    Moments,
    Trial,
    try_mitigation,
)
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages, Floats, Pool
from biasgraph.causal.transport import resolve_ideals, wasserstein
from biasgraph.causal.validation import correlations
from biasgraph.sandbox.world import AXES, OCCUPATIONS, Scene, World, joint, marginals, sample, world

SIZES = (48, 200)
NAMES = [variable.name for variable in VARIABLES]
PLACES = [list(AXES).index(name) for name in NAMES]
IDEALS = resolve_ideals(VARIABLES, None, None, None)
EVENED = ("gender", "age")
"""What the debiased model makes even."""
EDGE = 0.1  # the population V of a planted edge
CLOSER = 0.01  # an axis counts as truly mitigated by another model that brings it closer by more


def true_changes(world_name: str, occupation: str) -> dict[str, Floats]:
    """kind -> (8, 8) true change of distance, by source and target; its own under "predicted"."""
    truth = planted_truth(world_name, occupation)
    before = _distances([truth.initial[name] for name in NAMES])
    predicted = np.stack(
        [
            before
            - _distances(
                [np.mean([truth.arms[x, value][y] for value in AXES[x]], axis=0) for y in NAMES]
            )
            for x in NAMES
        ]
    )
    weighed = np.stack([before - _reweighted(world_name, occupation, x) for x in PLACES])
    other = planted_truth("debiased", occupation).initial
    change = before - _distances([other[name] for name in NAMES])
    return {
        "predicted": predicted,
        "fresh": predicted,
        "reweighted": weighed,
        "other_model": np.broadcast_to(change, predicted.shape),
    }


def true_at_once(
    occupation: str, closer: Sequence[int], edges: np.ndarray, model: World
) -> tuple[Floats, Floats]:
    """(8,) true changes when a model changes several axes, predicted by adding shifts, and real.

    The shifts of the stereotyped world's counterfactuals are added along edges.
    """
    truth = planted_truth("stereotyped", occupation)
    before = _distances([truth.initial[name] for name in NAMES])
    shifted = []
    for place, y in enumerate(NAMES):
        moved = truth.initial[y] + sum(
            np.mean([truth.arms[NAMES[x], value][y] for value in AXES[NAMES[x]]], axis=0)
            - truth.initial[y]
            for x in closer
            if edges[x, place]
        )
        kept = np.clip(moved, 0, None)
        shifted.append(kept / kept.sum())
    after = marginals(model, Scene(occupation))
    return before - _distances(shifted), before - _distances([after[name] for name in NAMES])


def _distances(shares: Sequence[Floats]) -> Floats:
    even = [np.full(len(one), 1 / len(one)) for one in shares]
    return np.array(
        [wasserstein(p, q, METRICS[y]) for p, q, y in zip(shares, even, NAMES, strict=True)]
    )


def _reweighted(world_name: str, occupation: str, x: int) -> Floats:
    """The true distances when all that the plain prompt shows of axis x weighs the same."""
    table = joint(world(world_name), Scene(occupation))
    every = range(table.ndim)
    share = table.sum(axis=tuple(axis for axis in every if axis != x), keepdims=True)
    even = table / share / table.shape[x]
    return _distances([even.sum(axis=tuple(a for a in every if a != y)) for y in PLACES])


def audit(case: Audit) -> dict[str, Any]:
    """Draw an audit and its mitigations, and try them; in plain JSON types."""
    place = [WORLDS.index(case.world), OCCUPATIONS.index(case.occupation), case.images]
    rng = np.random.default_rng([5_3, *place])
    images = draw_audit(case.world, case.occupation, case.images, rng)
    settings = AnalysisSettings.resolve(bootstrap=500, noise_draws=0)
    pool = Pool.of(images.prompt, [images])
    _, pairs = measure_axes(pool, IDEALS, settings, settings.prompt_rule)
    edges = np.array([pair.edge for pair in pairs]).reshape(len(NAMES), len(NAMES))
    claims = Claims.of(images, IDEALS, settings)
    again = draw_audit(case.world, case.occupation, case.images, rng)
    mitigations = [Mitigation("fresh", arms=again.arms), Mitigation("reweighted")]
    if case.world == "stereotyped":
        other = draw_audit("debiased", case.occupation, case.images, rng)
        known = frozenset(map(NAMES.index, EVENED))
        mitigations.append(Mitigation("other_model", plain=other.initial, axes=known))
    truth = true_changes(case.world, case.occupation)
    trials = [try_mitigation(images, one, IDEALS, edges, claims, settings) for one in mitigations]
    return {
        "audit": case.name(),
        "trials": {trial.kind: asdict(trial) for trial in trials},
        "truth": {
            trial.kind: _in_truth(trial.kind, case.occupation, truth, edges, claims)
            for trial in trials
        },
        "no_effect": asdict(_without_effect(images, case, edges, rng, settings)),
    }


def _in_truth(
    kind: Kind, occupation: str, truth: Mapping[str, Floats], edges: np.ndarray, claims: Claims
) -> dict[str, Any]:
    """What would be seen without noise along the audit's edges, and which claims are right."""
    change = truth[kind]
    closer = np.ones(len(NAMES), dtype=bool)
    if kind == "other_model":
        closer = (np.diagonal(change) > CLOSER) & np.isin(NAMES, EVENED)
    along = edges & closer[:, None]
    both = [np.stack([one[along]] * 2)[:, None] for one in (truth["predicted"], change)]
    joint_moments, others = Moments(), ~np.isin(NAMES, EVENED)
    if kind == "other_model" and along[:, others].any():
        each = true_at_once(occupation, np.flatnonzero(closer).tolist(), edges, world("debiased"))
        joint_moments = Moments.of(*(np.stack([one[others]] * 2)[:, None] for one in each))
    said = np.where(along, claims.signs, 0)
    apart = ~np.eye(len(NAMES), dtype=bool) & closer[:, None]
    return {
        "along_edges": asdict(Moments.of(*both)),
        "at_once": asdict(joint_moments),
        "signs": int((said != 0).sum()),
        "right": int((said * change > CLOSER * 1e-6).sum()),
        "pairs": int(apart.sum()),
        "harmed": int((apart & (change < -CLOSER * 1e-6)).sum()),
    }


def _without_effect(
    images: CodedImages,
    case: Audit,
    edges: np.ndarray,
    rng: np.random.Generator,
    settings: AnalysisSettings,
) -> Trial:
    """The same pairs where no prompt does anything: all arms are drawn from the plain prompt."""
    arms = sorted(images.arms)

    def plain() -> dict[tuple[int, int], Any]:
        drawn = [draw_plain(case, rng) for _ in arms]
        return dict(zip(arms, drawn, strict=True))

    idle = CodedImages(images.prompt, images.variables, images.initial, plain())
    silent = Claims(np.zeros((2, *edges.shape), dtype=np.int64), (idle, idle))
    mitigation = Mitigation("fresh", arms=plain())
    return try_mitigation(idle, mitigation, IDEALS, edges, silent, settings)


def draw_plain(case: Audit, rng: np.random.Generator) -> Any:
    """Codes (images, 8) of the plain prompt."""
    people = sample(world(case.world), Scene(case.occupation), case.images, rng)
    return people[:, PLACES].astype(np.int16)


def models() -> dict[str, Any]:
    """r without noise between predictions in the stereotyped world and what reweighting does.

    And between those for gender and age and what several models do, which differ from that world
    in the shares of the axes that they make even, and the debiased one in its links, too.  Edges
    are those of V >= .1.
    """
    stereotyped, debiased = world("stereotyped"), world("debiased")

    def evened(*axes: str) -> World:
        shares = {
            job: {**own, **{axis: debiased.shares[job][axis] for axis in axes}}
            for job, own in stereotyped.shares.items()
        }
        return replace(stereotyped, shares=shares)

    both = evened(*EVENED)
    one = {axis: evened(axis) for axis in EVENED}
    rows = {
        "a model makes gender or age alone even": one,
        "a model makes both even": dict.fromkeys(one, both),
        "the debiased model, which also drops links": dict.fromkeys(one, debiased),
    }
    found: dict[str, Any] = {
        "reweighting, all pairs": _true_r_reweighted(lambda job: ~np.eye(len(NAMES), dtype=bool)),
        "reweighting, edges": _true_r_reweighted(_planted_edges),
    }
    found |= {title: _true_r(by_axis) for title, by_axis in rows.items()}
    for title, model in (("both even", both), ("the debiased model", debiased)):
        found[f"all axes at once, {title}"] = _true_r_at_once(model)
    return found


def _planted_edges(occupation: str) -> np.ndarray:
    edges = np.zeros((len(NAMES), len(NAMES)), dtype=bool)
    for pair in planted_truth("stereotyped", occupation).pairs:
        if (pair.cramers_v or 0) >= EDGE:
            edges[NAMES.index(pair.source), NAMES.index(pair.target)] = True
    return edges


def _true_r_reweighted(pairs_of: Callable[[str], np.ndarray]) -> dict[str, Any]:
    moments = []
    for job in OCCUPATIONS:
        truth, pairs = true_changes("stereotyped", job), pairs_of(job)
        moments.append(_moments(truth["predicted"][pairs], truth["reweighted"][pairs]))
    return _r_of(moments)


def _true_r(model_of: Mapping[str, World]) -> dict[str, Any]:
    moments = []
    for job in OCCUPATIONS:
        predicted, edges = true_changes("stereotyped", job)["predicted"], _planted_edges(job)
        expected, seen = [], []
        for axis, model in model_of.items():
            x = NAMES.index(axis)
            change = true_at_once(job, [], edges, model)[1]
            if change[x] > CLOSER:
                expected.append(predicted[x, edges[x]])
                seen.append(change[edges[x]])
        moments.append(_moments(np.concatenate([*expected, []]), np.concatenate([*seen, []])))
    return _r_of(moments)


def _true_r_at_once(model: World) -> dict[str, Any]:
    moments = []
    for job in OCCUPATIONS:
        edges = _planted_edges(job)
        change = true_at_once(job, [], edges, model)[1]
        closer = [x for x in map(NAMES.index, EVENED) if change[x] > CLOSER]
        others = [y for y in range(len(NAMES)) if y not in closer]
        expected = true_at_once(job, closer, edges, model)[0]
        moments.append(_moments(expected[others], change[others]) if closer else Moments())
    return _r_of(moments)


def _moments(expected: Floats, seen: Floats) -> Moments:
    return Moments.of(*(np.stack([one, one])[:, None] for one in (expected, seen)))


def _r_of(moments: Sequence[Moments]) -> dict[str, Any]:
    """r within prompts, and how many prompts and pairs it rests on."""
    sums = {name: sum(getattr(one, name) for one in moments) for name in asdict(Moments())}
    found = correlations(Moments(**sums))
    return {
        "r": found["r"].value,
        "slope": found["slope"].value,
        "prompts": sum(one.pairs > 0 for one in moments),
        "pairs": sums["pairs"],
    }


def main() -> None:
    """Measure what is missing, summarise all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="where records are kept")
    parser.add_argument("--limit", type=int, help="only so many occupations")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args()
    summary = {}
    for size in SIZES:
        path = options.work / f"validating-n{size}.jsonl"
        cases = planned(size, options.limit)
        summary[str(size)] = summarise(measure_cases(cases, audit, path, options.jobs))
    write_json(options.work / "validating.json", summary)
    print(markdown(summary, models()))


if __name__ == "__main__":
    main()
