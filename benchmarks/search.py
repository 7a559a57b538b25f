"""What `biasgraph search` finds on the sandbox, and what it costs (docs/prompt-search.md).

    python -m benchmarks.search --work outputs/search

- table: both generators and both directions of gender and age; 20 prompts for each lambda (10, 100,
  1000), of the language model alone, of one told to bias, and of PEZ, beside the 26 occupations.
- cost: `debiased`, male and old, lambda 100: 100 prompts by racing, by shared latents and by racing
  4 and 2 latents, and a few by racing at half of the steps and by denoising every candidate; draws
  and noises are shared.
- scores: 160 prompts with two phrases, without a search: how the ways to score them agree with
  each other and with what was planted (benchmarks/search_scores.py).

Each prompt is kept when it is found; rerun the same command to resume. The summary goes to
``DIR/search.json`` and, as Markdown, to the terminal. About 7 s of one core a prompt, 80 s with
`full`; the table takes an hour and a half of one core, the rest as long.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from benchmarks.exact import WORLDS
from benchmarks.search_scores import agreement, markdown
from benchmarks.shares import Estimate, number, shown, table, write_json
from biasgraph.audits.search.probe_options import ProbeOptions
from biasgraph.audits.search.probe_training import train
from biasgraph.audits.search.search import search
from biasgraph.audits.search.search_options import SearchOptions
from biasgraph.sandbox.scene_captions import read_scene
from biasgraph.sandbox.world import AXES, marginals, world

TARGETS = ("gender=male", "gender=female", "age=young", "age=old")
WEIGHTS = (10.0, 100.0, 1000.0)
COSTLY = {
    "race": 100,
    "shared": 100,
    "race of 4": 100,
    "race of 2": 100,
    "race at half": 20,
    "full": 8,
}
"""How many prompts are written in each way."""
HALF = 5
PARTS = ("table", "cost", "scores")
Record = dict[str, Any]


def probes_of(name: str, work: Path) -> Path:
    """Probes of gender and age as the command trains them; made where there are none."""
    path = work / f"probes-{name}.safetensors"
    if not path.exists():
        train(ProbeOptions(model=f"sandbox:{name}", axis=("gender", "age"), output=path))
    return path


def searched(name: str, target: str, work: Path, directory: str, **settings: Any) -> Record:
    """The document of a search; what there is of it is not made again."""
    options = SearchOptions(
        towards=target,
        model=f"sandbox:{name}",
        probes=probes_of(name, work),
        output=work / f"{directory}-{name}-{target.replace('=', '-')}",
        **settings,
    )
    return search(options).document


def cells_of(name: str, target: str, document: Record) -> Iterator[list[str]]:
    """A row of each cell: share, gain, perplexity and passes."""
    for cell in document["cells"]:
        share, gain = cell["shares"][0], (cell["gains"] or [None])[0]
        weight = "" if cell["lambda"] is None else f"{cell['lambda']:g}"
        passes = cell["passes"]
        yield [
            name,
            target.partition("=")[2],
            cell["method"],
            weight,
            str(cell["n_prompts"]),
            _shown(share, "mean"),
            "" if gain is None else _shown(gain, "difference"),
            _shown(cell["perplexity"], "mean", 1),
            "" if passes is None else f"{passes / max(1, cell['n_prompts']):,.0f}",
        ]


def _shown(found: Mapping[str, Any], name: str, digits: int = 2) -> str:
    return shown({"value": found[name], "low": found["low"], "high": found["high"]}, digits)


def tables(work: Path, prompts: int) -> str:
    """The table over lambda, as Markdown."""
    rows = []
    for name in reversed(WORLDS):
        for target in TARGETS:
            document = searched(
                name, target, work, "table", weights=WEIGHTS, prompts=prompts,
                baselines=("lm-biased", "pez"), curated="occupations",
            )  # fmt: skip
            rows += cells_of(name, target, document)
            print(f"{name} {target}", flush=True)
    header = ("generator", "target", "prompts by", "lambda", "n", "share", "more than lm",
              "perplexity", "passes")  # fmt: skip
    return table(header, rows)


def costs(work: Path, scale: float) -> list[Record]:
    """Of each target and way: shares of the prompts by their number, and passes of each."""
    ways: dict[str, Record] = {
        "race": {"scoring": "race"},
        "shared": {"scoring": "shared"},
        "race of 4": {"scoring": "race", "latents": 4},
        "race of 2": {"scoring": "race", "latents": 2},
        "race at half": {"scoring": "race", "step": HALF},
        "full": {"scoring": "full"},
    }
    found = []
    for target in ("gender=male", "age=old"):
        for way, settings in ways.items():
            document = searched(
                "debiased", target, work, f"cost-{way.replace(' ', '-')}", weights=(100.0,),
                prompts=max(2, round(COSTLY[way] * scale)), **settings,
            )  # fmt: skip
            print(f"{way} {target}", flush=True)
            own = [one for one in document["prompts"] if one["cell"] == 2]
            found.append({
                "target": target,
                "way": way,
                "judged": [one["shares"][target.partition("=")[0]] for one in own],
                "planted": [planted_share("debiased", target, one["prompt"]) for one in own],
                "passes": [one["passes"] for one in own],
                "perplexity": [one["perplexity"] for one in own],
            })  # fmt: skip
    return found


def planted_share(name: str, target: str, prompt: str | None) -> float | None:
    """What was planted: the attribute's share in images of a prompt; None where none was found."""
    if prompt is None:
        return None
    axis, _, attribute = target.partition("=")
    shares = marginals(world(name), read_scene(prompt))[axis]
    return float(shares[AXES[axis].index(attribute)])


def costs_table(records: Sequence[Record]) -> str:
    """What each way finds for how many passes, and how much more than by shared latents."""
    by = {(one["target"], one["way"]): one for one in records}
    rows = []
    for (target, way), one in by.items():
        shared = by[target, "shared"]
        passes = float(np.mean(one["passes"]))
        rows.append([
            target.partition("=")[2],
            way,
            str(sum(value is not None for value in one["judged"])),
            shown(_mean(one["judged"]), 2),
            shown(_mean(one["planted"]), 2),
            "" if way == "shared" else shown(_apart(one["judged"], shared["judged"]), 2),
            f"{passes:,.0f}",
            number(passes / float(np.mean(shared["passes"])), 2),
            shown(_mean(one["perplexity"]), 2),
        ])  # fmt: skip
    header = ("target", "scoring", "n", "judged share", "planted share",
              "more than shared, judged (90 %)", "passes a prompt", "of shared's",
              "perplexity")  # fmt: skip
    return table(header, rows)


def _mean(values: Sequence[float | None], level: float = 0.95) -> Estimate:
    """A mean with Student's interval."""
    known = np.array([value for value in values if value is not None])
    if len(known) < 2:
        return {"value": None, "low": None, "high": None, "n": len(known)}
    reach = float(student.ppf((1 + level) / 2, len(known) - 1) * known.std(ddof=1))
    middle, half = float(known.mean()), reach / len(known) ** 0.5
    return {"value": middle, "low": middle - half, "high": middle + half, "n": len(known)}


def _apart(one: Sequence[float | None], other: Sequence[float | None]) -> Estimate:
    """Prompt by prompt, with the same draws and noises, as far as both found one."""
    pairs = zip(one, other, strict=False)
    return _mean([a - b for a, b in pairs if a is not None and b is not None], level=0.9)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures what is missing and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("outputs/search"))
    parser.add_argument("--prompts", type=int, default=20, help="of each cell of the table")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers for the cost")
    parser.add_argument("--parts", default=",".join(PARTS), metavar="PART,...")
    given = parser.parse_args(arguments)
    parts = given.parts.split(",")
    given.work.mkdir(parents=True, exist_ok=True)
    if "table" in parts:
        print(tables(given.work, given.prompts), flush=True)
    if "cost" in parts:
        records = costs(given.work, given.scale)
        write_json(given.work / "cost.json", records)
        print(costs_table(records), flush=True)
    if "scores" in parts:
        scores = [agreement(name, probes_of(name, given.work)) for name in WORLDS]
        write_json(given.work / "scores.json", scores)
        print(markdown(scores), flush=True)


if __name__ == "__main__":
    main()
