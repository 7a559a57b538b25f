"""Audit the pictures and write docs/real.md about it: python real.py WORK [DOCS].

WORK takes the pictures and the runs. DOCS, the folder of real.md and of its images, is that of this
checkout unless given.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from page import JUDGES, Judged, write
from pictures import NUMBERS, PROMPT, cut

from biasgraph.commands import main

HERE = Path(__file__).parent
LABELS, AXES = str(HERE / "labels.csv"), ["--axes", str(HERE / "axes.yaml")]
FACES = [*AXES, "--only", "gender,age", "--vqa", "faces"]
MODELS = tuple(NUMBERS)
BOTH = "both"


def run(*arguments: str) -> None:
    """A command of biasgraph's. Raises SystemExit where it fails."""
    if (code := main([*arguments, "-q"])) != 0:
        raise SystemExit(code)


def read(file: Path) -> Any:
    """What a JSON file holds."""
    return json.loads(file.read_bytes())


def audit(work: Path) -> None:
    """Build every judge's runs, and compare the two models by each judge."""
    cut(work / "cut")
    for model in MODELS:
        given = ["--model", f"folder:{work / 'cut' / model}", "--prompt", PROMPT]
        run("build", *given, *FACES, "-o", str(work / f"faces-{model}"))
        run("build", *given, *AXES, "--vqa", f"human:{LABELS}", "-o", str(work / f"reader-{model}"))
        bars = str(work / "cut" / f"bars-{model}.csv")
        run("build", "--answers", bars, *AXES, "-o", str(work / f"bars-{model}"))
    everything = ["--model", f"folder:{work / 'cut' / 'all.csv'}"]
    run("build", *everything, *FACES, "-o", str(work / f"faces-{BOTH}"))
    read_by = ["--vqa", f"human:{LABELS}", "-o", str(work / f"reader-{BOTH}")]
    run("build", *everything, *AXES, *read_by)
    for judge in JUDGES:
        sides = [str(work / f"{judge}-{model}") for model in MODELS]
        run("compare", "--paired", *sides, "-o", str(work / f"compare-{judge}"))


def check(work: Path) -> None:
    """Measure how far judge, reader and bars agree, and correct the judge by the reader."""
    for which in (*MODELS, BOTH):
        directory = str(work / f"faces-{which}")
        bars = _bars_of(work, which)
        run("agreement", directory, "--with", LABELS, "--with", str(bars))
    run("agreement", str(work / f"reader-{BOTH}"), "--with", str(_bars_of(work, BOTH)))
    for model in MODELS:
        given = ["--model", f"folder:{work / 'cut' / model}", "--prompt", PROMPT]
        for by in (model, BOTH):
            agreed = str(work / f"faces-{by}" / "agreement.json")
            target = work / f"corrected-{model}-by-{by}"
            run("build", *given, *FACES, "--correct", agreed, "-o", str(target))


def _bars_of(work: Path, which: str) -> Path:
    """The bars' answers under the ids that the judge's run gives its pictures."""
    images = read(work / f"faces-{which}" / "pictures.json")["images"]
    ids = {path: image for image, path in images.items()}
    rows: list[Sequence[str]] = [("image", "target", "answer")]
    for model in MODELS if which == BOTH else (which,):
        with (work / "cut" / f"bars-{model}.csv").open(encoding="utf-8") as file:
            for row in csv.DictReader(file):
                name = f"{row['image']}.png"
                image = ids[f"{model}/{name}" if which == BOTH else name]
                rows.append((image, row["target"], row["answer"]))
    target = work / "cut" / f"agree-{which}.csv"
    with target.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return target


def answers(run_directory: Path) -> dict[tuple[str, str], str]:
    """(image, axis) -> what the judge of a run answered."""
    with (run_directory / "answers.csv").open(encoding="utf-8") as file:
        return {(row["image"], row["target"]): row["answer"] for row in csv.DictReader(file)}


def judged(work: Path) -> Judged:
    """All that the page says."""
    runs = [f"{judge}-{model}" for judge in JUDGES for model in MODELS]
    runs += [f"corrected-{model}-by-{by}" for model in MODELS for by in (model, BOTH)]
    checked = [*(f"faces-{which}" for which in (*MODELS, BOTH)), f"reader-{BOTH}"]
    return Judged(
        nodes={
            (name, node["id"]): node
            for name in runs
            for node in read(work / name / "graph.json")["nodes"]
        },
        growth={judge: read(work / f"compare-{judge}" / "compare.json") for judge in JUDGES},
        agreement={name: read(work / name / "agreement.json") for name in checked},
        said={
            (judge, model): answers(work / f"{judge}-{model}")
            for judge in ("faces", "reader")
            for model in MODELS
        },
        pictures={
            model: {
                image: work / "cut" / model / path
                for image, path in read(work / f"faces-{model}" / "pictures.json")["images"].items()
            }
            for model in MODELS
        },
    )


if __name__ == "__main__":
    place = Path(sys.argv[1])
    audit(place)
    check(place)
    write(judged(place), Path(sys.argv[2]) if len(sys.argv) > 2 else HERE.parents[1] / "docs")
