"""``human:LABELS.csv``: answers that people gave, as a judge like any other.

A label is about a picture, known by its pixels, and a question, known by its words, so that it
holds wherever the same picture is asked the same: in this run, a larger one, or another folder.
`biasgraph label` makes the page that writes such files; a spreadsheet can too.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from biasgraph.data.origin import are_models
from biasgraph.errors import InputError, did_you_mean, printable
from biasgraph.io.csv_files import CsvFile
from biasgraph.io.text_files import read_bytes
from biasgraph.models.base import Answer, Question, Setting
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.pixels import pixels_digest

if TYPE_CHECKING:
    import pandas as pd
    from PIL.Image import Image

COLUMNS = ("picture", "question", "answer")
ABOUT = ("target", "image", "annotator")
"""Columns that a file may have besides: for people, and to tell annotators apart."""
UNKNOWN = "unknown"
BATCH = 64
DIGITS = 8  # of a file's hash that stand in a judge's name

Place = tuple[str, str]
"""A picture's digest and a question's words."""


class Label(NamedTuple):
    """What somebody answered, and which row of which file says so."""

    answer: str
    row: int
    file: CsvFile


@dataclass(frozen=True)
class Labels:
    """The labels of a file.

    Attributes:
        source: The file's name, printable.
        fingerprint: The SHA-256 of its bytes, in hex.
        given: What each annotator answered, by picture and question: annotator -> label.
        images: The ids that the file has for its pictures, where it has any.
    """

    source: str
    fingerprint: str
    given: Mapping[Place, Mapping[str, Label]]
    images: frozenset[str]

    @classmethod
    def read(cls, path: str | Path) -> Labels:
        """Read a CSV file (``,`` ``;`` or tab) with the columns picture, question and answer.

        Where an annotator answered twice, the later row counts.

        Raises:
            InputError: Names the file, the line and what is wrong.
        """
        source = printable(str(path))
        raw = read_bytes(path)
        file = CsvFile(raw, source, (*COLUMNS, *ABOUT))
        missing = [name for name in COLUMNS if name not in file.columns]
        if missing:
            raise InputError(
                f"{source} is not a file of labels: missing column{'s' * (len(missing) > 1)} "
                f"{', '.join(missing)}.{did_you_mean(missing[0], file.columns)}"
            )
        frame = file.frame()
        images = frame["image"].astype(str) if "image" in frame else ()
        fingerprint = hashlib.sha256(raw).hexdigest()
        return cls(source, fingerprint, _read_labels(frame, file), frozenset(images))

    @classmethod
    def together(cls, files: Sequence[Labels]) -> Labels:
        """The labels of several files, where a name is one annotator and no name one for each file.

        Of two answers of one annotator the later file's counts.
        """
        if len(files) == 1:
            return files[0]
        given: dict[Place, dict[str, Label]] = {}
        names = [Path(labels.source).name for labels in files]
        for labels, own in zip(files, names, strict=True):
            nameless = own if names.count(own) == 1 else labels.source
            for place, answers in labels.given.items():
                named = {name or nameless: label for name, label in answers.items()}
                given.setdefault(place, {}).update(named)
        marks = "\n".join(labels.fingerprint for labels in files)
        return cls(
            ", ".join(labels.source for labels in files),
            hashlib.sha256(marks.encode()).hexdigest(),
            given,
            frozenset().union(*(labels.images for labels in files)),
        )

    @property
    def names(self) -> list[str]:
        """The annotators in order of appearance, the nameless one as an empty name."""
        return list(dict.fromkeys(name for given in self.given.values() for name in given))

    def of(self, annotator: str) -> Labels:
        """What one annotator answered."""
        own = {
            place: {annotator: given[annotator]}
            for place, given in self.given.items()
            if annotator in given
        }
        return replace(self, given=own)

    @property
    def questions(self) -> set[str]:
        """The words of all questions that have a label."""
        return {question for _, question in self.given}

    @property
    def pictures(self) -> set[str]:
        """The digests of all pictures that have a label."""
        return {picture for picture, _ in self.given}

    @property
    def annotators(self) -> int | None:
        """How many people labelled; None where some rows do not name theirs."""
        return None if "" in self.names else len(self.names)

    @property
    def by_people(self) -> bool:
        """Whether any annotator is a person: the name of a model begins with ``model:``."""
        return not are_models(self.names)

    def has(self, picture: str, question: Question) -> bool:
        """Whether anybody answered the question about the picture, if only with "unknown"."""
        return (picture, question.text) in self.given

    def answer(self, picture: str, question: Question) -> Answer:
        """What most annotators chose; ``unknown`` where nobody answered, or as many otherwise.

        Raises InputError, naming the line, for an answer that the question does not offer.
        """
        answers = self.given.get((picture, question.text), {})
        votes = Counter(self._choice(label, question) for label in answers.values())
        ranked = votes.most_common(2)
        if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
            return Answer(None, ())
        return Answer(ranked[0][0], ())

    def _choice(self, label: Label, question: Question) -> int | None:
        answer = label.answer
        names = [choice.casefold() for choice in question.choices]
        if answer.casefold() == UNKNOWN:
            return None
        if answer.casefold() in names:
            return names.index(answer.casefold())
        offered = (*question.choices, UNKNOWN)
        raise InputError(
            f"{label.file.source}, {label.file.place(label.row)}, column answer: "
            f"'{printable(answer)}' is not an answer to '{printable(question.text)}' "
            f"({', '.join(map(printable, offered))}).{did_you_mean(answer, offered)}"
        )


def _read_labels(frame: pd.DataFrame, file: CsvFile) -> dict[Place, dict[str, Label]]:
    """The labels of all rows; a row without an answer is one that nobody filled in."""
    annotated = frame if "annotator" in frame else frame.assign(annotator="")
    columns = [annotated[name].astype(str).str.strip() for name in (*COLUMNS, "annotator")]
    given: dict[Place, dict[str, Label]] = {}
    for row, (picture, question, answer, annotator) in enumerate(zip(*columns, strict=True)):
        if not answer:
            continue
        for name, text in (("picture", picture), ("question", question)):
            if not text:
                raise InputError(
                    f"{file.source}, {file.place(row)}, column {name}: the cell is empty"
                )
        given.setdefault((picture, question), {})[annotator] = Label(answer, row, file)
    if not given:
        raise InputError(f"{file.source} has no labels: every answer is empty")
    return given


@dataclass(frozen=True)
class HumanJudge:
    """People's answers behind the judges' protocol; a picture that nobody labelled is unknown.

    A file that grew is another judge, by the hash in its name: earlier answers stay as they were.

    Attributes:
        path: The file of labels.
        typed: What the user typed, without a hash.
    """

    path: Path
    typed: str
    batch_size: int = BATCH
    settings: Mapping[str, Setting] = field(default_factory=dict)
    seconds_per_image: float | None = 0.005

    @property
    def spec(self) -> str:
        """What the user typed, and the beginning of the file's hash."""
        return f"{self.typed}@{self.fingerprint[:DIGITS]}"

    @property
    def fingerprint(self) -> str:
        """The file's hash."""
        return self.labels.fingerprint

    @property
    def annotators(self) -> int | None:
        """How many people answered, where the file says that."""
        return self.labels.annotators

    @property
    def by_people(self) -> bool:
        """Whether people answered, as far as the names of the annotators say."""
        return self.labels.by_people

    @property
    def names(self) -> list[str]:
        """The annotators in order of appearance."""
        return self.labels.names

    @cached_property
    def labels(self) -> Labels:
        """What stands in the file."""
        return Labels.read(self.path)

    def answer(self, images: Sequence[Image], questions: Sequence[Question]) -> list[list[Answer]]:
        """``answers[i][q]`` is the answer about image ``i`` to question ``q``."""
        if not self.labels.questions & {question.text for question in questions}:
            raise InputError(
                f"{self.labels.source} answers none of the questions asked here, such as "
                f"'{printable(questions[0].text)}': labels match a question word for word"
            )
        digests = [pixels_digest(image) for image in images]
        return [
            [self.labels.answer(digest, question) for question in questions] for digest in digests
        ]


def judge(spec: Spec, options: ModelOptions) -> HumanJudge:
    """``human:FILE``, or ``human:FILE@HASH`` as a run names it.

    Raises:
        InputError: No file is named or it is no file of labels, or not the one of that hash.
    """
    if not spec.rest:
        raise InputError("--vqa human: needs a file of labels; for example human:labels.csv")
    if Path(spec.rest).exists() or spec.revision is None or not Path(spec.name).exists():
        labelled = HumanJudge(Path(spec.rest), spec.text)
        labelled.labels  # noqa: B018  (raises for what is no file of labels)
        return labelled
    labelled = HumanJudge(Path(spec.name), f"{spec.backend}:{spec.name}")
    if not labelled.fingerprint.startswith(spec.revision):
        raise InputError(
            f"{printable(spec.name)} has changed since it was {printable(spec.text)}; "
            f"it is now {printable(labelled.spec)}"
        )
    return labelled
