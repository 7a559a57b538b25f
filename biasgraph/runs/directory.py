"""A run directory: settings, ledger and images of one audit, resumable at any moment.

run.json        what the run was made with; it goes on only with the same (record.py)
ledger.sqlite   prompts, images and answers; what is in it is done (ledger.py)
images/         the pictures, named by the hash of their file (images.py)
run.lock        held while a process works here; the system drops it when the process ends
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from biasgraph.data.file_names import RECORD
from biasgraph.errors import InputError, ModelError, printable, show_path
from biasgraph.io.json_files import parse_json
from biasgraph.io.text_files import has_half_character
from biasgraph.io.writing import TEMPORARY, write_atomically
from biasgraph.runs import record as runrecord
from biasgraph.runs.image_store import EncodedPicture, ImageStore
from biasgraph.runs.ledger import Ledger
from biasgraph.runs.ledger_rows import GivenPicture, ImageRow, MadeImage, NewImage
from biasgraph.runs.record import Record
from biasgraph.runs.storage import LEDGER, NEW_RUN, storing
from biasgraph.runs.wanted_images import (
    digest,
    given_images,
    image_id,
    number_pictures,
    prompt_rows,
    wanted_images,
)

if TYPE_CHECKING:
    import pandas as pd
    from filelock import BaseFileLock
    from PIL.Image import Image

    from biasgraph.models.base import ConfiguredModel
    from biasgraph.prompts.counterfactuals import Prompt

Kept = TypeVar("Kept", NewImage, ImageRow)

LOCK = "run.lock"
IMAGES = "images"
BEFORE = ("transcripts", "responses")
"""Folders of a run that may be there before it begins: language models propose what it asks."""


@contextmanager
def open_run(
    directory: str | os.PathLike[str],
    generator: ConfiguredModel,
    judges: Sequence[ConfiguredModel],
    *,
    seed: int,
    fresh: bool = False,
) -> Iterator[Run]:
    """Open or begin the run in `directory` and hold its lock until the block ends.

    A judge that the run did not have yet joins it. With `fresh`, a run that is there is moved
    aside first (`Run.moved_to`).

    Raises InputError, having changed nothing, when the directory is no run and not empty, was
    made by a newer biasgraph, with another generator or seed, or with other settings of a judge;
    ModelError when it is in use or cannot be written.
    """
    folder = Path(directory).absolute()
    with ExitStack() as stack:
        with storing(folder):
            refuse_what_is_no_run(folder)
            for model in (generator, *judges):
                runrecord.identity(model)  # one that is not to be had changes nothing here
            folder.mkdir(parents=True, exist_ok=True)
            lock = _lock(folder)
            stack.callback(lock.release)
            moved_to = None
            if fresh and runrecord.read_record(folder) is not None:
                moved_to = _move_aside(folder, lock)
                stack.callback(_lock(folder).release)
            before = runrecord.read_record(folder)
            record = _agree(folder, before, generator, judges, seed)
            if before is None:  # first: a ledger without a record would be nobody's
                runrecord.write_record(folder, record)
            ledger = stack.enter_context(closing(Ledger(folder / LEDGER)))
            if before is not None and record is not before:
                runrecord.write_record(folder, record)
            (folder / IMAGES).mkdir(exist_ok=True)
        yield Run(folder, record, ledger, moved_to=moved_to)


def read_run(directory: str | os.PathLike[str]) -> Run:
    """Open a run for reading only: no lock is taken and nothing is written. Close it after use.

    Raises InputError when `directory` is no run or was made by a newer biasgraph.
    """
    folder = Path(directory).absolute()
    with storing(folder):
        record = runrecord.read_record(folder)
        if record is None:
            raise InputError(f"{show_path(folder)} is not a biasgraph run: it has no {RECORD}")
        runrecord.refuse_unreadable(folder, record)
        return Run(folder, record, Ledger(folder / LEDGER, read_only=True))


class Run:
    """An open run.

    directory: where it is; ledger: its prompts, images and answers; moved_to: where `fresh` has
    put the run that was there before, None if there was none.
    """

    def __init__(
        self, directory: Path, record: Record, ledger: Ledger, *, moved_to: Path | None = None
    ) -> None:
        self.directory = directory
        self.ledger = ledger
        self.moved_to = moved_to
        self._record = record
        self._store = ImageStore(directory / IMAGES)
        self._swept = False

    def close(self) -> None:
        """Close a run that was opened for reading; `open_run` closes its own."""
        self.ledger.close()

    @property
    def model(self) -> str:
        """The generator's spec."""
        return str(self._record["generator"]["spec"])

    @property
    def seed(self) -> int:
        """The run's seed."""
        return int(self._record["seed"])

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the latest request; empty before the first one."""
        builds = self._record["builds"]
        return dict(builds[-1]["settings"]) if builds else {}

    # What is wanted

    def request(
        self,
        plans: Sequence[Sequence[Prompt]],
        *,
        images: int,
        targets: Sequence[str],
        settings: Mapping[str, Any],
        command: Sequence[str] = (),
        given: Mapping[str, Sequence[GivenPicture]] | None = None,
        fewer: Mapping[str, int] | None = None,
    ) -> None:
        """Say what is wanted: `images` of every prompt and an answer about every target axis.

        Each plan is an initial prompt followed by the prompts that belong to it
        (`PromptPlan.prompts`). What earlier requests made stays and is used again; tables hold
        what the latest request names. `settings` (JSON types) and `command` go into run.json as
        they are: whatever may differ between two builds of a run.

        given: prompt id -> the pictures there are of it, in their order, where all are there
        already; then a prompt may have fewer than `images`. What an earlier request was given
        keeps its number; InputError names a picture of these that is missing now. fewer: prompt
        id -> how many, where not so many are wanted.
        """
        if images < 1:
            raise InputError(f"at least 1 image is needed for each prompt, not {images}")
        rows = {row.id: row for plan in plans for row in prompt_rows(plan)}
        for row in rows.values():
            if has_half_character(row.text):
                raise InputError(f"the prompt '{printable(row.text)}' is not valid Unicode text")
        self._refuse_other_prompts({plan[0].text for plan in plans})
        record = runrecord.with_build(self._record, settings, command)
        with storing(self.directory):
            pictures = number_pictures(given, self.ledger.read_given(), images, self.directory)
            self.ledger.record_request(
                list(rows.values()), images=images, targets=targets, given=pictures, fewer=fewer
            )
            if record is not self._record:
                runrecord.write_record(self.directory, record)
        self._record = record

    def _refuse_other_prompts(self, texts: Collection[str]) -> None:
        """Raise InputError where the latest request was about none of these initial prompts."""
        rows = self.ledger.requested_prompts()
        before = [row.text for row in rows if row.role == "initial"]
        if before and not texts:
            raise InputError(
                f"{show_path(self.directory)} contains the run of another command, about "
                f"'{printable(before[0][:80])}'; choose another -o"
            )
        if before and not set(before) & set(texts):
            was, now = (printable(next(iter(names))[:80]) for names in (before, texts))
            raise InputError(
                f"{show_path(self.directory)} cannot be resumed: its prompt was '{was}' and is now "
                f"'{now}'; {NEW_RUN}"
            )

    def wanted_images(self) -> list[NewImage]:
        """Every requested image, made or not: each prompt's first, each prompt's second ..."""
        prompts = self.ledger.requested_prompts()
        counts = self.ledger.requested_images()
        if given := self.ledger.read_given():
            return given_images(prompts, counts, given)
        return wanted_images(prompts, counts, self.seed, self.model)

    def sources(self) -> dict[str, str]:
        """Image id -> where the picture lay that the run was given; empty where all are made."""
        given = self.ledger.read_given()
        return {
            image_id(prompt, number): picture.source
            for prompt, pictures in given.items()
            for number, picture in pictures.items()
        }

    def plan(self, work: str, what: object) -> int:
        """The plan under which `work` on `what` (JSON types) is done.

        A build that was cut short and asks for the same again continues its plan, so that its
        batches are cut from the same items; anything else begins a new one.
        """
        return self.ledger.plan(work, digest(what))

    # Images

    def damaged_images(self, among: Sequence[ImageRow] | None = None) -> list[ImageRow]:
        """Those of `ledger.images`, or of others, whose file is missing or not the recorded one."""
        with storing(self.directory):
            images = self.ledger.images() if among is None else among
            now = {file: self._store.check(file) for file in {image.file for image in images}}
            self.ledger.record_files(
                [found for file, found in now.items() if found is not None and found != file]
            )
            return [image for image in images if now[image.file] is None]

    def image_path(self, image: ImageRow) -> Path:
        """Where the picture is kept."""
        return self._store.path(image.file.sha256)

    def read_image(self, image: ImageRow) -> Image | None:
        """The picture, or None when its file is missing or is not the one that was recorded."""
        with storing(self.directory):
            return self._store.read(image.file.sha256)

    def read_file(self, image: ImageRow) -> bytes | None:
        """The bytes of the picture's file, or None as `read_image`."""
        with storing(self.directory):
            return self._store.bytes_of(image.file.sha256)

    def add_images(
        self, made: Sequence[tuple[NewImage, EncodedPicture]], *, plan: int
    ) -> list[ImageRow]:
        """Keep new pictures: the files first, then all of them in one transaction."""
        with storing(self.directory):
            self._sweep()
            return self.ledger.add_images(self._keep(made), plan=plan)

    def replace_images(self, made: Sequence[tuple[ImageRow, EncodedPicture]]) -> list[ImageRow]:
        """Keep pictures made again in place of damaged files; returns the images as they are now.

        The answers about one whose file came out differently are dropped.
        """
        with storing(self.directory):
            self._sweep()
            files = self._keep(made)
            self.ledger.replace_files(files)
        return [image._replace(file=now.file, withheld=now.withheld) for image, now in files]

    def _keep(self, made: Sequence[tuple[Kept, EncodedPicture]]) -> list[tuple[Kept, MadeImage]]:
        """Write the pictures' files."""
        return [
            (image, MadeImage(self._store.write(new.png), new.withheld, new.revised_prompt))
            for image, new in made
        ]

    def _sweep(self) -> None:
        """Before the first picture: remove what a process that died left half written."""
        if not self._swept:
            self._store.sweep()
            self._swept = True

    # Answers

    def add_questions(self, judge: str, asked: Mapping[str, Any]) -> dict[str, int]:
        """Record what `judge` is asked by target (JSON types); returns the questions' keys.

        Raises InputError when it was asked in other words before: such answers cannot stand in
        one table; ValueError for a judge that the run was not opened with.
        """
        if judge not in self._record["judges"]:
            raise ValueError(f"the run was not opened with the judge {judge}")
        words = {target: json.dumps(question) for target, question in asked.items()}
        recorded = self.ledger.questions(judge)
        for target, (_, before) in recorded.items():
            if words.get(target, before) != before:
                what = f"question about {target}" if target else "gate question"
                runrecord.refuse_differences(
                    self.directory, what, self._words(before), json.loads(words[target])
                )
        new = {target: text for target, text in words.items() if target not in recorded}
        if new:
            self.ledger.add_questions(judge, new)
        return {target: key for target, (key, _) in self.ledger.questions(judge).items()}

    def wording_of(self, judge: str) -> dict[str, Any]:
        """Target -> what this judge was asked about it (JSON types); empty if it never was."""
        recorded = self.ledger.questions(judge)
        return {target: self._words(words) for target, (_, words) in recorded.items()}

    def _words(self, recorded: str) -> Any:
        return parse_json(
            recorded.encode("utf-8", "surrogatepass"), show_path(self.directory / LEDGER)
        )

    def answers(self, judge: str) -> pd.DataFrame:
        """The hinge table of the latest request under one judge, in the order of the plan.

        Columns model, prompt, role, axis, attribute, image, target, answer, confidence (0 to 1,
        NaN where there is none); the rows of an initial prompt stand together.
        """
        import pandas as pd

        columns, rows = self.ledger.answers_table(judge)
        table = pd.DataFrame.from_records(rows, columns=columns)
        table.insert(0, "model", self.model)
        return table.astype({"confidence": "float64"})

    def write_files(self, files: Mapping[str, bytes]) -> None:
        """Keep files of whoever works here in the run's directory, by name."""
        with storing(self.directory):
            for name, content in files.items():
                write_atomically(self.directory / name, content)

    def digest_answers(self, judge: str) -> str:
        """The SHA-256 (hex) of the hinge table of the latest request under one judge."""
        return digest([self.model, *self.ledger.answers_table(judge)])


def refuse_what_is_no_run(folder: Path) -> None:
    """Raise InputError for a directory that holds anything but a run, or what comes before one."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{show_path(folder)} is a file, not a directory; give another -o")
    if runrecord.read_record(folder) is None:
        # Left by a run that died while it began, or by what is asked before a run begins.
        ours = {LOCK, RECORD + TEMPORARY, *BEFORE}
        if any(entry.name not in ours for entry in folder.iterdir()):
            raise InputError(
                f"{show_path(folder)} is not empty and not a biasgraph run; nothing in it was "
                "touched: give another -o"
            )


def _agree(
    folder: Path,
    record: Record | None,
    generator: ConfiguredModel,
    judges: Sequence[ConfiguredModel],
    seed: int,
) -> Record:
    """The record to go on with: `record` and the judges new to it, or that of a new run."""
    if record is None:
        record = runrecord.new_record(generator, seed)
    else:
        runrecord.refuse_unreadable(folder, record)
        runrecord.refuse_another_run(folder, record, generator, seed)
    for judge in judges:
        record = runrecord.with_judge(folder, record, judge)
    return record


def _lock(folder: Path) -> BaseFileLock:
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ModelError(
            f"another process is working in {show_path(folder)}; wait for it or give another -o"
        ) from None
    return lock


def _move_aside(folder: Path, lock: BaseFileLock) -> Path:
    """Rename the run's directory and leave an empty one in its place."""
    name = f"{folder.name}-until-{datetime.now():%Y%m%d-%H%M%S}"
    names = (f"{name}-{number}" if number > 1 else name for number in count(1))
    aside = next(path for path in map(folder.with_name, names) if not path.exists())
    if os.name == "nt":
        lock.release()  # Windows renames no directory that holds an open file
    folder.rename(aside)
    folder.mkdir()
    return aside
