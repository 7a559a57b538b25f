"""The measured tables of docs/sandbox.md, from the JSON files of the sections."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.calibration_summary import markdown, mediation_table
from benchmarks.card.replies import JUDGES
from benchmarks.shares import number, read_json, shown, table, wilson

Data = Mapping[str, Any]
NOT_YET = "Not measured yet.\n"
TRUTHS = {"planted": "planted", "realised": "realised"}


def measured_parts(work: Path) -> dict[str, str]:
    """Every measured part of the page, by the name of its marker."""
    parts: dict[str, tuple[str, Callable[[Data], str]]] = {
        "judges": ("judges", _judges),
        "thresholds": ("judges", _thresholds),
        "obedience": ("obedience", _obedience),
        "obedience-attributes": ("obedience", _attributes),
        "planted": ("planted", _planted),
        "planted-axes": ("planted", _planted_axes),
        "realised": ("realised", _realised),
        "edges": ("edges", _edges),
        "correlation": ("correlation", _correlation),
        "agreement": ("agreement", _agreement),
        "calibration": ("calibration-n48", markdown),
        "mediation": ("calibration-n200", _mediation),
        "times": ("times", _times),
    }
    found = {}
    for marker, (section, render) in parts.items():
        data = read_json(work / f"{section}.json")
        found[marker] = NOT_YET if data is None else render(data)
    return found | {"eye": _eye(work / "contact" / "contact.csv")}


def _judges(data: Data) -> str:
    header = ["", *(f"{judge}, {kind}" for judge in JUDGES for kind in ("drawn", "through VAE"))]
    sets = [
        data["judges"][judge][kind] for judge in JUDGES for kind in ("drawings", "reconstructions")
    ]
    rows = [
        [axis, *(shown(one["axes"][axis]["accuracy"], 4) for one in sets)]
        for axis in sets[0]["axes"]
    ]
    rows.append(["person in the image", *(shown(one["gate"], 4) for one in sets)])
    note = (
        f"{data['pictures']:,} held-out drawings; the VAE's reconstructions of them have a mean "
        f"PSNR of {data['psnr']:.1f} dB.\n\n"
    )
    glyphs = [
        [what, *(shown(data["glyphs"][kind][what], 4) for kind in ("drawings", "reconstructions"))]
        for what in ("occupation", "context", "no context")
    ]
    return (
        note
        + table(header, rows)
        + "\nThe occupation's badge and the context's prop are read by their nearest drawings:\n\n"
        + table(["", "drawn", "through VAE"], glyphs)
    )


def _thresholds(data: Data) -> str:
    rows = []
    for judge, one in data["judges"].items():
        drawn, rebuilt = one["drawings"], one["reconstructions"]
        rows.append(
            [
                judge,
                number(one["threshold"], 2),
                number(one["shipped_threshold"], 2),
                shown(drawn["right_made_unknown"], 4),
                f"{rebuilt['wrong_answers']:,}",
                shown(rebuilt["wrong_made_unknown"], 2),
                shown(rebuilt["right_made_unknown"], 4),
            ]
        )
    header = [
        "judge",
        "threshold by the rule",
        "shipped",
        "right answers lost, drawings",
        "wrong answers, reconstructions",
        "of these made unknown",
        "right answers lost, reconstructions",
    ]
    return f"The rule: {data['rule']}.\n\n" + table(header, rows)


def _obedience(data: Data) -> str:
    rows = []
    for axis, judges in data["axes"].items():
        weakest = min(
            judges["clip"]["attributes"].items(), key=lambda item: item[1]["value"] or 0.0
        )
        cells = [shown(judges[judge]["share"]) for judge in JUDGES]
        rows.append([axis, *cells, f"{weakest[0]} {number(weakest[1]['value'])}"])
    for extra in ("occupation", "context", "person"):
        rows.append([extra, shown(data[extra]), "", ""])
    return table(["named in the prompt", *JUDGES, "least obeyed (clip)"], rows)


def _attributes(data: Data) -> str:
    rows = [
        [axis, attribute, *(shown(judges[judge]["attributes"][attribute]) for judge in JUDGES)]
        for axis, judges in data["axes"].items()
        for attribute in judges["clip"]["attributes"]
    ]
    return table(["axis", "attribute", *JUDGES], rows)


def _planted(data: Data) -> str:
    rows = [
        [
            one["world"],
            "plain prompts" if one["initial"] else "counterfactuals",
            one["judge"],
            shown(one["distance"]),
            number(one["noise"]),
            f"{number(one['worst'], 2)} ({one['worst_at']})",
        ]
        for one in data["means"]
        if one["axis"] == "all"
    ]
    header = ["world", "prompts", "judge", "mean distance", "noise alone", "largest"]
    return table(header, rows)


def _planted_axes(data: Data) -> str:
    columns = [
        (world, judge)
        for world in dict.fromkeys(one["world"] for one in data["means"])
        for judge in JUDGES
    ]
    cells = {
        (one["axis"], one["world"], one["judge"]): f"{number(one['distance']['value'])}"
        for one in data["means"]
        if one["initial"] and one["axis"] != "all"
    }
    axes = dict.fromkeys(axis for axis, _, _ in cells)
    rows = [[axis, *(cells[axis, *column] for column in columns)] for axis in axes]
    return table(["plain prompts", *(f"{world}, {judge}" for world, judge in columns)], rows)


def _realised(data: Data) -> str:
    rows = [
        [
            one["occupation"],
            one["judge"],
            number(one["mean_absolute_gap"]),
            number(one["largest_gap"]),
            number(one["r_with_planted"]),
        ]
        for one in data["rows"]
    ]
    header = ["occupation", "judge", "mean gap of IS", "largest", "r with the planted IS"]
    return f"{data['images']:,} images a prompt.\n\n" + table(header, rows)


def _edges(data: Data) -> str:
    rows = []
    for truth in TRUTHS:
        for key, found in data[truth].items():
            world, judge = key.split()
            for rule in ("alpha 1e-4", "BH q .05"):
                one = found[rule]
                cells = [
                    shown(one[least][what], 2)
                    for least in ("0.1", "0.3")
                    for what in ("precision", "recall")
                ]
                rows.append([truth, world, judge, rule, number(one["edges"]["value"], 1), *cells])
    header = ["truth", "world", "judge", "rule", "edges"]
    header += [f"{what}, V ≥ {least}" for least in (".1", ".3") for what in ("precision", "recall")]
    directions = [
        [truth, *key.split(), shown(found["right_directions"])]
        for truth in TRUTHS
        for key, found in data[truth].items()
    ]
    return (
        table(header, rows)
        + "\nOf the directions claimed on edges whose true |IS| is .01 or more, right are:\n\n"
        + table(["truth", "world", "judge", "right"], directions)
    )


def _correlation(data: Data) -> str:
    rows = [
        [
            one["judge"],
            str(one["n"]),
            shown(one["realised"]),
            shown(one["ceiling"]),
            number(one["ratio"], 2),
            number((one["ceiling"]["value"] or 0) ** 0.5),
            shown(one["crossed"]),
            shown(one["planted"]),
        ]
        for one in data["rows"]
    ]
    header = [
        "judge",
        "images",
        "r with the realised IS",
        "ceiling: r of two audits",
        "ratio",
        "root of the ceiling",
        "r with the other judge's",
        "r with the planted IS",
    ]
    return table(header, rows)


def _agreement(data: Data) -> str:
    rows = [
        [
            axis,
            shown(one["agree"], 4),
            shown(one["kappa"], 4),
            *(number(one["unanswered"][who]["value"], 4) for who in (*JUDGES, "either")),
        ]
        for axis, one in data["axes"].items()
    ]
    header = ["axis", "agree", "kappa", *(f"unanswered, {who}" for who in (*JUDGES, "either"))]
    costs = [
        [number(float(step), 2), shown(one["differing"]), shown(one["agreeing"], 4)]
        for step, one in data["thresholds"].items()
    ]
    return (
        f"{data['images']:,} generated images.\n\n"
        + table(header, rows)
        + "\nWhat a threshold would make unknown, by either judge:\n\n"
        + table(["threshold", "of the answers they differ on", "they agree on"], costs)
    )


def _mediation(data: Data) -> str:
    return f"{data['audits']:,} audits, {data['images']} images a prompt.\n\n" + mediation_table(
        data
    )


def _times(data: Data) -> str:
    rows = [[part, f"{minutes:g}"] for part, minutes in data.items()]
    return table(["part", "minutes"], [*rows, ["all", f"{sum(data.values()):g}"]])


def _eye(path: Path) -> str:
    """What a person found in the contact sheets: axes named in the column ``wrong``."""
    if not path.exists():
        return NOT_YET
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    if not any(row["wrong"] for row in rows):
        return NOT_YET
    axes = list(rows[0])[4:-1]
    return f"{len(rows)} generated images.\n\n" + table(
        ["axis", "labels that an eye confirms"],
        [[axis, shown(_confirmed(rows, axis))] for axis in axes],
    )


def _confirmed(rows: Sequence[Mapping[str, str]], axis: str) -> dict[str, Any]:
    seen = [row for row in rows if row["wrong"]]  # "-" where nothing is wrong
    right = sum(axis not in row["wrong"].replace(",", " ").split() for row in seen)
    return wilson(right, len(seen))
