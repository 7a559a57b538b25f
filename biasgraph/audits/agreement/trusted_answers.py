"""What a judge's answers are held against: another judge, people's labels, or a table of answers.

All of them end as the same table: image, target, answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biasgraph.audits.agreement.sampling import sample
from biasgraph.data.answers import Answers, majority
from biasgraph.data.file_names import RECORD
from biasgraph.data.origin import are_models
from biasgraph.data.result import run_directory
from biasgraph.errors import InputError, describe_missing, did_you_mean, printable, show_path
from biasgraph.io.csv_files import CsvFile
from biasgraph.io.text_files import read_bytes
from biasgraph.models.base import Question
from biasgraph.models.human import COLUMNS as LABEL_COLUMNS
from biasgraph.models.human import Labels
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.pixels import pixels_digest
from biasgraph.models.registry import JUDGE, refuse_unread, traits_of
from biasgraph.runs.directory import Run, read_run
from biasgraph.runs.job import Job
from biasgraph.runs.ledger_rows import GATE
from biasgraph.runs.local_engine import ask
from biasgraph.runs.questions import GATED, UNKNOWN, YES, AxisQuestion

if TYPE_CHECKING:
    import pandas as pd

    from biasgraph.runs.progress import Progress

NAMELESS = "without a name"
ANSWER_COLUMNS = ("image", "target", "answer")
CORRECTIONS: Literal["corrections"] = "corrections"
"""In the column `sample` of a table: somebody looked for the judge's errors, and found these."""
TABLES = (".csv", ".tsv", ".txt", ".parquet")

Axes = Mapping[str, Sequence[str]]
"""axis -> its attributes."""
Said = Mapping[tuple[str, str], str]
"""(image, target) -> answer: an attribute, unknown or gated."""


@dataclass(frozen=True)
class TrustedAnswers:
    """Answers that are taken for the truth.

    name: a judge's spec or a file's name; fingerprint: of its weights or its content; people: what
    each annotator said, where there are several, whose majority `said` is; by_people: whether
    people gave the answers of a table; sample: None unless its pictures are no sample of the run.
    """

    name: str
    kind: Literal["judge", "labels", "answers"]
    fingerprint: str
    said: Said
    notes: Sequence[str] = field(default=())
    people: Mapping[str, Said] = field(default_factory=dict)
    by_people: bool = False
    sample: Literal["corrections"] | None = None


def wanted_axes(axes: Collection[str], only: Sequence[str]) -> list[str]:
    """Those of a run's axes that `only` names, or all; raises InputError for one it lacks."""
    for name in only:
        if name not in axes:
            raise InputError(describe_missing("the run has no axis", name, axes))
    return [name for name in axes if not only or name in only]


def is_table(text: str) -> bool:
    """Whether what was given names a file rather than a judge."""
    path = Path(text)
    return path.is_file() or (path.suffix.lower() in TABLES)


def from_files(
    paths: Sequence[Path], directory: Path, judge: str | None, axes: Axes
) -> list[TrustedAnswers]:
    """What files say about the images of the result in `directory`: labels first, all as one.

    Raises InputError: one is neither, or says nothing about these images.
    """
    labelled = [path for path in paths if _holds_labels(path)]
    found = [_from_table(path, axes, directory) for path in paths if path not in labelled]
    if not labelled:
        return found
    labels = Labels.together([Labels.read(path) for path in labelled])
    names = ", ".join(path.name for path in labelled)
    return [from_labels(labels, names, directory, judge), *found]


def _holds_labels(path: Path) -> bool:
    raw = read_bytes(path)
    if raw.startswith(b"PAR1"):
        return False
    columns = CsvFile(raw, show_path(path), (*LABEL_COLUMNS, *ANSWER_COLUMNS)).columns
    return {*LABEL_COLUMNS} <= {*columns}


def _from_table(path: Path, axes: Axes, directory: Path) -> TrustedAnswers:
    raw = read_bytes(path)
    if raw.startswith(b"PAR1"):
        return from_answers(path, Answers.read(path).frame, None, axes)
    file = CsvFile(raw, show_path(path), (*LABEL_COLUMNS, *ANSWER_COLUMNS))
    missing = [name for name in ANSWER_COLUMNS if name not in file.columns]
    if missing:
        raise InputError(
            f"{show_path(path)} contains neither labels ({', '.join(LABEL_COLUMNS)}) nor answers "
            f"({', '.join(ANSWER_COLUMNS)}): it lacks {', '.join(missing)}."
            f"{did_you_mean(missing[0], file.columns)}"
        )
    frame = file.frame()
    if "file" in frame and (root := run_directory(directory)) is not None:
        _refuse_other_pictures(path, frame, file, root)
    return from_answers(path, frame, file, axes)


def _refuse_other_pictures(path: Path, frame: pd.DataFrame, file: CsvFile, directory: Path) -> None:
    """Raise InputError where a row names another file than the run has for its image."""
    with closing(read_run(directory)) as run:
        files = {image.id: image.file.sha256 for image in run.ledger.images()}
    for row, (image, named) in enumerate(zip(frame["image"], frame["file"], strict=True)):
        if named and files.get(image, named) != named:
            raise InputError(
                f"{show_path(path)}, {file.place(row)}, column file: {show_path(directory)} has "
                f"another picture under '{printable(image)}'; these answers are about another run"
            )


def from_answers(
    path: Path, frame: pd.DataFrame, file: CsvFile | None, axes: Axes
) -> TrustedAnswers:
    """A table of answers by image id and axis; rows about other axes are left out."""
    people: dict[str, dict[tuple[str, str], str]] = {}

    def refuse(row: int, problem: str) -> InputError:
        where = file.place(row) if file else f"row {row + 1}"
        return InputError(f"{show_path(path)}, {where}{problem}")

    named = frame if "annotator" in frame else frame.assign(annotator="")
    texts = (named[name].astype(str).tolist() for name in (*ANSWER_COLUMNS, "annotator"))
    for row, (image, target, answer, annotator) in enumerate(zip(*texts, strict=True)):
        if target not in axes or not answer.strip():
            continue
        offered = [*axes[target], UNKNOWN, GATED]
        if answer not in offered:
            raise refuse(
                row,
                f", column answer: '{printable(answer)}' is not an attribute of "
                f"{printable(target)} ({', '.join(map(printable, offered))})."
                f"{did_you_mean(answer, offered)}",
            )
        if people.setdefault(annotator, {}).setdefault((image, target), answer) != answer:
            about = f"'{printable(target)}'"
            raise refuse(row, f": image '{printable(image)}' has a second answer about {about}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    judges = frame["judge"].astype(str).unique() if "judge" in frame else ()
    several = len(people) > 1
    drawn = frame["sample"].astype(str).str.strip().str.casefold() if "sample" in frame else None
    sample = CORRECTIONS if drawn is not None and (drawn == CORRECTIONS).any() else None
    people_answered = several or any(traits_of(judge).people for judge in judges)
    by_people = people_answered and not are_models(people)
    return TrustedAnswers(
        path.name,
        "answers",
        digest,
        majority(vote for said in people.values() for vote in said.items()),
        by_people=by_people or sample is not None,
        sample=sample,
        people={name or NAMELESS: said for name, said in people.items()} if several else {},
    )


def from_labels(labels: Labels, name: str, directory: Path, judge: str | None) -> TrustedAnswers:
    """People's labels about the pictures of a run, asked in the words that its judge was asked.

    An axis counts as labelled where all its questions are, or where nobody is in the picture.
    """
    if judge is None or not (directory / RECORD).is_file():
        raise InputError(
            f"labels are matched by pictures, and {show_path(directory)} has none: give answers "
            f"about its images instead ({', '.join(ANSWER_COLUMNS)})"
        )
    with closing(read_run(directory)) as run:
        gate, questions = read_questions(run, judge)
        texts = {gate.text, *(part.text for axis in questions for part in axis.questions)}
        if not texts & labels.questions:
            raise InputError(
                f"{labels.source} answers none of the questions that {show_path(directory)} asked, "
                f"such as '{printable(gate.text)}': labels match a question word for word"
            )
        found = dict(_match_labels(run, labels))
    if not found:
        raise InputError(
            f"{labels.source} is about other pictures: none of its {len(labels.pictures):,} is in "
            f"{show_path(directory)}"
        )

    def read_answers(labels: Labels) -> Said:
        return {
            (image, axis.axis): answer
            for image, picture in found.items()
            for axis in questions
            if (answer := _label(labels, picture, gate, axis)) is not None
        }

    names = labels.names if len(labels.names) > 1 else []
    people = {name or NAMELESS: read_answers(labels.of(name)) for name in names}
    strangers = len(labels.pictures - {*found.values()})
    notes = [f"{strangers:,} labelled pictures are not in the run"] if strangers else []
    return TrustedAnswers(
        name, "labels", labels.fingerprint, read_answers(labels), notes, people=people
    )


def _match_labels(run: Run, labels: Labels) -> Iterator[tuple[str, str]]:
    """The images that have a label, with their digests; those that the file names come first."""
    left = set(labels.pictures)
    for image in sorted(run.ledger.images(), key=lambda image: image.id not in labels.images):
        if not left:
            return
        picture = run.read_image(image)
        if picture is None:
            continue
        digest = pixels_digest(picture)
        if digest in labels.pictures:
            left.discard(digest)
            yield image.id, digest


def _label(labels: Labels, picture: str, gate: Question, axis: AxisQuestion) -> str | None:
    if labels.has(picture, gate) and labels.answer(picture, gate).choice not in (YES, None):
        return GATED
    if not all(labels.has(picture, question) for question in axis.questions):
        return None
    return axis.verdict([labels.answer(picture, question) for question in axis.questions]).answer


def read_questions(run: Run, judge: str) -> tuple[Question, list[AxisQuestion]]:
    """The gate question and those about the requested axes, in the words that a judge was asked.

    Raises InputError when this judge was never asked.
    """
    asked = run.wording_of(judge)
    if GATE not in asked:
        raise InputError(
            f"{show_path(run.directory)} has no answers of {printable(judge)}: its build is not "
            "finished"
        )
    axes = [
        AxisQuestion.from_record(axis, asked[axis])
        for axis in run.ledger.requested_targets()
        if axis in asked
    ]
    return AxisQuestion.from_record(GATE, asked[GATE]).questions[0], axes


def from_judge(
    spec: str,
    directory: Path,
    judge: str,
    options: ModelOptions,
    progress: Progress | None = None,
    sampled: tuple[int, int] | None = None,
) -> TrustedAnswers:
    """The answers of another judge to a run's questions, asked now as far as they are missing.

    They go into the run's ledger, batch by batch, so that what was cut short goes on.
    sampled: how many pictures to ask about, and the seed of the sample; all unless given.

    Raises:
        InputError: there is no such judge, or the run had it with other settings.
        ModelError: the judge failed, or images of the run are missing.
        Interrupted: the user stopped it.
    """
    try:
        refuse_unread(options, {JUDGE: spec})
        job = Job.reopen(directory, vqa=spec, options=options, inherit=False, progress=progress)
    except InputError as error:  # it names the option that judges are usually given by
        raise InputError(str(error).replace("--vqa ", "--with ", 1)) from None
    with job.open() as run:
        gate, questions = read_questions(run, judge)
        only = None if sampled is None else {image.id for image in sample(run, judge, *sampled)}
        ask(
            run, job.asked, questions, gate, generator=job.generator, engine=job.engine,
            progress=progress, only=only,
        )  # fmt: skip
        rows = run.answers(job.vqa)[list(ANSWER_COLUMNS)].itertuples(index=False)
        said = {
            (image, target): answer
            for image, target, answer in rows
            if only is None or image in only
        }
    return TrustedAnswers(job.vqa, "judge", job.judge_fingerprint, said)
