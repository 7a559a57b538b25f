"""What `benchmarks.methods_card` says of its measurements: correlations, signs, and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.exact import WORLDS, planted_truth
from benchmarks.shares import RESAMPLES, Estimate, number, shown, table, wilson
from biasgraph.methods.openbias import intensity
from biasgraph.sandbox.realised_truth import realised_counts
from biasgraph.sandbox.world import AXES

VARIED = ("gender", "age")
"""What MineTheGap varies: what the worlds differ in."""
SKEWED = 0.8
"""An occupation is strongly skewed from this planted share of one gender on."""
IMAGES = 48
DRAWS = 200
MEASURED = ("librarian", "mechanic", "athlete")
"""The occupations whose realised distributions are known (templates/sandbox/realised.csv)."""
JUDGE = "sandbox"
PARTS = ("methods-openbias", "methods-realised", "methods-tibet", "methods-minethegap")
"""The tables, as docs/sandbox.md calls them."""

Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""World -> what was found about each occupation."""


def summarise(found: Rows) -> dict[str, Any]:
    """Every comparison with the truth, by world where there are two."""
    return {
        "openbias": {world: _openbias(world, rows) for world, rows in found.items()},
        "realised": {
            row["occupation"]: _realised(row)
            for row in found[WORLDS[0]]
            if row["occupation"] in MEASURED
        },
        "tibet": {world: _tibet(world, rows) for world, rows in found.items()},
        "minethegap": _minethegap(found),
    }


# OpenBias


def planted_intensity(world: str, occupation: str) -> dict[str, float]:
    """The intensity of every axis in the planted distribution of the plain prompt."""
    shares = planted_truth(world, occupation).initial
    return {axis: float(intensity(shares[axis])) for axis in AXES}


def _openbias(world: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    truth = _matrix([planted_intensity(world, row["occupation"]) for row in rows])
    measured = _matrix([row["intensity"] for row in rows])
    rng = np.random.default_rng(0)
    drawn = [rho(truth, _drawn(world, rows, rng)) for _ in range(DRAWS)]
    return {
        "rho": correlation(truth, measured),
        "exact": float(np.mean(drawn)),
        "mean_error": float(np.nanmean(measured - truth)),
        "pairs": truth.size,
    }


def _matrix(values: Sequence[Mapping[str, float | None]]) -> np.ndarray:
    """(occupations, axes); NaN where there is none."""
    return np.array([[one[axis] for axis in AXES] for one in values], dtype=float)


def _drawn(world: str, rows: Sequence[Mapping[str, Any]], rng: np.random.Generator) -> np.ndarray:
    """The intensities that a generator and a judge without error would have at this size."""
    found = []
    for row in rows:
        shares = planted_truth(world, row["occupation"]).initial
        found.append(
            {axis: float(intensity(rng.multinomial(IMAGES, shares[axis]) / IMAGES))
             for axis in AXES}
        )  # fmt: skip
    return _matrix(found)


def correlation(truth: np.ndarray, measured: np.ndarray) -> Estimate:
    """Spearman's rho over all cells; its interval resamples the occupations (rows)."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(truth), size=(RESAMPLES, len(truth)))
    drawn = [rho(truth[rows], measured[rows]) for rows in chosen]
    low, high = np.quantile(drawn, [0.025, 0.975])
    value = rho(truth, measured)
    return {"value": value, "low": float(low), "high": float(high), "n": truth.size}


def rho(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's, over the cells that both have."""
    known = ~(np.isnan(first) | np.isnan(second))
    return float(spearmanr(first[known], second[known]).statistic)


def _realised(row: Mapping[str, Any]) -> dict[str, float]:
    counts = realised_counts(row["prompt"], f"sandbox:{WORLDS[0]}", JUDGE)["", ""]
    shares = {}
    for axis, attributes in AXES.items():
        valid = np.array([counts[axis].get(attribute, 0) for attribute in attributes], dtype=float)
        shares[axis] = valid / valid.sum()
    truth = _matrix([{axis: float(intensity(shares[axis])) for axis in AXES}])
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(DRAWS):
        exact = {axis: rng.multinomial(IMAGES, shares[axis]) / IMAGES for axis in AXES}
        drawn.append(rho(truth, _matrix([{axis: float(intensity(exact[axis])) for axis in AXES}])))
    planted = _matrix([planted_intensity(WORLDS[0], row["occupation"])])
    measured = _matrix([row["intensity"]])
    return {
        "rho": rho(truth, measured),
        "exact": float(np.mean(drawn)),
        "largest_error": float(np.abs(measured - truth).max()),
        "planted": rho(planted, measured),
    }


# TIBET


def planted_cas(world: str, occupation: str) -> dict[str, float]:
    """CAS of the gender counterfactuals for infinitely many images, over the closed vocabulary."""
    truth = planted_truth(world, occupation)
    initial = np.concatenate([truth.initial[axis] for axis in AXES])
    found = {}
    for gender in AXES["gender"]:
        arm = np.concatenate([truth.arms["gender", gender][axis] for axis in AXES])
        found[gender] = float(np.minimum(initial, arm).sum() / np.maximum(initial, arm).sum())
    return found


def majority(world: str, occupation: str) -> tuple[str, float]:
    """The gender with the larger planted share, and that share."""
    shares = planted_truth(world, occupation).initial["gender"]
    return AXES["gender"][int(shares.argmax())], float(shares.max())


def _tibet(world: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    cases = []
    for row in rows:
        gender, share = majority(world, row["occupation"])
        planted = planted_cas(world, row["occupation"])
        cases.append(
            {
                "occupation": row["occupation"],
                "share": share,
                "planted": planted["male"] - planted["female"],
                "measured": row["cas"]["male"] - row["cas"]["female"],
                "sign": 1 if gender == "male" else -1,
            }
        )
    skewed = [case for case in cases if case["share"] >= SKEWED]
    hits = [case["measured"] * case["sign"] > 0 for case in skewed]
    planted = np.array([[case["planted"]] for case in cases])
    measured = np.array([[case["measured"]] for case in cases])
    return {
        "cases": cases,
        "skewed": wilson(sum(hits), len(hits)),
        "rho": correlation(planted, measured) if world == WORLDS[0] else None,
    }


# MineTheGap


def _minethegap(found: Rows) -> dict[str, Any]:
    stereotyped, debiased = ([*found[world]] for world in WORLDS)

    def less_biased(name: str) -> Estimate:
        pairs = zip(stereotyped, debiased, strict=True)
        return wilson(sum(two[name] > one[name] for one, two in pairs), len(debiased))

    missed = {world: _missed(world, found[world]) for world in WORLDS}
    return {
        "debiased_higher": less_biased("score"),
        "debiased_higher_15": less_biased("score_15"),
        "mean": {world: float(np.mean([row["score"] for row in found[world]])) for world in WORLDS},
        "missed": missed,
        "rho": correlation(_less_skewed(stereotyped), _gains(stereotyped, debiased)),
        "against": [
            one["occupation"]
            for one, two in zip(stereotyped, debiased, strict=True)
            if two["score"] <= one["score"]
        ],
    }


def _less_skewed(rows: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """(occupations, 1): by how much gender and age were planted nearer to uniform."""
    return np.array(
        [
            [sum(_distance(WORLDS[0], job, axis) - _distance(WORLDS[1], job, axis)
                 for axis in VARIED)]
            for job in (row["occupation"] for row in rows)
        ]
    )  # fmt: skip


def _distance(world: str, occupation: str, axis: str) -> float:
    """The planted W1 from uniform."""
    shares = planted_truth(world, occupation).initial[axis]
    return float(np.abs(shares - 1 / len(shares)).sum() / 2)


def _gains(first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """(occupations, 1): by how much the second generator scores higher."""
    pairs = zip(first, second, strict=True)
    return np.array([[two["score"] - one["score"]] for one, two in pairs])


def _missed(world: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Estimate]:
    """How often what is missed names the rare attribute, in strongly skewed occupations."""
    of: dict[str, list[bool]] = {"nearest": [], "worst": []}
    for row in rows:
        gender, share = majority(world, row["occupation"])
        if share < SKEWED:
            continue
        (rare,) = set(AXES["gender"]) - {gender}
        nearest = row["nearest"]["gender"]
        of["nearest"].append(min(nearest, key=lambda name: nearest[name]) == rare)
        of["worst"].append(rare in row["missed"][0].split())
    return {name: wilson(sum(hits), len(hits)) for name, hits in of.items()}


# The page


def parts(summary: Mapping[str, Any]) -> dict[str, str]:
    """The tables of docs/sandbox.md, by the name of their marker."""
    tables = (_openbias_table, _realised_table, _tibet_table, _minethegap_table)
    return {
        name: write(summary[name.removeprefix("methods-")])
        for name, write in zip(PARTS, tables, strict=True)
    }


def _openbias_table(of: Mapping[str, Any]) -> str:
    header = [
        "world",
        "pairs",
        "rho with the planted intensity",
        "rho of exact draws",
        "measured minus planted, mean",
    ]
    rows = [
        [
            world,
            str(one["pairs"]),
            shown(one["rho"]),
            number(one["exact"]),
            number(one["mean_error"]),
        ]
        for world, one in of.items()
    ]
    return table(header, rows)


def _realised_table(of: Mapping[str, Any]) -> str:
    header = [
        "occupation",
        "rho with the realised intensity",
        "rho of exact draws",
        "largest difference",
        "rho with the planted intensity",
    ]
    names = ("rho", "exact", "largest_error", "planted")
    rows = [[job, *(number(one[name]) for name in names)] for job, one in of.items()]
    return table(header, rows)


def _tibet_table(of: Mapping[str, Any]) -> str:
    one = of[WORLDS[0]]
    header = ["occupation", "planted share", "planted difference", "measured difference"]
    rows = [
        [
            case["occupation"],
            f"{number(case['share'], 2)} {'male' if case['sign'] > 0 else 'female'}",
            _signed(case["planted"]),
            _signed(case["measured"]),
        ]
        for case in sorted(one["cases"], key=lambda case: -case["share"])
        if case["share"] >= SKEWED
    ]
    words = (
        f"The planted sign has {_counted(one['skewed'])} strongly skewed occupations. Over all 26, "
        f"rho of the measured with the planted difference is {shown(one['rho'])}.\n\n"
    )
    return words + table(header, rows)


def _signed(value: float) -> str:
    return re.sub(r"^([+-])0\.", r"\1.", f"{value:+.2f}")


def _counted(one: Estimate) -> str:
    return f"{round((one['value'] or 0) * one['n'])} of {one['n']}"


def _minethegap_table(of: Mapping[str, Any]) -> str:
    missed, mean = of["missed"][WORLDS[0]], of["mean"]
    rows = [
        ["debiased is less biased, all 48 images", _counted(of["debiased_higher"])],
        ["the same, mean over subsamples of 15 images", _counted(of["debiased_higher_15"])],
        ["occupations where it is not", ", ".join(of["against"])],
        ["mean score, stereotyped and debiased", f"{mean[WORLDS[0]]:.3f}, {mean[WORLDS[1]]:.3f}"],
        ["rho: gain in score with the planted gain in balance", shown(of["rho"])],
        ["strongly skewed: the rare gender is furthest from the images",
         _counted(missed["nearest"])],
        ["strongly skewed: the most missed variation says the rare gender",
         _counted(missed["worst"])],
    ]  # fmt: skip
    return table(["", ""], rows)
