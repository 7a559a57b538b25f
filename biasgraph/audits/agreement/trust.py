"""What a build knows of its judge's errors: the agreement it keeps, and what it corrects by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from biasgraph.audits.agreement.agreement_file import SCHEMA_NAME, Record, read
from biasgraph.audits.agreement.check import (
    NO_SAMPLE,
    compare_answers,
    is_of_corrections,
    read_kept,
)
from biasgraph.audits.agreement.trusted_answers import Axes, from_files
from biasgraph.audits.pipeline_options import CheckOptions
from biasgraph.causal.correction import confusion
from biasgraph.causal.tables import Counts, Variable
from biasgraph.data.answers import Answers
from biasgraph.errors import InputError, printable, show_path

HEAD = 200  # bytes in which an agreement names its schema


@dataclass(frozen=True)
class Trust:
    """How far a judge agrees with a reference, and whether its errors are undone.

    agreement: None where nobody has checked. source: the file that `--correct` named, None without
    it; labelled: counts[truth, answer] (k, k) of the axes that it can correct; left_out: why it
    cannot correct the others.
    """

    agreement: Record | None = None
    source: str | None = None
    labelled: Mapping[str, Counts] | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        correct: str | Path | None,
        answers: Answers,
        variables: Sequence[Variable],
        about: Mapping[str, Any],
        directory: Path | None,
    ) -> Trust:
        """What is known of the judge of some answers.

        correct: agreement.json, or a file of labels or answers; about: what a graph says of its
        origin; directory: where the result is or will be, with its run.

        Raises InputError: the file is neither, is about another judge, or can correct no axis.
        """
        judge, fingerprint = about.get("vqa"), about.get("vqa_fingerprint")
        before = read_kept(directory, about)
        if correct is None:
            return cls(before)
        path = Path(correct)
        axes: Axes = {variable.name: variable.attributes for variable in variables}
        found = read_correction(path, judge, fingerprint)
        if found is None:
            found_in = from_files([path], directory or Path(), judge, axes)
            seed = about.get("seed") or 0
            found = compare_answers(answers.frame, axes, about, found_in, CheckOptions(seed=seed))
        if is_of_corrections(found):
            raise InputError(f"{show_path(path)} cannot correct: {NO_SAMPLE}")
        labelled, left_out = usable(found, axes)
        if not labelled:
            reasons = "; ".join(f"{printable(axis)}: {why}" for axis, why in left_out.items())
            raise InputError(f"{show_path(path)} can correct no axis: {reasons}")
        return cls(before or found, path.name, labelled, left_out)

    def record(self) -> dict[str, Any]:
        """What a graph says of it."""
        axes = list(self.labelled or ())
        correction = {"source": self.source, "axes": axes, "left_out": dict(self.left_out)}
        return {"agreement": self.agreement, "correction": correction if axes else None}


def read_correction(path: Path, judge: str | None, fingerprint: str | None) -> Record | None:
    """The agreement that `--correct` names; None where the file holds labels or answers.

    Raises InputError: it cannot be read, or is about another judge.
    """
    if not _is_agreement(path):
        return None
    agreement = read(path)
    _refuse_another_judge(path, agreement, judge, fingerprint)
    return agreement


def _is_agreement(path: Path) -> bool:
    """Whether a file looks like agreement.json. Raises InputError where there is none."""
    if path.is_dir():
        raise InputError(
            f"--correct {printable(str(path))} is a folder: name a file, such as the "
            "agreement.json in it"
        )
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise InputError(f"cannot read {show_path(path)}: {error.strerror}") from None
    return head.lstrip()[:1] == b"{" or SCHEMA_NAME.encode() in head


def _refuse_another_judge(
    path: Path, agreement: Record, judge: str | None, fingerprint: str | None
) -> None:
    """Raise InputError unless the agreement is about this judge.

    A table may not name its own, and never says with which weights it answered.
    """
    named = agreement["judge"]
    if judge is None or (named == judge and fingerprint in (None, agreement["judge_fingerprint"])):
        return
    same = " with other weights" if named == judge else ""
    raise InputError(
        f"{show_path(path)} is about the judge {printable(str(named))}{same}, and this build's is "
        f"{printable(judge)}: one judge's errors say nothing about another's"
    )


def usable(agreement: Record, axes: Axes) -> tuple[dict[str, Counts], dict[str, str]]:
    """The labelled counts of the axes that can be corrected, and why the others cannot."""
    labelled: dict[str, Counts] = {}
    left_out: dict[str, str] = {}
    checked = {record["axis"]: record for record in agreement["axes"]}
    for axis, attributes in axes.items():
        record = checked.get(axis)
        if record is None:
            left_out[axis] = "nobody has checked it"
            continue
        if list(record["attributes"]) != list(attributes):
            left_out[axis] = "it was checked with other attributes"
            continue
        counts = np.array(record["table"], dtype=np.int64)[:-2, :-2]
        absent = [name for name, n in zip(attributes, counts.sum(axis=1), strict=True) if not n]
        if absent:
            names = ", ".join(printable(name) for name in absent)
            left_out[axis] = f"the reference never says {names} where the judge has an answer"
            continue
        try:
            confusion(counts)
        except InputError as error:
            left_out[axis] = str(error).rstrip(".").replace("The labelled", "the labelled")
        else:
            labelled[axis] = counts
    return labelled, left_out
