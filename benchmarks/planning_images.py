"""Do joint images come out as a plan predicts?  `biasgraph plan --verify` on the sandbox.

    python -m benchmarks.planning_images --work outputs/planning

Builds runs of a few occupations, plans two interventions for four targets in each, makes the joint
images and sets prediction against outcome, for the axes that are set and for those that are not.
Runs and images that are there are used again.  The table goes to ``DIR/images.json`` and, as
Markdown, to the terminal.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import biasgraph
from benchmarks.shares import mean, number, shown, table, write_json
from biasgraph.audits.pipeline_options import PlanOptions
from biasgraph.audits.plan.mitigation import plan
from biasgraph.prompts.grammar import indefinite_article

OCCUPATIONS = ("librarian", "nurse", "athlete", "lawyer", "farmer", "police")
TARGETS = "gender:\nbodytype:\nclothing:\nemotion:\n"
IMAGES = 48  # of each combination


def rows_of(occupation: str, work: Path) -> list[dict[str, Any]]:
    """One row for each target of an occupation's plan."""
    run = work / occupation
    prompt = f"{indefinite_article(occupation)} {occupation}"
    biasgraph.build(prompt=prompt, output=run)
    targets = work / "targets.yaml"
    targets.write_text(TARGETS, encoding="utf-8")
    options = PlanOptions(run=run, targets=targets, steps=2, verify=True, verify_images=IMAGES)
    document = plan(options)
    found = document["verification"]
    before = {row["axis"]: row["distance"] for row in document["plan"]["before"]["targets"]}
    return [
        {
            "occupation": occupation,
            "set": found["axes"],
            "axis": row["axis"],
            "before": before[row["axis"]],
            "predicted": row["predicted"]["distance"],
            "found": row["found"]["distance"],
            "found_ci": row["found"]["distance_ci"],
            "n_valid": row["found"]["n_valid"],
            "error": row["error"],
            "error_ci": row["error_ci"],
        }
        for row in found.get("targets", [])
    ]


def summarise(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean absolute errors, and how often the error's interval holds 0."""
    free = [row for row in rows if row["axis"] not in row["set"]]
    held = [row for row in rows if row["axis"] in row["set"]]
    within = [row["error_ci"][0] <= 0 <= row["error_ci"][1] for row in free]
    return {
        "axes not set: mean absolute error": mean(abs(row["error"]) for row in free),
        "axes not set: mean of predicted minus found": mean(row["error"] for row in free),
        "axes not set: had nothing been predicted to change": mean(
            abs(row["before"] - row["found"]) for row in free
        ),
        "axes not set: error's interval holds 0": mean(map(float, within)),
        "axes set: mean absolute error": mean(abs(row["error"]) for row in held),
    }


def markdown(rows: list[dict[str, Any]], summary: dict[str, Any]) -> str:
    """The tables of docs/plan.md."""
    header = ["prompt", "set at once", "axis", "before", "predicted", "found", "valid", "error"]
    lines = [
        [
            row["occupation"],
            ", ".join(row["set"]),
            row["axis"],
            number(row["before"]),
            number(row["predicted"]),
            f"{number(row['found'])} [{', '.join(map(number, row['found_ci']))}]",
            str(row["n_valid"]),
            f"{number(row['error'])} [{', '.join(map(number, row['error_ci']))}]",
        ]
        for row in rows
        if row["axis"] not in row["set"]
    ]
    totals = [[name, shown(value), str(value["n"])] for name, value in summary.items()]
    return table(header, lines) + "\n" + table(["in all", "", "n"], totals)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("outputs/planning"))
    work = parser.parse_args().work
    work.mkdir(parents=True, exist_ok=True)
    rows = [row for occupation in OCCUPATIONS for row in rows_of(occupation, work)]
    summary = summarise(rows)
    write_json(work / "images.json", {"rows": rows, "summary": summary})
    print(markdown(rows, summary))


if __name__ == "__main__":
    main()
