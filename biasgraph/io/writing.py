"""Writing the files of a result: all of them or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from biasgraph.errors import FULL_DISK, InputError, ModelError, show_path

TEMPORARY = ".tmp"


def write_atomically(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Replace `path` by `data` in one step; `durable` also survives a power cut."""
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        _write(temporary, data, durable)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_files(
    directory: Path,
    files: Mapping[str, bytes] | Iterable[tuple[str, bytes]],
    *,
    option: str = "-o",
) -> list[Path]:
    """Write files into `directory`, which is made if need be; returns their paths.

    All contents are on the disk before the first file gets its name, so that a full disk or a crash
    leaves the directory as it was.

    Args:
        directory: where to write.
        files: content by name, all at once or one after the other; a name may lead into a folder
            ("prompts/a-nurse/graph.json").
        option: what names another directory, for errors.

    Raises:
        ModelError: the directory cannot be made or written, or the disk is full.
    """
    temporary: dict[Path, Path] = {}
    made: list[Path] = []
    with writing_to(directory, option):
        try:
            _make(directory, made)
            for name, content in files.items() if isinstance(files, Mapping) else files:
                path = directory / name
                _make(path.parent, made)
                temporary[path] = path.with_name(path.name + TEMPORARY)
                _write(temporary[path], content, durable=True)
            for path, written in temporary.items():
                os.replace(written, path)
        except BaseException:
            _undo(temporary.values(), reversed(made))
            raise
    return list(temporary)


def _make(folder: Path, made: list[Path]) -> None:
    """Make a folder with those above it, and note which ones there were not."""
    made += [one for one in (*reversed(folder.parents), folder) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)


def refuse_foreign(
    path: Path,
    is_ours: Callable[[Path], bool] = lambda path: False,
    what: str = "",
    *,
    option: str = "-o",
) -> None:
    """Refuse to overwrite what somebody else put there; nothing is written by now.

    Args:
        path: The file or directory that is going to be written.
        is_ours: Whether what stands there may be overwritten.
        what: What that is, for the error: "a comparison".
        option: What names another path, for the error.

    Raises:
        InputError: Something else stands there.
        ModelError: It cannot be read.
    """
    with writing_to(path, option):
        if os.path.exists(path) and not is_ours(path):  # False, too, for an impossible name
            kind = f" and is not {what}" if what else ""
            raise InputError(
                f"{show_path(path)} already exists{kind}; nothing was written: choose another "
                f"{option}"
            )


def is_folder_of(name: str) -> Callable[[Path], bool]:
    """For `refuse_foreign`: whether a path is a directory that holds this file, or nothing."""
    return lambda path: path.is_dir() and ((path / name).exists() or not any(path.iterdir()))


def remove_stale(directory: Path, names: Collection[str], kept: Collection[str]) -> None:
    """Remove the files `names` from the folders in `directory` that are not `kept`.

    A folder that is empty then goes too; what somebody else put there stays.

    Raises:
        ModelError: something cannot be removed.
    """
    with writing_to(directory):
        if not directory.is_dir():
            return
        for folder in directory.iterdir():
            if folder.name in kept or folder.is_symlink() or not folder.is_dir():
                continue
            for name in names:
                (folder / name).unlink(missing_ok=True)
            if not any(folder.iterdir()):
                folder.rmdir()
        if not any(directory.iterdir()):
            directory.rmdir()


@contextmanager
def writing_to(directory: Path, option: str = "-o") -> Iterator[None]:
    """Turn what the file system raises into one ModelError about `directory`.

    Args:
        directory: what is written.
        option: what names another directory, for the error.
    """
    try:
        yield
    except OSError as error:
        full = error.errno in FULL_DISK
        hint = f"{'free some space, or ' if full else ''}choose another {option}"
        reason = error.strerror or str(error)
        raise ModelError(f"cannot write to {show_path(directory)}: {reason}; {hint}") from None


def _write(path: Path, content: bytes, durable: bool) -> None:
    with path.open("wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def _undo(temporary: Iterable[Path], made: Iterable[Path]) -> None:
    """Tidy what can be tidied: the first error is the news."""
    for path in temporary:
        with suppress(OSError):
            path.unlink(missing_ok=True)
    for directory in made:
        with suppress(OSError):
            directory.rmdir()
