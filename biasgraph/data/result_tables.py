"""The tables of a result: those in memory, and those of files, read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from biasgraph.data.answers import Answers
from biasgraph.data.file_names import ANSWERS, PAIRS, TABLES
from biasgraph.data.pair_cells import PAIR_COLUMNS, type_pairs
from biasgraph.errors import show_path
from biasgraph.io.csv_files import CsvFile
from biasgraph.io.text_files import read_bytes

if TYPE_CHECKING:
    import pandas as pd

PairRecords = list[dict[str, Any]]
"""The rows of pairs as plain values; what is undefined is None."""


class ResultTables(Protocol):
    """What there is of a result beside its document; see `biasgraph.data.result.Result`."""

    @property
    def pairs(self) -> pd.DataFrame:
        """Every ordered pair of axes."""

    @property
    def counts(self) -> pd.DataFrame:
        """The counts behind it."""

    @property
    def answers(self) -> pd.DataFrame:
        """The answers table."""

    def pair_records(self) -> PairRecords:
        """The rows of `pairs`."""


@dataclass(frozen=True, eq=False)
class KnownTables:
    """Tables in memory."""

    pairs: pd.DataFrame
    counts: pd.DataFrame
    answers: pd.DataFrame

    def pair_records(self) -> PairRecords:
        """The rows of `pairs`."""
        return _records_of(self.pairs)


class RowsByPrompt:
    """A table about several prompts; rows about one are cut out whenever they are asked for."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame, self._places = frame, frame.groupby("prompt", observed=True).indices

    def has(self, prompt: str) -> bool:
        """Whether there are rows about a prompt."""
        return prompt in self._places

    def about(self, prompt: str) -> pd.DataFrame:
        """The rows about a prompt that has some."""
        return self._frame.iloc[self._places[prompt]].reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class PromptTables:
    """Tables in memory, of one of several prompts, which share those of counts and answers."""

    prompt: str
    pairs: pd.DataFrame
    every_count: RowsByPrompt
    every_answer: RowsByPrompt

    @property
    def counts(self) -> pd.DataFrame:
        """The counts behind it."""
        return self.every_count.about(self.prompt)

    @property
    def answers(self) -> pd.DataFrame:
        """The answers table."""
        return self.every_answer.about(self.prompt)

    def pair_records(self) -> PairRecords:
        """The rows of `pairs`."""
        return _records_of(self.pairs)


@dataclass(frozen=True, eq=False)
class IntactTables:
    """Tables whose files are known to be as biasgraph wrote them.

    The files are read at once, so that what becomes of them later changes nothing; they are parsed
    when they are asked for, and pandas is loaded for data frames alone.

    Attributes:
        pairs_file: The content of pairs.csv.
        make_counts: Returns the counts.
        make_answers: Returns the answers.
    """

    pairs_file: CsvFile
    make_counts: Callable[[], pd.DataFrame]
    make_answers: Callable[[], pd.DataFrame]

    @classmethod
    def of_run(cls, folder: Path) -> IntactTables:
        """Those in the directory of a result. Raises InputError where a file cannot be read."""
        counts, answers = ((folder / name, read_bytes(folder / name)) for name in (TABLES, ANSWERS))
        return cls(
            _pairs_file(folder), partial(_parse_counts, *counts), partial(_parse_answers, *answers)
        )

    def of_prompt(self, folder: Path, prompt: str) -> IntactTables:
        """Those of one of several prompts, whose folder this is. Raises InputError likewise."""
        return IntactTables(
            _pairs_file(folder),
            partial(_rows_about, self, "counts", prompt),
            partial(_rows_about, self, "answers", prompt),
        )

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every ordered pair of axes."""
        from biasgraph.data.frames import frame_of_pairs

        return frame_of_pairs(self._pair_columns)

    @cached_property
    def _pair_columns(self) -> dict[str, list[Any]]:
        return type_pairs(self.pairs_file.texts())

    @cached_property
    def counts(self) -> pd.DataFrame:
        """The counts behind it."""
        return self.make_counts()

    @cached_property
    def answers(self) -> pd.DataFrame:
        """The answers table."""
        return self.make_answers()

    def pair_records(self) -> PairRecords:
        """The rows of `pairs`."""
        columns = self._pair_columns
        return [
            dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
        ]


def _records_of(pairs: pd.DataFrame) -> PairRecords:
    cells = pairs.astype(object)
    records = cells.where(cells.notna(), None).to_dict("records")
    return [{str(name): value for name, value in record.items()} for record in records]


def _pairs_file(folder: Path) -> CsvFile:
    path = folder / PAIRS
    return CsvFile(read_bytes(path), show_path(path), PAIR_COLUMNS)


def _parse_counts(path: Path, raw: bytes) -> pd.DataFrame:
    from biasgraph.data.frames import OLD_TABLE_COLUMNS, counts_from_cells

    return counts_from_cells(CsvFile(raw, show_path(path), OLD_TABLE_COLUMNS).frame())


def _parse_answers(path: Path, raw: bytes) -> pd.DataFrame:
    return Answers.parse(raw, show_path(path)).frame


def _rows_about(tables: IntactTables, name: str, prompt: str) -> pd.DataFrame:
    frame: pd.DataFrame = getattr(tables, name)
    return frame[(frame["prompt"] == prompt).to_numpy()].reset_index(drop=True)
