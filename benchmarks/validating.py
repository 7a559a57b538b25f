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
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from benchmarks.exact import METRICS, VARIABLES, WORLDS, draw_audit, planted_truth
from benchmarks.resuming import measure_cases
from benchmarks.shares import clustered, number, shown, table, write_json
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
from biasgraph.causal.validation import Estimate, summarize_trials
from biasgraph.sandbox.world import AXES, OCCUPATIONS, Scene, joint, world

SIZES = (48, 200)
NAMES = [variable.name for variable in VARIABLES]
PLACES = [list(AXES).index(name) for name in NAMES]
IDEALS = resolve_ideals(VARIABLES, None, None, None)
CLOSER = 0.01  # an axis counts as truly mitigated by another model that brings it closer by more
TITLES = {"fresh": "fresh prompts", "reweighted": "reweighting", "other_model": "other model"}
ROWS = {
    "r, mean of prompts": "r_mean",
    "r within prompts": "r",
    "its noise ceiling": "ceiling",
    "r / ceiling": "r_of_ceiling",
    "slope": "slope",
    "r with shared initial images": "r_shared",
}


@dataclass(frozen=True)
class Audit:
    """Which world and occupation to audit, and with how many images a prompt."""

    world: str
    occupation: str
    images: int

    def name(self) -> list[Any]:
        """What tells this audit from all others."""
        return [self.world, self.occupation, self.images]


def planned(images: int, limit: int | None) -> list[Audit]:
    """Both worlds of every occupation, or of the first `limit` ones."""
    return [Audit(name, job, images) for job in OCCUPATIONS[:limit] for name in WORLDS]


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
        mitigations.append(Mitigation("other_model", plain=other.initial))
    truth = true_changes(case.world, case.occupation)
    trials = [try_mitigation(images, one, IDEALS, edges, claims, settings) for one in mitigations]
    return {
        "audit": case.name(),
        "trials": {trial.kind: asdict(trial) for trial in trials},
        "truth": {trial.kind: _in_truth(trial.kind, truth, edges, claims) for trial in trials},
        "no_effect": asdict(_without_effect(images, case, edges, rng, settings)),
    }


def _in_truth(
    kind: Kind, truth: Mapping[str, Floats], edges: np.ndarray, claims: Claims
) -> dict[str, Any]:
    """What would be seen without noise along the audit's edges, and which claims are right."""
    change = truth[kind]
    closer = np.diagonal(change) > CLOSER if kind == "other_model" else np.ones(len(NAMES), bool)
    along = edges & closer[:, None]
    both = [np.stack([one[along]] * 2)[:, None] for one in (truth["predicted"], change)]
    said = np.where(along, claims.signs, 0)
    apart = ~np.eye(len(NAMES), dtype=bool) & closer[:, None]
    return {
        "moments": asdict(Moments.of(*both)),
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
    from biasgraph.sandbox.world import sample

    people = sample(world(case.world), Scene(case.occupation), case.images, rng)
    return people[:, PLACES].astype(np.int16)


def summarise(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The validation of each mitigation over all audits, with the truth beside it."""
    kinds: dict[str, Any] = {}
    for kind in get_args(Kind):
        own = [record for record in records if kind in record["trials"]]
        if not own:
            continue
        truth = [record["truth"][kind] for record in own]
        flat = [_trial(record["trials"][kind], one["moments"])
                for record, one in zip(own, truth, strict=True)]  # fmt: skip
        kinds[kind] = {
            **asdict(summarize_trials([_trial(record["trials"][kind]) for record in own], 0)),
            "r_without_noise": asdict(summarize_trials(flat, 0).edges.r),
            "right_in_truth": _share(truth, "right", "signs"),
            "harmed_in_truth": _share(truth, "harmed", "pairs"),
        }
    idle = asdict(summarize_trials([_trial(record["no_effect"]) for record in records], 0))
    return {"audits": len(records), "kinds": kinds, "no_effect": idle}


def _share(truth: Sequence[Mapping[str, Any]], hits: str, of: str) -> dict[str, Any]:
    return clustered([one[hits] for one in truth], [one[of] for one in truth])


def _trial(record: Mapping[str, Any], edges: Mapping[str, Any] | None = None) -> Trial:
    moments = {name: Moments(**(record[name])) for name in ("along_edges", "along_all")}
    if edges is not None:
        moments["along_edges"] = Moments(**edges)
    return Trial(**{**record, **moments})


def markdown(summary: Mapping[str, Any]) -> str:
    """The tables of docs/statistics.md."""
    parts = []
    for size, one in summary.items():
        kinds = one["kinds"]
        lines: list[list[str]] = []
        for what, field in (("edges", "edges"), ("all pairs", "all_pairs")):
            lines.append([f"**{what}**", *(f"{own[field]['pairs']:,}" for own in kinds.values())])
            for title, name in ROWS.items():
                lines.append([title, *(_estimate(own[field][name]) for own in kinds.values())])
        lines += [
            [
                "edges: r without noise",
                *(_estimate(own["r_without_noise"]) for own in kinds.values()),
            ],
            ["**directions claimed**", *(f"{own['signs']:,}" for own in kinds.values())],
            ["came true", *(_estimate(own["signs_kept"]) for own in kinds.values())],
            ["**seen clearly, too**", *(f"{own['clear_signs']:,}" for own in kinds.values())],
            ["same direction", *(_estimate(own["clear_signs_kept"]) for own in kinds.values())],
            ["right in truth", *(shown(own["right_in_truth"]) for own in kinds.values())],
            ["**mitigated pairs**", *(f"{own['pairs']:,}" for own in kinds.values())],
            ["moved away", *(_estimate(own["harmed"]) for own in kinds.values())],
            ["clearly so", *(_estimate(own["harmed_clearly"]) for own in kinds.values())],
            ["in truth", *(shown(own["harmed_in_truth"]) for own in kinds.values())],
            ["axes mitigated, distance", *(_moved(own) for own in kinds.values())],
        ]
        parts.append(table([f"n = {size}", *(TITLES[kind] for kind in kinds)], lines))
        idle = one["no_effect"]
        rows = [[title, *(_estimate(idle[field][name]) for field in ("edges", "all_pairs"))]
                for title, name in ROWS.items() if name in ("r", "r_shared")]  # fmt: skip
        parts.append(table([f"n = {size}, no prompt does anything", "edges", "all pairs"], rows))
    return "\n".join(parts)


def _each(kinds: Mapping[str, Any], name: str) -> list[Any]:
    return [own[name] for own in kinds.values()]


def _estimate(record: Mapping[str, Any]) -> str:
    one = Estimate(**record)
    if one.low is None:
        return number(one.value)
    return shown({"value": one.value, "low": one.low, "high": one.high})


def _moved(own: Mapping[str, Any]) -> str:
    return f"{number(own['before'])} to {number(own['after'])}"


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
    print(markdown(summary))


if __name__ == "__main__":
    main()
