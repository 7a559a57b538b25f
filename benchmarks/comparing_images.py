"""Does `biasgraph compare` hold on images?  The sandbox's pictures, compared.

    python -m benchmarks.comparing_images --seeds RUN
    python -m benchmarks.comparing_images --worlds DEBIASED STEREOTYPED

``--seeds`` cuts audits of 48 images a prompt out of a run with many (docs/comparison.md: 2,000 of
three occupations), no image in two of a cut, and compares them two by two: the same model with
other seeds must hardly ever seem changed.  ``--worlds`` takes runs of ``biasgraph build --prompts
occupations``, compares them as ``biasgraph compare`` does, and their prompts one by one, and holds
that against the enumerated truth.  Both print the tables of docs/comparison.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.comparing import NAMES, PAIRS, SIZES, Case, true_changes
from benchmarks.exact import VARIABLES, cut_audit
from benchmarks.shares import clustered, shown, table, wilson, write_json
from biasgraph.audits.compare.comparison import compare_results
from biasgraph.causal.comparing import Comparing
from biasgraph.causal.settings import AnalysisSettings, generator
from biasgraph.causal.tables import CodedImages, Pool
from biasgraph.causal.transport import resolve_ideals
from biasgraph.data.answer_codes import codes_of
from biasgraph.data.answers import Answers
from biasgraph.data.result import Result, load
from biasgraph.sandbox.world import OCCUPATIONS

AUDIT = 48
IDEALS = resolve_ideals(VARIABLES, None, None, None)


def seed_pairs(run: Path, cuts: int) -> dict[str, Any]:
    """Comparisons of audits that differ in nothing but their seeds: one prompt, and all at once.

    The images are cut into audits in their order first, and then at random.
    """
    whole = codes_of(Answers.read(run / "answers.csv"), VARIABLES)
    pairs = min(len(audit.initial) for audit in whole) // AUDIT // 2
    found: dict[str, Any] = {}
    for kind in ("in order", "at random")[: min(cuts, 2)]:
        one: list[int] = []
        several: list[int] = []
        for cut in range(1 if kind == "in order" else cuts - 1):
            for place in range(pairs):
                old, new = (
                    [_audit(audit, 2 * place + half, kind, cut) for audit in whole]
                    for half in (0, 1)
                )
                one += [_changed([a], [b], place) for a, b in zip(old, new, strict=True)]
                several.append(_changed(old, new, place))
        found[kind] = {"one prompt": _rates(one), f"{len(whole)} prompts": _rates(several)}
    return found


def _audit(audit: CodedImages, i: int, kind: str, cut: int) -> CodedImages:
    """The i-th audit of a cut, its images of every prompt in their order or in a random one."""
    shape = (1 + len(audit.arms), len(audit.initial))
    order = np.tile(np.arange(shape[1]), (shape[0], 1))
    if kind == "at random":
        order = np.argsort(generator(cut, audit.prompt).random(shape), axis=1)
    return cut_audit(audit, order[:, i * AUDIT : (i + 1) * AUDIT])


def _changed(old: list[CodedImages], new: list[CodedImages], seed: int) -> int:
    """How many pairs of axes changed between two audits."""
    pools = [Pool.of("compared", images) for images in (old, new)]
    comparing = Comparing(pools, IDEALS, AnalysisSettings.resolve(seed=seed))
    [pairs] = comparing.pairs([dict.fromkeys(PAIRS, False)] * 2)
    return sum(pair["class"] == "changed" for pair in pairs)


def _rates(changed: Sequence[int]) -> dict[str, Any]:
    return {
        "any": wilson(sum(count > 0 for count in changed), len(changed)),
        "pairs": clustered(changed, [len(PAIRS)] * len(changed)),
    }


def seeds_table(found: dict[str, Any]) -> str:
    rows = [
        (kind, what, str(rates["any"]["n"]), shown(rates["any"]), shown(rates["pairs"], 4))
        for kind, by_prompts in found.items()
        for what, rates in by_prompts.items()
    ]
    heading = (
        "images taken",
        "compared",
        "comparisons",
        "any pair changed",
        "pairs changed",
    )
    return table(heading, rows)


def planted_differences(old: Path, new: Path) -> dict[str, Any]:
    """What truly differs between the worlds, and what compare says of it.

    old, new: runs of all occupations by `sandbox:debiased` and `sandbox:stereotyped`. Rows of
    "pairs" and "distances", over all prompts together and within each.
    """
    results = [load(old), load(new)]
    jobs = tuple(OCCUPATIONS)
    found = {"together": _against_truth(compare_results(results).document, jobs)}
    each = [
        _against_truth(compare_results(both).document, (_job(both[0]),))
        for both in zip(*(result.prompts for result in results), strict=True)
    ]
    found["each"] = {kind: [row for one in each for row in one[kind]] for kind in each[0]}
    return found


def _job(result: Result) -> str:
    return str(result.document["graph"]["prompt"]).partition(" ")[2]


def _against_truth(document: dict[str, Any], jobs: tuple[str, ...]) -> dict[str, list[Any]]:
    true = true_changes(Case(("debiased", "stereotyped"), (AUDIT, AUDIT), (jobs, jobs), 0))
    [comparison] = document["comparisons"]
    said = {(row["source"], row["target"]): row for row in comparison["pairs"]}
    pairs = [
        {
            "pair": f"{NAMES[x]} → {NAMES[y]}",
            "true": value,
            "found": said[NAMES[x], NAMES[y]]["difference"],
            "ci": said[NAMES[x], NAMES[y]]["difference_ci"],
            "claimed": said[NAMES[x], NAMES[y]]["class"] == "changed",
        }
        for (x, y), value in zip(PAIRS, true["pairs"], strict=True)
    ]
    grown = {row["axis"]: row for row in comparison["distances"] if row["growth"] is not None}
    distances = [
        {
            "axis": name,
            "true": value,
            "found": grown[name]["growth"],
            "ci": grown[name]["growth_ci"],
            "claimed": not grown[name]["growth_ci"][0] <= 0 <= grown[name]["growth_ci"][1],
        }
        for name, value in zip(NAMES, true["distances"], strict=True)
        if name in grown
    ]
    return {"pairs": pairs, "distances": distances}


def worlds_tables(found: dict[str, Any]) -> str:
    """By the size of the true change: how many are claimed, and how many of them rightly."""
    parts = []
    for kind, what in (("pairs", "true change of IS"), ("distances", "true growth of W1")):
        for scope, prompts in (("together", "all prompts together"), ("each", "each prompt")):
            rows = []
            for low, high in SIZES:
                here = [row for row in found[scope][kind] if low <= abs(row["true"]) < high]
                claimed = [row for row in here if row["claimed"]]
                right = sum(row["found"] * row["true"] > 0 for row in claimed)
                inside = sum(row["ci"][0] <= row["true"] <= row["ci"][1] for row in here)
                counts = (len(here), len(claimed), right, inside)
                rows.append((f"{low:g} to {high:g}", *map(str, counts)))
            heading = (f"{what}, {prompts}", kind, "claimed", "in the right direction",
                       "interval holds it")  # fmt: skip
            parts.append(table(heading, rows))
    listed = [
        (row["axis"], f"{row['true']:+.3f}",
         f"{row['found']:+.3f} [{row['ci'][0]:+.3f}, {row['ci'][1]:+.3f}]")
        for row in found["together"]["distances"]
    ]  # fmt: skip
    parts.append(table(("axis", "true growth of W1, all prompts together", "found"), listed))
    largest = sorted(found["together"]["pairs"], key=lambda row: -abs(row["true"]))[:8]
    listed = [
        (row["pair"], f"{row['true']:+.3f}",
         f"{row['found']:+.3f} [{row['ci'][0]:+.3f}, {row['ci'][1]:+.3f}]",
         "changed" if row["claimed"] else "not decided")
        for row in largest
    ]  # fmt: skip
    heading = ("the eight largest true changes, all prompts together", "true", "found", "said")
    parts.append(table(heading, listed))
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=Path("outputs/comparing"))
    parser.add_argument("--seeds", type=Path, metavar="RUN")
    parser.add_argument("--cuts", type=int, default=4, help="ways to cut audits out of the images")
    parser.add_argument("--worlds", type=Path, nargs=2, metavar=("DEBIASED", "STEREOTYPED"))
    options = parser.parse_args()
    if options.seeds:
        found = seed_pairs(options.seeds, options.cuts)
        write_json(options.work / "seeds.json", found)
        print(seeds_table(found))
    if options.worlds:
        found = planted_differences(*options.worlds)
        write_json(options.work / "worlds.json", found)
        print(worlds_tables(found))


if __name__ == "__main__":
    main()
