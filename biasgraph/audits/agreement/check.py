"""How far a result's judge can be trusted: its answers beside those of a reference.

`check` compares them axis by axis and keeps what it found with the result: in agreement.json, and
in graph.json and the report, where every number rests on this judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.audits.agreement.agreement_file import SCHEMA, Record, read, to_json
from biasgraph.audits.agreement.trusted_answers import (
    Axes,
    TrustedAnswers,
    from_file,
    from_judge,
    is_table,
    wanted_axes,
)
from biasgraph.audits.pipeline_options import CheckOptions
from biasgraph.causal.agreement import Agreement, accuracy, cross_table, uneven_errors
from biasgraph.causal.settings import generator
from biasgraph.causal.tables import GATED, UNKNOWN, Codes
from biasgraph.data.file_names import AGREEMENT
from biasgraph.data.result import Result, load
from biasgraph.errors import InputError, printable, shown
from biasgraph.io.writing import write_files
from biasgraph.models.inference_options import ModelOptions
from biasgraph.report.saving import write

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.runs.progress import Progress

ITSELF = (
    "the reference is the judge itself: its answers agree because they are the same, which says "
    "nothing about whether they are right"
)


def check(
    directory: Path,
    reference: str,
    options: CheckOptions | None = None,
    models: ModelOptions | None = None,
    progress: Progress | None = None,
) -> Record:
    """Compare the judge of the result in `directory` with a reference; returns the agreement.

    reference: a judge's spec, which is asked the run's questions now, or a file of labels or
    answers. Nothing is written but the other judge's answers, into the run's ledger; see `keep`.

    Raises:
        InputError: there is no result or no such reference, or they share no image.
        ModelError: the judge failed. Interrupted: the user stopped it.
    """
    result, options = load(directory), options or CheckOptions()
    models = models or ModelOptions()
    # Labels named as a judge are still labels: what nobody labelled is no answer of theirs.
    reference = reference.removeprefix("human:")
    if not reference.strip():
        raise InputError("--with is empty: name a judge, or a file of labels or answers")
    if Path(reference).is_dir():
        raise InputError(
            f"{shown(Path(reference))} is a folder: name a judge, or a file of labels or answers"
        )
    graph, axes = result.document["graph"], _axes_of(result, options.only)
    if not is_table(reference):
        sampled = None if options.sample is None else (options.sample, options.seed)
        found = from_judge(reference, directory, graph["vqa"] or "", models, progress, sampled)
    elif models.record() or options.sample is not None:
        raise InputError(
            f"{shown(Path(reference))} is a file: leave out options of models, and --sample"
        )
    else:
        found = from_file(Path(reference), directory, graph["vqa"], axes)
    return compared(result.answers, axes, graph, found, options)


def keep(directory: Path, agreement: Record) -> list[Path]:
    """Write agreement.json beside a result, and the agreement into all of the result's files."""
    result = with_agreement(load(directory), agreement)
    paths = write_files(directory, {AGREEMENT: to_json(agreement)})
    return [*paths, *write(result, directory)]


def with_agreement(result: Result, agreement: Record) -> Result:
    """The result, and those of its prompts, with the agreement in their graphs."""
    document = result.document
    graph = {**document["graph"], "agreement": agreement}
    prompts = tuple(with_agreement(part, agreement) for part in result.prompts)
    return replace(result, document={**document, "graph": graph}, prompts=prompts)


def kept(directory: Path | None, about: Mapping[str, Any]) -> Record | None:
    """The agreement that lies in a directory, if it is about this very judge and model.

    about: what a graph says of its origin. Raises InputError when the file is damaged.
    """
    if directory is None or not (directory / AGREEMENT).is_file():
        return None
    record = read(directory / AGREEMENT)
    graph = (about.get(name) for name in ("vqa", "vqa_fingerprint", "model"))
    own = (record.get(name) for name in ("judge", "judge_fingerprint", "model"))
    return record if tuple(own) == tuple(graph) else None


def compared(
    answers: pd.DataFrame,
    axes: Axes,
    about: Mapping[str, Any],
    reference: TrustedAnswers,
    options: CheckOptions,
) -> Record:
    """The agreement of a judge's answers with a reference's, in JSON types.

    answers: the hinge table; about: what a graph says of its origin. Raises InputError when no
    image has an answer of both.
    """
    frame = _joined(answers, reference)
    if frame.empty:
        raise InputError(
            f"no image has answers of both: {printable(reference.name)} is about other images or "
            "axes"
        )
    return {
        "schema": SCHEMA,
        "toy": about.get("toy"),
        "model": about.get("model"),
        "judge": about.get("vqa"),
        "judge_fingerprint": about.get("vqa_fingerprint"),
        "reference": {name: getattr(reference, name) for name in ("name", "kind", "fingerprint")},
        "images": int(frame["image"].nunique()),
        "images_in_all": int(answers["image"].nunique()),
        "replicates": options.replicates,
        "seed": options.seed,
        "axes": [
            _axis(axis, attributes, frame[frame["target"] == axis], options)
            for axis, attributes in axes.items()
        ],
        "notes": [*reference.notes, *([ITSELF] if reference.name == about.get("vqa") else [])],
    }


def _axes_of(result: Result, only: Sequence[str]) -> Axes:
    """The axes of a result and their attributes, without one that stands for unknown answers."""
    with_unknown = result.document["graph"]["settings"]["unknown"] == "class"
    axes = {
        node["id"]: node["attributes"][:-1] if with_unknown else node["attributes"]
        for node in result.document["nodes"]
    }
    return {name: axes[name] for name in wanted_axes(axes, only)}


def _joined(answers: pd.DataFrame, reference: TrustedAnswers) -> pd.DataFrame:
    """image, target, role, answer and truth of every answer that the reference has one beside."""
    frame = answers[["image", "target", "role", "answer"]].astype(str)
    pairs = zip(frame["image"], frame["target"], strict=True)
    frame["truth"] = [reference.said.get(pair) for pair in pairs]
    return frame[frame["truth"].notna()]


def _axis(
    axis: str, attributes: Sequence[str], frame: pd.DataFrame, options: CheckOptions
) -> Record:
    size = len(attributes)
    codes = {"unknown": UNKNOWN, "gated": GATED} | {a: i for i, a in enumerate(attributes)}

    def table(rows: pd.DataFrame) -> Any:
        truth, seen = (_codes(rows[name], codes) for name in ("truth", "answer"))
        return cross_table(truth, seen, size)

    whole, roles = Agreement(table(frame)), ("initial", "counterfactual")
    parts = {role: Agreement(table(frame[frame["role"] == role])).counts for role in roles}
    rng = generator(options.seed, "agreement", axis)
    return {
        "axis": axis,
        "attributes": list(attributes),
        "table": whole.table.tolist(),
        **whole.fields(options.replicates, rng),
        "by_role": {
            role: {
                "n_valid": int(counts.sum()),
                "accuracy": float(accuracy(counts)) if counts.sum() else None,
            }
            for role, counts in parts.items()
        },
        "uneven_p": uneven_errors(*parts.values()),
    }


def _codes(column: pd.Series, codes: Mapping[str, int]) -> Codes:
    return np.array([codes.get(text, UNKNOWN) for text in column], dtype=np.int16)
