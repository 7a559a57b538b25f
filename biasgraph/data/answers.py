"""The hinge table: one row for each image and axis that was asked about.

Every source (a model, a folder of images, somebody's spreadsheet) ends in this table and every
analysis starts from it. All checks work on categorical codes, so that a million rows take about
a second; the line of a bad row is looked up only when there is one.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from biasgraph.data.origin import NO_MODEL, are_models
from biasgraph.errors import (
    InputError,
    MissingExtra,
    describe_missing,
    did_you_mean,
    list_words,
    printable,
)
from biasgraph.io.csv_files import CsvFile, map_texts, to_csv
from biasgraph.io.text_files import read_bytes

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("model", "prompt", "role", "axis", "attribute", "image", "target", "answer")
OPTIONAL = ("confidence", "judge", "annotator")
NEEDED = ("prompt", "image", "target", "answer")
"""The columns that no table can do without; the others are filled in where they lack."""
PEOPLE = "human:"
"""The judge of a table that tells its annotators apart and names none."""
ROLES = ("initial", "counterfactual", "control")
EMPTY = ("", "nan", "NaN")
UNDECIDED = "unknown"
"""What annotators of whom as many say one thing as another come to."""
LONGEST = 500  # characters of a problem that quotes a cell

Mask = npt.NDArray[np.bool_]
Place = tuple[str, str]
"""An image and a target."""
Problem = Callable[[dict[str, str]], str]


@dataclass(frozen=True)
class Answers:
    """A checked answers table that knows where its rows came from.

    Attributes:
        frame: The columns of `COLUMNS` as categories of texts (axis and attribute are missing but
            for counterfactual images) and, where the source has them, `confidence` as floats in
            0..1 or NaN and `judge`, who answered. Its index counts the rows of the source from 0.
        source: What errors call it.
        place: Says where the row with such an index stands, as "line 7".
        annotators: How many people answered, whose majority the rows are; None where the source
            does not tell them apart.
    """

    frame: pd.DataFrame
    source: str
    place: Callable[[int], str]
    annotators: int | None = None

    @classmethod
    def read(cls, path: str | Path) -> Answers:
        """Read a CSV (``,`` ``;`` or tab, with or without BOM) or Parquet file.

        Raises:
            InputError: names the file, the line (the heading is line 1) and the column.
            MissingExtra: the file is Parquet and pyarrow is not installed.
        """
        return cls.parse(read_bytes(path), printable(str(path)), Path(path))

    @classmethod
    def parse(cls, raw: bytes, source: str, path: Path | None = None) -> Answers:
        """The same of a file's content.

        Args:
            raw: The content.
            source: What errors call it.
            path: The file, where it may be read again to say in which line an error is.
        """
        if raw.startswith(b"PAR1"):
            return cls.from_frame(_parquet_frame(raw, source), source=source)
        file = CsvFile(raw, source, COLUMNS)
        _refuse_missing_columns(file.columns, source)
        if path is None or not path.is_file():
            return cls.from_frame(file.frame(), source=source, place=file.place)
        return cls.from_frame(  # which need not keep the text
            file.frame(),
            source=source,
            place=lambda row: CsvFile(read_bytes(path), source, COLUMNS).place(row),
        )

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        source: str = "the answers table",
        place: Callable[[int], str] | None = None,
    ) -> Answers:
        """Check a table in memory; in errors its rows are row 1, row 2 ...

        Raises:
            InputError: names the source, the first bad row, its column, and how many more.
        """
        _refuse_missing_columns(frame.columns, source)
        rows = _complete(_normalise(frame.reset_index(drop=True), source))
        if rows.empty:
            raise InputError(f"{source} has no rows: there is nothing to analyse")
        answers = cls(rows, source, place or (lambda row: f"row {row + 1}"))
        answers._check_cells()
        answers._check_confidence()
        answers._check_images()
        return answers._by_majority() if "annotator" in rows else answers

    @property
    def model(self) -> str:
        """The generator's spec, one for the whole table."""
        return str(self.frame["model"].iloc[0])

    @property
    def judge(self) -> str | None:
        """The judge's spec, one for the whole table; None where the table does not say."""
        return str(self.frame["judge"].iloc[0]) if "judge" in self.frame else None

    @property
    def prompts(self) -> list[str]:
        """The initial prompts, in order of first appearance."""
        return [str(prompt) for prompt in self.frame["prompt"].unique()]

    @property
    def axes(self) -> list[str]:
        """What was intervened on or asked about, in order of first appearance."""
        columns = [self.frame["axis"].dropna(), self.frame["target"]]
        return list(dict.fromkeys(str(text) for column in columns for text in column.unique()))

    def only(self, axes: Sequence[str]) -> Answers:
        """The rows about some axes: their interventions, and questions about them.

        Raises:
            InputError: the table has no such axis.
        """
        frame = self.frame
        known = self.axes
        for axis in axes:
            if axis not in known:
                raise InputError(describe_missing(f"{self.source} has no axis", axis, known))
        kept = frame["target"].isin(axes) & (frame["axis"].isin(axes) | frame["axis"].isna())
        if not kept.any():
            raise InputError(f"{self.source} has no answers about {list_words(axes)}")
        frame = frame[kept].copy()
        for name in COLUMNS:
            frame[name] = frame[name].cat.remove_unused_categories()
        return replace(self, frame=frame)

    def about(self, prompt: str) -> Answers:
        """The rows about one initial prompt.

        Raises:
            InputError: the table has none.
        """
        frame = self.frame[(self.frame["prompt"] == prompt).to_numpy()]
        if frame.empty:
            raise InputError(f"{self.source} has no answers about '{printable(prompt)}'")
        return replace(self, frame=frame.reset_index(drop=True))

    def to_csv(self) -> bytes:
        """The table as the CSV file that `read` gives back equal."""
        return to_csv(self.frame)

    def refuse(self, bad: Mask, column: str, problem: str | Problem) -> None:
        """Raise the InputError for the first row of the mask `bad`, if there is one.

        Args:
            bad: (rows,) truth values.
            column: Where the problem is.
            problem: What is wrong, or a function that words it, given the row's texts.

        Raises:
            InputError: There is one.
        """
        if not bad.any():
            return
        first, more = int(bad.argmax()), int(bad.sum()) - 1
        if not isinstance(problem, str):
            cells = self.frame.iloc[first]
            problem = problem({str(name): str(cell) for name, cell in cells.items()})
        where = f"{self.source}, {self.place(int(self.frame.index[first]))}, column {column}"
        others = f" ({more:,} more like it)" if more else ""
        problem = problem if len(problem) <= LONGEST else problem[:LONGEST] + "..."
        raise InputError(f"{where}: {printable(problem)}{others}")

    def _by_majority(self) -> Answers:
        """One row for each image and target: what most annotators say."""
        import pandas as pd  # half a second

        asked = ["image", "target"]
        everywhere = zip(*(self.frame[name].tolist() for name in asked), strict=True)
        said = majority(zip(everywhere, self.frame["answer"].tolist(), strict=True))
        rows = self.frame.drop(columns=["annotator", "confidence"], errors="ignore")
        rows = rows.drop_duplicates(asked)
        places = zip(*(rows[name].tolist() for name in asked), strict=True)
        rows = rows.assign(answer=pd.Categorical([said[place] for place in places]))
        names = [str(name) for name in self.frame["annotator"].unique()]
        answers = replace(self, frame=rows, annotators=len(names))
        return answers.judged_by(self.judge or PEOPLE, names)

    def judged_by(self, judge: str, annotators: Sequence[str]) -> Answers:
        """With the judge that gave them: the annotators by name, where labels are all of models."""
        import pandas as pd

        if are_models(annotators) and judge.startswith(PEOPLE):
            judge = ", ".join(annotators)
        column = pd.Categorical([judge] * len(self.frame))
        return replace(self, frame=self.frame.assign(judge=column))

    def _check_cells(self) -> None:
        frame = self.frame
        empty = {name: frame[name].isna().to_numpy() for name in COLUMNS}
        if "annotator" in frame:
            self.refuse(frame["annotator"].isna().to_numpy(), "annotator", "the cell is empty")
        for name in ("model", "prompt", "role", "image", "target", "answer"):
            self.refuse(empty[name], name, "the cell is empty or not a number")
        roles = frame["role"]
        self.refuse(
            ~roles.isin(ROLES).to_numpy(),
            "role",
            lambda row: (
                f"'{row['role']}' is not one of 'initial', 'counterfactual' and 'control'."
                + did_you_mean(row["role"], ROLES)
            ),
        )
        for role in ROLES:
            own = (roles == role).to_numpy()
            for name in ("axis", "attribute"):
                if role == "counterfactual":
                    self.refuse(own & empty[name], name, "a counterfactual image needs one")
                else:
                    article = "an" if role == "initial" else "a"
                    problem = f"{article} {role} image has no intervention"
                    self.refuse(own & ~empty[name], name, problem)
        self._refuse_second("model", "models are audited one by one")
        if "judge" in frame:
            self.refuse(frame["judge"].isna().to_numpy(), "judge", "the cell is empty")
            self._refuse_second("judge", "answers of different judges do not go together")

    def _refuse_second(self, column: str, why: str) -> None:
        """Raise InputError where a column that has one value for the whole table has another."""
        codes, first = self.frame[column].cat.codes.to_numpy(), self.frame[column].iloc[0]
        self.refuse(
            codes != codes[0],
            column,
            lambda row: f"'{row[column]}', but the table began with '{first}': {why}",
        )

    def _check_confidence(self) -> None:
        if "confidence" in self.frame:
            values = self.frame["confidence"].to_numpy(dtype=np.float64)
            outside = ~np.isnan(values) & ~((values >= 0) & (values <= 1))
            self.refuse(outside, "confidence", "must be a number from 0 to 1, or empty")

    def _check_images(self) -> None:
        frame = self.frame
        images, arms = frame["image"].cat.codes.to_numpy(), _arm_codes(frame)
        first_arm = np.empty(len(frame["image"].cat.categories), dtype=arms.dtype)
        first_arm[images[::-1]] = arms[::-1]
        self.refuse(
            first_arm[images] != arms,
            "image",
            lambda row: (
                f"'{row['image']}' belongs to two prompts or interventions: "
                "image ids must be unique within the table"
            ),
        )
        by = [name for name in ("image", "target", "annotator") if name in frame]
        self.refuse(
            frame.duplicated(by).to_numpy(),
            "target",
            lambda row: (
                f"image '{row['image']}' has a second answer about '{row['target']}'"
                + (f" by '{row['annotator']}'" if "annotator" in row else "")
            ),
        )


def _arm_codes(frame: pd.DataFrame) -> npt.NDArray[np.int64]:
    """(rows,) one number for each (prompt, role, axis, attribute)."""
    codes = np.zeros(len(frame), dtype=np.int64)
    for name in ("prompt", "role", "axis", "attribute"):
        column = frame[name].cat
        codes = codes * (len(column.categories) + 1) + column.codes.to_numpy() + 1
    return codes


def majority(votes: Iterable[tuple[Place, str]]) -> dict[Place, str]:
    """What most say at each place; unknown where as many say otherwise."""
    counts: dict[Place, Counter[str]] = {}
    for place, answer in votes:
        counts.setdefault(place, Counter())[answer] += 1
    ranked = {place: votes.most_common(2) for place, votes in counts.items()}
    return {
        place: UNDECIDED if len(best) == 2 and best[0][1] == best[1][1] else best[0][0]
        for place, best in ranked.items()
    }


def _normalise(frame: pd.DataFrame, source: str) -> pd.DataFrame:
    """The columns that count, as categories of texts; rows without any cell left out."""

    def text(cell: str) -> str | None:
        return None if cell.strip() in EMPTY else cell

    columns = {}
    for name in (name for name in (*COLUMNS, *OPTIONAL) if name in frame.columns):
        try:
            number = name == "confidence"
            columns[name] = _numbers(frame[name]) if number else map_texts(frame[name], text)
        except TypeError:  # unhashable: a list or a record, as Parquet can hold
            raise InputError(f"{source}, column {name}: its cells are not text") from None
    for name in ("judge", "annotator"):
        if name in columns and columns[name].isna().all():
            del columns[name]
    import pandas as pd

    rows = pd.DataFrame(columns)
    return rows[rows[[name for name in COLUMNS if name in rows]].notna().any(axis=1)]


def _complete(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with every column of `COLUMNS`.

    Without interventions all images are initial; without roles, those that no intervention is
    named for.
    """
    import pandas as pd

    lacking = {
        "model": np.full(len(rows), NO_MODEL, dtype=object),
        "axis": np.full(len(rows), None, dtype=object),
        "attribute": np.full(len(rows), None, dtype=object),
    }
    rows = rows.assign(
        **{name: pd.Categorical(cells) for name, cells in lacking.items() if name not in rows}
    )
    if "role" not in rows:
        initial = rows["axis"].isna() & rows["attribute"].isna()
        rows = rows.assign(role=pd.Categorical(np.where(initial, "initial", "counterfactual")))
    return rows[[*COLUMNS, *(name for name in rows if name not in COLUMNS)]]


def _numbers(column: pd.Series) -> pd.Series:
    """`column` as floats; missing and empty cells are NaN, what is no number is infinite."""
    import pandas as pd

    cells = column.astype("category").cat
    texts = cells.categories.astype(str).str.strip().str.replace(",", ".")  # 0,5 in many countries
    numbers = pd.to_numeric(texts.to_series(), errors="coerce").fillna(np.inf)
    numbers[texts == ""] = np.nan
    values = np.append(numbers.to_numpy(dtype=np.float64), np.nan)[cells.codes.to_numpy()]
    return pd.Series(values, index=column.index)


def _refuse_missing_columns(columns: Iterable[object], source: str) -> None:
    names = [str(name) for name in columns]
    for name in names:
        if name in (*COLUMNS, *OPTIONAL) and names.count(name) > 1:
            raise InputError(f"{source} has two columns '{name}'")
    if not {*names} & {*COLUMNS}:
        raise InputError(
            f"{source} is not an answers table: it has none of the columns {', '.join(COLUMNS)}"
        )
    others = [name for name in names if name not in COLUMNS]
    needed = {*NEEDED, *(("axis", "attribute") if {"axis", "attribute"} & {*names} else ())}
    missing = [
        name
        for name in COLUMNS
        # One that is merely spelt otherwise must not pass for one that was left out.
        if name not in names and (name in needed or did_you_mean(name, others))
    ]
    if missing:
        raise InputError(
            f"{source} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}."
            + did_you_mean(missing[0], others)
        )


def _parquet_frame(raw: bytes, source: str) -> pd.DataFrame:
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet files", "parquet") from None
    try:
        table = parquet.ParquetFile(io.BytesIO(raw)).read()
        table.validate(full=True)  # texts that are not UTF-8 would fail much later
        # What pandas noted is of no use here: how an index was called, and more that may not fit.
        return cast("pd.DataFrame", table.replace_schema_metadata(None).to_pandas())
    except (OSError, ValueError, NotImplementedError, pyarrow.ArrowException) as error:
        reason = printable(str(error).partition("\n")[0])
        raise InputError(f"{source} is not a readable Parquet file: {reason}") from None
