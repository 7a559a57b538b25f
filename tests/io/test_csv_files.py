"""Cells that a spreadsheet cannot be tricked with."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgraph.errors import InputError
from biasgraph.io.csv_files import CsvFile, protect, to_csv, unprotect
from tests.hostile import FORMULAS, HOSTILE, UNWRITABLE

WRITABLE = st.text().filter(lambda text: "\0" not in text)


@given(WRITABLE | st.sampled_from([text for text in HOSTILE if text not in UNWRITABLE]))
def test_protection_is_undone_exactly(text: str) -> None:
    assert unprotect(protect(text)) == text
    assert unprotect(protect(protect(text))) == protect(text)


@pytest.mark.parametrize("formula", [text for text in FORMULAS if text[0] in "=+-@\t\r\n"])
def test_no_formula_stands_at_the_start_of_a_cell(formula: str) -> None:
    assert protect(formula) == "'" + formula


@pytest.mark.parametrize(
    ("text", "cell"), [("a\0b", "a\ufffdb"), ("\ud800=", "\ufffd="), ("\0=1", "\ufffd=1")]
)
def test_what_no_file_can_hold_is_replaced(text: str, cell: str) -> None:
    assert protect(text) == cell


def test_harmless_cells_are_left_alone() -> None:
    for text in ("", "a librarian", "it's", "'quoted'", " =1", "2-1"):
        assert protect(text) == text
        assert unprotect(text) == text


@given(st.lists(st.tuples(WRITABLE, st.floats(allow_nan=False)), min_size=1))
def test_any_other_reader_finds_the_same_cells(rows: list[tuple[str, float]]) -> None:
    raw = to_csv(pd.DataFrame(rows, columns=["text", "number"]))
    cells = list(csv.reader(io.StringIO(raw.decode(), newline="")))
    assert [(unprotect(text), float(number)) for text, number in cells[1:]] == rows


def test_numbers_flags_and_gaps() -> None:
    frame = pd.DataFrame(
        {"p": [1e-300, None], "n": [-3, 4], "edge": [True, False], "status": [None, "ok"]}
    )
    assert to_csv(frame) == b"p,n,edge,status\n1e-300,-3,True,\n,4,False,ok\n"


def test_an_empty_table_is_its_heading() -> None:
    assert to_csv(pd.DataFrame(columns=["a", "b"])) == b"a,b\n"


def test_a_quote_alone_is_no_heading() -> None:
    with pytest.raises(InputError, match=r"^FILE is not a well-formed CSV file: the first line"):
        CsvFile(b'"', "FILE", ("axis",))


@given(st.lists(st.tuples(WRITABLE, WRITABLE), max_size=4))
def test_texts_are_the_cells_of_the_frame(rows: list[tuple[str, str]]) -> None:
    raw = to_csv(pd.DataFrame(rows, columns=["a", "b"], dtype=object))
    file = CsvFile(raw, "x.csv", ("a", "b"))
    frame = file.frame()
    assert file.texts() == {name: frame[name].tolist() for name in frame}
