"""Do audits of the generated images find the edges and sensitivities that are there?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.card.generated import AUDIT, realised, wanted_audits
from benchmarks.card.harvest import Harvest
from benchmarks.card.replies import JUDGES
from benchmarks.exact import cut_audit, measured_truth, planted_truth, sensitivities
from benchmarks.shares import Estimate, clustered, mean
from biasgraph.causal.graph import analyze
from biasgraph.causal.settings import AnalysisSettings
from biasgraph.causal.tables import CodedImages
from biasgraph.sandbox.planted_truth import Truth
from biasgraph.sandbox.world import OCCUPATIONS

STRENGTHS = (0.1, 0.3)
SIZES = (48, 200, 1000)
TINY = 0.01
RULES = ("alpha 1e-4", "BH q .05")
Found = dict[tuple[str, str], dict[str, Any]]
"""(source, target) -> the fields of the pair."""


def edges_section(
    harvests: Sequence[Harvest], measured: Sequence[str], measured_images: int
) -> dict[str, Any]:
    """Precision and recall of edges at 48 images, against both truths.

    measured: the occupations with a realised truth, in the first of the harvests.
    """
    result: dict[str, Any] = {"images": AUDIT, "planted": {}, "realised": {}}
    for harvest in harvests:
        harvest.make(wanted_audits(OCCUPATIONS, AUDIT))
    harvests[0].make(wanted_audits(measured, measured_images))
    for harvest, judge in product(harvests, JUDGES):
        audits = [audited(harvest.audit(job, judge, AUDIT)) for job in OCCUPATIONS]
        truths = [planted_truth(harvest.world, job) for job in OCCUPATIONS]
        result["planted"][f"{harvest.world} {judge}"] = compared(audits, truths)
        if harvest is harvests[0]:
            chosen = [audits[OCCUPATIONS.index(job)] for job in measured]
            truths = [realised(harvest, job, judge, measured_images) for job in measured]
            result["realised"][f"{harvest.world} {judge}"] = compared(chosen, truths)
    return result


def audited(images: CodedImages) -> Found:
    """The pairs of one audit by name."""
    settings = AnalysisSettings.resolve(amplification_replicates=0, noise_draws=0)
    pairs = analyze(images, settings).pairs
    return {(p["source"], p["target"]): p for p in pairs if p["source"] != p["target"]}


def is_edge(pair: Mapping[str, Any], rule: str) -> bool:
    """Whether a pair is an edge by one of ``RULES``."""
    if pair["status"] != "ok":
        return False
    small = pair["p"] <= 1e-4 if rule == RULES[0] else pair["p_adjusted"] <= 0.05
    return bool(small)


def compared(audits: Sequence[Found], truths: Sequence[Truth]) -> dict[str, Any]:
    """Edges and their directions against a truth, audits resampled."""

    def strength(truth: Truth, name: tuple[str, str]) -> float:
        return truth.by_name[name].cramers_v or 0.0

    def share(hit: _Test, among: _Test) -> Estimate:
        hits, sizes = [], []
        for audit, truth in zip(audits, truths, strict=True):
            names = [name for name in audit if among(audit, truth, name)]
            sizes.append(len(names))
            hits.append(sum(hit(audit, truth, name) for name in names))
        return clustered(hits, sizes)

    def claimed(audit: Found, truth: Truth, name: tuple[str, str]) -> bool:
        if abs(truth.by_name[name].sensitivity) < TINY:
            return False
        return is_edge(audit[name], RULES[0]) and audit[name]["sign"] in ("towards", "away")

    def right(audit: Found, truth: Truth, name: tuple[str, str]) -> bool:
        return (audit[name]["sign"] == "towards") == (truth.by_name[name].sensitivity > 0)

    found: dict[str, Any] = {}
    for rule in RULES:

        def edge(audit: Found, truth: Truth, name: tuple[str, str], rule: str = rule) -> bool:
            return is_edge(audit[name], rule)

        found[rule] = {
            "edges": mean(float(sum(is_edge(p, rule) for p in a.values())) for a in audits)
        }
        for least in STRENGTHS:

            def strong(_: Found, truth: Truth, name: tuple[str, str], least: float = least) -> bool:
                return strength(truth, name) >= least

            found[rule][str(least)] = {
                "precision": share(strong, edge),
                "recall": share(edge, strong),
            }
    found["right_directions"] = share(right, claimed)
    return found


_Test = Callable[[Found, Truth, tuple[str, str]], bool]


def correlation_section(
    harvest: Harvest, occupations: Sequence[str], images: int, repeats: int
) -> dict[str, Any]:
    """r(IS, true IS) of audits cut from many images, beside the correlation of two such audits.

    The realised truth of each audit is counted on the images that it leaves out, so that the two
    share none; ``crossed`` takes that truth from the other judge.
    """
    harvest.make(wanted_audits(occupations, images))
    result: dict[str, Any] = {"world": harvest.world, "images": images, "rows": []}
    for judge, n in product(JUDGES, SIZES):
        if 2 * n > images:
            continue
        other = next(name for name in JUDGES if name != judge)
        r: dict[str, list[float]] = {"realised": [], "crossed": [], "planted": [], "ceiling": []}
        for place, occupation in enumerate(occupations):
            planted = sensitivities(planted_truth(harvest.world, occupation))
            by_judge = {name: harvest.audit(occupation, name, images) for name in JUDGES}
            for repeat in range(repeats):
                rng = np.random.default_rng([place, repeat, n])
                order = np.argsort(rng.random((27, images)), axis=1)
                first, second, rest = order[:, :n], order[:, n : 2 * n], order[:, n:]
                audit = _sensitivities(by_judge[judge], first)
                for name, truth in (
                    ("realised", _sensitivities(by_judge[judge], rest)),
                    ("crossed", _sensitivities(by_judge[other], rest)),
                    ("planted", planted),
                    ("ceiling", _sensitivities(by_judge[judge], second)),
                ):
                    r[name].append(float(np.corrcoef(audit, truth)[0, 1]))
        row = {name: mean(values) for name, values in r.items()}
        result["rows"].append({"judge": judge, "n": n, **row, "ratio": _ratio(row)})
    return result


def _sensitivities(images: CodedImages, rows: np.ndarray) -> np.ndarray:
    return sensitivities(measured_truth(cut_audit(images, rows)))


def _ratio(row: Mapping[str, Estimate]) -> float:
    return float(row["realised"]["value"] / row["ceiling"]["value"])
