"""Several runs side by side: what changed, who is influenced least, how far from the ideal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.audits.compare.comparable import ComparedRun, comparable
from biasgraph.audits.compare.gates import Gate
from biasgraph.audits.compare.pairing import NOTE, refuse_unpaired
from biasgraph.audits.pipeline_options import CompareOptions
from biasgraph.causal.comparing import CLASSES, Comparing
from biasgraph.causal.settings import FDR_LEVEL
from biasgraph.causal.strengths import NOISE_DRAWS, REPLICATES, Strengths
from biasgraph.causal.tables import Pool
from biasgraph.data import frames as tables
from biasgraph.data.result import Result, load
from biasgraph.errors import InputError
from biasgraph.io.csv_files import to_csv
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import is_folder_of, refuse_foreign, write_files
from biasgraph.report.comparison_page import comparison_html

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "biasgraph-compare/1"
POOL = "compared"
JUDGE = ("vqa", "vqa_fingerprint", "people", "annotators")
"""What a comparison says of who answered."""
SETTINGS = ("mix", "unknown", "min_valid", "bootstrap")
DOCUMENT, ROWS, PAGE = "compare.json", "compare.csv", "compare.html"

Record = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """Runs against a baseline.

    document: everything compare.json holds, in plain JSON types; what is undefined is None with
    a reason.
    runs: what was compared, the baseline first.
    """

    document: Record
    runs: list[ComparedRun]

    def files(self) -> dict[str, bytes]:
        """The contents of compare.json and compare.csv, by name."""
        return {DOCUMENT: to_json(self.document), ROWS: to_csv(self.rows())}

    def page(self, directory: Path) -> bytes:
        """compare.html as it stands in `directory`, from where it links to the runs' reports."""
        return comparison_html(self.document, self.runs, directory)

    def save(self, directory: str | Path) -> list[Path]:
        """Write all files into `directory`, or none; returns their paths.

        Raises:
            InputError: the directory holds something else.
            ModelError: it cannot be written.
        """
        folder = Path(directory)
        refuse_foreign(folder, is_folder_of(DOCUMENT), "the directory of a comparison")
        return write_files(folder, {**self.files(), PAGE: self.page(folder)})

    def rows(self) -> pd.DataFrame:
        """compare.csv: one row for each ordered pair of axes and each run but the baseline."""
        import pandas as pd

        baseline = self.document["runs"][0]["name"]
        rows = [
            {"baseline": baseline, "run": comparison["run"]} | _flat(pair)
            for comparison in self.document["comparisons"]
            for pair in comparison["pairs"]
        ]
        return tables.with_label(pd.DataFrame(rows, dtype=object), self.document["toy"])


def compare(options: CompareOptions) -> Comparison:
    """Compare the results in some directories, the first of which is the baseline.

    Gates are judged in the document, and nothing is raised when one fails
    (`biasgraph.audits.gate_condition.refuse_failed` does).

    Raises:
        InputError: a gate is malformed, there are fewer than two runs, one cannot be read, or
            they are not comparable.
    """
    gates = [Gate.parse(gate) for gate in options.gates]
    if len(options.runs) < 2:
        raise InputError("a comparison needs a baseline and at least one other run")
    results = [load(run) for run in options.runs]
    return compare_results(
        results, common=options.common, paired=options.paired, gates=gates, seed=options.seed
    )


def compare_results(
    results: Sequence[Result],
    *,
    common: bool = False,
    paired: bool = False,
    gates: Sequence[Gate] = (),
    seed: int | None = None,
) -> Comparison:
    """`compare` for two or more results in memory."""
    runs, notes = comparable(results, common=common)
    if paired:
        refuse_unpaired(results, [run.name for run in runs])
        notes.append(NOTE)
    for gate in gates:
        gate.check_axis(runs[0].axes)
    settings = replace(
        runs[0].settings,
        bootstrap=max(run.settings.bootstrap for run in runs),
        seed=runs[0].settings.seed if seed is None else seed,
    )
    pools = [Pool.of(POOL, run.images) for run in runs]
    comparing = Comparing(pools, runs[0].ideals, settings, paired)
    changes = comparing.pairs([_edges(run) for run in runs])
    shared = [(pair["source"], pair["target"]) for pair in changes[0] if pair["reason"] is None]
    strengths, amplification = Strengths(pools, runs[0].ideals, shared, settings).fields()
    distances = comparing.distances()
    toys = [run.graph["toy"] for run in runs]
    document: Record = {
        "schema": SCHEMA,
        "toy": next((toy for toy in toys if toy), None),
        "kind": runs[0].graph.get("kind", "prompt"),
        "prompts": [images.prompt for images in runs[0].images],
        "axes": [
            {name: node.get(name) for name in ("id", "metric", "attributes", "ideal")}
            for node in runs[0].nodes
        ],
        "runs": [_about(run) for run in runs],
        "settings": {
            "level": FDR_LEVEL,
            **{name: getattr(settings, name) for name in SETTINGS},
            "image_replicates": REPLICATES,
            "noise_draws": NOISE_DRAWS,
            "seed": settings.seed,
            "common": common,
            "paired": paired,
        },
        "notes": notes,
        "distances": _distances(runs, distances),
        "strengths": _strengths(runs, strengths),
        "amplification": [
            _name_row(runs, one, drop=("growth", "growth_ci")) for one in amplification
        ],
        "comparisons": [
            _changes(runs, place, pairs, [row[place] for row in distances], amplification[place])
            | {"same_answers": _have_same_answers(results[0], results[place])}
            for place, pairs in enumerate(changes, start=1)
        ],
    }
    document["gates"] = [gate.judge(document) for gate in gates]
    return Comparison(document, runs)


def _have_same_answers(baseline: Result, other: Result) -> bool:
    """Whether two results rest on the same answers about the same images."""
    columns = ["prompt", "role", "axis", "attribute", "image", "target", "answer"]
    tables = [one.answers[columns].astype(str) for one in (baseline, other)]
    if len(tables[0]) != len(tables[1]):
        return False
    first, second = (table.sort_values(columns).reset_index(drop=True) for table in tables)
    return bool(first.equals(second))


def _changes(
    runs: Sequence[ComparedRun],
    place: int,
    pairs: Sequence[Record],
    distances: Sequence[Record],
    amplification: Record,
) -> Record:
    """What changed in the run at `place` against the baseline."""
    return {
        "run": runs[place].name,
        "classes": _count_classes(pairs),
        "new_edges": _new_edges(pairs),
        "pairs": [_name_row(runs, pair) for pair in pairs],
        "distances": [
            {
                "axis": runs[0].axes[row["axis"]],
                "growth": row["growth"],
                "growth_ci": row["growth_ci"],
                "reason": _too_few(row["w1"]),
            }
            for row in distances
        ],
        "amplification": {
            **{name: amplification[name] for name in ("growth", "growth_ci", "pairs")},
            "reason": _no_pairs(amplification["value"]),
        },
    }


def _edges(run: ComparedRun) -> Mapping[tuple[int, int], bool]:
    """Whether each pair of different axes, by their numbers, is an edge of the run's graph."""
    found = {(pair["source"], pair["target"]): bool(pair["edge"]) for pair in run.pairs}
    numbers = permutations(range(len(run.axes)), 2)
    return {(x, y): found[run.axes[x], run.axes[y]] for x, y in numbers}


def _about(run: ComparedRun) -> Record:
    graph, folder = run.graph, run.directory
    return {
        "name": run.name,
        "model": graph["model"],
        "directory": None if folder is None else str(folder),
        "prompt": graph["prompt"],
        "prompts": len(run.images),
        **{name: graph.get(name) for name in JUDGE},
        "images": graph["images"],
        "edges": sum(bool(pair["edge"]) for pair in run.pairs),
        "max_impact": graph["max_impact"],
        "max_influenced": graph["max_influenced"],
    }


def _distances(runs: Sequence[ComparedRun], distances: Sequence[Sequence[Record]]) -> list[Record]:
    """W1 of each axis in each run, with what chance alone would give images drawn from the ideal.

    `null_q95` and `near_ideal` are the run's own, at its own number of images.
    """
    fields = ("w1", "w1_ci", "probability_closest", "n", "at_common_size")
    return [
        {
            "axis": node["id"],
            "run": run.name,
            **{name: row[name] for name in fields},
            "null_q95": node["w1_null"]["q95"],
            "near_ideal": node["near_ideal"],
            "reason": _too_few(row["w1"]),
        }
        for run, of_run in zip(runs, zip(*distances, strict=True), strict=True)
        for node, row in zip(run.nodes, of_run, strict=True)
    ]


def _strengths(runs: Sequence[ComparedRun], strengths: Sequence[Sequence[Record]]) -> list[Record]:
    """Each axis in each run: sums of |IS| over its pairs, and its edges in the run's graph."""
    return [
        {
            "axis": run.axes[row["axis"]],
            "run": run.name,
            "in": row["in"] | {"edges": run.nodes[row["axis"]]["in_degree"]},
            "out": row["out"] | {"edges": run.nodes[row["axis"]]["out_degree"]},
            "reason": _no_pairs(row["in"]["value"] if row["out"]["value"] is None else 0),
        }
        for run, of_run in zip(runs, zip(*strengths, strict=True), strict=True)
        for row in of_run
    ]


def _name_row(runs: Sequence[ComparedRun], row: Record, drop: Sequence[str] = ()) -> Record:
    """A row with names for the numbers of axes and runs."""
    axes = runs[0].axes
    names = {"source": axes, "target": axes, "run": [run.name for run in runs]}
    return {
        field: names[field][value] if field in names else value
        for field, value in row.items()
        if field not in drop
    }


def _count_classes(pairs: Sequence[Record]) -> dict[str, int]:
    counts = Counter(pair["class"] for pair in pairs)
    return {**{name: counts[name] for name in CLASSES}, "not comparable": counts[None]}


def _new_edges(pairs: Sequence[Record]) -> Record:
    """Pairs that are edges in the run, not in the baseline, and whose change is significant.

    None when no pair can be compared; `not_comparable` counts those of the run's edges alone.
    """
    known = any(pair["class"] is not None for pair in pairs)
    fresh = [pair for pair in pairs if pair["edge_run"] and not pair["edge_baseline"]]
    return {
        "count": sum(pair["class"] == "changed" for pair in fresh) if known else None,
        "undecided": sum(pair["class"] not in ("changed", None) for pair in fresh),
        "not_comparable": sum(pair["class"] is None for pair in fresh),
        "reason": None if known else "no pair of axes can be compared",
    }


def _too_few(value: float | None) -> str | None:
    return "too few valid answers in a run" if value is None else None


def _no_pairs(value: float | None) -> str | None:
    return "none of its pairs can be compared" if value is None else None


def _flat(pair: Record) -> Record:
    """A pair with its intervals as two columns each."""
    flat: Record = {}
    for name, value in pair.items():
        if name.endswith("_ci"):
            flat |= dict(zip((f"{name}_low", f"{name}_high"), value or (None, None), strict=True))
        else:
            flat[name] = value
    return flat
