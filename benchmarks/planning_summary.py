"""What `benchmarks.planning` says of its audits: shares means, and the tables of docs/plan.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np

from benchmarks.shares import clustered, mean, number, shown, table, wilson

PLANS = ("every axis", "two axes")
TIE = 0.01  # strategies whose true distances differ by less are equally good
ROUNDING = 1e-9


def summarise(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Shares and means with 95 % intervals; cases of one audit belong together."""
    return {
        "audits": len(records),
        "axes": {kind: _axes(records, kind) for kind in ("all", "other axes only")},
        "effects": {
            "edges": _effects(records, "effects"),
            "sign": _effects(records, "signs"),
        },
        "plans": {kind: _plans(records, kind) for kind in PLANS},
        "null": {
            "recommended": clustered(
                [record["null"]["recommended"] for record in records],
                [record["null"]["off"] for record in records],
            ),
            "planned": wilson(sum(record["null"]["planned"] for record in records), len(records)),
        },
    }


def _axes(records: Sequence[Mapping[str, Any]], kind: str) -> dict[str, Any]:
    audits = [[row for row in record["axes"] if row["kind"] == kind] for record in records]

    def share(of: Any, holds: Any) -> Any:
        cases = [[row for row in rows if of(row)] for rows in audits]
        return clustered([sum(map(holds, rows)) for rows in cases], [len(rows) for rows in cases])

    def recommended(row: Mapping[str, Any]) -> bool:
        return row["verdict"] == "recommended"

    def off(row: Mapping[str, Any]) -> bool:
        return row["verdict"] != "near_ideal"

    verdicts = ("recommended", "any", "undecided", "nothing", "near_ideal")
    return {
        "verdicts": {
            verdict: share(lambda row: True, lambda row, v=verdict: row["verdict"] == v)
            for verdict in verdicts
        },
        "recommended_where_off": share(off, recommended),
        "is_best": share(recommended, lambda row: row["recommended"] <= row["best"] + TIE),
        "moves_away": share(recommended, lambda row: row["recommended"] > row["before"] + ROUNDING),
        "any_moves_away": share(
            lambda row: row["verdict"] == "any",
            lambda row: row["worst_contender"] > row["before"] + ROUNDING,
        ),
        "any_holds_best": share(lambda row: row["verdict"] == "any", lambda row: row["holds_best"]),
        "brought_unmoved": _brought(
            audits, lambda row, one: abs(one[0] - row["before"]) <= ROUNDING
        ),
        "brought_away": _brought(audits, lambda row, one: one[0] > row["before"] + ROUNDING),
        "brought_all_the_way_off_by": mean(
            one[0] for rows in audits for row in rows for one in row["brought_by"] if one[1]
        ),
        "missed": share(
            lambda row: row["verdict"] == "near_ideal", lambda row: row["before"] > 0.1
        ),
    }


def _brought(audits: Sequence[Sequence[Mapping[str, Any]]], holds: Any) -> Any:
    cases = [[(row, one) for row in rows for one in row["brought_by"]] for rows in audits]
    return clustered([sum(holds(*c) for c in rows) for rows in cases], [len(c) for c in cases])


def _effects(records: Sequence[Mapping[str, Any]], field: str) -> dict[str, Any]:
    """Claimed side effects that are the opposite of the truth, or where there is no effect."""
    claims = [
        [value if sign == "towards" else -value for sign, value in record[field]
         if sign in ("towards", "away")]
        for record in records
    ]  # fmt: skip
    sizes = [len(values) for values in claims]
    return {
        "claims": mean(sizes),
        "wrong": clustered([sum(v < -ROUNDING for v in values) for values in claims], sizes),
        "none": clustered([sum(abs(v) <= ROUNDING for v in values) for values in claims], sizes),
    }


def exact(value: float | None) -> float | None:
    """A number without what rounding leaves of 0."""
    return None if value is None else round(float(value), 9)


def _plans(records: Sequence[Mapping[str, Any]], kind: str) -> dict[str, Any]:
    plans = [plan for record in records for plan in record["plans"] if plan["kind"] == kind]
    last = [
        [row for row in plan["rows"] if row["steps"] == len(plan["chosen"]) and not row["in_plan"]]
        for plan in plans
    ]
    own = [[r for r in plan["rows"] if r["steps"] == len(plan["chosen"]) and r["in_plan"]]
           for plan in plans]  # fmt: skip

    def error(rows: Sequence[Sequence[Mapping[str, Any]]], field: str) -> Any:
        return mean(
            exact(np.mean([abs(row[field] - row["true"]) for row in some])) for some in rows if some
        )

    gains = [plan["true_gains"] for plan in plans]
    return {
        "steps": mean(len(plan["chosen"]) for plan in plans),
        "steps_that_do_harm": clustered(
            [sum(gain < 0 for gain in some) for some in gains], [len(some) for some in gains]
        ),
        "sum_before": mean(plan["total"]["before"] for plan in plans),
        "sum_after": mean(exact(plan["total"]["after"]) for plan in plans),
        "sum_best": mean(exact(plan["total"]["best"]) for plan in plans),
        "error": error(last, "predicted"),
        "signed_error": mean(
            np.mean([row["predicted"] - row["true"] for row in some]) for some in last if some
        ),
        "covered": clustered(
            [sum(r["ci"][0] - 1e-9 <= r["true"] <= r["ci"][1] + 1e-9 for r in s) for s in last],
            [len(some) for some in last],
        ),
        "error_in_plan": error(own, "predicted"),
        "error_all_shifts": error(last, "all_shifts"),
        "error_in_plan_all_shifts": error(own, "all_shifts"),
    }


STRATEGY_ROWS = {
    "axes with a recommendation": ("verdicts", "recommended"),
    "of the axes not near their ideal": ("recommended_where_off",),
    "axes for which any contender would do": ("verdicts", "any"),
    "undecided": ("verdicts", "undecided"),
    "nothing seen to help": ("verdicts", "nothing"),
    "near the ideal": ("verdicts", "near_ideal"),
    "recommended: truly best, or within .01": ("is_best",),
    "recommended: truly moves the axis away": ("moves_away",),
    "any would do: one truly moves it away": ("any_moves_away",),
    "any would do: the true best is among them": ("any_holds_best",),
    "brought along by another: truly moved away": ("brought_away",),
    "brought along by another: truly not moved": ("brought_unmoved",),
    "brought all the way: true distance left": ("brought_all_the_way_off_by",),
    "near the ideal: truly more than .1 off": ("missed",),
}
EFFECT_ROWS = {
    "claims an audit": ("edges", "claims"),
    "truly the other way": ("edges", "wrong"),
    "truly no effect": ("edges", "none"),
    "directions without an edge's test: claims an audit": ("sign", "claims"),
    "directions without an edge's test: truly the other way": ("sign", "wrong"),
    "directions without an edge's test: truly no effect": ("sign", "none"),
}
NULL_ROWS = {
    "axes off their ideal with a recommendation": ("recommended",),
    "audits with a plan": ("planned",),
}
PLAN_ROWS = {
    "interventions planned": ("steps",),
    "steps that truly raise the sum": ("steps_that_do_harm",),
    "true sum of distances before": ("sum_before",),
    "true sum of distances after": ("sum_after",),
    "the same after the best plan of as many": ("sum_best",),
    "axes not set: mean absolute error": ("error",),
    "axes not set, had every shift been added": ("error_all_shifts",),
    "axes not set: mean of predicted minus true": ("signed_error",),
    "axes not set: truth within the interval": ("covered",),
    "axes set: mean absolute error": ("error_in_plan",),
    "axes set, had every shift been added": ("error_in_plan_all_shifts",),
}


def markdown(summary: Mapping[str, Any]) -> str:
    """The tables of docs/plan.md."""
    parts = []
    for title, path, rows in (
        ("Strategies, an axis's own intervention among them", ("axes", "all"), STRATEGY_ROWS),
        ("Strategies, other axes only", ("axes", "other axes only"), STRATEGY_ROWS),
        ("Directions of side effects", ("effects",), EFFECT_ROWS),
        ("No intervention does anything", ("null",), NULL_ROWS),
        *((f"Greedy plans for {kind}", ("plans", kind), PLAN_ROWS) for kind in PLANS),
    ):
        header = [title, *(f"n = {size}" for size in summary)]
        lines = [
            [name, *(shown(reduce(getitem, (*path, *rest), one)) for one in summary.values())]
            for name, rest in rows.items()
        ]
        parts.append(table(header, [line for line in lines if set(line[1:]) != {number(None)}]))
    return "\n".join(parts)
