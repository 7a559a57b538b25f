"""Measures the sandbox's models for their card, docs/sandbox.md.

    python -m benchmarks.sandbox_card --estimate
    python -m benchmarks.sandbox_card --section judges
    python -m benchmarks.sandbox_card            # every section
    python -m benchmarks.sandbox_card --write-docs

Every section writes ``WORK/SECTION.json`` and may be cut short at any time: the judges' replies
are kept under ``WORK/answers`` and no picture is made twice.  ``--write-docs`` measures nothing;
it fills the page's tables from these files, draws docs/images/sandbox-icons.png and writes
biasgraph/sandbox/realised.csv.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.card import generated, graphs
from benchmarks.card.harvest import Harvest, measured_pace
from benchmarks.card.judging import judges_section
from benchmarks.card.page import filled
from benchmarks.card.planted import planted_parts, shipped_parts
from benchmarks.card.sheets import contact_sheets, icon_sheet
from benchmarks.card.tables import measured_parts
from benchmarks.exact import WORLDS
from benchmarks.shares import read_json, write_json
from biasgraph.sandbox.realised import TABLE
from biasgraph.sandbox.world import OCCUPATIONS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "sandbox.md"
ICONS = ROOT / "docs" / "images" / "sandbox-icons.png"
SEVERAL = ("librarian", "mechanic", "athlete", "nurse", "chef", "philosopher")
"""The occupations that context phrases are tried on."""


@dataclass(frozen=True)
class Measuring:
    """What to measure, and where."""

    work: Path
    jobs: int
    measured: tuple[str, ...]
    images: int
    drawings: int
    repeats: int

    def harvest(self, world: str) -> Harvest:
        return Harvest(self.work, world, self.jobs)

    @property
    def harvests(self) -> list[Harvest]:
        return [self.harvest(world) for world in WORLDS]

    def sections(self) -> Mapping[str, Callable[[], dict[str, Any]]]:
        """The sections in the order in which they are best measured."""
        first = self.harvest(WORLDS[0])
        return {
            "judges": lambda: judges_section(self.drawings),
            "obedience": lambda: generated.obedience_section(first, SEVERAL),
            "agreement": self._agreement,
            "planted": lambda: generated.planted_section(self.harvests, self.measured),
            "realised": lambda: generated.realised_section(first, self.measured, self.images),
            "edges": lambda: graphs.edges_section(self.harvests, self.measured, self.images),
            "correlation": lambda: graphs.correlation_section(
                first, self.measured, self.images, self.repeats
            ),
        }

    def _agreement(self) -> dict[str, Any]:
        found = generated.agreement_section(self.harvests)
        contact_sheets(self.harvest(WORLDS[0]), self.work / "contact")
        return found

    def estimate(self) -> None:
        """Print how many images are still to be made, and how long that takes."""
        audits = generated.wanted_audits(OCCUPATIONS, generated.AUDIT)
        plain = generated.wanted_plain(generated.PLANTED)
        arms = generated.wanted_audits(self.measured, generated.PLANTED)
        many = generated.wanted_audits(self.measured, self.images)
        phrases = generated.wanted_phrases(SEVERAL)
        missing = 0
        for harvest in self.harvests:
            wanted = _largest(audits, plain, arms)
            if harvest.world == WORLDS[0]:
                wanted = _largest(wanted, many, phrases)
            here = len(harvest.missing(wanted))
            print(f"{harvest.spec}: {here:,} images to make")
            missing += here
        pace = measured_pace(WORLDS[0], self.jobs)
        print(f"{pace:.0f} images/s: about {missing / pace / 60:.0f} min in all")


def _largest(*wanted: Mapping[str, int]) -> dict[str, int]:
    return {
        text: max(one.get(text, 0) for one in wanted)
        for text in dict.fromkeys(text for one in wanted for text in one)
    }


def write_docs(measuring: Measuring) -> None:
    """Fill the page, draw the icons and write the realised table, from what was measured."""
    parts = planted_parts() | {"parts": shipped_parts()} | measured_parts(measuring.work)
    PAGE.write_text(filled(PAGE.read_text("utf-8"), parts), "utf-8", newline="\n")
    ICONS.parent.mkdir(exist_ok=True)
    icon_sheet().save(ICONS, optimize=True)
    found = read_json(measuring.work / "realised.json")
    if found is not None:
        harvest = measuring.harvest(found["world"])
        generated.write_realised(harvest, found["occupations"], found["images"], TABLE)
    print(f"wrote {PAGE}, {ICONS}{'' if found is None else f', {TABLE}'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=ROOT / "outputs" / "sandbox-card")
    parser.add_argument("--section", action="append", help="may be given more than once")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--occupations", default="librarian,mechanic,athlete")
    parser.add_argument("--images", type=int, default=2000, help="a prompt, for the realised truth")
    parser.add_argument("--drawings", type=int, default=4000, help="for the judges")
    parser.add_argument("--repeats", type=int, default=20, help="audits cut from the images")
    parser.add_argument("--estimate", action="store_true", help="say how long it would take")
    parser.add_argument("--write-docs", action="store_true")
    options = parser.parse_args()
    measured = tuple(name.strip() for name in options.occupations.split(","))
    unknown = set(measured) - set(OCCUPATIONS)
    if unknown:
        parser.error(f"no such occupation: {', '.join(sorted(unknown))}")
    measuring = Measuring(
        options.work, options.jobs, measured, options.images, options.drawings, options.repeats
    )
    sections = measuring.sections()
    chosen = options.section or list(sections)
    if not set(chosen) <= set(sections):
        parser.error(f"sections are {', '.join(sections)}")
    if options.estimate:
        measuring.estimate()
    elif options.write_docs:
        write_docs(measuring)
    else:
        for name in chosen:
            started = time.monotonic()
            write_json(options.work / f"{name}.json", sections[name]())
            minutes = (time.monotonic() - started) / 60
            print(f"{name}: {minutes:.1f} min, {options.work / name}.json", file=sys.stderr)


if __name__ == "__main__":
    main()
