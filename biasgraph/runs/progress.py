"""How an engine says where it stands, and how it is asked to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol, runtime_checkable

from biasgraph.errors import BiasgraphError
from biasgraph.models.base import Telling


def duration(seconds: float) -> str:
    """A time that work takes, in the unit that a person would name."""
    for unit, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:,.0f} s"


class Progress(Protocol):
    """What shows progress, such as a bar in the terminal."""

    def start(self, description: str, *, total: int, done: int) -> None:
        """Work begins: `total` items, of which `done` were done by an earlier build."""

    def advance(self, count: int) -> None:
        """`count` more items are recorded."""

    def finish(self) -> None:
        """The work that was started has ended, done or not."""

    def note(self, message: str) -> None:
        """Something to tell at once."""


@runtime_checkable
class DetailedProgress(Protocol):
    """A power of some progress: to show beside it who is at work."""

    def detail(self, text: str) -> None:
        """Show a few words in place of those before."""


def hear(model: object, progress: Progress | None) -> None:
    """Show what a model that talks slowly says of how far it is."""
    if progress is not None and isinstance(model, Telling):
        model.tell(progress.note)


class Quiet:
    """Progress that nobody sees."""

    def start(self, description: str, *, total: int, done: int) -> None:
        """Show nothing."""

    def advance(self, count: int) -> None:
        """Show nothing."""

    def finish(self) -> None:
        """Show nothing."""

    def note(self, message: str) -> None:
        """Show nothing."""


class PartOfWork:
    """Progress of one of many pieces of work, which are shown as one: it moves nothing itself.

    What it is about and how far it is stands beside the whole, where that can be shown.
    """

    def __init__(self, whole: ShownWork) -> None:
        self._whole = whole
        self._what, self._total, self._done = "", 0, 0

    def start(self, description: str, *, total: int, done: int) -> None:
        """Work begins."""
        self._what, self._total, self._done = description, total, 0
        self.advance(done)

    def advance(self, count: int) -> None:
        """`count` more items are recorded."""
        self._done += count
        self.detail(f"{self._what} {self._done:,}/{self._total:,}")

    def detail(self, text: str) -> None:
        """Show a few words beside the whole."""
        self._whole.say(text)

    def finish(self) -> None:
        """Show nothing beside the whole any more."""
        self._whole.say("")

    def note(self, message: str) -> None:
        """Tell it at once."""
        self._whole.tell(message)


class Interrupted(BiasgraphError):
    """The user asked to stop; what is recorded is kept."""

    exit_code = 130


class ShownWork:
    """Work that is shown, and that stops, when asked to, after the batch in flight."""

    requested = False

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def advance(self, count: int) -> None:
        """`count` more items are recorded. Raises Interrupted where the user asked to stop."""
        self.move(count)
        self.stop_where_asked()

    def move(self, count: int) -> None:
        """`count` more items are recorded, and others are still in flight."""
        if count:
            self._progress.advance(count)

    def stop_where_asked(self) -> None:
        """Raise Interrupted where the user asked to stop."""
        if self.requested:
            raise Interrupted("stopped; rerun the same command to resume")

    def say(self, text: str) -> None:
        """Show who is at work, where that can be shown."""
        if isinstance(self._progress, DetailedProgress):
            self._progress.detail(text)

    def tell(self, message: str) -> None:
        """Something that the user should know at once."""
        self._progress.note(message)

    def hear(self, signum: int, frame: FrameType | None) -> None:
        """First time: finish the batch. Second time: stop where we are (raises Interrupted)."""
        if self.requested:
            raise Interrupted("stopped at once; rerun the same command to resume")
        self.requested = True
        # The signal may have come while the same stream was being written to.
        with suppress(RuntimeError):
            self._progress.note("Finishing the batch in flight; press Ctrl-C again to stop at once")


@contextmanager
def showing(
    progress: Progress | None, description: str, *, total: int, done: int
) -> Iterator[ShownWork]:
    """Show progress and listen to Ctrl-C and SIGTERM for as long as the block runs."""
    progress = progress or Quiet()
    work = ShownWork(progress)
    before = {}
    if threading.current_thread() is threading.main_thread():  # others may not listen
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, work.hear)
    try:
        progress.start(description, total=total, done=done)
        yield work
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        progress.finish()
