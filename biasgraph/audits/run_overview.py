"""One page about all runs under a folder (`biasgraph view`)."""

from __future__ import annotations

import os
from pathlib import Path

from biasgraph.audits.history import histories
from biasgraph.audits.run_list import find_runs
from biasgraph.errors import InputError, show_path
from biasgraph.report.runs_page import runs_html


def overview(folder: Path, page: Path | None = None) -> bytes:
    """The page.

    Args:
        folder: What is searched for runs.
        page: Where the page will stand; None at the top of the folder.

    Raises:
        InputError: The folder does not exist or cannot be read, or no address leads there from
            the page.
    """
    runs, above = find_runs(folder), _above(folder, page)
    rows = [run.row.to_json() for run in runs]
    title = folder.absolute().name or str(folder)
    return runs_html(rows, histories(runs), title=title, above=above)


def _above(folder: Path, page: Path | None) -> str:
    """The address of the folder as seen from the page, with a slash behind it, or nothing."""
    if page is None:
        return ""
    try:
        way = Path(os.path.relpath(folder.resolve(), page.parent.resolve())).as_posix()
    except ValueError:
        raise InputError(
            f"{show_path(page)} is on another drive than {show_path(folder)}: no link leads there"
        ) from None
    return "" if way == "." else f"{way}/"
