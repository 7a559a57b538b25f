"""Trains probes of both sandbox generators and prints how right they are (docs/prompt-search.md).

    python -m benchmarks.probes
    python -m benchmarks.probes --images 4 --every 5   # a trial

Each generator is probed twice on the same images: as the judge labels them, and as the prompts of
the counterfactuals do. Rerun the same command to resume.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.exact import WORLDS
from benchmarks.shares import table
from biasgraph.audits.search.probe_options import ProbeOptions
from biasgraph.audits.search.probe_training import train

AXES = ("gender", "age")
HEADER = ("generator", "labels", "axis", "step", "unnamed", "ECE", "largest", "named", "ECE")
Record = Mapping[str, Any]


def rows(model: str, labels: str, document: Record) -> Iterator[list[str]]:
    """A row for each axis and step."""
    for probe in document["probes"]:
        for one in probe["steps"]:
            unnamed, named = one["unnamed"], one["named"]
            yield [
                model,
                labels,
                probe["axis"],
                f"{one['step']} of {document['of']}",
                _shown(unnamed),
                f"{unnamed['ece']:.3f}",
                f"{unnamed['largest_share']:.2f}",
                _shown(named),
                f"{named['ece']:.3f}",
            ]


def _shown(found: Record) -> str:
    if found["low"] is None:
        return f"{found['accuracy']:.3f}"
    return f"{found['accuracy']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains what is missing and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--every", type=int, default=None)
    parser.add_argument("--work", type=Path, default=Path("outputs/probes"))
    given = parser.parse_args(arguments)
    for labels in ("judge", "prompt"):
        for world in WORLDS:
            options = ProbeOptions(
                model=f"sandbox:{world}",
                axis=AXES,
                images=given.images,
                every=given.every,
                labels=labels,
                output=given.work / f"{world}.safetensors",
            )
            found = list(rows(world, labels, train(options).document))
            print(table(HEADER, found), flush=True)


if __name__ == "__main__":
    main()
