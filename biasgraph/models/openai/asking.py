"""Asking a server until it answers: from the journal where it can be, within the budget always."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from biasgraph.errors import ModelError, printable
from biasgraph.models.openai.budget import Budget
from biasgraph.models.openai.faults import Complaint, document_of, retry_after
from biasgraph.models.openai.journal import Heard, Journal, Stored
from biasgraph.models.openai.server import KEY_VARIABLE, Cut, Response, Server
from biasgraph.models.openai.sidebyside import Stopped, side_by_side

Read = TypeVar("Read")
Facts = frozenset[str]


class Garbled(ValueError):
    """A response of another form than the protocol's; its message says what is wrong with it."""


@dataclass(frozen=True)
class Request(Generic[Read]):
    """Something to ask of a server.

    content: all that the response depends on, in JSON types (of a picture its digest); two
    requests of the same content are one, whatever became of it.
    body: the parameters to send, but for the model, to a server of which these facts are known.
    adapts: a fact -> the parameters that a server of which it holds complains about.
    read: what a response says; it raises Garbled. images: how many it makes.
    """

    kind: Literal["chat", "images"]
    content: Mapping[str, Any]
    body: Callable[[Facts], Mapping[str, Any]]
    read: Callable[[Stored], Read]
    adapts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    images: int = 0


@dataclass(frozen=True)
class Patience:
    """How a request is repeated that came to nothing.

    attempts: the most times it is sent; first: seconds before the second time, doubled every
    time, a random part of them taken off, and at most `longest`; obeys: the longest wait that a
    server may ask for.
    """

    attempts: int = 8
    first: float = 0.5
    longest: float = 30.0
    obeys: float = 300.0

    def pause(self, attempt: int) -> float:
        """Seconds to wait after attempt 1, 2, ..."""
        return float(min(self.first * 2 ** (attempt - 1), self.longest) * random.uniform(0.5, 1))


@dataclass(frozen=True)
class Asking:
    """A model at a server, asked through a run's journal."""

    spec: str
    model: str
    server: Server
    journal: Journal
    budget: Budget = field(default_factory=Budget)
    concurrency: int = 8
    patience: Patience = field(default_factory=Patience)
    _pause: _Pause = field(default_factory=lambda: _Pause(), repr=False, compare=False)

    @property
    def fingerprint(self) -> str:
        """``openai:<model>@<host>``: more of a served model is not to be known."""
        return f"openai:{self.model}@{self.server.host}"

    def all(self, requests: Sequence[Request[Read]]) -> list[Read]:
        """What the responses say; equal requests are asked once.

        Raises ModelError, after the requests in flight have come back and been stored.
        """
        by_key = {self.key(request): request for request in requests}
        keys = list(by_key)
        said = side_by_side(
            lambda key, stop: self.one(by_key[key], stop), keys, max(self.concurrency, 1)
        )
        read = dict(zip(keys, said, strict=True))
        return [read[self.key(request)] for request in requests]

    def key(self, request: Request[Any]) -> str:
        """What the journal knows a request by."""
        content = json.dumps(request.content, sort_keys=True)
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{request.kind}:{self.fingerprint}:{digest}"

    def one(self, request: Request[Read], stop: threading.Event | None = None) -> Read:
        """What the response to a request says, from the journal or from the server.

        Raises ModelError (BudgetSpent among them); Stopped when `stop` is set between attempts.
        """
        key = self.key(request)
        stored = self.journal.find(key)
        if stored is not None:
            try:
                return request.read(stored)
            except Garbled:  # read by an earlier version of other rules
                self.journal.forget(key)
        return self._asked(request, key, stop or threading.Event())

    def _asked(self, request: Request[Read], key: str, stop: threading.Event) -> Read:
        name = f"{self.journal.identity()}-{key.rpartition(':')[2][:32]}"
        about = f"{request.kind} {self.fingerprint}"
        attempt = 0
        while True:
            self._pause.sit_out(stop)
            facts = self.journal.learned(about)
            ticket = self.journal.reserve(key, request.images, self.budget)
            response: Response | None = None
            try:
                body = {"model": self.model, **request.body(facts)}
                response = self.server.send(request.kind, body, name)
            except Cut as cut:
                problem, wait = cut.line, None
                self._settle(ticket, problem, charged=cut.reached)
            except BaseException as error:
                self._settle(ticket, type(error).__name__, charged=False)
                raise
            if response is not None and response.status < 400:
                try:
                    return self._kept(request, key, ticket, response)
                except Garbled as error:
                    problem, wait = f"its response is unusable: {error}", None
                    shown = response.body[:200].decode("utf-8", "replace")
                    self._settle(ticket, f"{problem}: {shown}", charged=True)
            elif response is not None:
                complaint = Complaint.of(response)
                if complaint.moderated:
                    return self._kept(request, key, ticket, response)
                problem = f"{complaint.status}: {complaint.message or complaint.code}"
                self._settle(ticket, problem, charged=complaint.in_doubt)
                fact = next((f for f, w in request.adapts.items() if complaint.names(w)), None)
                if fact is not None and fact not in facts:
                    self.journal.learn(about, fact)
                    continue
                if not complaint.may_pass:
                    raise ModelError(self._line(complaint))
                wait = retry_after(response.headers)
            attempt += 1
            self._wait(attempt, problem, wait, stop)

    def _kept(self, request: Request[Read], key: str, ticket: int, response: Response) -> Read:
        """What a response says, once it is stored. Raises Garbled, and stores nothing then."""
        stored = Stored(response.status, response.body)
        read = request.read(stored)
        asked = json.dumps(request.content, ensure_ascii=False)
        self.journal.answered(ticket, key, asked, stored, _heard(response))
        return read

    def _settle(self, ticket: int, problem: str, *, charged: bool) -> None:
        problem = self.server.told(problem)
        (self.journal.lost if charged else self.journal.free)(ticket, problem)

    def _wait(self, attempt: int, problem: str, asked: float | None, stop: threading.Event) -> None:
        """Wait before the next attempt. Raises ModelError where there is to be none."""
        problem = self.server.told(problem)
        if asked is not None and asked > self.patience.obeys:
            raise ModelError(
                f"{self._who}: {problem}; it asks to wait {asked:,.0f} seconds: "
                "what is done is kept, give the same command again then"
            )
        if attempt >= self.patience.attempts:
            raise ModelError(
                f"{self._who}: {problem} (tried {attempt} times); what is done is kept: give the "
                "same command again to go on"
            )
        pause = self.patience.pause(attempt)
        if asked is None:
            if stop.wait(pause):
                raise Stopped
            return
        # It speaks for the server, so all requests wait; not all for equally long.
        self._pause.until(asked)
        if stop.wait(asked + pause * random.random()):
            raise Stopped

    @property
    def _who(self) -> str:
        return f"{printable(self.spec)} at {printable(self.server.host)}"

    def _line(self, complaint: Complaint) -> str:
        said = self.server.told(complaint.message or complaint.code)
        said = f": {said}" if said else ""
        if complaint.status == 401:
            return f"{self._who}: the key in {KEY_VARIABLE} is missing or refused (401){said}"
        if complaint.status == 404:
            return (
                f"{self._who}: no such model, or no such address (404; most base URLs end in "
                f"/v1){said}"
            )
        return f"{self._who} refused the request ({complaint.status}){said}"


class _Pause:
    """A moment before which nobody asks."""

    def __init__(self) -> None:
        self._end = 0.0

    def until(self, seconds: float) -> None:
        self._end = max(self._end, time.monotonic() + seconds)

    def sit_out(self, stop: threading.Event) -> None:
        while (left := self._end - time.monotonic()) > 0:
            if stop.wait(left):
                raise Stopped
        if stop.is_set():
            raise Stopped


def _heard(response: Response) -> Heard:
    try:
        document = document_of(response.body)
    except ValueError:
        return Heard()
    model, fingerprint = document.get("model"), document.get("system_fingerprint")
    return Heard(
        model if isinstance(model, str) else None,
        fingerprint if isinstance(fingerprint, str) else None,
    )
