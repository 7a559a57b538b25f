"""Thirty ways in which a server can be broken or hostile, and what becomes of requests to it.

``python -m tests.models.openai.hostile_servers chat|images`` prints a line of JSON for each: how
long the requests took, how they ended, and the memory that the process had needed by then.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import multiprocessing
import os
import socket
import struct
import sys
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from PIL import Image

from biasgraph.errors import ModelError
from biasgraph.models.openai.completions import Turn, chat_request
from biasgraph.models.openai.image_generator import OpenAIGenerator
from biasgraph.models.openai.journal import Journal
from biasgraph.models.openai.served_model import Patience, ServedModel
from biasgraph.models.openai.server import Server

DEADLINE = 2.0
AT_ONCE = 6
ATTEMPTS = 2
MB = 2**20
KEY = "sk-0123456789abcdef"

Talk = Callable[[socket.socket], None]


def whole(body: bytes, status: str = "200 OK", *headers: str) -> Talk:
    """A response as it should be, but for what is in it."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    head = "\r\n".join(["Content-Type: application/json", *lines][1:]) + "\r\n\r\n"
    return lambda connection: connection.sendall(head.encode() + body)


def begun(head: str, *, repeat: bytes, every: float = 0.0, times: int = 10**9) -> Talk:
    """The beginning of a response, and then the same again and again."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(head.encode())
        for _ in range(times):
            connection.sendall(repeat)
            if every:
                time.sleep(every)

    return talk


def said(document: object) -> Talk:
    """A JSON document, as a chat's reply or an image's response."""
    return whole(json.dumps(document).encode())


def picture(content: bytes) -> Talk:
    """An image in base64."""
    return said({"data": [{"b64_json": base64.b64encode(content).decode()}]})


def png(size: tuple[int, int], mode: str = "1") -> bytes:
    file = io.BytesIO()
    Image.new(mode, size).save(file, "PNG")
    return file.getvalue()


def text_bomb() -> bytes:
    """A PNG with a compressed text of 200 MB."""
    packed = b"Comment\0\0" + zlib.compress(b"a" * (200 * MB))
    chunk = struct.pack(">I", len(packed)) + b"zTXt" + packed
    chunk += struct.pack(">I", zlib.crc32(b"zTXt" + packed))
    small = png((8, 8))
    return small[:33] + chunk + small[33:]


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


OK = "HTTP/1.1 200 OK\r\n"
CHUNKED = OK + "Transfer-Encoding: chunked\r\n\r\n"


def faults() -> dict[str, Talk]:
    """Every fault by what it is; their bodies take some memory."""
    return {
        "closes at once": lambda connection: None,
        "resets": reset,
        "another protocol": lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9\r\n"),
        "a byte of a header a second": begun("HTTP/1.1 200 OK\r\nX-", repeat=b"a", every=0.5),
        "headers without end": begun(OK, repeat=b"X-A: " + b"a" * 1000 + b"\r\n"),
        "a header of 10 MB": begun(OK + "X-A: ", repeat=b"a" * MB, times=10),
        "an unknown status": whole(b"{}", "999 What"),
        "continue without end": begun("", repeat=b"HTTP/1.1 100 Continue\r\n\r\n"),
        "a byte of a body a second": begun(OK + "\r\n", repeat=b" ", every=0.5),
        "a body without end": begun(OK + "\r\n", repeat=b" " * MB),
        "250 MB": begun(OK + f"Content-Length: {250 * MB}\r\n\r\n", repeat=b" " * MB, times=250),
        "tiny chunks without end": begun(CHUNKED, repeat=b"1\r\n \r\n"),
        "a chunk of no size": begun(CHUNKED, repeat=b"zz\r\n \r\n", times=3),
        "a chunk that never comes": begun(CHUNKED, repeat=b"ffffffff\r\n", times=1),
        "a gzip bomb": whole(gzip.compress(b" " * (400 * MB)), "200 OK", "Content-Encoding: gzip"),
        "no gzip": whole(b"hello", "200 OK", "Content-Encoding: gzip"),
        "deep nesting": whole(b"[" * 300_000 + b"]" * 300_000),
        "a million lists": whole(b"[" + b"[]," * 1_200_000 + b"[]]"),
        "huge numbers": whole(b'{"data": [{"b64_json": 1e999, "url": ' + b"9" * 100_000 + b"}]}"),
        "wrong types": said({"data": {"0": 1}, "choices": "x", "error": [1]}),
        "10000 x 10000 in 12 KB": picture(png((10_000, 10_000))),
        "4096 x 4096 in 3 KB": picture(png((4096, 4096))),
        "a text of 200 MB in a picture": picture(text_bomb()),
        "half a picture": picture(png((512, 512), "RGB")[:200]),
        "80 MB of base64": whole(b'{"data": [{"b64_json": "' + b"A" * (80 * MB) + b'"}]}'),
        "an address in this machine": said({"data": [{"url": "http://169.254.169.254/latest"}]}),
        "an address of a file": said({"data": [{"url": "file:///etc/passwd"}]}),
        "a redirection to itself": whole(b"", "307 R", "Location: /v1/chat/completions"),
        "wait for ever": whole(b'{"error": "busy"}', "429 Busy", "Retry-After: 1e308"),
        "an error of 100 MB": begun(
            f"HTTP/1.1 500 No\r\nContent-Length: {100 * MB}\r\n\r\n",
            repeat=b"\x1b]52;c;eA==\x07" * MB,
        ),
    }


def serve(talk: Talk) -> str:
    """The address of a server that says the same to everybody for as long as the process runs."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(2**16)
            talk(connection)

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def ask(kind: str, url: str) -> str:
    """Six requests at once; returns how they ended."""
    patience = Patience(ATTEMPTS, ATTEMPTS, first=0.01, longest=0.01)
    served = ServedModel(
        "openai:m", "m", Server(url, whole=DEADLINE), Journal(None),
        concurrency=AT_ONCE, patience=patience,
    )  # fmt: skip
    try:
        if kind == "images":
            OpenAIGenerator(served).generate(["a nurse"] * AT_ONCE, range(AT_ONCE))
        else:
            served.all([chat_request([Turn("user", str(n))], limit=9) for n in range(AT_ONCE)])
            served.server.models()
    except ModelError as error:
        return str(error)
    return "done"


def serve_all(urls: Connection) -> None:
    """Serve every fault, in a process of its own: its memory is not that of those who ask."""
    urls.send({name: serve(talk) for name, talk in faults().items()})
    threading.Event().wait()


def main(kind: str) -> None:
    """Try every fault and print what became of it."""
    os.environ["OPENAI_API_KEY"] = KEY
    here, there = multiprocessing.Pipe()
    multiprocessing.get_context("fork").Process(target=serve_all, args=[there], daemon=True).start()
    for name, url in here.recv().items():
        start = time.monotonic()
        end, seconds = ask(kind, url), time.monotonic() - start
        status = Path("/proc/self/status").read_text()
        peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
        print(json.dumps({"fault": name, "seconds": seconds, "end": end, "peak": peak}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
