"""Writing the files of a result: all of them or none."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from biasgraph.errors import ModelError, printable
from biasgraph.imagestore import TEMPORARY

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


def write_files(directory: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files into `directory`, which is made if need be; returns their paths.

    All contents are on the disk before the first file gets its name, so that a full disk or a
    crash leaves the directory as it was.

    Raises:
        ModelError: the directory cannot be made or written, or the disk is full.
    """
    paths = {directory / name: content for name, content in files.items()}
    temporary = {path: path.with_name(path.name + TEMPORARY) for path in paths}
    with writing_to(directory):
        made = [path for path in (directory, *directory.parents) if not path.exists()]
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for path, content in paths.items():
                _write_durably(temporary[path], content)
            for path in paths:
                os.replace(temporary[path], path)
        except BaseException:
            _undo(temporary.values(), made)
            raise
    return list(paths)


@contextmanager
def writing_to(directory: Path) -> Iterator[None]:
    """Turn what the file system raises into one ModelError about `directory`."""
    try:
        yield
    except OSError as error:
        hint = "make room, or give another -o" if error.errno in _FULL else "give another -o"
        reason = error.strerror or str(error)
        message = f"cannot write to {printable(str(directory))}: {reason}; {hint}"
        raise ModelError(message) from None


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _undo(temporary: Iterable[Path], made: Iterable[Path]) -> None:
    try:
        for path in temporary:
            path.unlink(missing_ok=True)
        for directory in made:
            directory.rmdir()
    except OSError:
        pass  # what could not be written cannot always be tidied; the first error is the news
