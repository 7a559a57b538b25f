"""Do the generators draw what a prompt says, and as often as was planted?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.card.glyphs import BADGE_OF
from benchmarks.card.harvest import Harvest, texts_of, threshold
from benchmarks.card.replies import JUDGES, Replies
from benchmarks.exact import AXIS_SET, METRICS, VARIABLES, planted_truth
from benchmarks.shares import Estimate, clustered, mean, wilson
from biasgraph.causal.tables import GATED, UNKNOWN, Codes, tally
from biasgraph.sandbox.planted_truth import truth_of
from biasgraph.sandbox.realised import COLUMNS
from biasgraph.sandbox.world import CONTEXTS, OCCUPATIONS

AUDIT = 48
PLANTED = 500
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
PHRASED = 48
"""Images of each occupation and context phrase."""


def wanted_audits(occupations: Iterable[str], n: int) -> dict[str, int]:
    """n images of every prompt of these occupations' audits."""
    return {text: n for occupation in occupations for text in texts_of(occupation).values()}


def wanted_plain(n: int) -> dict[str, int]:
    """n images of every occupation's plain prompt."""
    return {texts_of(occupation)[None]: n for occupation in OCCUPATIONS}


def wanted_phrases(occupations: Sequence[str]) -> dict[str, int]:
    """Plain prompts with a context phrase behind them."""
    return dict.fromkeys(_phrased(occupations), PHRASED)


def _phrased(occupations: Sequence[str]) -> dict[str, int]:
    """Text -> the place of its phrase among the context phrases."""
    return {
        f"{texts_of(job)[None]} {phrase}": place
        for job, (place, phrase) in product(occupations, enumerate(CONTEXTS))
    }


def obedience_section(harvest: Harvest, occupations: Sequence[str]) -> dict[str, Any]:
    """The share of images judged to show what their prompt names."""
    harvest.make(wanted_audits(OCCUPATIONS, AUDIT) | wanted_phrases(occupations))
    axes: dict[str, Any] = {}
    for x, variable in enumerate(VARIABLES):
        axes[variable.name] = {}
        for judge in JUDGES:
            hits = np.array(
                [
                    [_obeyed(harvest, job, judge, x, a) for job in OCCUPATIONS]
                    for a in range(variable.size)
                ]
            )
            by_attribute = {
                attribute: clustered(row, [AUDIT] * len(row))
                for attribute, row in zip(variable.attributes, hits, strict=True)
            }
            all_of_them = clustered(hits.sum(axis=0), [AUDIT * variable.size] * len(OCCUPATIONS))
            axes[variable.name][judge] = {"share": all_of_them, "attributes": by_attribute}
    return {"images": AUDIT, "axes": axes, **_others_obeyed(harvest, occupations)}


def _obeyed(harvest: Harvest, occupation: str, judge: str, x: int, a: int) -> int:
    """Images of an intervention judged to show it; unknown and gated ones do not."""
    codes = harvest.codes(texts_of(occupation)[x, a], judge, AUDIT)
    return int((codes[:, x] == a).sum())


def _others_obeyed(harvest: Harvest, occupations: Sequence[str]) -> dict[str, Estimate]:
    """Occupations by their badges, context phrases by their props, and whether there is a person.

    The last is the CLIP's word.
    """
    jobs, props, people = [], [], []
    for occupation in OCCUPATIONS:
        for text in texts_of(occupation).values():
            jobs.append(
                int((harvest.glyphs(text, "occupation", AUDIT) == BADGE_OF[occupation]).sum())
            )
            people.append(int((harvest.codes(text, "clip", AUDIT)[:, 0] != GATED).sum()))
    for text, phrase in _phrased(occupations).items():
        props.append(int((harvest.glyphs(text, "context", PHRASED) == phrase).sum()))
    return {
        "occupation": clustered(jobs, [AUDIT] * len(jobs)),
        "context": clustered(props, [PHRASED] * len(props)),
        "person": clustered(people, [AUDIT] * len(people)),
    }


def planted_section(harvests: Sequence[Harvest], arms_of: Sequence[str]) -> dict[str, Any]:
    """Total variation between planted and generated distributions.

    The initial prompts of all occupations, and the counterfactuals of ``arms_of``.
    """
    rows = []
    for harvest in harvests:
        harvest.make({**wanted_plain(PLANTED), **wanted_audits(arms_of, PLANTED)})
        for occupation, judge in product(OCCUPATIONS, JUDGES):
            rows += _distances(harvest, occupation, judge, arms=occupation in arms_of)
    return {"images": PLANTED, "rows": rows, "means": _means(rows)}


def _distances(
    harvest: Harvest, occupation: str, judge: str, *, arms: bool
) -> list[dict[str, Any]]:
    planted = planted_truth(harvest.world, occupation)
    rows = []
    for arm, text in texts_of(occupation).items():
        if arm is not None and not arms:
            continue
        codes = harvest.codes(text, judge, PLANTED)
        name = (
            None if arm is None else (VARIABLES[arm[0]].name, VARIABLES[arm[0]].attributes[arm[1]])
        )
        shares = planted.initial if name is None else planted.arms[name]
        for y, variable in enumerate(VARIABLES):
            if arm is not None and arm[0] == y:
                continue  # obedience, not a distribution
            counted = tally(codes[:, y], variable.size)
            rows.append(
                {
                    "world": harvest.world,
                    "occupation": occupation,
                    "judge": judge,
                    "intervention": None if name is None else " ".join(name),
                    "axis": variable.name,
                    "distance": 0.5 * float(np.abs(counted.shares - shares[variable.name]).sum()),
                    "noise": expected_noise(shares[variable.name], counted.n_valid),
                    "n": counted.n_valid,
                }
            )
    return rows


def expected_noise(shares: np.ndarray, n: int) -> float:
    """The mean distance of n answers drawn from the planted distribution itself."""
    drawn = np.random.default_rng(0).multinomial(n, shares, size=400) / n
    return float(0.5 * np.abs(drawn - shares).sum(axis=1).mean())


def _means(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """By world, judge, initial or not, and axis ("all" for all axes)."""
    means = []
    worlds = dict.fromkeys(row["world"] for row in rows)
    axes = ["all", *(variable.name for variable in VARIABLES)]
    for world, judge, initial, axis in product(worlds, JUDGES, (True, False), axes):
        chosen = [
            row
            for row in rows
            if (row["world"], row["judge"]) == (world, judge)
            and (row["intervention"] is None) == initial
            and axis in ("all", row["axis"])
        ]
        if not chosen:
            continue
        worst = max(chosen, key=lambda row: row["distance"])
        means.append(
            {
                "world": world,
                "judge": judge,
                "initial": initial,
                "axis": axis,
                "distance": mean(row["distance"] for row in chosen),
                "noise": float(np.mean([row["noise"] for row in chosen])),
                "worst": worst["distance"],
                "worst_at": f"{worst['occupation']} {worst['axis']}",
            }
        )
    return means


def realised_section(harvest: Harvest, occupations: Sequence[str], n: int) -> dict[str, Any]:
    """Make the images of the realised truth; how far it lies from the planted one."""
    harvest.make(wanted_audits(occupations, n))
    rows = []
    for occupation in occupations:
        found = {judge: realised(harvest, occupation, judge, n) for judge in JUDGES}
        planted = planted_truth(harvest.world, occupation)
        for judge, one in found.items():
            gaps = [
                (pair.sensitivity - planted.by_name[name].sensitivity)
                for name, pair in one.by_name.items()
            ]
            true, seen = (
                np.array([truth.by_name[name].sensitivity for name in planted.by_name])
                for truth in (planted, one)
            )
            rows.append(
                {
                    "occupation": occupation,
                    "judge": judge,
                    "mean_absolute_gap": float(np.abs(gaps).mean()),
                    "largest_gap": float(np.abs(gaps).max()),
                    "r_with_planted": float(np.corrcoef(true, seen)[0, 1]),
                }
            )
    return {"world": harvest.world, "images": n, "occupations": list(occupations), "rows": rows}


def realised(harvest: Harvest, occupation: str, judge: str, n: int) -> Any:
    """What n images a prompt say of an occupation."""
    texts = texts_of(occupation)

    def shares(text: str) -> dict[str, np.ndarray]:
        codes = harvest.codes(text, judge, n)
        return {v.name: tally(codes[:, y], v.size).shares for y, v in enumerate(VARIABLES)}

    arms = {
        (VARIABLES[arm[0]].name, VARIABLES[arm[0]].attributes[arm[1]]): shares(text)
        for arm, text in texts.items()
        if arm is not None
    }
    return truth_of(shares(texts[None]), arms, METRICS)


def write_realised(harvest: Harvest, occupations: Sequence[str], n: int, path: Path) -> None:
    """Write the table that ``biasgraph.sandbox.realised`` reads."""
    lines = [",".join(COLUMNS)]
    for occupation, judge in product(occupations, JUDGES):
        texts = texts_of(occupation)
        for arm, text in texts.items():
            cause = (
                ("", "")
                if arm is None
                else (VARIABLES[arm[0]].name, VARIABLES[arm[0]].attributes[arm[1]])
            )
            codes = harvest.codes(text, judge, n)
            for y, variable in enumerate(VARIABLES):
                for answer, count in _answers(codes[:, y], variable.attributes):
                    cells = [harvest.spec, texts[None], *cause, JUDGES[judge], variable.name]
                    lines.append(",".join([*cells, answer, str(count)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _answers(codes: Codes, attributes: Sequence[str]) -> list[tuple[str, int]]:
    """The answers that were given, and how often."""
    names = {**dict(enumerate(attributes)), UNKNOWN: "unknown", GATED: "gated"}
    counted = [(name, int((codes == code).sum())) for code, name in names.items()]
    return [(name, count) for name, count in counted if count]


def agreement_section(harvests: Sequence[Harvest]) -> dict[str, Any]:
    """Do the two judges say the same about the images of 26 audits?"""
    found: dict[str, Any] = {"images": 0, "axes": {}}
    raw: dict[str, list[Replies]] = {judge: [] for judge in JUDGES}
    tables = {v.name: np.zeros((v.size, v.size), dtype=np.int64) for v in VARIABLES}
    lost = {v.name: np.zeros(3, dtype=np.int64) for v in VARIABLES}  # clip, judge2, either
    for harvest in harvests:
        harvest.make(wanted_audits(OCCUPATIONS, AUDIT))
        for text in wanted_audits(OCCUPATIONS, AUDIT):
            for judge, replies in raw.items():
                replies.append(harvest.replies(text, judge, AUDIT))
            first, second = (raw[judge][-1].codes(threshold(judge)) for judge in JUDGES)
            found["images"] += AUDIT
            for y, variable in enumerate(VARIABLES):
                a, b = first[:, y].astype(int), second[:, y].astype(int)
                known = (a >= 0) & (b >= 0)
                np.add.at(tables[variable.name], (a[known], b[known]), 1)
                lost[variable.name] += [(a < 0).sum(), (b < 0).sum(), (~known).sum()]
    for name, confusion in tables.items():
        found["axes"][name] = {
            "agree": wilson(int(np.trace(confusion)), int(confusion.sum())),
            "kappa": kappa(confusion),
            "unanswered": {
                who: wilson(int(count), found["images"])
                for who, count in zip((*JUDGES, "either"), lost[name], strict=True)
            },
            "confusion": confusion.tolist(),
            "attributes": list(AXIS_SET.axis(name).names),
        }
    found["thresholds"] = _thresholds(*(Replies.together(raw[judge]) for judge in JUDGES))
    return found


def _thresholds(first: Replies, second: Replies) -> dict[str, Any]:
    """What each threshold would make unknown: of the answers the judges differ on, and agree on."""
    forced = first.codes(0.0), second.codes(0.0)
    differ = forced[0] != forced[1]
    found = {}
    for step in THRESHOLDS:
        unknown = (first.codes(step) == UNKNOWN) | (second.codes(step) == UNKNOWN)
        found[str(step)] = {
            "differing": wilson(int(unknown[differ].sum()), int(differ.sum())),
            "agreeing": wilson(int(unknown[~differ].sum()), int((~differ).sum())),
        }
    return found


def kappa(confusion: np.ndarray) -> Estimate:
    """Cohen's kappa of a table of counts, with the bootstrap interval of its images."""
    n = int(confusion.sum())
    if n == 0:
        return {"value": None, "low": None, "high": None, "n": 0}

    def of(shares: np.ndarray) -> np.ndarray:
        seen = np.trace(shares, axis1=-2, axis2=-1)
        chance = (shares.sum(axis=-1) * shares.sum(axis=-2)).sum(axis=-1)
        return np.asarray((seen - chance) / np.maximum(1 - chance, 1e-12))

    shares = confusion / n
    k = len(confusion)
    drawn = np.random.default_rng(0).multinomial(n, shares.ravel(), size=2000).reshape(-1, k, k) / n
    low, high = np.quantile(of(drawn), [0.025, 0.975])
    return {"value": float(of(shares)), "low": float(low), "high": float(high), "n": n}
