"""Reading, checking and coding the hinge table."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biasgraph
from biasgraph.data.answers import Answers
from biasgraph.errors import InputError, MissingExtra
from tests.answer_tables import librarian_table
from tests.hostile import HOSTILE, UNWRITABLE

HEADING = "model,prompt,role,axis,attribute,image,target,answer"
INITIAL = "m,a cook,initial,,,i{},gender,male"
MALE = "m,a cook,counterfactual,gender,male,m{},gender,male"


def table(*rows: str, heading: str = HEADING) -> bytes:
    return "\n".join([heading, *rows, ""]).encode("utf-8")


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], Answers]:
    def read_bytes(raw: bytes) -> Answers:
        path = tmp_path / "answers.csv"
        path.write_bytes(raw)
        return Answers.read(path)

    return read_bytes


def assert_same_cells(one: Answers, other: Answers) -> None:
    """Equal but for the order of the categories, which means nothing."""
    pd.testing.assert_frame_equal(one.frame.astype(object), other.frame.astype(object))


# --- reading


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_reads_what_spreadsheets_write(
    read: Callable[[bytes], Answers], delimiter: str, bom: bytes, line_end: str
) -> None:
    frame = librarian_table(images=3)
    text = frame.to_csv(index=False, sep=delimiter, lineterminator="\n").replace("\n", line_end)
    answers = read(bom + text.encode())
    assert_same_cells(answers, Answers.from_frame(frame))
    assert answers.frame["answer"].tolist() == frame["answer"].tolist()
    assert answers.model == "shop:v1"
    assert answers.prompts == ["a librarian"]


def test_prompts_with_commas_and_other_columns(read: Callable[[bytes], Answers]) -> None:
    heading = f"note;{HEADING.replace(',', ';')};confidence;"
    answers = read(table("x;m;a cook, smiling;initial;;;1;gender;male;0.5;", heading=heading))
    assert answers.prompts == ["a cook, smiling"]
    assert answers.frame["confidence"].tolist() == [0.5]
    assert "note" not in answers.frame


def test_ids_and_attributes_that_look_like_numbers_stay_texts(
    read: Callable[[bytes], Answers],
) -> None:
    answers = read(table("m,p,initial,,,007,age,1.50", "m,p,initial,,,7,age,1.5"))
    assert answers.frame["image"].tolist() == ["007", "7"]
    assert answers.frame["answer"].tolist() == ["1.50", "1.5"]


def test_numbers_in_a_frame_become_texts() -> None:
    frame = librarian_table(images=1).assign(image=range(8 * 3))
    frame["image"] = np.repeat(np.arange(8), 3)
    assert Answers.from_frame(frame).frame["image"].cat.categories.tolist() == list("01234567")


def test_blank_rows_are_skipped_and_lines_still_right(read: Callable[[bytes], Answers]) -> None:
    raw = table(INITIAL.format(1), "", " ", ",,,,,,,", '"m","two\nlines",initial,,,2,gender,', "")
    with pytest.raises(InputError, match=r"line 6, column answer: the cell is empty"):
        read(raw)


def test_a_file_is_not_kept_and_its_lines_are_found_all_the_same(
    read: Callable[[bytes], Answers],
) -> None:
    raw = table(*(f"m,{'a cook ' * 200},initial,,,{i},gender,male" for i in range(2_000)))
    tracemalloc.start()
    answers = read(raw)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < len(raw) / 2
    assert answers.place(1_999) == "line 2001"


def test_four_columns_are_initial_images_of_a_model_without_a_name(
    read: Callable[[bytes], Answers],
) -> None:
    raw = table(
        "a cook,1,gender,male", ",,,", "a cook,2,gender,", heading="prompt,image,target,answer"
    )
    with pytest.raises(InputError, match=r"line 4, column answer: the cell is empty"):
        read(raw)
    frame = read(raw.replace(b"gender,\n", b"gender,female\n")).frame
    assert frame.columns.tolist() == HEADING.split(",")
    assert frame["role"].tolist() == ["initial", "initial"]
    assert frame["model"].tolist() == ["not recorded"] * 2
    assert frame["axis"].isna().all() and frame["attribute"].isna().all()


def test_roles_follow_from_interventions_where_they_are_not_given(
    read: Callable[[bytes], Answers],
) -> None:
    full = librarian_table(images=3)
    assert_same_cells(Answers.from_frame(full.drop(columns="role")), Answers.from_frame(full))
    with pytest.raises(InputError, match="lacks the column attribute"):
        Answers.from_frame(full.drop(columns="attribute"))
    without = full.drop(columns=["axis", "attribute"])
    with pytest.raises(InputError, match="column axis: a counterfactual image needs one"):
        Answers.from_frame(without)


@pytest.mark.parametrize(("name", "typed"), [("model", "Models"), ("role", "roles")])
def test_a_column_spelt_otherwise_is_not_left_out(name: str, typed: str) -> None:
    frame = librarian_table(images=3).rename(columns={name: typed})
    with pytest.raises(InputError, match=f"lacks the column {name}. Did you mean '{typed}'"):
        Answers.from_frame(frame)


def test_parquet(tmp_path: Path) -> None:
    frame = librarian_table(images=3).assign(confidence=0.25)
    frame.to_parquet(tmp_path / "answers.parquet")
    assert_same_cells(Answers.read(tmp_path / "answers.parquet"), Answers.from_frame(frame))


@pytest.mark.parametrize("notes", [b"{}", b"7", b'{"columns": []}', b"[" * 100_000])
def test_what_pandas_noted_in_parquet_does_not_matter(tmp_path: Path, notes: bytes) -> None:
    frame = librarian_table()
    table = pyarrow.Table.from_pandas(frame).replace_schema_metadata({b"pandas": notes})
    pyarrow.parquet.write_table(table, tmp_path / "answers.parquet")
    assert_same_cells(Answers.read(tmp_path / "answers.parquet"), Answers.from_frame(frame))


@pytest.mark.parametrize("name", ["answer", "confidence"])
def test_a_column_that_parquet_has_twice_is_refused(tmp_path: Path, name: str) -> None:
    table = pyarrow.Table.from_pandas(librarian_table().assign(confidence=0.5))
    table = table.append_column(name, table[name])
    pyarrow.parquet.write_table(table, tmp_path / "answers.parquet")
    with pytest.raises(InputError, match=f"answers.parquet has two columns '{name}'"):
        Answers.read(tmp_path / "answers.parquet")


def test_parquet_with_a_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    table = pyarrow.Table.from_pandas(librarian_table())
    broken = pyarrow.array([b"p\xedcs"] * len(table)).view(pyarrow.string())
    table = table.set_column(table.schema.get_field_index("answer"), "answer", broken)
    pyarrow.parquet.write_table(table, tmp_path / "answers.parquet")
    with pytest.raises(InputError, match=r"not a readable Parquet file: .*UTF8"):
        Answers.read(tmp_path / "answers.parquet")


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "answers.parquet").write_bytes(b"PAR1 and so on")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'biasgraph\[parquet\]'"):
        Answers.read(tmp_path / "answers.parquet")


def test_damaged_parquet(tmp_path: Path) -> None:
    (tmp_path / "answers.parquet").write_bytes(b"PAR1 and so on")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        Answers.read(tmp_path / "answers.parquet")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n\n", "is empty"),
        (b"PK\x03\x04\x14\x00", "is a workbook"),
        (HEADING.encode("utf-16"), "is encoded as UTF-16"),
        (b"\x89PNG\r\n\x1a\n\0\0", "is not a CSV file: it contains binary data"),
        (table(INITIAL) + b"m,caf\xe9", "line 3: byte 0xe9 is not UTF-8"),
        (b"Dear all,\nhere are the answers", "is not an answers table"),
        (table(), "has no rows"),
        (table(",,,,,,,"), "has no rows"),
        (table(INITIAL, heading=HEADING + "s"), "lacks the column answer.*'answers'"),
        (table(INITIAL, heading=HEADING.replace("image,target", "a,b")), "columns image, target"),
        (table(INITIAL + ",x", heading=HEADING + ",answer"), "has two columns 'answer'"),
        (table(INITIAL + ",x"), "Expected 8 fields in line 2, saw 9"),
        (table(INITIAL, INITIAL + ",x"), "Expected 8 fields in line 3, saw 9"),
        (table(INITIAL, 'm,"a cook'), "EOF inside string"),
        (table("x" * 200_000, heading="x" * 200_000), "field larger than field limit"),
        (table(INITIAL, "m,a cook"), "line 3, column role: the cell is empty"),
        (table(INITIAL.replace("male", "NaN")), "line 2, column answer: the cell is empty"),
        (table(INITIAL, INITIAL.replace("m,", ",", 1)), "line 3, column model: the cell is empty"),
        (table(INITIAL.replace("a cook", " ")), "column prompt: the cell is empty"),
        (table(INITIAL.replace("initial", "initail")), "'initail' is not one of.*mean 'initial'"),
        (table(INITIAL.replace("initial", "other")), "column role: 'other' is not one of"),
        (table(MALE.replace("gender,male,", ",male,", 1)), "column axis: a counterfactual"),
        (table(MALE.replace("gender,male,", "gender,,", 1)), "column attribute: a counterfactual"),
        (table(MALE.replace("counterfactual", "initial")), "column axis: an initial image has no"),
        (table(MALE.replace("counterfactual", "control")), "column axis: a control image has no"),
        (table(INITIAL, INITIAL.replace("initial", "control")), "column image: .* two prompts"),
        (table(INITIAL, "n" + INITIAL[1:]), "line 3, column model: 'n', but.*'m'"),
        (table(INITIAL, INITIAL), r"line 3, column target: image 'i\{\}' has a second answer"),
        (table(INITIAL, MALE.replace("m{}", "i{}")), r"column image: 'i\{\}' belongs to two"),
        (table(INITIAL, INITIAL.replace("cook", "nurse")), "line 3, column image: .* two prompts"),
        (table(MALE, MALE, MALE, MALE), r"line 3, .*\(2 more like it\)"),
    ],
)  # fmt: skip
def test_bad_files_in_one_clear_line(
    read: Callable[[bytes], Answers], raw: bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(raw)
    assert "\n" not in str(caught.value)
    assert "answers.csv" in str(caught.value)


@pytest.mark.parametrize("confidence", ["1.5", "-0.1", "nan", "inf", "high"])
def test_bad_confidence(read: Callable[[bytes], Answers], confidence: str) -> None:
    heading = HEADING + ",confidence"
    with pytest.raises(InputError, match="line 3, column confidence: must be a number from 0 to 1"):
        read(table(INITIAL.format(1) + ",", INITIAL.format(2) + f",{confidence}", heading=heading))


def test_a_decimal_comma(read: Callable[[bytes], Answers]) -> None:
    raw = table(INITIAL + ",0,25", heading=HEADING + ",confidence")
    text = raw.decode().replace(",", ";").replace("0;25", "0,25")
    assert read(text.encode()).frame["confidence"].tolist() == [0.25]


def test_cells_too_long_for_pythons_reader(read: Callable[[bytes], Answers]) -> None:
    long = INITIAL.format(2).replace("a cook", "x" * 200_000)
    with pytest.raises(InputError, match="row 3, column answer: the cell is empty"):
        read(table(INITIAL.format(1), long, INITIAL.format(3).replace("male", "")))
    with pytest.raises(InputError, match="field larger than field limit"):
        read(table(long))


def test_frames_that_are_no_tables() -> None:
    frame = librarian_table(images=1)
    with pytest.raises(InputError, match="has two columns 'answer'"):
        Answers.from_frame(pd.concat([frame, frame["answer"]], axis=1))
    frame["answer"] = [[answer] for answer in frame["answer"]]
    with pytest.raises(InputError, match="column answer: its cells are not text"):
        Answers.from_frame(frame)


def test_missing_confidence_is_no_confidence(read: Callable[[bytes], Answers]) -> None:
    heading = HEADING + ",confidence"
    raw = table(INITIAL.format(1) + ",0", INITIAL.format(2) + ", ", heading=heading)
    assert np.isnan(read(raw).frame["confidence"]).tolist() == [False, True]


@pytest.mark.parametrize("name", ["missing.csv", ".", "nul\0.csv"])
def test_unreadable_paths(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot read"):
        Answers.read(f"{tmp_path}/{name}")


def test_frames_name_rows_from_one() -> None:
    frame = librarian_table(images=2)
    frame.loc[4, "answer"] = None
    with pytest.raises(InputError, match=r"^the answers table, row 5, column answer"):
        Answers.from_frame(frame)


# --- writing and reading back


def hostile_frame(texts: list[str]) -> pd.DataFrame:
    """One initial image for each text, which also is its image id and its answer."""
    rows = [("m", texts[0], "initial", None, None, text, "gender", text) for text in texts]
    return pd.DataFrame(rows, columns=HEADING.split(","))


def test_hostile_texts_are_read_back_equal(read: Callable[[bytes], Answers]) -> None:
    texts = [text for text in HOSTILE if text not in UNWRITABLE]
    answers = Answers.from_frame(hostile_frame(texts))
    raw = answers.to_csv()
    back = read(raw)
    assert back.frame["image"].tolist() == texts
    assert_same_cells(back, answers)


def test_nul_is_replaced(read: Callable[[bytes], Answers]) -> None:
    raw = Answers.from_frame(hostile_frame(["a\0b", "\0"])).to_csv()
    assert read(raw).frame["image"].tolist() == ["a\ufffdb", "\ufffd"]


ANY_TEXT = st.text(min_size=1).filter(
    lambda text: text.strip() not in ("", "nan", "NaN") and not {*text} & {"\0"}
)


@pytest.mark.slow(reason="hundreds of random tables")
@given(st.lists(ANY_TEXT, min_size=1, max_size=8, unique=True), st.integers(0, 2))
@settings(deadline=None, max_examples=60)
def test_any_table_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], digits: int
) -> None:
    frame = hostile_frame(texts).assign(confidence=np.round(1 / 3, digits))
    answers = Answers.from_frame(frame)
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(answers.to_csv())
    back = Answers.read(path)
    assert_same_cells(back, answers)
    assert back.to_csv() == answers.to_csv()


# --- taking some axes


def test_only_axes_that_are_there() -> None:
    answers = Answers.from_frame(librarian_table(images=1))
    with pytest.raises(
        InputError, match=r"has no axis 'gendr' \(it has gender, age, .*mean 'gender'"
    ):
        answers.only(["gendr"])


def test_a_table_may_say_who_answered(read: Callable[[bytes], Answers]) -> None:
    heading = f"{HEADING},judge"
    rows = [f"{INITIAL.format(0)},human:crowd", f"{MALE.format(0)},human:crowd"]
    answers = read(table(*rows, heading=heading))
    assert answers.judge == "human:crowd"
    assert read(answers.to_csv()).judge == "human:crowd"
    assert read(table(INITIAL.format(0))).judge is None
    assert read(table(f"{INITIAL.format(0)},", heading=heading)).judge is None
    with pytest.raises(InputError, match=r"line 3, column judge: 'clip:x', but the table began"):
        read(table(rows[0], f"{MALE.format(0)},clip:x", heading=heading))
    with pytest.raises(InputError, match="line 3, column judge: the cell is empty"):
        read(table(rows[0], f"{MALE.format(0)},", heading=heading))


@pytest.mark.parametrize(
    ("names", "judge", "called", "people"),
    [
        (["ada"], None, "human:", True),
        (["ada", "model:reader"], None, "human:", True),
        (["model:reader"], None, "model:reader", False),
        (["model:reader"], "human:labels", "model:reader", False),
        (["model:a", "model:b"], None, "model:a, model:b", False),
        (["model:a", "model:b"], "vlm:both", "vlm:both", False),
    ],
)
def test_models_that_annotate_are_not_called_people(
    names: list[str], judge: str | None, called: str, people: bool
) -> None:
    table = librarian_table(images=4)
    table = pd.concat([table.assign(annotator=name) for name in names])
    answers = Answers.from_frame(table if judge is None else table.assign(judge=judge))
    assert (answers.judge, answers.annotators) == (called, len(names))
    first = biasgraph.analyze(answers.frame, bootstrap=100)
    again = biasgraph.analyze(first.answers, bootstrap=100)
    for result in (first, again):
        graph = result.document["graph"]
        assert (graph["vqa"], graph["people"]) == (called, people)
