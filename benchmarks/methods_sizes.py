"""OpenBias's intensity by the number of images: what 48 a prompt leave open.

Uses the replies that `benchmarks.sandbox_card` keeps, and makes what is missing of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.card.harvest import Harvest, texts_of
from benchmarks.exact import VARIABLES, WORLDS, planted_truth
from benchmarks.methods_summary import MEASURED, correlation, rho
from benchmarks.shares import number, shown, table
from biasgraph.causal.tables import Codes
from biasgraph.io import resources
from biasgraph.methods.openbias import intensity

SIZES = (48, 100, 200, 500)
REALISED = 1000
"""Images behind a realised intensity; they are others than those that are held against it."""
JUDGE = "clip"
DRAWS = 50
MARKER = "methods-sizes"

Intensities = npt.NDArray[np.float64]
"""(occupations, axes); NaN where there is none."""


def intensities(codes: Codes) -> list[float]:
    """The intensity of every axis among coded answers (n, axes); NaN where none is valid."""
    found = []
    for column, variable in zip(codes.T, VARIABLES, strict=True):
        counts = np.bincount(column[column >= 0], minlength=variable.size)
        found.append(float(intensity(counts / counts.sum())) if counts.sum() else np.nan)
    return found


def planted(world: str, jobs: Sequence[str]) -> Intensities:
    """The intensities in the planted distributions of the plain prompts."""
    shares = [planted_truth(world, job).initial for job in jobs]
    return np.array([[float(intensity(one[v.name])) for v in VARIABLES] for one in shares])


def drawn(world: str, jobs: Sequence[str], n: int, rng: np.random.Generator) -> Intensities:
    """Those of n images by a generator and a judge without any error."""
    found = []
    for job in jobs:
        shares = planted_truth(world, job).initial
        counts = [rng.multinomial(n, shares[v.name]) for v in VARIABLES]
        found.append([float(intensity(one / n)) for one in counts])
    return np.array(found)


def measured(work: Path) -> dict[str, Any]:
    """Every size's correlation with what was planted, and with what was realised."""
    jobs = resources.lines("prompts", "occupations.txt")
    worlds, realised = {}, {}
    for world in WORLDS:
        harvest = Harvest(work, world, os.cpu_count() or 1)
        own = MEASURED if world == WORLDS[0] else ()
        last = {job: SIZES[-1] + REALISED * (job in own) for job in jobs}
        texts = {job: str(texts_of(job)[None]) for job in jobs}
        harvest.make({texts[job]: last[job] for job in jobs})
        codes = {job: harvest.codes(texts[job], JUDGE, last[job]) for job in jobs}
        worlds[world] = [_against_planted(world, codes, n) for n in SIZES]
        realised |= {job: [_against_realised(codes[job], n) for n in SIZES] for job in own}
    return {"worlds": worlds, "realised": realised}


def _against_planted(world: str, codes: Mapping[str, Codes], n: int) -> dict[str, Any]:
    truth = planted(world, [*codes])
    found = np.array([intensities(one[:n]) for one in codes.values()])
    rng = np.random.default_rng(0)
    exact = [rho(truth, drawn(world, [*codes], n, rng)) for _ in range(DRAWS)]
    return {"rho": correlation(truth, found), "exact": float(np.mean(exact))}


def _against_realised(codes: Codes, n: int) -> float:
    rest = codes[SIZES[-1] :]
    return rho(np.array(intensities(rest)), np.array(intensities(codes[:n])))


def written(found: Mapping[str, Any]) -> str:
    """The table: a column for each number of images."""
    rows = []
    for world, sizes in found["worlds"].items():
        rows.append([f"{world}: rho with the planted intensity", *(shown(s["rho"]) for s in sizes)])
        rows.append([f"{world}: rho of exact draws", *(number(s["exact"]) for s in sizes)])
    for job, values in found["realised"].items():
        rows.append([f"{job}: rho with the realised intensity", *(number(v) for v in values)])
    return table(["images a prompt", *(str(n) for n in SIZES)], rows)
