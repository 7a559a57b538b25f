"""A real-world distribution as the ideal: counts of other answers (BiasConnect supp. A.9).

A reference is the initial answers of a run, an answers table, or a file of counts; photographs
become a run first (`audits.ideals.photographs`). Its counts are resampled with everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, Literal

import numpy as np

from biasgraph.audits.ideals.reference_counts import counts_in_cells, counts_in_yaml, given_counts
from biasgraph.causal.tables import Tally, Variable, tally
from biasgraph.causal.unknown_answers import UNKNOWN_CLASS
from biasgraph.data.answer_codes import RESERVED, codes_of
from biasgraph.data.answers import COLUMNS, Answers
from biasgraph.data.file_names import GRAPH, RECORD
from biasgraph.data.result import read_answers, read_document
from biasgraph.errors import InputError, did_you_mean, list_words, printable
from biasgraph.io.csv_files import CsvFile
from biasgraph.io.text_files import read_bytes

Kind = Literal["run", "answers", "counts", "photographs"]
Counts = dict[str, dict[str, int]]

YAML = (".yaml", ".yml")
FOLDER_PREFIX = "folder:"
"""What a reference may begin with, as a model may: ``folder:DIR`` or ``folder:FILE.csv``."""
FEW = 16
"""Fewer valid answers than this in a reference are worth a note."""


@dataclass(frozen=True)
class Reference:
    """The answers that serve as ideal, counted by axis.

    variables: the axes that it speaks of, among those of the build. tallies: for each of its
    prompts one `Tally` for each variable; a file of counts has the one prompt "".
    judge: who answered, where that is known, as spec and fingerprint.
    """

    source: str
    kind: Kind
    variables: tuple[Variable, ...]
    tallies: Mapping[str, tuple[Tally, ...]]
    judge: tuple[str, str | None] | None = None
    notes: tuple[str, ...] = field(default=())

    @classmethod
    def of_answers(
        cls,
        answers: Answers,
        variables: Sequence[Variable],
        source: str,
        kind: Kind,
        *,
        unlisted_unknown: bool,
    ) -> Reference:
        """Count the answers about a table's initial images.

        Raises InputError: it is about none of the variables, or has an answer that none of the
        variable's attributes is (unless such answers are unknown).
        """
        frame = answers.frame
        frame = frame[(frame["role"] == "initial").to_numpy()]
        shared = [one for one in variables if one.name in set(frame["target"])]
        if not shared:
            asked = [str(target) for target in frame["target"].unique()]
            about = list_words(asked) if asked else "nothing: it has no initial images"
            raise InputError(
                f"the reference {source} is about {about}, none of which is an axis of this build "
                f"({list_words([one.name for one in variables])})"
            )
        frame = frame[frame["target"].isin([one.name for one in shared]).to_numpy()].copy()
        for name in COLUMNS:
            frame[name] = frame[name].cat.remove_unused_categories()
        own = replace(answers, frame=frame)
        if not unlisted_unknown:
            _refuse_strays(own, shared)
        coded = codes_of(own, tuple(shared))
        tallies = {
            images.prompt: tuple(
                tally(images.initial[:, y], variable.size) for y, variable in enumerate(shared)
            )
            for images in coded
        }
        return cls(source, kind, tuple(shared), tallies)

    @classmethod
    def of_counts(
        cls, counts: Mapping[str, Mapping[str, int]], variables: Sequence[Variable], source: str
    ) -> Reference:
        """Counts by axis and attribute, already checked."""
        shared = [one for one in variables if one.name in counts]
        row = tuple(
            Tally(
                np.array([counts[one.name].get(a, 0) for a in one.attributes], dtype=np.int64),
                n_gated=0,
                n_unknown=counts[one.name].get(UNKNOWN_CLASS, 0),
            )
            for one in shared
        )
        return cls(source, "counts", tuple(shared), {"": row})

    def counts(self, prompts: Sequence[str], *, unknown_class: bool) -> Counts:
        """Counts by axis and attribute for a graph of some prompts.

        A reference of several prompts gives every prompt that it has its own counts; where a
        prompt is missing in it, all of its prompts count. unknown_class: unknown answers are
        counted as an attribute of their own.

        Raises InputError for an axis without any valid answer.
        """
        totals = self._totals(prompts)
        counts: Counts = {}
        for variable, one in zip(self.variables, totals, strict=True):
            if not one.n_valid:
                raise InputError(
                    f"the reference {self.source} has no valid answers about "
                    f"{printable(variable.name)} ({one.n_gated} gated, {one.n_unknown} unknown): "
                    "leave the axis out with --only, or give another reference"
                )
            counts[variable.name] = dict(zip(variable.attributes, one.counts.tolist(), strict=True))
            if unknown_class:
                counts[variable.name][UNKNOWN_CLASS] = one.n_unknown
        return counts

    def record(self, prompts: Sequence[str]) -> dict[str, Any]:
        """What graph.json says of it, in JSON types."""
        totals = self._totals(prompts)
        return {
            "source": self.source,
            "kind": self.kind,
            "vqa": self.judge and self.judge[0],
            "vqa_fingerprint": self.judge and self.judge[1],
            "prompts": [prompt for prompt in self._find_used(prompts) if prompt],
            "axes": {
                variable.name: {
                    name: getattr(one, name)
                    for name in ("n_total", "n_gated", "n_unknown", "n_valid")
                }
                for variable, one in zip(self.variables, totals, strict=True)
            },
        }

    def remarks(
        self, prompts: Sequence[str], judge: str | None, fingerprint: str | None
    ) -> list[str]:
        """What a reader of the graph should know of it.

        judge, fingerprint: who answered about the images that are compared with it.
        """
        notes = list(self.notes)
        used, name = self._find_used(prompts), f"the reference {self.source}"
        if len(self.tallies) > 1 and not set(prompts) <= set(used):
            notes.append(f"{name} lacks some of the prompts, so that all of its prompts count")
        elif self.kind != "photographs" and used != [""] and list(prompts) != used == [used[0]]:
            notes.append(f"{name} is about another prompt: '{printable(used[0])}'")
        few = [
            f"{printable(variable.name)} ({one.n_valid})"
            for variable, one in zip(self.variables, self._totals(prompts), strict=True)
            if one.n_valid < FEW
        ]
        if few:
            notes.append(f"{name} rests on few valid answers: {', '.join(few)}")
        if self.judge and not self.is_judged_by(judge, fingerprint):
            same = self.judge[0] == judge
            other = "other weights of this judge" if same else printable(self.judge[0])
            notes.append(
                f"{name} was judged by {other}, and the images by {printable(str(judge))}: "
                "differences between the judges look like a distance"
            )
        return notes

    def is_judged_by(self, judge: str | None, fingerprint: str | None) -> bool:
        """Whether this judge answered; taken for true where answers do not say who did."""
        if self.kind == "counts":
            return False
        return self.judge is None or judge is None or self.judge == (judge, fingerprint)

    def _find_used(self, prompts: Sequence[str]) -> list[str]:
        """The reference's prompts that count for a graph of `prompts`."""
        own = [prompt for prompt in prompts if prompt in self.tallies]
        complete = bool(own) and len(own) == len(prompts)
        return own if len(self.tallies) > 1 and complete else list(self.tallies)

    def _totals(self, prompts: Sequence[str]) -> list[Tally]:
        rows = [self.tallies[prompt] for prompt in self._find_used(prompts)]
        return [reduce(add, column) for column in zip(*rows, strict=True)]


def admit(variables: Sequence[Variable], *, unknown_class: bool) -> Sequence[Variable]:
    """The variables with the attributes that an ideal may name: unknown too, if it is one."""
    if not unknown_class:
        return variables
    return [replace(one, attributes=(*one.attributes, UNKNOWN_CLASS)) for one in variables]


def is_folder_of_images(given: object) -> bool:
    """Whether a reference is a directory that holds no run and no result, or named ``folder:``."""
    if not isinstance(given, str | Path):
        return False
    if str(given).startswith(FOLDER_PREFIX):
        return True
    folder = Path(given)
    return folder.is_dir() and not (folder / GRAPH).exists() and not (folder / RECORD).exists()


def read_reference(
    given: str | Path | Mapping[str, Mapping[str, int]],
    variables: Sequence[Variable],
    *,
    unlisted_unknown: bool = False,
    unknown_class: bool = False,
) -> Reference:
    """Read a run's directory, an answers table, or counts in YAML, CSV or a mapping.

    Raises InputError: it cannot be read, is not finished, or does not fit the variables; a file's
    problems are named with their lines.
    """
    allowed = admit(variables, unknown_class=unknown_class)
    if not isinstance(given, str | Path):
        return Reference.of_counts(given_counts(given, allowed), variables, "given")
    path = Path(given)
    if path.is_dir():
        return _of_run(path, variables, unlisted_unknown=unlisted_unknown)
    name = printable(path.name)
    if path.suffix.lower() in YAML:
        return Reference.of_counts(counts_in_yaml(path, allowed), variables, name)
    cells = _cells(path)
    if cells is not None:
        counts = counts_in_cells(cells, printable(str(path)), allowed)
        return Reference.of_counts(counts, variables, name)
    answers = Answers.read(path)
    return Reference.of_answers(
        answers, variables, name, "answers", unlisted_unknown=unlisted_unknown
    )


def _of_run(folder: Path, variables: Sequence[Variable], *, unlisted_unknown: bool) -> Reference:
    document = read_document(folder)
    name = printable(folder.absolute().name)
    _refuse_other_attributes(document, variables, name)
    answers, graph = read_answers(folder, document), document["graph"]
    reference = Reference.of_answers(
        answers, variables, name, "run", unlisted_unknown=unlisted_unknown
    )
    judge = graph.get("vqa")
    return replace(reference, judge=judge and (judge, graph.get("vqa_fingerprint")))


def _refuse_other_attributes(
    document: Mapping[str, Any], variables: Sequence[Variable], name: str
) -> None:
    """A question with other choices gives another distribution, even where some are shared."""
    asked = {node["id"]: node["attributes"] for node in document["nodes"]}
    for variable in variables:
        theirs = [a for a in asked.get(variable.name, variable.attributes) if a not in RESERVED]
        if set(theirs) != set(variable.attributes):
            raise InputError(
                f"the reference {name} asked about {printable(variable.name)} with other choices "
                f"({list_words(theirs)}) than this build ({list_words(variable.attributes)})"
            )


def _refuse_strays(answers: Answers, variables: Sequence[Variable]) -> None:
    frame = answers.frame
    for variable in variables:
        about = (frame["target"] == variable.name).to_numpy()
        known = frame["answer"].isin([*variable.attributes, *RESERVED]).to_numpy()

        def problem(row: dict[str, str], variable: Variable = variable) -> str:
            return (
                f"'{row['answer']}' is not an attribute of {variable.name} "
                f"({list_words(variable.attributes)})."
                + did_you_mean(row["answer"], variable.attributes)
                + " (--unlisted unknown would count it as unknown)"
            )

        answers.refuse(about & ~known, "answer", problem)


def _cells(path: Path) -> CsvFile | None:
    """The cells of a CSV file of counts; None where the file is something else."""
    source = printable(str(path))
    raw = read_bytes(path, "the reference")
    if raw.startswith(b"PAR1"):
        return None
    file = CsvFile(raw, source, ("axis", "attribute", "count", *COLUMNS))
    names = set(file.columns)
    if "target" in names and "count" in names and "answer" in names:
        raise InputError(
            f"{source} is the tables.csv of a run, not a reference: give the run's directory"
        )
    if {"axis", "attribute"} <= names and not {"count", "target", "answer"} & names:
        raise InputError(
            f"{source} lacks the column 'count' (axis, attribute, count)."
            + did_you_mean("count", sorted(names - {"axis", "attribute"}))
        )
    return file if "count" in names and not {*COLUMNS} <= names else None
