"""One request to an OpenAI-compatible server, through the official client, and what came back."""

from __future__ import annotations

import json
import os
import re
import threading
import weakref
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from biasgraph.errors import BiasgraphError, InputError, ModelError, printable
from biasgraph.models.openai.addresses import Address, addresses_of, may_reach, may_send_to
from biasgraph.models.openai.network import Deadline, TimeUp, bind

URL_VARIABLE, KEY_VARIABLE = "OPENAI_BASE_URL", "OPENAI_API_KEY"
OPENAI = "https://api.openai.com/v1"
BODIES = {"chat": (2**19, 2**22), "images": (2**22, 2**26)}
"""Kind of request -> bytes of a response that many may hold at a time, and of the largest."""
SHORTEST_SECRET = 6
LIST_SECONDS = 10.0
UNOFFICIAL = ("seed", "negative_prompt")
"""Parameters of image generation that compatible servers take and the official one does not."""


@dataclass(frozen=True)
class Response:
    """A whole response; header names are lower case, secrets are taken out of the body."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class _ErrorStatus(Exception):
    """A response with an error status, read already."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


class NoResponse(Exception):
    """No whole response came; `reached` is False where the request cannot have arrived."""

    def __init__(self, line: str, *, reached: bool) -> None:
        super().__init__(line)
        self.line = line
        self.reached = reached


@dataclass(frozen=True)
class Server:
    """A server by its base URL; its client is made with the first request.

    Attributes:
        base_url: Without a slash at its end.
        connect: Seconds to reach it.
        whole: Seconds that a response may take in all.
    """

    base_url: str
    connect: float = 20.0
    whole: float = 600.0
    _making: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _large: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)
    _deadline: Deadline = field(default_factory=Deadline, repr=False, compare=False)

    @classmethod
    def at(cls, base_url: str | None) -> Server:
        """The server that an option, or else OPENAI_BASE_URL, or else nobody names.

        Raises InputError for what is no such URL.
        """
        given = base_url is not None
        url = base_url or os.environ.get(URL_VARIABLE, "").strip() or OPENAI
        name = "--base-url" if given else URL_VARIABLE
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            parts, host = urlsplit(""), None
        # Not repeated in the message: what is wrong with it may be the key in it.
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise InputError(
                f"{name} must be an address alone: keys come from the environment only "
                f"({KEY_VARIABLE}); give for example http://localhost:8000/v1"
            )
        if parts.scheme not in ("http", "https") or not host:
            raise InputError(
                f"invalid {name} '{printable(url)}': not an http address; "
                "give for example http://localhost:8000/v1"
            )
        return cls(url.rstrip("/"))

    @property
    def host(self) -> str:
        """Host and port, as in the URL."""
        return urlsplit(self.base_url).netloc.lower()

    @property
    def needs_key(self) -> bool:
        """Whether nothing can be asked for want of a key."""
        return self.base_url == OPENAI and not os.environ.get(KEY_VARIABLE, "").strip()

    def send(self, kind: str, body: Mapping[str, Any], name: str, held: ExitStack) -> Response:
        """Send one request.

        Args:
            kind: "chat" or "images".
            body: Its parameters.
            name: What the server can know it by when it comes twice.
            held: Open until the response is used up: of large ones there is one at a time.

        Raises:
            NoResponse: No whole response came.
            ModelError: There is no key or client to send it with, or the server redirects it.
        """
        import openai

        options: dict[str, Any] = {"extra_headers": {"Idempotency-Key": name}}
        parameters = dict(body)
        if kind == "images":
            create = self._client.images.with_streaming_response.generate
            options["extra_body"] = {
                name: parameters.pop(name) for name in UNOFFICIAL if name in parameters
            }
        else:
            create = self._client.chat.completions.with_streaming_response.create
        try:
            with self._deadline.after(self.whole), create(**parameters, **options) as response:
                return self._read(response, kind, held)
        except _ErrorStatus as failed:
            return failed.response
        except openai.APIStatusError as error:  # a redirection that leads nowhere
            return Response(error.status_code, b"", dict(error.response.headers))
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, BiasgraphError):  # the user's second Ctrl-C
                raise error.__cause__ from None
            raise self._cut(error) from error
        except (NoResponse, BiasgraphError):
            raise
        except Exception as error:  # of whichever HTTP library the client is built on
            raise self._describe_break("the response broke off", error) from error

    def fetch(self, url: str, held: ExitStack) -> Response:
        """A file that a response points to; no key is sent along.

        Args:
            url: Its address.
            held: As for `send`.

        Raises NoResponse, also for an address that this server may not send us to.
        """
        import openai

        if urlsplit(url).scheme not in ("http", "https"):
            raise NoResponse(f"'{printable(url[:80])}' is not an http address", reached=False)
        try:
            with (
                self._deadline.after(self.whole),
                openai.DefaultHttpxClient(
                    timeout=self._timeout, event_hooks={"request": [self._refuse_inside]}
                ) as client,
            ):
                bind(client, self._deadline, self._checked_addresses)
                with client.stream("GET", url) as response:
                    return self._read(response, "images", held)
        except NoResponse:
            raise
        except Exception as error:
            raise self._describe_break("the picture did not arrive", error) from error

    @cached_property
    def _own_addresses(self) -> list[Address]:
        """Where the server stood at first, whatever its name is said to mean later."""
        return addresses_of(urlsplit(self.base_url).hostname or "")

    def _checked_addresses(self, host: str) -> list[str]:
        """The addresses of a host that `fetch` connects to. Raises NoResponse."""
        there = addresses_of(host)
        if not may_reach(self._own_addresses, there):
            raise self._inside(host)
        return [str(address) for address in there]

    def _refuse_inside(self, request: Any) -> None:
        """Called before every request of `fetch`, also one through a proxy. Raises NoResponse."""
        if not may_send_to(urlsplit(self.base_url).hostname or "", request.url.host):
            raise self._inside(request.url.host)

    def _inside(self, host: str) -> NoResponse:
        return NoResponse(
            f"its address leads into the network of this machine ({printable(host[:80])})",
            reached=False,
        )

    def _refuse_elsewhere(self, request: Any) -> None:
        """Called before every request, redirections among them: a prompt goes to one host only.

        Raises ModelError.
        """
        base = urlsplit(self.base_url)
        if request.url.host != base.hostname or (base.scheme, request.url.scheme) == (
            "https",
            "http",
        ):
            there = printable(f"{request.url.scheme}://{request.url.host}"[:80])
            raise ModelError(
                f"{printable(self.host)} redirects to {there}; nothing was sent there: give the "
                "address that is meant as --base-url"
            )

    def models(self) -> list[str]:
        """The models that the server says it has; empty where it does not say."""
        listing = self._client.models.with_streaming_response.list
        try:
            with (
                self._deadline.after(min(self.whole, LIST_SECONDS)),
                ExitStack() as held,
                listing() as response,
            ):
                listed = json.loads(self._read(response, "chat", held).body)
            names = [model["id"] for model in listed["data"]]
        except Exception:  # it is asked for the sake of an error line alone
            return []
        return [name for name in names if isinstance(name, str)]

    def redact(self, body: bytes) -> bytes:
        """`body` without the secrets that were sent, should the server have repeated them."""
        for secret in _secrets():
            body = body.replace(secret.encode(), b"[key]")
        return body

    def redact_text(self, text: str, length: int = 300) -> str:
        """A server's words for an error line: printable, cut, and without secrets."""
        text = self.redact(text.encode("utf-8", "replace")).decode("utf-8", "replace")
        text = re.sub(r"\bsk-[\w*.-]{6,}", "[key]", " ".join(text.split()))
        return printable(text[:length]) + ("..." if len(text) > length else "")

    @property
    def _timeout(self) -> Any:
        import openai

        return openai.Timeout(self.whole, connect=min(self.connect, self.whole))

    @cached_property
    def _client(self) -> Any:
        import openai

        with self._making:
            if "_client" in self.__dict__:
                return self.__dict__["_client"]
            key = os.environ.get(KEY_VARIABLE, "").strip()
            if self.needs_key:
                raise ModelError(
                    f"{KEY_VARIABLE} is not set: the server {self.host} needs a key; name another "
                    "server with --base-url"
                )
            if not (key.isascii() and key.isprintable()):
                raise ModelError(f"{KEY_VARIABLE} contains characters that no key has")
            try:
                http_client = openai.DefaultHttpxClient(
                    timeout=self._timeout,
                    event_hooks={
                        "request": [self._refuse_elsewhere],
                        "response": [self._read_error],
                    },
                )
                bind(http_client, self._deadline, None)
                client = openai.OpenAI(
                    # Servers of one's own need no key, but the client insists.
                    api_key=key or "none",
                    base_url=self.base_url,
                    max_retries=0,
                    timeout=self._timeout,
                    http_client=http_client,
                )
            except Exception as error:  # a proxy that the environment names wrongly, for one
                raise ModelError(
                    f"cannot prepare requests to {self.host}: {self._describe_error(error)}"
                ) from error
            weakref.finalize(self, client.close)  # its connections stay open between requests
            self.__dict__["_client"] = client
            return client

    def _read_error(self, response: Any) -> None:
        """Read the body of an error, which the client would do without an end.

        Raises:
            _Failed: With the body.
            NoResponse: It does not end.
        """
        if response.status_code >= 400:
            with ExitStack() as held:
                raise _ErrorStatus(self._read(response, "chat", held))

    def _read(self, response: Any, kind: str, held: ExitStack) -> Response:
        """The whole response; one without an end is cut off. Raises NoResponse."""
        free, most = BODIES[kind]
        parts, size = [], 0
        try:
            for chunk in response.iter_bytes():
                parts.append(chunk)
                if size <= free < size + len(chunk):
                    self._wait_for_others(held)
                size += len(chunk)
                if size > most:
                    line = f"the response is larger than {most >> 20} MiB"
                    raise NoResponse(line, reached=True)
                self._deadline.remaining(None)
            body = self.redact(b"".join(parts))
        finally:
            parts.clear()  # the traceback of an error would keep them for as long as it is kept
        return Response(response.status_code, body, dict(response.headers))

    def _wait_for_others(self, held: ExitStack) -> None:
        """Until no other large response is in memory."""
        left = self._deadline.remaining(None)
        if not self._large.acquire(timeout=-1 if left is None else left):
            raise TimeUp
        held.callback(self._large.release)

    def _cut(self, error: Exception) -> NoResponse:
        import openai

        cause = error.__cause__
        name = type(cause).__name__ if cause is not None else ""
        if name in ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"):
            return NoResponse(
                f"it cannot be reached ({self._describe_error(cause or error)})", reached=False
            )
        if isinstance(error, openai.APITimeoutError):
            return NoResponse(f"no response within {self.whole:g} s", reached=True)
        return self._describe_break("the connection broke off", cause or error)

    def _describe_break(self, what: str, error: BaseException) -> NoResponse:
        if isinstance(error, TimeUp) or "Timeout" in type(error).__name__:
            return NoResponse(f"no whole response within {self.whole:g} s", reached=True)
        return NoResponse(f"{what} ({self._describe_error(error)})", reached=True)

    def _describe_error(self, error: BaseException) -> str:
        return self.redact_text(str(error), 120) or type(error).__name__


def _secrets() -> list[str]:
    values = [
        value.strip()
        for name, value in os.environ.items()
        if name.startswith("OPENAI_") and name.endswith("KEY")
    ]
    return [value for value in values if len(value) >= SHORTEST_SECRET]
