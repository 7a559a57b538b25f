"""How far a result's judge can be trusted: its answers beside those of a reference.

`check` compares them axis by axis and keeps what it found with the result: in agreement.json, and
in graph.json and the report, where every number rests on this judge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.audits.agreement.agreement_file import SCHEMA, Record, read
from biasgraph.audits.agreement.raters import Rater, agreement_among, is_itself, raters_of
from biasgraph.audits.agreement.trusted_answers import (
    Axes,
    TrustedAnswers,
    from_files,
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
from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.json_files import to_json
from biasgraph.io.writing import write_files
from biasgraph.models.inference_options import ModelOptions
from biasgraph.report.saving import write

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.runs.progress import Progress

ORDERED = ("ordinal", "index")
"""Metrics of axes whose attributes have an order."""
REFERENCE = ("name", "kind", "fingerprint", "by_people", "sample")
ITSELF = (
    "the reference is the judge itself: its answers agree because they are the same, which says "
    "nothing about whether they are right"
)

NO_SAMPLE = (
    "these pictures were picked because the judge looked wrong: they show where it errs, and say "
    "nothing about how often, so nothing is estimated from them (`biasgraph label` draws a sample)"
)


def check(
    directory: Path,
    references: str | Sequence[str],
    options: CheckOptions | None = None,
    models: ModelOptions | None = None,
    progress: Progress | None = None,
) -> Record:
    """Compare the judge of the result in `directory` with others; returns the agreement.

    references: judges' specs, which are asked the run's questions now, and files of labels or
    answers. The labels, all together, are the truth, or else the first other file, or else the
    first judge. Nothing is written but other judges' answers, into the run's ledger; see `keep`.

    Raises:
        InputError: there is no result or no such reference, or they share no image.
        ModelError: the judge failed. Interrupted: the user stopped it.
    """
    result, options = load(directory), options or CheckOptions()
    models = models or ModelOptions()
    graph, axes = result.document["graph"], _axes_of(result, options.only)
    files, judges = _sort_references([references] if isinstance(references, str) else references)
    if not judges and (models.record() or models.engine or options.sample is not None):
        raise InputError(f"{show_path(files[0])} is a file: remove --sample and the model options")
    found = from_files(files, directory, graph["vqa"], axes)
    sampled = None if options.sample is None else (options.sample, options.seed)
    found += [
        from_judge(spec, directory, graph["vqa"] or "", models, progress, sampled)
        for spec in judges
    ]
    for one in found:
        if one.sample and len(found) > 1:
            raise InputError(
                f"{printable(one.name)} contains corrections, not a sample: name it alone"
            )
    ordered = {node["id"] for node in result.document["nodes"] if node["metric"] in ORDERED}
    return compare_answers(result.answers, axes, graph, found, options, ordered)


def _sort_references(references: Sequence[str]) -> tuple[list[Path], list[str]]:
    """What `--with` named: files, and judges. Raises InputError for what can be neither."""
    files, judges = [], []
    # Labels named as a judge are still labels: what nobody labelled is no answer of theirs.
    for reference in dict.fromkeys(text.removeprefix("human:") for text in references):
        if not reference.strip():
            raise InputError("--with is empty: name a judge, or a file of labels or answers")
        if Path(reference).is_dir():
            raise InputError(
                f"{show_path(Path(reference))} is a folder: name a judge, or a file of labels or "
                "answers"
            )
        if is_table(reference):
            files.append(Path(reference))
        else:
            judges.append(reference)
    return files, judges


def keep(directory: Path, agreement: Record) -> list[Path]:
    """Write agreement.json beside a result, and the agreement into all of the result's files.

    Raises InputError for corrections, which are no sample.
    """
    if is_of_corrections(agreement):
        raise InputError(f"corrections do not validate a judge: {NO_SAMPLE}")
    result = with_agreement(load(directory), agreement)
    paths = write_files(directory, {AGREEMENT: to_json(agreement)})
    return [*paths, *write(result, directory)]


def is_of_corrections(agreement: Record) -> bool:
    """Whether it rests on pictures that were picked because the judge looked wrong."""
    return agreement["reference"].get("sample") is not None


def with_agreement(result: Result, agreement: Record) -> Result:
    """The result, and those of its prompts, with the agreement in their graphs."""
    document = result.document
    graph = {**document["graph"], "agreement": agreement}
    prompts = tuple(with_agreement(part, agreement) for part in result.prompts)
    return replace(result, document={**document, "graph": graph}, prompts=prompts)


def read_kept(directory: Path | None, about: Mapping[str, Any]) -> Record | None:
    """The agreement that lies in a directory, if it is about this very judge and model.

    about: what a graph says of its origin. Raises InputError when the file is damaged.
    """
    if directory is None or not (directory / AGREEMENT).is_file():
        return None
    record = read(directory / AGREEMENT)
    graph = (about.get(name) for name in ("vqa", "vqa_fingerprint", "model"))
    own = (record.get(name) for name in ("judge", "judge_fingerprint", "model"))
    return record if tuple(own) == tuple(graph) else None


def compare_answers(
    answers: pd.DataFrame,
    axes: Axes,
    about: Mapping[str, Any],
    trusted: Sequence[TrustedAnswers],
    options: CheckOptions,
    ordered: Collection[str] = (),
) -> Record:
    """The agreement of a judge's answers with others', in JSON types.

    answers: the hinge table; about: what a graph says of its origin; trusted: the reference first;
    ordered: the axes whose attributes have an order. Raises InputError when no image has an answer
    of both judge and reference.
    """
    reference = trusted[0]
    raters = raters_of(answers, about, trusted)
    frame = _join(answers, reference)
    if frame.empty:
        raise InputError(
            f"no image has answers from both: {printable(reference.name)} is about other images or "
            "axes"
        )
    return {
        "schema": SCHEMA,
        "toy": about.get("toy"),
        "model": about.get("model"),
        "judge": about.get("vqa"),
        "judge_fingerprint": about.get("vqa_fingerprint"),
        "reference": {name: getattr(reference, name) for name in REFERENCE},
        "images": int(frame["image"].nunique()),
        "images_in_all": int(answers["image"].nunique()),
        "replicates": options.replicates,
        "seed": options.seed,
        "people": bool(about.get("people")),
        "annotators": about.get("annotators"),
        "raters": [rater.record() for rater in raters],
        "axes": [
            _axis(axis, attributes, frame[frame["target"] == axis], options, reference.sample)
            | _among(raters, axis, attributes, frame, options, axis in ordered)
            for axis, attributes in axes.items()
        ],
        "notes": [
            *(note for one in trusted for note in one.notes),
            *([NO_SAMPLE] if reference.sample else []),
            *([ITSELF] if is_itself(answers, about, reference) else []),
        ],
    }


def _among(
    raters: Sequence[Rater],
    axis: str,
    attributes: Sequence[str],
    frame: pd.DataFrame,
    options: CheckOptions,
    ordered: bool,
) -> Record:
    return agreement_among(
        raters,
        axis,
        attributes,
        frame.loc[frame["target"] == axis, "image"].tolist(),
        lambda answers: _codes(answers, attributes),
        ordered=ordered,
        replicates=options.replicates,
        seed=options.seed,
    )


def _axes_of(result: Result, only: Sequence[str]) -> Axes:
    """The axes of a result and their attributes, without one that stands for unknown answers."""
    with_unknown = result.document["graph"]["settings"]["unknown"] == "class"
    axes = {
        node["id"]: node["attributes"][:-1] if with_unknown else node["attributes"]
        for node in result.document["nodes"]
    }
    return {name: axes[name] for name in wanted_axes(axes, only)}


def _join(answers: pd.DataFrame, reference: TrustedAnswers) -> pd.DataFrame:
    """image, target, role, answer and truth of every answer that the reference has one beside."""
    frame = answers[["image", "target", "role", "answer"]].astype(str)
    pairs = zip(frame["image"], frame["target"], strict=True)
    frame["truth"] = [reference.said.get(pair) for pair in pairs]
    return frame[frame["truth"].notna()]


def _axis(
    axis: str,
    attributes: Sequence[str],
    frame: pd.DataFrame,
    options: CheckOptions,
    picked: str | None,
) -> Record:
    size = len(attributes)

    def table(rows: pd.DataFrame) -> Any:
        truth, seen = (_codes(rows[name], attributes) for name in ("truth", "answer"))
        return cross_table(truth, seen, size)

    whole, roles = Agreement(table(frame)), ("initial", "counterfactual")
    if picked:
        nothing = {role: {"n_valid": 0, "accuracy": None} for role in roles}
        own = {"axis": axis, "attributes": list(attributes), "table": whole.table.tolist()}
        return own | whole.count_only() | {"by_role": nothing, "uneven_p": None}
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


def _codes(answers: Iterable[str], attributes: Sequence[str]) -> Codes:
    codes = {"unknown": UNKNOWN, "gated": GATED} | {a: i for i, a in enumerate(attributes)}
    return np.array([codes.get(text, UNKNOWN) for text in answers], dtype=np.int16)
