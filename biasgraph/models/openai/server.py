"""One request to an OpenAI-compatible server, through the official client, and what came back."""

from __future__ import annotations

import os
import re
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from biasgraph.errors import BiasgraphError, InputError, ModelError, printable
from biasgraph.models.openai.addresses import may_send_to

URL_VARIABLE, KEY_VARIABLE = "OPENAI_BASE_URL", "OPENAI_API_KEY"
OPENAI = "https://api.openai.com/v1"
LARGEST = 256 * 2**20
"""Bytes of the largest response that is read."""
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


class _Failed(Exception):
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

    def send(self, kind: str, body: Mapping[str, Any], name: str) -> Response:
        """Send one request.

        Args:
            kind: "chat" or "images".
            body: Its parameters.
            name: What the server can know it by when it comes twice.

        Raises:
            NoResponse: No whole response came.
            ModelError: There is no key or client to send it with.
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
        deadline = time.monotonic() + self.whole
        try:
            with create(**parameters, **options) as response:
                return self._read(response, deadline)
        except _Failed as failed:
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
            raise NoResponse(
                f"the response broke off ({self._describe_error(error)})", reached=True
            ) from error

    def fetch(self, url: str) -> Response:
        """A file that a response points to; no key is sent along.

        Raises NoResponse, also for an address that this server may not send us to.
        """
        import openai

        if urlsplit(url).scheme not in ("http", "https"):
            raise NoResponse(f"'{printable(url[:80])}' is not an http address", reached=False)
        deadline = time.monotonic() + self.whole
        try:
            with (
                openai.DefaultHttpxClient(
                    timeout=self._timeout, event_hooks={"request": [self._refuse_inside]}
                ) as client,
                client.stream("GET", url) as response,
            ):
                return self._read(response, deadline)
        except NoResponse:
            raise
        except Exception as error:
            raise NoResponse(
                f"the picture did not arrive ({self._describe_error(error)})", reached=True
            ) from error

    def _refuse_inside(self, request: Any) -> None:
        """Called before every request of `fetch`, redirections among them. Raises NoResponse."""
        host = request.url.host
        if not may_send_to(urlsplit(self.base_url).hostname or "", host):
            raise NoResponse(
                f"its address leads into the network of this machine ({printable(host)})",
                reached=False,
            )

    def models(self) -> list[str]:
        """The models that the server says it has; empty where it does not say."""
        try:
            listed = self._client.models.list(timeout=min(self.whole, LIST_SECONDS))
            names = [model.id for model in listed.data]
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
                    f"{KEY_VARIABLE} is not set: the server {self.host} needs a key; another "
                    "server is named by --base-url"
                )
            if not (key.isascii() and key.isprintable()):
                raise ModelError(f"{KEY_VARIABLE} contains characters that no key has")
            try:
                client = openai.OpenAI(
                    # Servers of one's own need no key, but the client insists.
                    api_key=key or "none",
                    base_url=self.base_url,
                    max_retries=0,
                    timeout=self._timeout,
                    http_client=openai.DefaultHttpxClient(
                        timeout=self._timeout, event_hooks={"response": [self._read_error]}
                    ),
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
            raise _Failed(self._read(response, time.monotonic() + self.whole))

    def _read(self, response: Any, deadline: float) -> Response:
        """The whole response. A server that sends a byte now and then, or no end, is cut off."""
        parts, size = [], 0
        for chunk in response.iter_bytes():
            parts.append(chunk)
            size += len(chunk)
            if size > LARGEST:
                raise NoResponse(f"the response is larger than {LARGEST >> 20} MiB", reached=True)
            if time.monotonic() > deadline:
                line = f"the response was not whole after {self.whole:g} s"
                raise NoResponse(line, reached=True)
        body = self.redact(b"".join(parts))
        return Response(response.status_code, body, dict(response.headers))

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
        return NoResponse(
            f"the connection broke off ({self._describe_error(cause or error)})", reached=True
        )

    def _describe_error(self, error: BaseException) -> str:
        return self.redact_text(str(error), 120) or type(error).__name__


def _secrets() -> list[str]:
    values = [
        value.strip()
        for name, value in os.environ.items()
        if name.startswith("OPENAI_") and name.endswith("KEY")
    ]
    return [value for value in values if len(value) >= SHORTEST_SECRET]
