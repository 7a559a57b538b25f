"""Progress of long work in the terminal: a bar with rate and time left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text

from biasgraph.errors import printable

if TYPE_CHECKING:
    from rich.progress import Task, TaskID


class _Rate(ProgressColumn):
    """Items a second, those of earlier builds left out."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.1f}/s" if task.speed else "")


class TerminalProgress:
    """Bars on stderr, so that stdout stays the result's."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bars: Bars | None = None
        self._task: TaskID | None = None

    def start(self, description: str, *, total: int, done: int) -> None:
        """Show a bar for `total` items, of which `done` were made by earlier builds."""
        self._bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[detail]}"),
            console=self._console,
        )
        self._bars.start()
        title = f"{description:<12}"
        self._task = self._bars.add_task(title, total=total, completed=done, detail="")

    def advance(self, count: int) -> None:
        """Move the bar on by so many items."""
        if self._bars is not None and self._task is not None:
            self._bars.advance(self._task, count)

    def detail(self, text: str) -> None:
        """Show a few words behind the bar."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, detail=text)

    def finish(self) -> None:
        """Remove the bar."""
        if self._bars is not None:
            self._bars.stop()
        self._bars = self._task = None

    def note(self, message: str) -> None:
        """Print a line beside the bar."""
        self._console.print(printable(message), markup=False)
