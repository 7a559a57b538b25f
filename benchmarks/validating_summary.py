"""What `benchmarks.validating` says of its audits: correlations and shares beside the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from benchmarks.shares import clustered, number, shown, table
from biasgraph.causal.mitigation_trials import Kind, Moments, Trial
from biasgraph.causal.validation import Estimate, summarize_trials

EXACT = ("along_edges", "at_once")
ALONG = ("along_edges", "along_all", "at_once")
TITLES = {"fresh": "fresh prompts", "reweighted": "reweighting", "other_model": "other model"}
AGREEMENTS = {"edges": "edges", "all pairs": "all_pairs", "all axes at once": "at_once"}
ROWS = {
    "r, mean of prompts": "r_mean",
    "r within prompts": "r",
    "its noise ceiling": "ceiling",
    "r / ceiling": "r_of_ceiling",
    "slope": "slope",
    "r with shared initial images": "r_shared",
}


def summarise(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The validation of each mitigation over all audits, with the truth beside it."""
    kinds: dict[str, Any] = {}
    for kind in get_args(Kind):
        own = [record for record in records if kind in record["trials"]]
        if not own:
            continue
        truth = [record["truth"][kind] for record in own]
        flat = summarize_trials(
            [
                _trial({**record["trials"][kind], **{name: one[name] for name in EXACT}})
                for record, one in zip(own, truth, strict=True)
            ],
            0,
        )
        kinds[kind] = {
            **asdict(summarize_trials([_trial(record["trials"][kind]) for record in own], 0)),
            "r_without_noise": asdict(flat.edges.r),
            "at_once_without_noise": asdict(flat.at_once.r),
            "right_in_truth": _share(truth, "right", "signs"),
            "harmed_in_truth": _share(truth, "harmed", "pairs"),
        }
    idle = asdict(summarize_trials([_trial(record["no_effect"]) for record in records], 0))
    return {"audits": len(records), "kinds": kinds, "no_effect": idle}


def _share(truth: Sequence[Mapping[str, Any]], hits: str, of: str) -> dict[str, Any]:
    return clustered([one[hits] for one in truth], [one[of] for one in truth])


def _trial(record: Mapping[str, Any]) -> Trial:
    return Trial(**{**record, **{name: Moments(**record[name]) for name in ALONG}})


def markdown(summary: Mapping[str, Any], models: Mapping[str, Any]) -> str:
    """The tables of docs/statistics.md."""
    parts = []
    for size, one in summary.items():
        kinds = one["kinds"]
        lines: list[list[str]] = []
        for what, field in AGREEMENTS.items():
            lines.append([f"**{what}**", *(f"{own[field]['pairs']:,}" for own in kinds.values())])
            for title, name in ROWS.items():
                lines.append([title, *(_estimate(own[field][name]) for own in kinds.values())])
        lines += [
            ["edges: r without noise", *map(_estimate, _each(kinds, "r_without_noise"))],
            ["at once: r without noise", *map(_estimate, _each(kinds, "at_once_without_noise"))],
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
    rows = [
        [title, number(one["r"]), number(one["slope"]), f"{one['pairs']} ({one['prompts']})"]
        for title, one in models.items()
    ]
    header = ["without noise", "r", "slope", "pairs (prompts)"]
    return "\n".join([*parts, table(header, rows)])


def _each(kinds: Mapping[str, Any], name: str) -> list[Any]:
    return [own[name] for own in kinds.values()]


def _estimate(record: Mapping[str, Any]) -> str:
    one = Estimate(**record)
    if one.low is None:
        return number(one.value)
    return shown({"value": one.value, "low": one.low, "high": one.high})


def _moved(own: Mapping[str, Any]) -> str:
    return f"{number(own['before'])} to {number(own['after'])}"
