"""An OpenAI-compatible server on loopback, with faults where a test wants some.

It speaks the protocol's chat completions, image generations and list of models. Pictures are
drawn from prompt and seed, and answers are read off the pixels of the picture that is sent, so
that the same work gives the same answers whatever happens on the way. It counts what it would
charge for: every request that it did the work of, unless a name (``Idempotency-Key``) comes again.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import random
import re
import socket
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image

from biasgraph.models.openai.journal import Journal

Fault = str
"""What to do instead of answering:

before the work: "429", "429 later" (Retry-After: 0.05), "500", "503 later", "refused key",
"no model", "hang up", "moderated"
after the work: "cut" (the connection, in the middle of the body), "slow" (a byte now and then),
"slow error" (the same of a 500), "silent" (no byte at all), "502", "html" (a page with status 200),
"200" (an error with that status), "half" (broken JSON), "other" (JSON of another form), "empty"
"""
BEFORE = ("429", "429 later", "500", "503 later", "hang up")
AFTER = ("cut", "502", "200", "html", "half", "other", "empty")


@dataclass
class Behaviour:
    """How a server behaves.

    fault: called for every request that arrives, in order; None is none. remembers: whether it
    knows a request by its name and does not charge for it twice. rejects: parameters that it
    complains about. says: the text of a reply, from the request; None answers from the pixels.
    logprobs: whether it tells them; revises: whether it rewrites prompts of images; address:
    whether it gives an address in place of a picture; seconds: of work. echo: repeats the
    request's headers in every body, as servers that debug do.
    """

    fault: Callable[[], Fault | None] = lambda: None
    remembers: bool = True
    rejects: tuple[str, ...] = ()
    says: Callable[[Mapping[str, Any]], Any] | None = None
    logprobs: bool = True
    revises: bool = False
    address: bool = False
    seconds: float = 0.0
    echo: bool = False
    size: int = 16


@dataclass
class Counted:
    """What a server saw: requests, and what it charged for, by request name."""

    requests: list[dict[str, Any]] = field(default_factory=list)
    charged: Counter[str] = field(default_factory=Counter)
    images: int = 0
    most_at_once: int = 0
    keys: set[str] = field(default_factory=set)

    @property
    def calls(self) -> int:
        """How often it charged."""
        return self.charged.total()


class FakeServer:
    """The server; its `base_url` is what biasgraph is given."""

    def __init__(self, behaviour: Behaviour | None = None, port: int = 0) -> None:
        self.behaviour = behaviour or Behaviour()
        self.counted = Counted()
        self.lock = threading.Lock()
        self.done: dict[str, dict[str, Any]] = {}
        self.at_work = 0
        fake = self

        class Handler(_Handler):
            server_of = fake

        self.http = _Server(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()


@contextmanager
def serving(behaviour: Behaviour | None = None, port: int = 0) -> Iterator[FakeServer]:
    """A server for as long as the block runs."""
    server = FakeServer(behaviour, port)
    thread = threading.Thread(target=server.http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


def faults(share: float, kinds: tuple[Fault, ...], seed: int = 0) -> Callable[[], Fault | None]:
    """One fault of `kinds` in a `share` of requests."""
    chance = random.Random(seed)
    return lambda: chance.choice(kinds) if chance.random() < share else None


def in_turn(*listed: Fault | None) -> Callable[[], Fault | None]:
    """These faults, then none."""
    left = iter(listed)
    return lambda: next(left, None)


class _Server(ThreadingHTTPServer):
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong, unless a client went away, as one does that is killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server_of: FakeServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None: ...

    def do_GET(self) -> None:
        if self.path.startswith("/files/"):
            image = self.server_of.done.get(self.path.rpartition("/")[2])
            if image is None:
                return self._send(404, {"error": {"message": "gone"}})
            content = base64.b64decode(image["coded"])
            return self._send_bytes(200, content, "image/png")
        return self._send(200, {"object": "list", "data": [{"id": "judge"}, {"id": "painter"}]})

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        content = self.rfile.read(length)
        if len(content) < length:  # its process was killed
            self.close_connection = True
            return
        body = json.loads(content)
        fake = self.server_of
        with fake.lock:
            fake.counted.requests.append({"path": self.path, **body})
            fake.counted.keys.add(self.headers.get("Authorization", ""))
            fault = fake.behaviour.fault()
            fake.at_work += 1
            fake.counted.most_at_once = max(fake.counted.most_at_once, fake.at_work)
        try:
            self._respond(body, fault)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with fake.lock:
                fake.at_work -= 1

    def _respond(self, body: dict[str, Any], fault: Fault | None) -> None:
        behaviour = self.server_of.behaviour
        if fault == "hang up":
            return self._reset()
        if fault == "moderated":
            error = {"message": "Your request was rejected", "code": "moderation_blocked"}
            return self._send(400, {"error": error})
        if fault == "refused key":
            key = self.headers.get("Authorization", "")
            return self._send(401, {"error": {"message": f"Incorrect API key: {key}"}})
        if fault == "no model":
            return self._send(404, {"error": {"message": f"no model {body['model']}"}})
        waits = {"later": "0.05", "hours": "7200", "for ever": "1e308"}
        if fault in ("429", "500", "quota", *(f"{s} {w}" for s in (429, 503) for w in waits)):
            asked = waits.get(fault.partition(" ")[2])
            later = {"retry-after": asked} if asked else {}
            code = "insufficient_quota" if fault == "quota" else "busy"
            status = 429 if fault == "quota" else int(fault[:3])
            return self._send(status, {"error": {"message": "not now", "code": code}}, later)
        for name in behaviour.rejects:
            if name in body:
                error = {"message": f"Unsupported parameter: '{name}'", "param": name}
                return self._send(400, {"error": error})
        done = self._worked(body)
        document = {key: value for key, value in done.items() if key != "coded"}
        if behaviour.echo:
            document["headers"] = dict(self.headers)
        if fault == "cut":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{")
            return self._reset()
        if fault in ("slow", "slow error"):
            status = b"200 OK" if fault == "slow" else b"500 Oh no"
            self.wfile.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 5000\r\n\r\n")
            for _ in range(40):
                self.wfile.write(b" ")
                time.sleep(0.05)
            return self._reset()
        if fault == "silent":
            time.sleep(2)
            return self._reset()
        if fault == "502":
            return self._send_bytes(502, b"<html>Bad gateway</html>", "text/html")
        if fault == "html":
            return self._send_bytes(200, b"<html>Welcome to this hotel</html>", "text/html")
        if fault == "half":
            return self._send_bytes(200, json.dumps(document).encode()[:40], "application/json")
        if fault == "200":
            return self._send(200, {"error": {"message": "upstream is down", "code": 502}})
        if fault == "other":
            return self._send(200, {"result": "fine"})
        if fault == "empty":
            return self._send_bytes(200, b"", "application/json")
        return self._send(200, document)

    def _worked(self, body: dict[str, Any]) -> dict[str, Any]:
        """The document to answer with; the work is done, and charged for, once a name."""
        fake = self.server_of
        name = self.headers.get("Idempotency-Key", "")
        with fake.lock:
            if fake.behaviour.remembers and name in fake.done:
                return fake.done[name]
        time.sleep(fake.behaviour.seconds)
        if self.path.endswith("/images/generations"):
            document = self._painted(body, name)
        else:
            document = self._said(body)
        with fake.lock:
            fake.counted.charged[name] += 1
            fake.counted.images += int(self.path.endswith("/images/generations"))
            fake.done[name] = document
        return document

    def _painted(self, body: Mapping[str, Any], name: str) -> dict[str, Any]:
        behaviour = self.server_of.behaviour
        content = hashlib.sha256(f"{body['prompt']}{body.get('seed')}".encode()).digest()
        image = Image.frombytes("RGB", (4, 2), content[:24])
        file = io.BytesIO()
        image.resize((behaviour.size, behaviour.size), Image.Resampling.NEAREST).save(file, "PNG")
        coded = base64.b64encode(file.getvalue()).decode()
        picture: dict[str, Any] = {"b64_json": coded}
        if behaviour.address:
            root = self.server_of.base_url.removesuffix("/v1")
            picture = {"url": f"{root}/files/{name}"}
        if behaviour.revises:
            picture["revised_prompt"] = f"{body['prompt']}, in oil"
        return {"created": 0, "data": [picture], "coded": coded}

    def _said(self, body: Mapping[str, Any]) -> dict[str, Any]:
        behaviour = self.server_of.behaviour
        tokens: list[dict[str, Any]] = []
        said: Any = behaviour.says(body) if behaviour.says else None
        if said is None:
            said, tokens = _chosen(body["messages"][0]["content"])
        message = {"role": "assistant", "content": said} if not isinstance(said, dict) else said
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        choice |= message.pop("choice", {})
        if behaviour.logprobs and body.get("logprobs"):
            choice["logprobs"] = {"content": tokens}
        return {
            "id": "chat-1",
            "object": "chat.completion",
            "created": 0,
            "model": f"{body['model']}-2026-01-01",
            "system_fingerprint": "fp_1",
            "choices": [choice],
        }

    def _send(
        self, status: int, document: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        content = json.dumps(document).encode()
        self._send_bytes(status, content, "application/json", headers or {})

    def _send_bytes(
        self, status: int, content: bytes, kind: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _reset(self) -> None:
        """Cut the connection, without goodbye."""
        self.close_connection = True
        self.wfile.flush()
        reset = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        self.connection.shutdown(socket.SHUT_RDWR)


def _chosen(content: Any) -> tuple[str, list[dict[str, Any]]]:
    """The letter of an option, from the pixels of the picture, and how probable each was.

    An option gets the same probability in whatever order the options come.
    """
    if isinstance(content, str):
        return "B", []
    picture = base64.b64decode(content[0]["image_url"]["url"].partition(",")[2])
    text = content[1]["text"]
    with Image.open(io.BytesIO(picture)) as image:
        pixels = image.convert("RGB").tobytes()
    question = text.splitlines()[0]
    options = re.findall(r"^([A-Za-z])\. (.*)$", text, re.MULTILINE)
    if not options:
        return f"a picture {hashlib.sha256(pixels).hexdigest()[:6]}", []
    weights = {
        letter: hashlib.sha256(pixels + f"{question} {option}".encode()).digest()[0] + 1
        for letter, option in options
        if not option.startswith("unknown")
    }
    if "person" in question:
        weights = {letter: 99 if option == "yes" else 1 for letter, option in options}
    total = sum(weights.values()) / 0.9  # the rest are tokens that are no letters
    best = max(weights, key=lambda letter: weights[letter])
    top = [{"token": letter, "logprob": math.log(w / total)} for letter, w in weights.items()]
    token = {"token": best, "logprob": math.log(weights[best] / total), "top_logprobs": top}
    return best, [token]


def total_spent(journal: Journal) -> tuple[int, int]:
    """Calls and images that count towards a run's budget."""
    ((calls, images),) = journal._rows("SELECT calls, images FROM spent")
    return int(calls), int(images)
