"""All files of a result are written, or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from biasgraph.errors import ModelError
from biasgraph.io.writing import write_files

FILES = {"a.csv": b"one\n", "b.json": b"{}\n"}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_writes_and_overwrites(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "down"
    assert write_files(folder, FILES) == [folder / "a.csv", folder / "b.json"]
    write_files(folder, {"a.csv": b"two\n"})
    assert contents(folder) == {"a.csv": b"two\n", "b.json": b"{}\n"}


def test_files_that_come_one_by_one_are_written_all_or_none(tmp_path: Path) -> None:
    folder = tmp_path / "new"

    def files(*, fail: bool) -> Iterator[tuple[str, bytes]]:
        yield "a.csv", b"one\n"
        assert [path.name for path in folder.iterdir()] == ["a.csv.tmp"], "no name before the end"
        if fail:
            raise ValueError
        yield "deep/b.json", b"{}\n"

    with pytest.raises(ValueError):
        write_files(folder, files(fail=True))
    assert list(tmp_path.iterdir()) == []
    assert write_files(folder, files(fail=False)) == [folder / "a.csv", folder / "deep" / "b.json"]
    assert (folder / "deep" / "b.json").read_bytes() == b"{}\n"


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("code", "hint"), [(errno.ENOSPC, "free some space"), (errno.EROFS, "choose another -o")]
)
def test_a_failure_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str, code: int, hint: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(ModelError, match=rf"cannot write to .*new.deep: .*; {hint}"):
        write_files(tmp_path / "new" / "deep", FILES)
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_keeps_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, FILES)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, {"a.csv": b"two\n"})
    assert contents(tmp_path) == FILES


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ModelError, match="cannot write to"):
        write_files(tmp_path / "file" / "below", FILES)
    assert contents(tmp_path) == {"file": b"mine"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_directory(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(ModelError, match="cannot write to"):
        write_files(tmp_path / "new", FILES)
