"""Does `biasgraph compare` cry wolf, and what does it miss?  Audits of known worlds, compared.

    python -m benchmarks.comparing --work DIR --jobs 2

No image is made: answers are drawn from the worlds' exact distributions, so these are rates of
the toy's world and of a judge without error.  Every comparison goes through
``biasgraph.causal.comparing`` and is written to ``DIR/comparing.jsonl`` as soon as it is done, so
rerun the same command to resume.  The summary goes to ``DIR/comparing.json`` and,
as Markdown, to the terminal; docs/comparison.md has it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exact import METRICS, VARIABLES, WORLDS, draw_audit, planted_truth
from benchmarks.resuming import measure_cases
from benchmarks.shares import Estimate, clustered, shown, table, wilson, write_json
from biasgraph.causal.comparing import Comparing
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.strengths import Strengths
from biasgraph.causal.tables import Floats, Pool
from biasgraph.causal.transport import resolve_ideals, wasserstein
from biasgraph.sandbox.planted_truth import Truth
from biasgraph.sandbox.world import OCCUPATIONS

PAIRS = [(x, y) for x, y in permutations(range(len(VARIABLES)), 2)]
NAMES = [variable.name for variable in VARIABLES]
SIZES = ((0.0, 0.02), (0.02, 0.05), (0.05, 0.1), (0.1, 0.2), (0.2, 1.0))
"""True changes of IS, by their size."""


@dataclass(frozen=True)
class Case:
    """Two audits to compare: their worlds, how many images a prompt each, and their prompts."""

    worlds: tuple[str, str]
    images: tuple[int, int]
    occupations: tuple[tuple[str, ...], tuple[str, ...]]
    replicate: int

    @property
    def kind(self) -> str:
        """The cell of the summary that this case belongs to."""
        of = "the same world" if self.worlds[0] == self.worlds[1] else "the two worlds"
        if self.occupations[0] != self.occupations[1]:
            of = "two occupations"
        number = len(self.occupations[0])
        prompts = "1 prompt" if number == 1 else f"{number} prompts"
        n = " and ".join(str(one) for one in dict.fromkeys(self.images))
        return f"{of}, {prompts}, {n} images"

    def name(self) -> list[Any]:
        """What tells this case from all others, in JSON types."""
        return json.loads(json.dumps(list(asdict(self).values())))


def compared(case: Case) -> dict[str, Any]:
    """Draw and compare the two audits of a case; what the summary needs, in plain JSON types."""
    settings = AnalysisSettings.resolve(seed=case.replicate)
    ideals = resolve_ideals(VARIABLES, None, None, None)
    pools = []
    audits = zip(case.worlds, case.images, case.occupations, strict=True)
    for place, (world, images, occupations) in enumerate(audits):
        rng = generator(20_25, json.dumps(case.name()), str(place))
        pools.append(
            Pool.of("compared", [draw_audit(world, one, images, rng) for one in occupations])
        )
    comparing = Comparing(pools, ideals, settings)
    [pairs] = comparing.pairs([dict.fromkeys(PAIRS, False)] * 2)
    _, [_, total] = Strengths(
        pools, ideals, PAIRS, settings, replicates=500, noise_draws=1
    ).fields()
    return {
        "audit": case.name(),
        "kind": case.kind,
        "pairs": [
            [pair["p"], pair["p_adjusted"], pair["difference"], *pair["difference_ci"]]
            for pair in pairs
        ],
        "distances": [[row[1]["growth"], *row[1]["growth_ci"]] for row in comparing.distances()],
        "amplification": [total["growth"], *total["growth_ci"]],
        "true": true_changes(case),
    }


def true_changes(case: Case) -> dict[str, list[float]]:
    """The exact changes of IS and of W1, and whether a pair has no effect in either world."""
    each = [_pooled(*one) for one in zip(case.worlds, case.occupations, strict=True)]
    return {
        "pairs": [each[1]["is"][pair] - each[0]["is"][pair] for pair in PAIRS],
        "no_effect": [float(not any(one["effect"][pair] for one in each)) for pair in PAIRS],
        "distances": [each[1]["w1"][name] - each[0]["w1"][name] for name in NAMES],
    }


def _pooled(world: str, occupations: Sequence[str]) -> dict[str, Any]:
    """Exact IS, W1 and whether there is an effect, in the sum over occupations."""
    truths: list[Truth] = [planted_truth(world, one) for one in occupations]

    def mean(shares: Sequence[Floats]) -> Floats:
        return np.asarray(np.mean(shares, axis=0))

    def w1(shares: Floats, name: str) -> float:
        return float(wasserstein(shares, np.full(len(shares), 1 / len(shares)), METRICS[name]))

    initial = {name: mean([truth.initial[name] for truth in truths]) for name in NAMES}
    found: dict[str, Any] = {"w1": {name: w1(initial[name], name) for name in NAMES}, "is": {}}
    found["effect"] = {}
    for x, y in PAIRS:
        target = NAMES[y]
        arms = [
            mean([truth.arms[NAMES[x], attribute][target] for truth in truths])
            for attribute in VARIABLES[x].attributes
        ]
        found["is"][x, y] = found["w1"][target] - w1(mean(arms), target)
        effects = [truth.by_name[NAMES[x], target].cramers_v for truth in truths]
        found["effect"][x, y] = any(effects)
    return found


def planned(replicates: int) -> list[Case]:
    """Every cell of the summary, replicate by replicate, occupations in turn.

    Single prompts of 48 images in every replicate, three prompts in every second, and other
    numbers of images in every fourth.
    """
    old, new = WORLDS
    pairs_of_worlds = ((old, old), (new, new), (new, old))
    cases = []
    for replicate in range(replicates):
        one, three = _occupations(1, replicate), _occupations(3, replicate)
        other = _occupations(1, replicate + 1 + replicate // len(OCCUPATIONS))
        cells = [(worlds, 48, 48, one, one) for worlds in pairs_of_worlds]
        cells.append(((old, old), 48, 48, one, other))
        if replicate % 2 == 0:
            cells += [(worlds, 48, 48, three, three) for worlds in pairs_of_worlds]
        if replicate % 4 == 0:
            cells += [(worlds, 48, 96, one, one) for worlds in pairs_of_worlds]
            cells += [(worlds, 192, 192, one, one) for worlds in pairs_of_worlds]
            cells.append(((old, old), 192, 192, one, other))
        cases += [Case(w, (n, m), (here, there), replicate) for w, n, m, here, there in cells]
    return cases


def _occupations(prompts: int, start: int) -> tuple[str, ...]:
    return tuple(OCCUPATIONS[(prompts * start + i) % len(OCCUPATIONS)] for i in range(prompts))


def summarise(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """For each kind of case: how often anything, and how often what truly changed, is found."""
    kinds = dict.fromkeys(record["kind"] for record in records)
    return {kind: _summary([one for one in records if one["kind"] == kind]) for kind in kinds}


def _summary(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    pairs = np.array([record["pairs"] for record in records])  # (cases, 56, 5)
    true = np.array([record["true"]["pairs"] for record in records])
    none = np.array([record["true"]["no_effect"] for record in records], dtype=bool)
    changed = pairs[..., 1] <= 0.05
    growths = np.array([record["distances"] for record in records])  # (cases, 8, 3)
    true_growths = np.array([record["true"]["distances"] for record in records])
    sums = np.array([record["amplification"] for record in records])
    one_world = bool((true == 0).all())

    def share(hits: np.ndarray, among: np.ndarray) -> Estimate:
        return clustered((hits & among).sum(axis=1), among.sum(axis=1))

    found: dict[str, Any] = {
        "comparisons": len(records),
        "any_changed": wilson(int(changed.any(axis=1).sum()), len(records)),
        "changed_where_no_effect": share(changed, none),
        "p_below_05_where_no_effect": share(pairs[..., 0] <= 0.05, none),
        "interval_holds": share(
            (pairs[..., 3] <= true + 1e-9) & (true - 1e-9 <= pairs[..., 4]), np.ones_like(none)
        ),
        "growth_interval_holds": share(
            (growths[..., 1] <= true_growths + 1e-9) & (true_growths - 1e-9 <= growths[..., 2]),
            np.ones_like(true_growths, dtype=bool),
        ),
        "changed_by_true_size": {
            f"{low:g} to {high:g}": share(changed, (np.abs(true) >= low) & (np.abs(true) < high))
            for low, high in SIZES
        },
        "worse_by_true_growth": {
            f"{low:g} to {high:g}": share(
                growths[..., 1] > 0, (true_growths >= low) & (true_growths < high)
            )
            for low, high in SIZES
        },
    }
    if one_world:
        found["worse_above_0"] = share(growths[..., 1] > 0, np.ones(growths.shape[:2], dtype=bool))
        found["amplification_above_0"] = wilson(int((sums[:, 1] > 0).sum()), len(records))
    return found


def markdown(summary: dict[str, Any]) -> str:
    """The summary as tables."""
    one = {kind: found for kind, found in summary.items() if "worse_above_0" in found}
    two = {kind: found for kind, found in summary.items() if kind not in one}
    parts = [
        table(
            ("two audits of", "comparisons", "any pair changed", "pairs at p <= .05",
             "`worse` above 0", "`amplification` above 0"),
            [
                (kind, str(found["comparisons"]), shown(found["any_changed"]),
                 shown(found["p_below_05_where_no_effect"]), shown(found["worse_above_0"]),
                 shown(found["amplification_above_0"]))
                for kind, found in one.items()
            ],
        ),
        *(
            table(
                (title, "comparisons", *next(iter(summary.values()))[field]),
                [
                    (kind, str(found["comparisons"]), *(shown(x, 2) for x in found[field].values()))
                    for kind, found in two.items()
                ],
            )
            for title, field in (
                ("pairs found changed, by the true change of IS", "changed_by_true_size"),
                ("`worse:AXIS>0` fails, by the true growth of W1", "worse_by_true_growth"),
            )
        ),
        table(
            ("two audits of", "IS: interval of the change holds it", "W1: the same",
             "changed although neither has an effect"),
            [
                (kind, shown(found["interval_holds"]), shown(found["growth_interval_holds"]),
                 shown(found["changed_where_no_effect"], 4))
                for kind, found in summary.items()
            ],
        ),
    ]  # fmt: skip
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("outputs/comparing"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replicates", type=int, default=150, help="comparisons a cell")
    parser.add_argument("--small", action="store_true", help="14 comparisons, to try the script")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # the processes share the cores
    cases = planned(1 if options.small else options.replicates)
    records = measure_cases(cases, compared, options.work / "comparing.jsonl", options.jobs)
    summary = summarise(records)
    write_json(options.work / "comparing.json", summary)
    print(markdown(summary))


if __name__ == "__main__":
    main()
