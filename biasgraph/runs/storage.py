"""What the file system and SQLite raise, in one line about the run."""

from __future__ import annotations

import functools
import inspect
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

from biasgraph.errors import FULL_DISK, ModelError, printable, show_path

LEDGER = "ledger.sqlite"
NEW_RUN = "give another -o for a new run, or --fresh to move this one aside"

Arguments = ParamSpec("Arguments")
Outcome = TypeVar("Outcome")
Store = TypeVar("Store", bound=type)


@contextmanager
def storing(folder: Path) -> Iterator[None]:
    """Turn what the file system or SQLite raises into one line about the run in `folder`."""
    try:
        yield
    except OSError as error:
        full = error.errno in FULL_DISK
        where = f" ({printable(str(error.filename))})" if error.filename else ""
        raise _storage_error(folder, f"{error.strerror or error}{where}", full=full) from error
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # ours, not the machine's
    except UnicodeDecodeError as error:  # even SQLite's own message may quote damage
        message = f"{show_path(folder / LEDGER)} is damaged (text that is not UTF-8); {NEW_RUN}"
        raise ModelError(message) from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            message = f"{show_path(folder / LEDGER)} is damaged ({error}); {NEW_RUN}"
            raise ModelError(message) from error
        raise _storage_error(folder, str(error), full=code == sqlite3.SQLITE_FULL) from error


def _storage_error(folder: Path, reason: str, *, full: bool) -> ModelError:
    hint = "; what is done is kept: make room and rerun the same command" if full else ""
    return ModelError(f"cannot work in {show_path(folder)}: {reason}{hint}")


def storing_methods(store: Store) -> Store:
    """Make every public method of a class work within `storing` of its ``folder``."""
    for name, method in list(vars(store).items()):
        if not name.startswith("_") and inspect.isfunction(method):
            setattr(store, name, _storing_method(method))
    return store


def _storing_method(method: Callable[Arguments, Outcome]) -> Callable[Arguments, Outcome]:
    @functools.wraps(method)
    def within(*args: Arguments.args, **options: Arguments.kwargs) -> Outcome:
        with storing(args[0].folder):  # type: ignore[attr-defined]
            return method(*args, **options)

    return within
