"""Several requests at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class StoppedError(Exception):
    """Work was given up because other work failed."""


def run_side_by_side(
    work: Callable[[Item, threading.Event], Outcome], items: Sequence[Item], at_a_time: int
) -> list[Outcome]:
    """The outcome of `work` for each item, several of them worked on at a time.

    When one fails, no other is begun, those at work finish, and then the first failure is raised.
    What is raised in this thread meanwhile (the user stops it) passes at once: work in flight goes
    on for as long as the process lives.

    Args:
        work: Called with an item and an event; once that is set it should not begin anything new,
            and may raise StoppedError.
        items: What to work on.
        at_a_time: How many items are worked on at a time, at most.
    """
    # Not a ThreadPoolExecutor: its threads are joined when the interpreter ends, so that a user's
    # Ctrl-C would wait minutes for the slowest response.
    stop = threading.Event()
    places = iter(range(len(items)))
    turn = threading.Lock()
    outcomes: dict[int, Outcome] = {}
    failures: list[BaseException] = []

    def worker() -> None:
        try:
            while not stop.is_set():
                with turn:
                    place = next(places, None)
                if place is None:
                    break
                outcomes[place] = work(items[place], stop)
        except BaseException as error:  # is raised in the thread that waits
            failures.append(error)
            stop.set()

    threads = [
        threading.Thread(target=worker, daemon=True) for _ in range(min(at_a_time, len(items)))
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        stop.set()
    if failures:
        raise next((e for e in failures if not isinstance(e, StoppedError)), failures[0])
    return [outcomes[place] for place in range(len(items))]
