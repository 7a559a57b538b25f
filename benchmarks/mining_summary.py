"""What the searches of `benchmarks.mining` come to, in numbers and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.shares import Estimate, number, shown, table
from biasgraph.causal.best_of import mean_interval
from biasgraph.report.figure_sheet import figure_sheet
from biasgraph.runs.job import TOY

Record = Mapping[str, Any]
Cell = tuple[str, str, str, int, int, int]
"""kind, world, objective, selected, mutations, population."""


def _by_cell(records: Sequence[Record]) -> dict[Cell, dict[int, Record]]:
    """The records of each cell by their seeds."""
    cells: dict[Cell, dict[int, Record]] = {}
    for record in records:
        kind, world, objective, seed, *shape = record["audit"]
        cells.setdefault((kind, world, objective, *shape), {})[seed] = record
    return cells


def _estimate(values: Sequence[float]) -> Estimate:
    mean, low, high = mean_interval(values)
    return {"value": mean, "low": low, "high": high, "n": len(values)}


def _worst(record: Record) -> float:
    """The lowest score on fresh images."""
    return min(fresh for _, fresh, _ in record["mined"])


def _trace(records: Sequence[Record]) -> list[float]:
    """The mean over searches of the best score so far, after each prompt."""
    traces = [
        np.minimum.accumulate([score for _, score in record["scores"] if score is not None])
        for record in records
    ]
    shortest = min(map(len, traces))
    return np.mean([trace[:shortest] for trace in traces], axis=0).tolist()


def summarise(records: Sequence[Record]) -> dict[str, Any]:
    """Differences are mining minus random, of the same seed."""
    cells = _by_cell(records)
    summary: dict[str, Any] = {"best": {}, "hits": [], "shapes": [], "curse": {}}
    for cell, by_seed in cells.items():
        kind, world, objective, *shape = cell
        if kind == "drawn" and objective == "axis:gender":
            images = [record["images"] for record in by_seed.values()]
            found = sum(record["hit"] for record in by_seed.values())
            summary["shapes"].append({"shape": shape, "images": _estimate(images), "hits": found})
        if kind != "best" and shape[1:] == [2, 15] and shape[0] == 5:
            random = cells.get((kind, world, objective, 0, 0, 15), {})
            if by_seed.keys() & random.keys():
                summary["hits"].append({"kind": kind, **_hits(objective, by_seed, random)})
        elif kind == "best":
            worst = [_worst(record) for record in by_seed.values()]
            name = "random" if not shape[1] else "mining"
            summary["best"][name] = {
                "score": _estimate(worst),
                "by_seed": {str(seed): _worst(record) for seed, record in by_seed.items()},
                "trace": _trace(list(by_seed.values())),
            }
            gaps = [
                float(np.mean([fresh - first for first, fresh, _ in record["mined"]]))
                for record in by_seed.values()
            ]
            tops = [
                fresh - first
                for record in by_seed.values()
                for first, fresh, _ in [min(record["mined"])]
            ]
            summary["curse"][name] = {"all": _estimate(gaps), "first": _estimate(tops)}
    if {"mining", "random"} <= summary["best"].keys():
        mined, random = (summary["best"][name]["by_seed"] for name in ("mining", "random"))
        both = sorted(mined.keys() & random.keys(), key=int)
        summary["best"]["difference"] = _estimate([mined[seed] - random[seed] for seed in both])
    return summary


def _hits(
    objective: str, mined: Mapping[int, Record], random: Mapping[int, Record]
) -> dict[str, Any]:
    both = sorted(mined.keys() & random.keys())
    return {
        "objective": objective,
        "n": len(both),
        **{
            name: {
                "median_images": float(np.median([of[seed]["images"] for seed in both])),
                "mean_images": _estimate([of[seed]["images"] for seed in both]),
                "without": sum(not of[seed]["hit"] for seed in both),
            }
            for name, of in (("mining", mined), ("random", random))
        },
        "difference": _estimate([mined[seed]["images"] - random[seed]["images"] for seed in both]),
    }


def figure(summary: Mapping[str, Any]) -> bytes:
    """Each pair of searches as two points and a line, as SVG, and the best score so far."""
    best = summary["best"]
    colours = {"random": "#d55e00", "mining": "#0072b2"}
    with figure_sheet(2) as sheet:
        pairs, traces = sheet.figure.subplots(1, 2)
        both = sorted(best["mining"]["by_seed"].keys() & best["random"]["by_seed"].keys(), key=int)
        for seed in both:
            ends = [best[name]["by_seed"][seed] for name in colours]
            pairs.plot([0, 1], ends, color="#bbbbbb", linewidth=0.8, zorder=1)
        for place, (name, colour) in enumerate(colours.items()):
            scores = [best[name]["by_seed"][seed] for seed in both]
            pairs.scatter([place] * len(both), scores, color=colour, zorder=2)
            trace = best[name]["trace"]
            traces.plot(range(1, len(trace) + 1), trace, color=colour, label=name)
        pairs.set(xticks=[0, 1], xticklabels=[*colours], xlim=(-0.5, 1.5))
        pairs.set_ylabel("worst score on fresh images")
        traces.set(xlabel="prompts scored", ylabel="lowest first score so far, mean")
        traces.legend(frameon=False)
        about = "Mining against as many random prompts"
        caption = (
            f"{about}: the bias score of sandbox:stereotyped, lower is worse. Left: the worst of "
            f"ten prompts that are scored again, {len(both)} pairs of searches with one seed each. "
            "Right: the mean over searches of the lowest first score."
        )
        sheet.set_content(3.2, caption, TOY)
        return sheet.save("svg", about, caption)


def markdown(summary: Mapping[str, Any]) -> str:
    """The tables of docs/mining.md."""
    best, curse = summary["best"], summary["curse"]
    rows = [
        [name, shown(best[name]["score"]), shown(curse[name]["all"]), shown(curse[name]["first"])]
        for name in ("mining", "random")
        if name in best
    ]
    header = ["", "worst score", "fresh - first, of 10", "fresh - first, of the first"]
    parts = [table(header, rows)]
    if "difference" in best:
        parts.append(f"Mining minus random: {shown(best['difference'])}\n")
    hits = [
        [
            {"hit": "images", "drawn": "drawn answers"}[row["kind"]],
            row["objective"],
            number(row["mining"]["median_images"], 0),
            number(row["random"]["median_images"], 0),
            shown(row["difference"], 0),
            f"{row['mining']['without']} and {row['random']['without']} of {row['n']}",
        ]
        for row in summary["hits"]
    ]
    header = ["", "objective", "mining", "random", "difference of means", "without a hit"]
    parts.append(table(header, hits))
    shapes = [
        [
            *map(str, row["shape"]),
            str(row["shape"][2] - row["shape"][0] * row["shape"][1]),
            shown(row["images"], 0),
            f"{row['images']['n'] - row['hits']} of {row['images']['n']}",
        ]
        for row in summary["shapes"]
    ]
    header = ["selected", "mutations", "population", "random", "images until a hit", "without"]
    parts.append(table(header, shapes))
    return "\n".join(parts)
