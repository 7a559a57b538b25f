"""Asking a server until it answers: from the journal where it can be, within the budget always."""

from __future__ import annotations

import hashlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, cast

from biasgraph.errors import ModelError, did_you_mean, printable
from biasgraph.models.openai.budget import Budget
from biasgraph.models.openai.concurrency import StoppedError, run_side_by_side
from biasgraph.models.openai.error_responses import (
    ErrorResponse,
    document_of,
    error_inside,
    retry_after,
)
from biasgraph.models.openai.journal import BudgetSpent, Journal
from biasgraph.models.openai.server import KEY_VARIABLE, NoResponse, Response, Server

Read = TypeVar("Read")
Item = TypeVar("Item")
Outcome = TypeVar("Outcome")
Facts = frozenset[str]
Kind = Literal["chat", "images"]
LONG = 7 * 24 * 3600.0
"""Seconds of a wait that nobody counts."""


class _Failure(Exception):
    """An attempt that came to nothing.

    Attributes:
        line: Why, without secrets.
        error: What the server said of it, where it answered with an error.
        wait: The seconds that it asks to wait.
    """

    def __init__(
        self, line: str, error: ErrorResponse | None = None, wait: float | None = None
    ) -> None:
        super().__init__(line)
        self.line, self.error, self.wait = line, error, wait


class MalformedResponse(ValueError):
    """A response of another form than the protocol's; its message says what is wrong with it."""


@dataclass(frozen=True)
class Request(Generic[Read]):
    """Something to ask of a server.

    Attributes:
        kind: Which of the protocol's services is asked.
        content: All that the response depends on, in JSON types (of a picture its digest); two
            requests of the same content are one, whatever became of it.
        body: The parameters to send, but for the model, to a server of which these facts are known.
        read: What a response says; it raises MalformedResponse.
        adapts: A fact -> the parameters that a server complains about if the fact is true of it.
        images: How many images it makes.
    """

    kind: Kind
    content: Mapping[str, Any]
    body: Callable[[Facts], Mapping[str, Any]]
    read: Callable[[Response], Read]
    adapts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    images: int = 0


@dataclass(frozen=True)
class Patience:
    """How a request is repeated that came to nothing.

    Attributes:
        attempts: The most times it is sent.
        at_first: The same while the server has never been reached: one whose address is misspelt
            never will be.
        first: Seconds before the second attempt, doubled for every other, a random part taken off.
        longest: The most seconds before an attempt.
        obeys: The longest wait that a server may ask for, in seconds.
    """

    attempts: int = 10
    at_first: int = 3
    first: float = 0.5
    longest: float = 30.0
    obeys: float = 300.0

    def pause(self, attempt: int) -> float:
        """Seconds to wait after attempt 1, 2, ..."""
        return float(min(self.first * 2 ** (attempt - 1), self.longest) * random.uniform(0.5, 1))


@dataclass(eq=False)
class ServedModel:
    """A model at a server, asked through a run's journal."""

    spec: str
    model: str
    server: Server
    journal: Journal
    budget: Budget = field(default_factory=Budget)
    concurrency: int = 8
    patience: Patience = field(default_factory=Patience)
    _reached: bool = field(default=False, init=False)
    _silent_until: float = field(default=0.0, init=False)  # by the monotonic clock

    @property
    def fingerprint(self) -> str:
        """``openai:<model>@<host>``: more of a served model is not to be known."""
        return f"openai:{self.model}@{self.server.host}"

    def all(self, requests: Sequence[Request[Read]]) -> list[Read]:
        """What the responses say; equal requests are asked once.

        Raises ModelError, after the requests in flight have come back and been stored.
        """
        by_key = {self.key(request): request for request in requests}
        said = self.each(list(by_key), lambda key, stop: self.one(by_key[key], stop))
        read = dict(zip(by_key, said, strict=True))
        return [read[self.key(request)] for request in requests]

    def each(
        self, items: Sequence[Item], work: Callable[[Item, threading.Event], Outcome]
    ) -> list[Outcome]:
        """The outcome of `work` for each item; it asks with `one`, handing the event on.

        Raises as `all` does.
        """
        spent: list[BudgetSpent] = []

        def unless_spent(item: Item, stop: threading.Event) -> Outcome | None:
            if spent:
                return None
            try:
                return work(item, stop)
            except BudgetSpent as error:
                # Those in flight go on, with all their attempts: the budget is theirs.
                spent.append(error)
                return None

        outcomes = run_side_by_side(unless_spent, items, self.concurrency)
        if spent:
            raise spent[0]
        return cast("list[Outcome]", outcomes)

    def learn(self, kind: Kind, fact: str) -> None:
        """Remember something about the model, for the bodies of requests that follow."""
        self.journal.learn(self.about[kind], fact)

    def key(self, request: Request[Any]) -> str:
        """What the journal knows a request by."""
        content = json.dumps(request.content, sort_keys=True)
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{request.kind}:{self.fingerprint}:{digest}"

    @property
    def about(self) -> dict[Kind, str]:
        """What the journal files a kind of request under."""
        return {"chat": f"chat {self.fingerprint}", "images": f"images {self.fingerprint}"}

    def notes(self, kind: Kind, telling: Mapping[str, str]) -> list[str]:
        """What was found out at work.

        Args:
            kind: About which kind of request.
            telling: A fact about the server -> the words for it.
        """
        if not self.journal.begun:
            return []
        about = self.about[kind]
        facts, heard = self.journal.facts(about), self.journal.versions(about)
        notes = [f"{self._who} {words}" for fact, words in telling.items() if fact in facts]
        models, fingerprints = Counter[str](), Counter[str]()
        for model, fingerprint, count in heard:
            models[model] += count
            fingerprints[fingerprint] += count
        for what, told in (("models", models), ("system fingerprints", fingerprints)):
            del told[""]
            if len(told) > 1:
                parts = ", ".join(f"{printable(name)} ({n:,})" for name, n in told.most_common(5))
                notes.append(
                    f"{self._who} answered under {len(told)} {what}, so it may have changed "
                    f"meanwhile: {parts}"
                )
        return notes

    def one(self, request: Request[Read], stop: threading.Event | None = None) -> Read:
        """What the response to a request says, from the journal or from the server.

        Raises ModelError (BudgetSpent among them), and StoppedError when `stop` is set between
        attempts.
        """
        key = self.key(request)
        stored = self.journal.find(key)
        if stored is not None:
            try:
                return request.read(stored)
            except MalformedResponse:  # an earlier version read it by other rules
                self.journal.forget(key)
        stop = stop or threading.Event()
        failures = 0
        while True:
            self._keep_silent(stop)
            facts = self.journal.facts(self.about[request.kind])
            try:
                with ExitStack() as held:
                    return self._attempt(request, key, facts, held)
            except _Failure as error:
                failure = error
            if failure.error is not None:
                if self._learn_from(failure.error, request, facts):
                    continue
                if not failure.error.may_pass:
                    raise ModelError(self._line(failure.error))
            failures += 1
            self._wait(failures, failure, stop)

    def _attempt(self, request: Request[Read], key: str, facts: Facts, held: ExitStack) -> Read:
        """What the response to a request says, once it is stored.

        A request is reserved in the journal before it is sent and settled whatever comes of it.
        Raises _Failure; nothing is stored then.
        """
        ticket = self.journal.reserve(key, request.images, self.budget)
        response = self._send(request, key, facts, ticket, held)
        error = ErrorResponse.of(response) if response.status >= 300 else None
        if error is not None and error.moderated is None:
            said = error.message or error.code
            problem = f"{error.status}: {said}" if said else str(error.status)
            line = self._settle(ticket, problem, charged=error.in_doubt)
            raise _Failure(line, error, retry_after(response.headers))
        try:
            read = request.read(response)
        except MalformedResponse as malformed:
            # It may have been charged for all the same; some gateways report failures as 200.
            said = error_inside(response.body) or response.body[:200].decode("utf-8", "replace")
            problem = self.server.redact_text(f"its response is unusable: {malformed}: {said}", 200)
            raise _Failure(self._settle(ticket, problem, charged=True)) from malformed
        self.journal.store(
            ticket,
            response,
            asked=json.dumps(request.content, ensure_ascii=False),
            about=self.about[request.kind],
            heard=_server_version(response),
        )
        return read

    def _send(
        self, request: Request[Any], key: str, facts: Facts, ticket: int, held: ExitStack
    ) -> Response:
        """Send a request. Raises _Failure where no response comes."""
        name = f"{self.journal.identity}-{key.rpartition(':')[2][:32]}"
        if forgotten := self.journal.count_answers(key):
            name = f"{name}-{forgotten}"  # a server that knows the first would repeat itself
        try:
            body = {"model": self.model, **request.body(facts)}
            response = self.server.send(request.kind, body, name, held)
        except NoResponse as cut:
            if cut.reached:
                self._reached = True
            raise _Failure(self._settle(ticket, str(cut), charged=cut.reached)) from cut
        except BaseException as error:
            # Without a key nothing left this machine; after the user's Ctrl-C nobody can tell.
            self._settle(ticket, type(error).__name__, charged=not isinstance(error, ModelError))
            raise
        self._reached = True
        return response

    def _learn_from(self, error: ErrorResponse, request: Request[Any], facts: Facts) -> bool:
        """Whether an error is about a parameter that can be left out from now on."""
        for fact, parameters in request.adapts.items():
            if fact not in facts and error.names(parameters):
                self.learn(request.kind, fact)
                return True
        return False

    def _settle(self, ticket: int, problem: str, *, charged: bool) -> str:
        """Note why a request came to nothing; returns it without secrets."""
        problem = self.server.redact_text(problem)
        self.journal.settle(ticket, problem, charged=charged)
        return problem

    def _wait(self, failures: int, failure: _Failure, stop: threading.Event) -> None:
        """Wait before the next attempt. Raises ModelError where there is to be none."""
        asked = failure.wait
        if asked is not None and asked > self.patience.obeys:
            raise ModelError(
                f"{self._who}: {failure.line}; it asks to wait {_duration(asked)}: "
                "what is done is kept; rerun the same command then to resume"
            )
        if failures >= (self.patience.attempts if self._reached else self.patience.at_first):
            raise ModelError(
                f"{self._who}: {failure.line} (tried {failures} times); what is done is kept: "
                "rerun the same command to resume"
            )
        pause = self.patience.pause(failures)
        if asked is not None:
            # It speaks for the server, so all requests wait; not all for equally long.
            self._silent_until = max(self._silent_until, time.monotonic() + asked)
            pause = asked + pause * random.random()
        if stop.wait(pause):
            raise StoppedError

    def _keep_silent(self, stop: threading.Event) -> None:
        """Wait for as long as the server asked for. Raises StoppedError."""
        while not stop.is_set() and (left := self._silent_until - time.monotonic()) > 0:
            stop.wait(left)
        if stop.is_set():
            raise StoppedError

    @property
    def _who(self) -> str:
        return f"{printable(self.spec)} at {printable(self.server.host)}"

    def _line(self, error: ErrorResponse) -> str:
        said = self.server.redact_text(error.message or error.code)
        said = f": {said}" if said else ""
        if error.status == 401:
            return f"{self._who}: the key in {KEY_VARIABLE} is missing or refused (401){said}"
        if error.status == 404:
            names = self.server.models()
            if names and self.model not in names:
                few = ", ".join(printable(name) for name in names[:5])
                more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
                return (
                    f"{self._who}: the server has no such model; it has {few}{more}."
                    f"{did_you_mean(self.model, names)}"
                )
            return f"{self._who}: not found (404; most base URLs end in /v1){said}"
        return f"{self._who} refused the request ({error.status}){said}"


@dataclass(frozen=True)
class OpenAIModel:
    """What all models behind a server have in common.

    Attributes:
        served: The model at its server.
    """

    served: ServedModel

    @property
    def spec(self) -> str:
        """What the user typed."""
        return self.served.spec

    @property
    def fingerprint(self) -> str:
        """Changes whenever the weights do."""
        return self.served.fingerprint


def _duration(seconds: float) -> str:
    return f"{seconds:,.0f} seconds" if seconds < LONG else "longer than a week"


def _server_version(response: Response) -> tuple[str, str]:
    """What a response says of the model and the machinery it comes from; empty if nothing."""
    try:
        document = document_of(response.body)
    except ValueError:
        return "", ""
    model, fingerprint = (
        value if isinstance(value, str) else ""
        for value in (document.get("model"), document.get("system_fingerprint"))
    )
    return model, fingerprint
