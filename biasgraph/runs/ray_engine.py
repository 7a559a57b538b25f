"""Batches computed by workers of Ray: on this machine, or on a cluster.

A worker is an actor with a generator and a judge of its own, each loaded with its first batch.
Several batches wait at every worker, so that none idles while outcomes travel. One that dies is
started again by Ray, and its batches go to whoever is free: seeds fix what comes of them.

Models behind a server, and pictures or answers in files, are not sent to workers: their keys,
journals and folders are this machine's.
"""

from __future__ import annotations

import math
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any

from biasgraph.errors import BiasgraphError, InputError, MissingExtra, ModelError, printable
from biasgraph.models.backend import summarize_error
from biasgraph.models.base import Remote
from biasgraph.models.registry import traits_of
from biasgraph.runs.engines import Task
from biasgraph.runs.ray_cluster import connect, has_died
from biasgraph.runs.ray_worker import BatchWorker, Failure, Terms
from biasgraph.runs.record import identity
from biasgraph.runs.recorded_generator import RecordedGenerator
from biasgraph.runs.unloaded import UnloadedModel

if TYPE_CHECKING:
    from biasgraph.models.inference_options import ModelOptions
    from biasgraph.runs.progress import ShownWork

IN_FLIGHT = 2
"""Batches at a worker: one that is computed, one that waits."""
MOST_LOST = 3
"""How often a batch may be lost with its worker."""
CORES = 2
"""CPU cores of a worker where there are no GPUs and nobody says how many workers."""
PATIENCE = 60
"""Seconds after which to say that no worker has started yet."""
KEPT = "what is done is kept: rerun the same command to resume"
HEARTBEAT = 1.0
"""Seconds after which to look whether the user wants to stop."""


@dataclass(eq=False)
class _Worker:
    """An actor. greeting: what resolves when it is ready; None where it is. load: its batches."""

    actor: Any
    greeting: Any = None
    node: str = ""
    load: int = 0


@dataclass
class _Flight:
    """A task; lost: how often it was lost with a worker."""

    task: Task[Any]
    lost: int = 0


_Flying = dict[Any, tuple[_Flight, _Worker]]


class RayEngine:
    """See the module's first lines; starts with the first batch that a worker is needed for.

    Raises MissingExtra where Ray is not installed.
    """

    several = True

    def __init__(self, options: ModelOptions) -> None:
        if find_spec("ray") is None:
            raise MissingExtra(f"--engine {options.engine}", "ray")
        self._options = options
        self._workers: list[_Worker] = []
        self._started = ExitStack()
        self._told: set[str] = set()
        self._room, self._patience = "", math.inf

    def run(self, tasks: Iterable[Task[Any]], shown: ShownWork) -> int:
        """As `Engine.run`; asked to stop, it finishes the batches in flight."""
        coming = (_Flight(task) for task in tasks)
        held: deque[_Flight] = deque()
        flying: _Flying = {}
        total = 0
        while True:
            while not shown.requested and (held or _pull(coming, held)):
                if _is_here(held[0].task.model):
                    task = held.popleft().task
                    self._tell_of_service(task.model, shown)
                    count = task.record(task.call.compute(task.model))
                    shown.move(count)
                    total += count
                elif worker := self._free(crowded=not flying):
                    flight = held.popleft()
                    flying[self._send(flight.task, worker)] = flight, worker
                else:
                    break
            if shown.requested:
                held.clear()
            if not flying and not held:
                break
            for task, outcome in self._land(flying, held, shown):
                count = task.record(outcome)
                shown.move(count)
                total += count
            self._say(shown, len(flying))
        shown.stop_where_asked()
        return total

    def _tell_of_service(self, model: Any, shown: ShownWork) -> None:
        """Say once of each service that --engine does nothing for it."""
        spec = model.spec
        if isinstance(model, Remote) and spec not in self._told:
            self._told.add(spec)
            shown.tell(f"{printable(spec)} is a service, which this process asks: workers do not.")

    def _say(self, shown: ShownWork, flying: int) -> None:
        """Show who is at work, and why nobody is."""
        alive = sum(worker.greeting is None for worker in self._workers)
        shown.say(f"{alive} of {len(self._workers)} workers, {flying} batches in flight")
        if not alive and time.monotonic() > self._patience:
            shown.tell(f"No worker has started yet: {self._room}")
            self._patience = math.inf

    def close(self) -> None:
        """Stop the workers, and the Ray that was started for them."""
        self._workers = []
        self._started.close()

    def _free(self, *, crowded: bool) -> _Worker | None:
        """Who takes the next batch; crowded: also beyond what usually waits at a worker."""
        if not self._workers:
            self._start()
        ready = [worker for worker in self._workers if worker.greeting is None]
        first = min(ready, key=lambda worker: worker.load, default=None)
        return first if first is not None and (crowded or first.load < IN_FLIGHT) else None

    def _send(self, task: Task[Any], worker: _Worker) -> Any:
        worker.load += 1
        return worker.actor.compute.remote(identity(task.model), task.call)

    def _land(
        self, flying: _Flying, held: deque[_Flight], shown: ShownWork
    ) -> Iterator[tuple[Task[Any], Any]]:
        """Outcomes that have come by now; what was lost is put back to be sent again."""
        import ray

        greetings = {one.greeting: one for one in self._workers if one.greeting is not None}
        try:
            ready, _ = ray.wait([*flying, *greetings], timeout=HEARTBEAT)
        except SystemError as error:  # what a second Ctrl-C raises within Ray arrives as its cause
            if isinstance(error.__cause__, BiasgraphError | KeyboardInterrupt):
                raise error.__cause__ from None
            raise
        if not ready and has_died():
            shown.stop_where_asked()  # whoever stopped it may have stopped this process, too
            raise ModelError(f"Ray on this machine has died; {KEPT}")
        for reference in ready:
            if reference in greetings:
                self._welcome(greetings[reference])
                continue
            flight, worker = flying.pop(reference)
            worker.load -= 1
            try:
                outcome = ray.get(reference)
            except ray.exceptions.RayTaskError as error:
                raise ModelError(_blame(worker, summarize_error(error.cause))) from None
            except ray.exceptions.RayError as error:
                flight.lost += 1
                if flight.lost > MOST_LOST:
                    raise ModelError(
                        f"workers died {flight.lost} times on the same batch, the last one on "
                        f"{printable(worker.node)} ({_reason(error)}); {KEPT}"
                    ) from None
                held.appendleft(flight)
                if worker.greeting is None:
                    self._greet(worker)
                continue
            if isinstance(outcome, Failure):
                raise outcome.error(_blame(worker, outcome.message))
            yield flight.task, outcome

    # Starting

    def _start(self) -> None:
        """Start or join Ray, and start the workers."""
        options = self._options
        with ExitStack() as stack:
            cores = max(os.cpu_count() or 1, options.workers or 1)
            ray = stack.enter_context(connect(options.cluster or "", cores))
            has = ray.cluster_resources()
            cpus, gpus = int(has.get("CPU", 1)), has.get("GPU", 0.0)
            each = options.gpus_per_worker
            if each is None:
                each = 1.0 if gpus and options.device != "cpu" else 0.0
            count = options.workers or max(1, int(gpus / each) if each else cpus // CORES)
            if count * each > gpus and not options.cluster:
                raise InputError(
                    f"{count} workers with {each:g} GPUs each: this machine has {gpus:g}; give "
                    "fewer --workers or smaller --gpus-per-worker"
                )
            terms = Terms.here(max(1, cpus // count))
            remote = ray.remote(BatchWorker).options(
                num_cpus=0 if each else 1, num_gpus=each, max_restarts=-1, max_task_retries=0,
                scheduling_strategy="SPREAD",
            )  # fmt: skip
            workers = [_Worker(remote.remote(options.record(), terms)) for _ in range(count)]
            for worker in workers:
                stack.callback(ray.kill, worker.actor)
                self._greet(worker)
            self._workers, self._started = workers, stack.pop_all()
        self._room = (
            f"a worker needs {f'{each:g} GPUs' if each else 'a CPU core'}, and the cluster has "
            f"{gpus:g} GPUs and {cpus} CPU cores in all, which others may use"
        )
        self._patience = time.monotonic() + PATIENCE

    def _greet(self, worker: _Worker) -> None:
        worker.greeting = worker.actor.hello.options(max_task_retries=-1).remote()

    def _welcome(self, worker: _Worker) -> None:
        """Count on a worker that has said hello. Raises ModelError where it cannot work."""
        import ray

        try:
            said = ray.get(worker.greeting)
        except ray.exceptions.RayError as error:
            raise ModelError(
                f"a worker did not start ({_reason(error)}); every node needs the same biasgraph "
                "as this machine"
            ) from None
        worker.greeting, worker.node = None, said.node
        if said.problem:
            raise ModelError(_blame(worker, said.problem))


def _pull(coming: Iterator[_Flight], held: deque[_Flight]) -> bool:
    """Hold the next task; returns whether there is one."""
    held.extend(islice(coming, 1))
    return bool(held)


def _is_here(model: Any) -> bool:
    """Whether a model's batches are computed in this process."""
    traits = traits_of(model.spec)
    stands_for_another = isinstance(model, RecordedGenerator | UnloadedModel)
    return stands_for_another or isinstance(model, Remote) or traits.pictures_given or traits.people


def _blame(worker: _Worker, what: str) -> str:
    return f"a worker on {printable(worker.node)}: {what}"


def _reason(error: Exception) -> str:
    """The last line of what Ray says, which names the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return printable(lines[-1] if lines else type(error).__name__)[:150]
