"""What OpenBias, TIBET and MineTheGap find in the sandbox, held against what was planted there.

    python -m benchmarks.methods_card

Uses the runs outputs/sandbox-WORLD/occupations of both generators, and builds those that are not
there (26 occupations, 48 images a prompt: hours on two cores).  What the methods find is written
to WORK/methods-WORLD.json and not measured again; embeddings are kept in the run's ledger.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import biasgraph
from benchmarks.exact import WORLDS
from benchmarks.methods_summary import VARIED, parts, summarise
from benchmarks.shares import read_json, write_json
from biasgraph.audits.annotate import annotate_run
from biasgraph.data.file_names import RECORD
from biasgraph.io import resources

ROOT = Path(__file__).resolve().parents[1]
LIST = "occupations"
METHODS = ("openbias", "tibet", "minethegap")
WORST = "Missed visual concepts"


def measured(world: str, run: Path) -> list[dict[str, Any]]:
    """What the methods find about each occupation's images of one generator."""
    if not (run / RECORD).is_file():
        biasgraph.build(prompts=LIST, model=f"sandbox:{world}", output=run)
    found = annotate_run(run, METHODS, {"embedder": "sandbox", "vary": list(VARIED)})
    jobs = resources.lines("prompts", f"{LIST}.txt")
    by_prompt = {part.document["graph"]["prompt"]: part.document for part in found.prompts}
    rows = []
    for job in jobs:
        (prompt,) = [text for text in by_prompt if text in (f"a {job}", f"an {job}")]
        rows.append({"occupation": job, "prompt": prompt, **_row(by_prompt[prompt])})
    return rows


def _row(document: Mapping[str, Any]) -> dict[str, Any]:
    about = {node["id"]: node["findings"] for node in document["nodes"]}
    attributes = {node["id"]: node["attributes"] for node in document["nodes"]}
    whole = document["graph"]["findings"]["minethegap"]
    (missed,) = [part for part in whole["show"] if str(part.get("caption")).startswith(WORST)]
    return {
        "intensity": {axis: one["openbias"]["intensity"] for axis, one in about.items()},
        "cas": dict(zip(attributes["gender"], about["gender"]["tibet"]["cas"], strict=True)),
        "cas_ci": dict(zip(attributes["gender"], about["gender"]["tibet"]["cas_ci"], strict=True)),
        "score": whole["score"],
        "score_15": whole["score_15"],
        "missed": [bar["label"] for bar in missed["items"]],
        "nearest": {
            axis: dict(zip(attributes[axis], about[axis]["minethegap"]["nearest"], strict=True))
            for axis in VARIED
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, default=ROOT / "outputs" / "sandbox-card")
    parser.add_argument("--runs", type=Path, default=ROOT / "outputs")
    parser.add_argument("--again", action="store_true", help="measure what is measured already")
    options = parser.parse_args()
    found = {}
    for world in WORLDS:
        path = options.work / f"methods-{world}.json"
        if options.again or not path.exists():
            write_json(path, measured(world, options.runs / f"sandbox-{world}" / LIST))
        found[world] = read_json(path)
    for name, text in parts(summarise(found)).items():
        print(f"{name}\n\n{text}")


if __name__ == "__main__":
    main()
