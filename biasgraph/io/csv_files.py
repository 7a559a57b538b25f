"""CSV files as people's spreadsheets write them, and as biasgraph writes them.

A spreadsheet runs a cell that begins with ``=``, ``+``, ``-`` or ``@``, white space before it or
not. Text cells that begin so get an apostrophe in front, which reading takes away again; numbers
are left alone.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from biasgraph.errors import InputError, printable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

DELIMITERS = (",", ";", "\t")
_RISKY = re.compile(r"'*[=+\-@\t\r\n]")
ROWS = 100_000  # written at once
_QUOTED = re.compile('[,;\t"\r\n]')
_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def protect(text: str) -> str:
    """`text` with an apostrophe before it if a spreadsheet might run it.

    A text that looks protected already gets one more apostrophe, so that `unprotect` gives back
    exactly what was written. NUL and lone surrogates become U+FFFD.
    """
    text = table_text(text)
    return "'" + text if _RISKY.match(text) else text


def table_text(text: str) -> str:
    """`text` with U+FFFD for NUL and lone surrogates, which no table in UTF-8 can hold."""
    return _UNWRITABLE.sub("\ufffd", text)


def unprotect(cell: str) -> str:
    """The text that `protect` turned into `cell`."""
    return cell[1:] if cell.startswith("'") and _RISKY.match(cell) else cell


def map_texts(column: pd.Series, change: Callable[[str], str | None]) -> pd.Series:
    """`column` as categories, each distinct text passed through `change` once.

    Missing cells stay missing; a text that `change` turns into None becomes missing.
    """
    import numpy as np
    import pandas as pd  # half a second

    column = column.astype("category")
    changed = np.array([change(str(text)) for text in column.cat.categories], dtype=object)
    codes, texts = pd.factorize(changed)
    recoded = np.append(codes, -1)[column.cat.codes.to_numpy()]
    return pd.Series(
        pd.Categorical.from_codes(recoded, categories=pd.Index(texts)), index=column.index
    )


def to_csv(frame: pd.DataFrame) -> bytes:
    """`frame` as CSV in UTF-8: text cells protected, missing cells empty, numbers exact.

    Each distinct cell is formatted once in a block of rows, which makes it several times faster
    than pandas' writer; and unlike Python's it quotes a carriage return, which would end the row
    when read back.
    """
    heading = ",".join(_cell(str(name)) for name in frame.columns)
    blocks = [frame.iloc[start : start + ROWS] for start in range(0, len(frame), ROWS)]
    return b"".join([f"{heading}\n".encode(), *map(_lines, blocks)])


def _lines(frame: pd.DataFrame) -> bytes:
    columns = [_cells(frame[name]) for name in frame.columns]
    return "\n".join([*map(",".join, zip(*columns, strict=True)), ""]).encode()


def _cells(column: pd.Series) -> npt.NDArray[np.object_]:
    import numpy as np
    import pandas as pd

    codes, values = pd.factorize(column)
    return np.array([*map(_cell, values), ""], dtype=object)[codes]


def _cell(value: object) -> str:
    if not isinstance(value, str):
        return str(value)
    text = protect(value)
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


class CsvFile:
    """The bytes of a CSV file with ``,`` ``;`` or tab between cells, with or without a BOM.

    The delimiter is the one that makes most of the `known` columns out of the first line.

    Attributes:
        source: what errors call it.
        columns: the headings.

    Raises:
        InputError: not a CSV file; names `source` and where possible the line.
    """

    def __init__(self, raw: bytes, source: str, known: Collection[str]) -> None:
        _refuse_other_formats(raw, source)
        self._raw, self.source = raw, source
        headings = {each: self._heading(each) for each in DELIMITERS}
        self._delimiter = max(headings, key=lambda each: len({*known} & {*headings[each]}))
        self.columns = headings[self._delimiter]

    def frame(self) -> pd.DataFrame:
        """All cells as texts, unprotected, by column; blank lines are left out.

        Raises:
            InputError: a column is named twice, a row has too many cells, a quote never ends.
        """
        import pandas as pd

        for name in filter(None, self.columns):
            if self.columns.count(name) > 1:
                raise InputError(f"{self.source} has two columns '{printable(name)}'")
        try:
            self._refuse_long_first_row()
            # Not dtype="category": its categories would turn "007" into the number 7.
            cells = pd.read_csv(
                io.BytesIO(self._raw),
                sep=self._delimiter,
                encoding="utf-8-sig",
                dtype=str,
                na_filter=False,
                header=0,
                names=[str(i) for i in range(len(self.columns))],
                index_col=False,
            )
        except (csv.Error, pd.errors.ParserError) as error:
            raise self._describe_fault(str(error).rpartition("C error:")[2].strip()) from None
        named = {  # each column is freed once it is read
            name: map_texts(cells.pop(str(i)), unprotect)
            for i, name in enumerate(self.columns)
            if name
        }
        return pd.DataFrame(named)

    def texts(self) -> dict[str, list[str]]:
        """The same of a file that `to_csv` wrote, by column; pandas is not loaded for it.

        Raises:
            InputError: its rows are not as long as its heading.
        """
        try:
            rows = [cells for _, cells in self._records(self._delimiter)][1:]
            cells = zip(*rows, strict=True) if rows else ([] for _ in self.columns)
            named = zip(self.columns, cells, strict=True)
            return {name: [*map(unprotect, column)] for name, column in named}
        except (csv.Error, ValueError) as error:
            raise self._describe_fault(str(error)) from None

    def place(self, row: int) -> str:
        """Where the row with this index in `frame` begins, as "line 7"."""
        try:
            line, _ = next(itertools.islice(self._records(self._delimiter), row + 1, None))
        except csv.Error:  # a cell that Python's reader finds too long, and pandas does not
            return f"row {row + 1}"
        return f"line {line}"

    def _heading(self, delimiter: str) -> list[str]:
        try:
            _, cells = next(self._records(delimiter))
        except StopIteration:
            raise self._describe_fault("the first line must contain the column names") from None
        except csv.Error as error:
            raise self._describe_fault(str(error)) from None
        return [cell.strip() for cell in cells]

    def _refuse_long_first_row(self) -> None:
        # pandas would take the surplus cells of the first row for an index, or drop them.
        for line, cells in itertools.islice(self._records(self._delimiter), 1, 2):
            if len(cells) > len(self.columns):
                raise self._describe_fault(
                    f"Expected {len(self.columns)} fields in line {line}, saw {len(cells)}"
                )

    def _records(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """The line each record begins at, and its cells; blank lines left out, as pandas does."""
        text = io.TextIOWrapper(io.BytesIO(self._raw), encoding="utf-8-sig", newline="")
        reader = csv.reader(text, delimiter=delimiter)
        line = 1
        for cells in reader:
            if len(cells) > 1 or "".join(cells).strip(" \t"):
                yield line, cells
            line = reader.line_num + 1

    def _describe_fault(self, reason: str) -> InputError:
        return InputError(f"{self.source} is not a well-formed CSV file: {printable(reason)}")


def _refuse_other_formats(raw: bytes, source: str) -> None:
    content = raw.removeprefix(b"\xef\xbb\xbf")
    if not content or content.isspace():
        raise InputError(f"{source} is empty: the first line must contain the column names")
    if raw.startswith(b"PK\x03\x04"):
        raise InputError(f"{source} is a workbook or archive, not a CSV file: save it as CSV UTF-8")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{source} is encoded as UTF-16: save it as CSV UTF-8")
    if b"\0" in raw:
        raise InputError(f"{source} is not a CSV file: it contains binary data")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{source}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8: "
            "save the file as CSV UTF-8"
        ) from None
