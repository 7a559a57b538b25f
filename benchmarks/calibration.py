"""Are edges and mediation verdicts right?  Audits of answers drawn from exact distributions.

    python -m benchmarks.calibration --work DIR --jobs 2

No image is made.  Every audit goes through ``biasgraph.causal.graph.analyze`` and is written to
``DIR/calibration-nN.jsonl`` as soon as it is done; rerun the same command to resume.  The summary
goes to ``DIR/calibration-nN.json`` and, as Markdown, to the terminal; docs/sandbox.md has it.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration_summary import correlations, markdown, summarise
from benchmarks.exact import WORLDS, draw_audit
from benchmarks.resuming import measure_cases
from benchmarks.shares import write_json
from biasgraph.causal.graph import analyze
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages
from biasgraph.sandbox.world import OCCUPATIONS

FIELDS = ("p", "p_adjusted", "status")


@dataclass(frozen=True)
class Audit:
    """Which world and occupation to audit, and which draw of it this is."""

    world: str
    occupation: str
    replicate: int
    images: int

    def name(self) -> list[Any]:
        """What tells this audit from others of its size."""
        return [self.world, self.occupation, self.replicate]

    def rng(self) -> np.random.Generator:
        place = [WORLDS.index(self.world), OCCUPATIONS.index(self.occupation)]
        return np.random.default_rng([20_24, *place, self.replicate, self.images])


def audit(one: Audit) -> dict[str, Any]:
    """Draw and analyse one audit."""
    settings = AnalysisSettings.resolve(noise_draws=0, seed=one.replicate)
    images = draw_audit(one.world, one.occupation, one.images, one.rng())
    return record_of(one.name(), images, settings)


def record_of(name: list[Any], images: CodedImages, settings: AnalysisSettings) -> dict[str, Any]:
    """What the summary needs of one audit, in plain JSON types."""
    found = analyze(images, settings)
    return {
        "audit": name,
        "pairs": [
            [pair["source"], pair["target"], *(pair[field] for field in FIELDS)]
            for pair in (pair.record() for pair in found.pairs)
            if pair["source"] != pair["target"]
        ],
        "mediation": [
            [link.source, check["through"], link.target, str(check["verdict"]).split(" by ")[0]]
            for link in found.links
            for check in link.mediation
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
    records = measure_cases(
        planned(replicates, options.images), audit, options.work / f"{name}.jsonl", options.jobs
    )
    summary = summarise(records, options.images)
    if options.images == 48:
        summary["correlation"] = correlations(replicates=2 if options.small else 10)
    write_json(options.work / f"{name}.json", summary)
    print(markdown(summary))


if __name__ == "__main__":
    main()
