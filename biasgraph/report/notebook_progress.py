"""Progress of long work in a notebook: a bar in the output of the cell."""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING

from markupsafe import escape

from biasgraph.errors import printable
from biasgraph.runs.progress import duration

if TYPE_CHECKING:
    from IPython.display import DisplayHandle

PAUSE = 0.5
"""Seconds between two looks of a bar, so that the page keeps up."""


def progress_here() -> NotebookProgress | None:
    """What shows progress in a notebook; None where Python runs in none."""
    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    if not hasattr(get_ipython(), "kernel"):
        return None
    # Of tqdm, which comes with diffusers and draws no bar here.
    warnings.filterwarnings("ignore", "IProgress not found")
    return NotebookProgress()


class NotebookProgress:
    """A bar for each piece of work; when it has ended, it says how much was done."""

    def __init__(self) -> None:
        self._bar: DisplayHandle | None = None
        self._what, self._detail = "", ""
        self._total = self._before = self._done = 0
        self._since = self._drawn = 0.0

    def start(self, description: str, *, total: int, done: int) -> None:
        """Show a bar for `total` items, of which `done` were made by earlier builds."""
        self._what, self._detail = description, ""
        self._total, self._before, self._done = total, done, done
        self._since = time.monotonic()
        self._draw()

    def advance(self, count: int) -> None:
        """Move the bar on by so many items."""
        self._done += count
        self._draw_in_time()

    def detail(self, text: str) -> None:
        """Show a few words behind the bar."""
        self._detail = text
        self._draw_in_time()

    def finish(self) -> None:
        """Leave the number of items in place of the bar."""
        self._detail, self._since = "", 0.0
        self._draw()
        self._bar = None

    def note(self, message: str) -> None:
        """Print a line below the bar."""
        print(printable(message))

    def _draw_in_time(self) -> None:
        if time.monotonic() - self._drawn >= PAUSE:
            self._draw()

    def _draw(self) -> None:
        from IPython.display import display

        words = f"{self._what}: {self._done:,} of {self._total:,}{self._speed()}"
        if self._detail:
            words += f"; {printable(self._detail)}"
        bar = f'<progress max="{self._total}" value="{self._done}"></progress> '
        drawn = {"text/plain": words, "text/html": f"{bar if self._since else ''}{escape(words)}"}
        if self._bar is None:
            self._bar = display(drawn, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._bar.update(drawn, raw=True)  # type: ignore[no-untyped-call]
        self._drawn = time.monotonic()

    def _speed(self) -> str:
        """How fast this build works and how long it will take; empty before and after."""
        made, seconds = self._done - self._before, time.monotonic() - self._since
        if not self._since or not made:
            return ""
        left = (self._total - self._done) * seconds / made
        return f", {made / seconds:,.1f}/s, {duration(left)} left"
