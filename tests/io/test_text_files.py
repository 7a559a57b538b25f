"""Files that people name, and lines of text."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from biasgraph.errors import InputError
from biasgraph.io.text_files import lines_of, read_bytes, read_regular, refuse_pipe


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0\r\n")
    assert read_bytes(tmp_path / "a") == read_bytes(str(tmp_path / "a")) == b"\0\r\n"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("gone\n", r"^cannot read the list .*gone.*: No such file or directory$"),
        (".", r"^cannot read the list .*: Is a directory$"),
        ("nul\0", r"^cannot read the list .*null"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path: Path, name: str, line: str) -> None:
    with pytest.raises(InputError, match=line) as error:
        read_bytes(tmp_path / name, "the list")
    assert "\n" not in str(error.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0\r\n")
    os.mkfifo(tmp_path / "pipe")
    assert read_regular(tmp_path / "a") == b"\0\r\n"
    refuse_pipe(tmp_path / "a")
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"^cannot read .*pipe: it is not a regular file$"):
        refuse_pipe(tmp_path / "pipe")


def test_a_device_without_end_is_refused() -> None:
    with pytest.raises(InputError, match=r"^cannot read the prompts in /dev/zero: .*does not end$"):
        read_bytes("/dev/zero", "the prompts in")


def test_lines_that_say_something_have_their_places() -> None:
    raw = "\ufeffone \r\n\r# no\n  two\rthree".encode()
    assert list(lines_of(raw, "f")) == [
        ("one", "f, line 1"), ("two", "f, line 4"), ("three", "f, line 5"),
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"^f, line 2: not UTF-8 text$"):
        list(lines_of(b"one\n\xff", "f"))
