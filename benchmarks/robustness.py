"""Do subsets of a run tell how far two audits differ, and errors what they do?  No image is made.

    python -m benchmarks.robustness --work outputs/robustness

Answers are drawn from the exact distributions of 26 occupations in two worlds, and tried as
``biasgraph robustness`` tries those of a run: audits of 48 from a run of 96, of 24 from one of 48,
nested ones of 40 and 32 of 48, and answers that go wrong in a run of 48.  Beside the subsets stand
pairs of audits that are drawn anew from the world.  Each occupation is written to
``DIR/robustness.jsonl`` as soon as it is done; rerun the same command to resume.  The summary goes
to ``DIR/robustness.json`` and, as Markdown, to the terminal.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.exact import VARIABLES, WORLDS, draw_audit, measured_truth, sensitivities
from benchmarks.resuming import measure_cases
from benchmarks.shares import Estimate, shown, table, write_json
from biasgraph.causal.judge_errors import RATES, WorseJudge
from biasgraph.causal.robustness import (
    Auditor,
    Claims,
    FewerImages,
    agreement_of,
    differences,
)
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages
from biasgraph.causal.transport import resolve_ideals
from biasgraph.sandbox.world import OCCUPATIONS

DRAWS = 3
LARGE = (48, 3000)
"""Images at which the attenuation by errors is set against the formula."""
SLOPES = ("expected", "slope")
SIZES = (24, 48)
"""Of audits; runs are twice as large."""
NESTED = (40, 32)
FIELDS = ("edges", "changed", "verdicts", "is_change", "slope", "rank")
RESAMPLES = 2000
KINDS = {
    "apart": "subsets of one run, no image shared",
    "anew": "audits drawn anew",
    "nested": "a subset and its run of 48",
}


@dataclass(frozen=True)
class Case:
    """Which world and occupation to audit."""

    world: str
    occupation: str

    def name(self) -> list[Any]:
        """What tells this case from all others."""
        return [self.world, self.occupation]


def planned(limit: int | None) -> list[Case]:
    """Both worlds of every occupation, or of the first `limit` ones."""
    return [Case(world, job) for world in WORLDS for job in OCCUPATIONS[:limit]]


def audit(case: Case) -> dict[str, Any]:
    """Try one occupation; what the summary needs of it, in plain JSON types."""
    place = [WORLDS.index(case.world), OCCUPATIONS.index(case.occupation)]
    rng = np.random.default_rng([5_4, *place])
    settings = AnalysisSettings.resolve(bootstrap=500, noise_draws=0)
    ideals = resolve_ideals(VARIABLES, None, None, None)
    auditor = Auditor("robustness", ideals, settings, settings.prompt_rule)

    def draw(n: int) -> CodedImages:
        return draw_audit(case.world, case.occupation, n, rng)

    record: dict[str, Any] = {"audit": case.name(), "pairs": {}}
    for size in SIZES:
        run = draw(2 * size)
        whole = auditor.claims([run])
        fewer = FewerImages(auditor, [run], whole, DRAWS, seed=0)
        _, apart = fewer.measure(size, lambda: None)
        anew = [auditor.claims([draw(size)]) for _ in range(2 * DRAWS)]
        record["pairs"][f"apart {size}"] = _pairs(apart)
        record["pairs"][f"anew {size}"] = _pairs(anew)
        if size == SIZES[0]:
            for part in NESTED:
                rows, _ = fewer.measure(part, lambda: None)
                means = {name: rows[0][name]["mean"] for name in FIELDS}
                record["pairs"][f"nested {part}"] = [means]
            worse = WorseJudge(auditor, [run], whole, DRAWS, 0, {})
            record["errors"] = [
                {name: row[name] for name in ("rate", "kind", "slope_expected")}
                | {name: row[name]["mean"] for name in FIELDS}
                for row in worse.rows(lambda: None)
            ]
            record["edges"] = int(whole.edge.sum())
    return record


def attenuation(case: Case) -> list[dict[str, Any]]:
    """Slopes of IS by errors to another attribute, beside those that are expected."""
    settings = AnalysisSettings.resolve(noise_draws=0)
    ideals = resolve_ideals(VARIABLES, None, None, None)
    auditor = Auditor("robustness", ideals, settings, settings.prompt_rule)
    rng = np.random.default_rng([5_5, WORLDS.index(case.world), OCCUPATIONS.index(case.occupation)])
    rows = []
    for size in LARGE:
        run = draw_audit(case.world, case.occupation, size, rng)
        before = sensitivities(measured_truth(run))
        pairs = tuple((pair.source, pair.target) for pair in measured_truth(run).pairs)
        n = len(pairs)
        verdicts = np.full(n, "undecided")
        whole = Claims(pairs, before, np.ones(n), np.zeros(n, dtype=bool), verdicts)
        worse = WorseJudge(auditor, [run], whole, DRAWS, 0, {})
        for rate in RATES:
            after = [
                sensitivities(measured_truth(worse.with_errors(run, rate, "another", rng)))
                for _ in range(DRAWS)
            ]
            slopes = [agreement_of(one, before)["slope"] for one in after]
            slope = float(np.mean([one for one in slopes if one is not None]))
            expected = worse.expected_slope(rate)
            rows.append({"images": size, "rate": rate, "slope": slope, "expected": expected})
    return rows


def _pairs(audits: Sequence[Claims]) -> list[dict[str, Any]]:
    """What every second audit says otherwise than the one before it."""
    found = []
    for first, second in list(pairwise(audits))[::2]:
        squares = (first.sensitivity - second.sensitivity) ** 2
        said = differences(first, second)
        found.append({**{name: said[name] for name in FIELDS}, "square": float(np.mean(squares))})
    return found


def summarise(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Means and ratios with 95 % intervals by resampling occupations of a world."""
    kinds = [f"{kind} {size}" for size in SIZES for kind in ("apart", "anew")]
    kinds += [f"nested {part}" for part in NESTED]
    return {
        "audits": len(records),
        "draws": DRAWS,
        "rows": {
            kind: {name: _mean([_of(record, kind, name) for record in records]) for name in FIELDS}
            for kind in kinds
        },
        "ratios": {
            str(size): {
                name: _ratio([[_of(r, f"{kind} {size}", name) for kind in ("apart", "anew")]
                              for r in records], root=name == "square")
                for name in ("square", "is_change", "changed", "verdicts")
            }
            for size in SIZES
        },
        "errors": [
            {
                "rate": rate,
                "kind": kind,
                **{
                    name: _mean([_error(record, kind, rate)[name] for record in records])
                    for name in ("slope_expected", *FIELDS)
                },
            }
            for kind in ("another", "unknown")
            for rate in RATES
        ],
    }  # fmt: skip


def shrunk(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The mean slopes of `attenuation` over occupations."""
    return [
        {
            "images": size,
            "rate": rate,
            **{
                name: _mean([row[name] for row in rows if (row["images"], row["rate"]) == key])
                for name in SLOPES
            },
        }
        for key in product(LARGE, RATES)
        for size, rate in [key]
    ]


def _of(record: Mapping[str, Any], kind: str, name: str) -> float:
    """The mean of an occupation's draws, undefined ones left out."""
    values = [pair[name] for pair in record["pairs"][kind] if pair[name] is not None]
    return float(np.mean(values)) if values else np.nan


def _error(record: Mapping[str, Any], kind: str, rate: float) -> Mapping[str, Any]:
    return next(row for row in record["errors"] if (row["kind"], row["rate"]) == (kind, rate))


def _resampled(values: np.ndarray) -> np.ndarray:
    """(RESAMPLES, ...) means over resampled cases of values (cases, ...)."""
    rng = np.random.default_rng(0)
    weights = rng.multinomial(len(values), np.full(len(values), 1 / len(values)), size=RESAMPLES)
    return np.asarray(weights @ values / len(values))


def _mean(values: Sequence[float | None]) -> Estimate:
    known = np.array([value for value in values if value is not None and np.isfinite(value)])
    if not len(known):
        return {"value": None, "low": None, "high": None, "n": 0}
    low, high = np.quantile(_resampled(known), [0.025, 0.975])
    return {"value": float(known.mean()), "low": float(low), "high": float(high), "n": len(known)}


def _ratio(values: Sequence[Sequence[float]], *, root: bool) -> Estimate:
    """Of the first to the second of each case, summed over cases; of their roots, if asked."""
    both = np.array([pair for pair in values if np.isfinite(pair).all()])
    power = 0.5 if root else 1.0
    drawn = _resampled(both)
    low, high = np.quantile((drawn[:, 0] / drawn[:, 1]) ** power, [0.025, 0.975])
    value = (both[:, 0].sum() / both[:, 1].sum()) ** power
    return {"value": float(value), "low": float(low), "high": float(high), "n": len(both)}


def markdown(summary: Mapping[str, Any]) -> str:
    """The tables of docs/sandbox.md."""
    rows = []
    for kind, found in summary["rows"].items():
        what, size = kind.split()
        rows.append([size, KINDS[what], *(shown(found[name], 2) for name in FIELDS)])
    names = {"square": "IS (root mean square)", "is_change": "sum of \\|dIS\\|",
             "changed": "edges", "verdicts": "verdicts"}  # fmt: skip
    ratios = [
        [size, *(shown(found[name], 2) for name in names)]
        for size, found in summary["ratios"].items()
    ]
    errors = [
        [f"{row['rate']:.0%}", row["kind"], shown(row["slope_expected"], 3),
         *(shown(row[name], 2) for name in ("slope", "rank", "changed", "is_change"))]
        for row in summary["errors"]
    ]  # fmt: skip
    slopes = [
        [
            str(row["images"]),
            f"{row['rate']:.0%}",
            shown(row["expected"], 3),
            shown(row["slope"], 3),
        ]
        for row in summary.get("attenuation", ())
    ]
    return "\n\n".join(
        [
            table(["images", "compared", "edges", "differ", "verdicts", "sum of \\|dIS\\|",
                   "slope", "rank"], rows),
            table(["images", *(f"ratio of {name}" for name in names.values())], ratios),
            table(["errors", "to", "slope expected", "slope", "rank", "edges differ",
                   "sum of \\|dIS\\|"], errors),
            table(["images", "errors", "slope expected", "slope"], slopes),
        ]
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("outputs/robustness"))
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--small", action="store_true", help="1 occupation, to try the script")
    options = parser.parse_args()
    cases = planned(1 if options.small else None)
    path = options.work / f"robustness{'-small' if options.small else ''}.jsonl"
    summary = summarise(measure_cases(cases, audit, path, options.jobs))
    summary["attenuation"] = shrunk([row for case in cases for row in attenuation(case)])
    write_json(path.with_suffix(".json"), summary)
    print(markdown(summary))


if __name__ == "__main__":
    main()
