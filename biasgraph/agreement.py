"""How far a result's judge can be trusted: its answers beside those of a reference.

`check` compares them axis by axis and keeps what it found with the result: in agreement.json, and
in graph.json and the report, where every number rests on this judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.causal.agreement import Agreement, accuracy, cross_table, uneven_errors
from biasgraph.causal.settings import generator
from biasgraph.causal.tables import GATED, UNKNOWN, Codes
from biasgraph.errors import InputError, printable
from biasgraph.models.options import ModelOptions
from biasgraph.references import Reference, from_file, from_judge, is_table
from biasgraph.report.files import write_files
from biasgraph.result import Result, load
from biasgraph.runrecord import shown

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.engine.progress import Progress

SCHEMA_NAME = "biasgraph-agreement"
SCHEMA = f"{SCHEMA_NAME}/1"
FILE = "agreement.json"
REPLICATES = 2000
ITSELF = (
    "the reference is the judge itself: its answers agree because they are the same, which says "
    "nothing about whether they are right"
)

Record = dict[str, Any]


@dataclass(frozen=True)
class CheckOptions:
    """only: the axes to look at; replicates: resamples behind each interval; seed: of these."""

    only: Sequence[str] = ()
    replicates: int = REPLICATES
    seed: int = 0


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
    result = load(directory)
    models = models or ModelOptions()
    if is_table(reference):
        if models.record():
            raise InputError(
                f"{shown(Path(reference))} is a file: options of models mean nothing to it"
            )
        graph = result.document["graph"]
        nodes = _nodes(result)
        found = from_file(Path(reference), directory, graph["vqa"], nodes)
    else:
        judge = result.document["graph"]["vqa"]
        found = from_judge(reference, directory, judge or "", models, progress)
    return compared(result, found, options or CheckOptions())


def keep(directory: Path, agreement: Record) -> list[Path]:
    """Write agreement.json beside a result, and the agreement into all of the result's files."""
    result = with_agreement(load(directory), agreement)
    paths = write_files(directory, {FILE: to_json(agreement)})
    return [*paths, *result.write(directory)]


def to_json(agreement: Record) -> bytes:
    """The contents of agreement.json."""
    text = json.dumps(agreement, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    return text.encode("utf-8", "replace")


def with_agreement(result: Result, agreement: Record) -> Result:
    """The result, and those of its prompts, with the agreement in their graphs."""
    document = result.document
    graph = {**document["graph"], "agreement": agreement}
    prompts = tuple(with_agreement(part, agreement) for part in result.prompts)
    return replace(result, document={**document, "graph": graph}, prompts=prompts)


def read(path: Path) -> Record:
    """The agreement in a file. Raises InputError when it is none, or a newer biasgraph's."""
    try:
        record = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {shown(path)}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{shown(path)} is damaged: it is not JSON") from None
    schema = str(record.get("schema")) if isinstance(record, dict) else ""
    if schema.partition("/")[0] != SCHEMA_NAME:
        raise InputError(f"{shown(path)} is no agreement of biasgraph's")
    if schema != SCHEMA:
        raise InputError(
            f"{shown(path)} has schema {printable(schema)}; this biasgraph reads {SCHEMA}: "
            "install a newer one"
        )
    return dict(record)


def kept(directory: Path | None, judge: str | None, fingerprint: str | None) -> Record | None:
    """The agreement that lies in a directory, if it is about this very judge."""
    if directory is None or not (directory / FILE).is_file():
        return None
    record = read(directory / FILE)
    about = (record["judge"], record["judge_fingerprint"])
    return record if about == (judge, fingerprint) else None


def compared(result: Result, reference: Reference, options: CheckOptions) -> Record:
    """The agreement of a result's answers with a reference's, in JSON types.

    Raises InputError when no image has an answer of both.
    """
    graph = result.document["graph"]
    nodes = [node for node in _nodes(result) if not options.only or node["id"] in options.only]
    frame = _joined(result.answers, reference)
    if frame.empty:
        raise InputError(
            f"no image has answers of both: {printable(reference.name)} is about other images or "
            "axes"
        )
    axes = [_axis(node, frame[frame["target"] == node["id"]], options) for node in nodes]
    judge = graph["vqa"]
    notes = [*reference.notes, *([ITSELF] if reference.name == judge else [])]
    return {
        "schema": SCHEMA,
        "toy": graph["toy"],
        "model": graph["model"],
        "prompt": graph["prompt"],
        "judge": judge,
        "judge_fingerprint": graph.get("vqa_fingerprint"),
        "reference": {
            "name": reference.name,
            "kind": reference.kind,
            "fingerprint": reference.fingerprint,
        },
        "images": int(frame["image"].nunique()),
        "images_in_all": int(result.answers["image"].nunique()),
        "replicates": options.replicates,
        "seed": options.seed,
        "axes": axes,
        "notes": notes,
    }


def _nodes(result: Result) -> list[Record]:
    """The axes of a result, without an attribute that stands for unknown answers."""
    with_unknown = result.document["graph"]["settings"]["unknown"] == "class"
    return [
        {
            "id": node["id"],
            "attributes": node["attributes"][:-1] if with_unknown else node["attributes"],
        }
        for node in result.document["nodes"]
    ]


def _joined(answers: pd.DataFrame, reference: Reference) -> pd.DataFrame:
    """image, target, role, answer and truth of every answer that the reference has one beside."""
    frame = answers[["image", "target", "role", "answer"]].astype(str)
    pairs = zip(frame["image"], frame["target"], strict=True)
    frame["truth"] = [reference.said.get(pair) for pair in pairs]
    return frame[frame["truth"].notna()]


def _axis(node: Record, frame: pd.DataFrame, options: CheckOptions) -> Record:
    attributes = node["attributes"]
    size = len(attributes)
    codes = {"unknown": UNKNOWN, "gated": GATED} | {a: i for i, a in enumerate(attributes)}

    def table(rows: pd.DataFrame) -> Any:
        truth, seen = (_codes(rows[name], codes) for name in ("truth", "answer"))
        return cross_table(truth, seen, size)

    whole = Agreement(table(frame))
    parts = {
        role: Agreement(table(frame[frame["role"] == role])).counts
        for role in ("initial", "counterfactual")
    }
    rng = generator(options.seed, "agreement", node["id"])
    return {
        "axis": node["id"],
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
