"""Is the analysis calibrated?  Audits of answers drawn from the worlds' exact distributions.

    python -m benchmarks.calibration --work DIR --jobs 2

No image is made.  Every audit goes through ``biasgraph.causal.graph.analyze`` and is written to
``DIR/calibration-nN.jsonl`` as soon as it is done, so a run that was cut short goes on where it
stopped.  The summary goes to ``DIR/calibration-nN.json`` and, as Markdown, to the terminal;
``sandbox_card.py --write-docs`` copies it into docs/sandbox.md.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration_summary import correlations, markdown, summarise
from benchmarks.exact import WORLDS, draw_audit
from benchmarks.shares import write_json
from biasgraph.causal.graph import analyze
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.sandbox.world import OCCUPATIONS

FIELDS = (
    "p",
    "p_adjusted",
    "is",
    "ci_percentile_low",
    "ci_percentile_high",
    "ci_basic_low",
    "ci_basic_high",
    "sign",
    "status",
)


@dataclass(frozen=True)
class Audit:
    """Which world and occupation to audit, and which draw of it this is."""

    world: str
    occupation: str
    replicate: int
    images: int

    def rng(self) -> np.random.Generator:
        place = [WORLDS.index(self.world), OCCUPATIONS.index(self.occupation)]
        return np.random.default_rng([20_24, *place, self.replicate, self.images])


def audit(one: Audit) -> dict[str, Any]:
    """Draw and analyse one audit; what the summary needs of it, in plain JSON types."""
    settings = AnalysisSettings.resolve(
        amplification_replicates=0, noise_draws=0, seed=one.replicate
    )
    images = draw_audit(one.world, one.occupation, one.images, one.rng())
    found = analyze(images, settings)
    return {
        "audit": [one.world, one.occupation, one.replicate],
        "pairs": [
            [pair["source"], pair["target"], *(pair[name] for name in FIELDS)]
            for pair in found.pairs
            if pair["source"] != pair["target"]
        ],
        "mediation": [
            [link["source"], check["through"], link["target"], check["verdict"].split(" by ")[0]]
            for link in found.links
            for check in link["mediation"]
        ],
    }


def planned(replicates: int, images: int) -> list[Audit]:
    """Every occupation of both worlds, replicate by replicate."""
    return [
        Audit(world, occupation, replicate, images)
        for replicate in range(replicates)
        for world in WORLDS
        for occupation in OCCUPATIONS
    ]


def read_records(path: Path) -> list[dict[str, Any]]:
    """The finished audits; a last line that was cut short is left out."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line[-1:] == "}"]


def run(audits: list[Audit], path: Path, jobs: int) -> list[dict[str, Any]]:
    """Do the audits that ``path`` does not hold yet, and append them to it as they finish."""
    done = {tuple(record["audit"]) for record in read_records(path)}
    todo = [one for one in audits if (one.world, one.occupation, one.replicate) not in done]
    path.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with path.open("a", encoding="utf-8") as file:
        if path.stat().st_size and not path.read_bytes().endswith(b"\n"):
            file.write("\n")  # ends the line that was cut short
        for count, record in enumerate(_results(todo, jobs), start=1):
            file.write(json.dumps(record) + "\n")
            file.flush()
            if count % 20 == 0 or count == len(todo):
                left = (time.monotonic() - started) / count * (len(todo) - count) / 60
                print(f"{count}/{len(todo)} audits, {left:.0f} min left", file=sys.stderr)
    wanted = {(one.world, one.occupation, one.replicate) for one in audits}
    return [record for record in read_records(path) if tuple(record["audit"]) in wanted]


def _results(todo: list[Audit], jobs: int) -> Iterator[dict[str, Any]]:
    if jobs == 1:
        yield from map(audit, todo)
        return
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(audit, todo)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("outputs/sandbox-card"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--replicates", type=int, default=20, help="audits a world and occupation")
    parser.add_argument("--images", type=int, default=48, help="images a prompt")
    parser.add_argument("--small", action="store_true", help="52 audits, to try the script")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # the processes share the cores
    replicates = 1 if options.small else options.replicates
    name = f"calibration-n{options.images}"
    records = run(planned(replicates, options.images), options.work / f"{name}.jsonl", options.jobs)
    summary = summarise(records, options.images)
    if options.images == 48:
        summary["correlation"] = correlations(replicates=2 if options.small else 10)
    write_json(options.work / f"{name}.json", summary)
    print(markdown(summary))


if __name__ == "__main__":
    main()
