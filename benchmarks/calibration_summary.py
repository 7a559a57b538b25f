"""What a thousand audits of known worlds say about edges and mediation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.exact import (
    MEDIATION_KINDS,
    WORLDS,
    chain_residual,
    cut_audit,
    draw_audit,
    measured_truth,
    mediation_kind,
    planted_truth,
    sensitivities,
)
from benchmarks.shares import Estimate, clustered, mean, number, shown, table, wilson
from biasgraph.sandbox.world import OCCUPATIONS

LEVELS = (0.05, 0.01, 0.001, 1e-4)
STRENGTHS = (0.1, 0.3)
VERDICTS = ("consistent with mediation", "not explained", "undetermined")


def summarise(records: Sequence[Mapping[str, Any]], images: int) -> dict[str, Any]:
    """Everything but the correlations, from the records of ``calibration.audit``."""
    pairs = frame(records)
    return {
        "audits": len(records),
        "images": images,
        "independent": independence(pairs),
        "edges": {
            "alpha 1e-4": edges(pairs, pairs["p"] <= 1e-4),
            "BH q .05": edges(pairs, pairs["p_adjusted"] <= 0.05),
        },
        "mediation": mediation(records),
    }


def frame(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """One row a pair and audit, the truth beside what was found."""
    columns = ["source", "target", "p", "p_adjusted", "status"]
    parts = []
    for number_, record in enumerate(records):
        world, occupation, _ = record["audit"]
        part = pd.DataFrame(record["pairs"], columns=columns)
        part[columns[2:-1]] = part[columns[2:-1]].astype(float)  # None is not a number
        truths = planted_truth(world, occupation).by_name
        true = [truths[pair] for pair in zip(part["source"], part["target"], strict=True)]
        part["audit"] = number_
        part["true_v"] = [pair.cramers_v for pair in true]
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def _by_audit(pairs: pd.DataFrame, hits: pd.Series[bool], among: pd.Series[bool]) -> Estimate:
    """The share of hits among some pairs, audits resampled."""
    grouped = (hits & among).groupby(pairs["audit"]).sum(), among.groupby(pairs["audit"]).sum()
    return clustered(*(one.to_numpy() for one in grouped))


def independence(pairs: pd.DataFrame) -> dict[str, Any]:
    """How often p falls to or below each level where x does not act on y at all."""
    independent = pairs["true_v"] == 0
    p = pairs.loc[independent, "p"]
    return {str(level): wilson(int((p <= level).sum()), len(p)) for level in LEVELS}


def edges(pairs: pd.DataFrame, found: pd.Series[bool]) -> dict[str, Any]:
    """False edges, and how many of the true ones are found."""
    found = found & (pairs["status"] == "ok")
    independent = pairs["true_v"] == 0
    false = (found & independent).groupby(pairs["audit"]).sum()
    drawn = found.groupby(pairs["audit"]).sum()
    proportion = (false / drawn.where(drawn > 0)).fillna(0.0)
    return {
        "per_independent_pair": wilson(int(false.sum()), int(independent.sum())),
        "any_in_an_audit": wilson(int((false > 0).sum()), len(false)),
        "false_discovery_rate": mean(proportion),
        "edges_per_audit": mean(drawn.astype(float)),
        "recall": {
            str(least): _by_audit(pairs, found, pairs["true_v"] >= least) for least in STRENGTHS
        },
        "precision": {
            str(least): _by_audit(pairs, pairs["true_v"] >= least, found) for least in STRENGTHS
        },
    }


def mediation(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Verdicts by what the world's links say about the pair and its candidate."""
    counts: dict[str, dict[str, int]] = {
        kind: dict.fromkeys(VERDICTS, 0) for kind in MEDIATION_KINDS
    }
    residuals: dict[str, list[float]] = {kind: [] for kind in MEDIATION_KINDS}
    for record in records:
        world, occupation, _ = record["audit"]
        for x, z, y, verdict in record["mediation"]:
            kind = mediation_kind(world, x, z, y)
            counts[kind][verdict] += 1
            residuals[kind].append(chain_residual(world, occupation, x, z, y))
    return {
        kind: {
            "checks": sum(row.values()),
            "verdicts": {verdict: wilson(row[verdict], sum(row.values())) for verdict in VERDICTS},
            "true_residual": round(float(np.mean(residuals[kind])), 9) if residuals[kind] else None,
        }
        for kind, row in counts.items()
    }


def correlations(
    replicates: int, sizes: Sequence[int] = (48, 200, 1000)
) -> dict[str, dict[str, Any]]:
    """r of the 56 sensitivities of an audit with the true ones, and of two audits with each other.

    The second is the ceiling that STATISTICS (g) names.  Noise alone lets an audit correlate with
    the exact truth up to about the square root of it.
    """
    found: dict[str, dict[str, Any]] = {}
    for world in WORLDS:
        for n in sizes:
            with_truth, with_other = [], []
            for place, occupation in enumerate(OCCUPATIONS):
                true = sensitivities(planted_truth(world, occupation))
                for replicate in range(replicates):
                    seed = [7, WORLDS.index(world), place, replicate, n]
                    both = draw_audit(world, occupation, 2 * n, np.random.default_rng(seed))
                    halves = [
                        sensitivities(measured_truth(cut_audit(both, np.tile(rows, (27, 1)))))
                        for rows in np.arange(2 * n).reshape(2, n)
                    ]
                    with_truth += [_r(half, true) for half in halves]
                    with_other.append(_r(*halves))
            found[f"{world} {n}"] = {
                "truth": mean(with_truth),
                "ceiling": mean(with_other),
            }
    return found


def _r(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.corrcoef(first, second)[0, 1])


def markdown(summary: Mapping[str, Any]) -> str:
    """The summary as tables."""
    parts = [
        f"{summary['audits']:,} audits, {summary['images']} images a prompt.\n",
        _independence_table(summary),
        edges_table(summary),
        mediation_table(summary),
    ]
    if "correlation" in summary:
        parts.append(_correlation_table(summary["correlation"]))
    return "\n".join(parts)


def _independence_table(summary: Mapping[str, Any]) -> str:
    found = summary["independent"]
    return table(
        ["level", "share of independent pairs with p at or below it", "pairs"],
        [
            [number(float(level), 4).rstrip("0"), shown(share, 4), f"{share['n']:,}"]
            for level, share in found.items()
        ],
    )


def edges_table(summary: Mapping[str, Any]) -> str:
    rules = summary["edges"]
    rows = [
        ("false edges per independent pair", lambda r: shown(r["per_independent_pair"], 4)),
        ("audits with a false edge", lambda r: shown(r["any_in_an_audit"])),
        ("false among the edges of an audit, mean", lambda r: shown(r["false_discovery_rate"])),
        ("edges per audit, mean", lambda r: shown(r["edges_per_audit"], 2)),
        ("recall of pairs with V >= .1", lambda r: shown(r["recall"]["0.1"])),
        ("recall of pairs with V >= .3", lambda r: shown(r["recall"]["0.3"])),
        ("precision (V >= .1)", lambda r: shown(r["precision"]["0.1"])),
        ("precision (V >= .3)", lambda r: shown(r["precision"]["0.3"])),
    ]
    return table(
        ["", *rules], [[name, *(cell(rule) for rule in rules.values())] for name, cell in rows]
    )


def mediation_table(summary: Mapping[str, Any]) -> str:
    """The verdicts alone."""
    rows = [
        [
            MEDIATION_KINDS[kind],
            f"{found['checks']:,}",
            *(shown(found["verdicts"][verdict], 2) for verdict in VERDICTS),
            number(found["true_residual"]),
        ]
        for kind, found in summary["mediation"].items()
    ]
    return table(["truth of x -> z -> y", "checks", *VERDICTS, "true chain residual"], rows)


def _correlation_table(found: Mapping[str, Any]) -> str:
    rows = []
    for key, one in found.items():
        world, n = key.split()
        ceiling = one["ceiling"]["value"]
        cells = [shown(one["truth"]), shown(one["ceiling"])]
        cells += [number(one["truth"]["value"] / ceiling, 2), number(ceiling**0.5)]
        rows.append([world, n, *cells])
    header = ["world", "images a prompt", "r(IS, true IS)", "ceiling: r of two audits"]
    header += ["ratio", "root of the ceiling"]
    return table(header, rows)
