"""Connections that end at a request's deadline and lead only where they may.

The client's own time limits begin anew with every byte, so a server that sends one a second, even
of its headers, would never be cut off; and a name that is looked up to be checked and again to be
reached may be two machines.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

AT_ONCE = 2**14
"""Bytes that are read at a time: the deadline is not asked while they are taken apart."""


class TimeUp(Exception):
    """A request's deadline has passed."""


class Deadline(threading.local):
    """When the request of the present thread has to be done, by the monotonic clock."""

    at: float | None = None

    @contextmanager
    def after(self, seconds: float) -> Iterator[None]:
        """Within the block, everything together takes at most so many seconds."""
        before, self.at = self.at, time.monotonic() + seconds
        try:
            yield
        finally:
            self.at = before

    def remaining(self, timeout: float | None) -> float | None:
        """A step's time limit, at most the seconds that are left. Raises TimeUp when none are."""
        if self.at is None:
            return timeout
        left = self.at - time.monotonic()
        if left <= 0:
            raise TimeUp
        return left if timeout is None else min(timeout, left)


def bind(client: Any, deadline: Deadline, addresses: Callable[[str], list[str]] | None) -> None:
    """Let all connections of an HTTP client keep to a deadline.

    Args:
        client: An httpx client, before its first request.
        deadline: Asked before every step.
        addresses: The addresses at which a host may be reached; it raises where it may not be.
            What goes through a proxy is looked up there. None: any host may be reached.
    """
    direct = client._transport
    for transport in (direct, *client._mounts.values()):
        if transport is not None:
            pool = transport._pool
            names = addresses if transport is direct else None
            pool._network_backend = _Backend(pool._network_backend, deadline, names)


class _Backend:
    """What opens connections for httpcore's pools."""

    def __init__(
        self, backend: Any, deadline: Deadline, addresses: Callable[[str], list[str]] | None
    ) -> None:
        self.backend, self.deadline, self.addresses = backend, deadline, addresses

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, **options: Any
    ) -> _Stream:
        """A connection to the first of a host's addresses that accepts one."""
        failure: Exception | None = None
        for address in self.addresses(host) if self.addresses else [host]:
            try:
                left = self.deadline.remaining(timeout)
                stream = self.backend.connect_tcp(address, port, timeout=left, **options)
                return _Stream(stream, self.deadline)
            except TimeUp:
                raise
            except Exception as error:  # httpx or httpx2 may be its library
                failure = error
        raise failure or OSError(f"{host} has no address")

    def sleep(self, seconds: float) -> None:
        """Wait between attempts."""
        self.backend.sleep(seconds)


class _Stream:
    """A connection whose every step ends with the deadline."""

    def __init__(self, stream: Any, deadline: Deadline) -> None:
        self.stream, self.deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = self.deadline.remaining(timeout)
        received: bytes = self.stream.read(min(max_bytes, AT_ONCE), timeout=left)
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.stream.write(buffer, timeout=self.deadline.remaining(timeout))

    def close(self) -> None:
        self.stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream:
        left = self.deadline.remaining(timeout)
        return _Stream(self.stream.start_tls(ssl_context, server_hostname, left), self.deadline)

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)
