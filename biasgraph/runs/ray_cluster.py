"""Starts a Ray on this machine and stops it, or joins one; its chatter stays off the terminal."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from biasgraph.errors import ModelError, printable
from biasgraph.models.backend import summarize_error

AUTO = "auto"
"""The address of the cluster that this machine is part of."""
CONNECT = 10
"""Seconds in which the head of a cluster has to answer."""
FOLDER = "biasgraph-ray-"
"""What the name of a temporary folder begins with, where a Ray of this machine keeps its logs."""
OBJECT_STORE = 150_000_000
"""Bytes of shared memory for what travels; Ray goes on on disk where they do not suffice."""
MODE, TOKEN = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"


@contextmanager
def connect(address: str, cpus: int) -> Iterator[Any]:
    """Ray: joined at an address, or started with so many CPU cores where that is empty.

    A Python program that has connected itself keeps its connection. Raises ModelError where there
    is none to be had.
    """
    if "ray" in sys.modules and sys.modules["ray"].is_initialized():
        yield sys.modules["ray"]
        return
    with join(address) if address else start(cpus):
        yield sys.modules["ray"]


@contextmanager
def start(cpus: int) -> Iterator[None]:
    """A Ray of this machine alone, for as long as the block runs; it leaves nothing behind.

    Raises ModelError where it does not start.
    """
    # Workers would yield to all other programs: their work is the user's.
    own = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    if MODE not in os.environ:  # else Ray would keep a token in the user's home for good
        own |= {MODE: "token", TOKEN: secrets.token_hex(32)}
    with ExitStack() as stack:
        stack.enter_context(_environment(own))
        folder = tempfile.TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True)
        try:
            _connect(
                stack, address="local", num_cpus=cpus, include_dashboard=False,
                object_store_memory=OBJECT_STORE, _temp_dir=stack.enter_context(folder),
            )  # fmt: skip
        except Exception as error:  # of many kinds
            raise ModelError(f"cannot start Ray: {summarize_error(error)}") from None
        yield


@contextmanager
def join(address: str) -> Iterator[None]:
    """The cluster at an address, ``auto`` or ``HOST:PORT``, for as long as the block runs.

    Raises ModelError where it cannot be joined.
    """
    with ExitStack() as stack:
        home = Path.home() / ".ray" / "auth_token"
        if MODE not in os.environ and (TOKEN in os.environ or home.exists()):
            stack.enter_context(_environment({MODE: "token"}))  # as `ray start` does
        heard: list[str] = []
        try:
            if address != AUTO:  # Ray itself would try for minutes
                host, _, port = address.rpartition(":")
                socket.create_connection((host.strip("[]"), int(port)), CONNECT).close()
            with _stderr_caught(heard):
                _connect(stack, address=address)
        except Exception as error:  # of many kinds, from sockets to versions
            if address == AUTO and not heard and isinstance(error, ConnectionError):
                raise ModelError(
                    "no Ray is running on this machine: start one (ray start --head), or give "
                    "--engine ray, or ray:HOST:PORT"
                ) from None
            why = printable(heard[-1].partition("] ")[2][:200]) if heard else summarize_error(error)
            raise ModelError(f"cannot join the Ray at {printable(address)}: {why}") from None
        yield


def has_died() -> bool:
    """Whether a process of the Ray that was started here is gone; Ray itself waits for a minute."""
    node = sys.modules["ray"]._private.worker._global_node
    return bool(node is not None and node.dead_processes())


def _connect(stack: ExitStack, **how: Any) -> None:
    """Import Ray, which reads the environment then, call `init`, and let the stack undo it."""
    import ray

    stack.enter_context(_silence(ray._private.worker))
    stack.callback(ray.shutdown, wait_for_processes=True)
    with _signals_kept():
        ray.init(**how, log_to_driver=False, logging_level=logging.CRITICAL)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Variables that Ray reads; those that are set already stay."""
    new = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(new)
    _reread()
    try:
        yield
    finally:
        for name in new:
            del os.environ[name]
        _reread()


def _reread() -> None:
    """Ray reads how to prove who one is once in a process: let it look again."""
    if "ray" in sys.modules:
        raylet: Any = import_module("ray._raylet")
        raylet.Config.initialize("")
        raylet.AuthenticationTokenLoader.instance().reset_cache()


@contextmanager
def _silence(worker: Any) -> Iterator[None]:
    """Keep what Ray tells of dying workers off stdout, which is the result's; no option does it."""
    before = worker.print_to_stdstream
    worker.print_to_stdstream = lambda *_, **__: None
    try:
        yield
    finally:
        worker.print_to_stdstream = before


@contextmanager
def _stderr_caught(heard: list[str]) -> Iterator[None]:
    """Gather the lines that the C++ of Ray writes while it fails to connect."""
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            heard += file.read().decode("utf-8", "replace").splitlines()


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray takes SIGTERM for itself where it starts; give it back."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
