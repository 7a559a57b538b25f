"""The page of all runs and what it links to, over HTTP to this machine's own browser alone.

Read-only. The server listens on the loopback; its address holds a secret, because every user of a
machine can connect to its loopback, and a request has to name that address as its host, because a
website could have a name of its own lead there (DNS rebinding). Of the folder it hands out the
pages and pictures that lie in runs; no other file, nothing hidden, nothing behind a link.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from typing import Any
from urllib.parse import unquote

from biasgraph.audits.run_list import list_runs
from biasgraph.audits.run_overview import overview
from biasgraph.data.file_names import GRAPH, RECORD
from biasgraph.errors import BiasgraphError, ModelError

LOOPBACK = "127.0.0.1"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
}
"""What is handed out, by the end of its name."""
HEADERS = {
    # A page may run its scripts and save files, but is of no origin: no run reads another's pages.
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
SLOW = 30
"""Seconds that a connection may say nothing."""


class RunServer(ThreadingTCPServer):
    """Serves a folder until it is shut down; `serve_forever` as in `socketserver`.

    Attributes:
        folder: What is searched for runs.
        secret: The first part of every path.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, folder: Path, port: int = 0) -> None:
        """Listen on a port of the loopback; 0 is any free one.

        Raises:
            InputError: The folder does not exist or cannot be read.
            ModelError: The port is taken, or not this user's to take.
        """
        list_runs(folder)
        self.folder, self.secret = folder, secrets.token_urlsafe(12)
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except OSError as error:
            raise ModelError(
                f"cannot listen on port {port}: {error.strerror}; choose another --port"
            ) from None

    @property
    def hosts(self) -> list[str]:
        """What a request may call this server."""
        port = self.server_address[1]
        return [f"{LOOPBACK}:{port}", f"localhost:{port}"]

    @property
    def address(self) -> str:
        """Of the page of all runs."""
        return f"http://{self.hosts[0]}/{self.secret}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that is gone, or said nothing, is no error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: RunServer
    server_version = "biasgraph"
    sys_version = ""
    timeout = SLOW

    def do_GET(self) -> None:
        """The page of all runs, or a file of a run."""
        if self.headers.get("Host") not in self.server.hosts:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return
        parts = parts_of(self.path)
        if not secrets.compare_digest(os.fsencode(parts[0]), os.fsencode(self.server.secret)):
            self.send_error(HTTPStatus.NOT_FOUND)
        elif parts[1:] == [""]:
            self._send_overview()
        else:
            self._send_file(find_file(self.server.folder, parts[1:]))

    do_HEAD = do_GET

    def _refuse(self) -> None:
        self.send_error(HTTPStatus.METHOD_NOT_ALLOWED)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse

    def _send_overview(self) -> None:
        try:
            page = overview(self.server.folder)
        except BiasgraphError as error:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, explain=str(error))
            return
        self._send_head(HTTPStatus.OK, TYPES[".html"], len(page))
        if self.command != "HEAD":
            self.wfile.write(page)

    def _send_file(self, path: Path | None) -> None:
        try:
            if path is None:
                raise FileNotFoundError
            file = path.open("rb")
        except OSError:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        with file:
            size = os.fstat(file.fileno()).st_size
            self._send_head(HTTPStatus.OK, TYPES[path.suffix.lower()], size)
            if self.command != "HEAD":
                shutil.copyfileobj(file, self.wfile)

    def _send_head(self, status: HTTPStatus, kind: str, size: int) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(size), **HEADERS}.items():
            self.send_header(name, value)
        if status is HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", "GET, HEAD")
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A line of text."""
        status = HTTPStatus(code)
        text = f"{explain or message or status.phrase}\n".encode()
        self._send_head(status, "text/plain; charset=utf-8", len(text))
        if self.command != "HEAD":
            self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed of a request."""


def parts_of(path: str) -> list[str]:
    """The names in the path of a request, decoded after they were told apart; at least one."""
    names = path.partition("?")[0].split("/")[1:]
    return [unquote(name, errors="surrogateescape") for name in names] or [""]


def find_file(folder: Path, parts: Sequence[str]) -> Path | None:
    """The file that a request may have; None where there is none.

    Args:
        folder: What is searched for runs.
        parts: The names on the way from there to the file.
    """
    path, in_run = folder, False
    try:
        for part in parts:
            in_run = in_run or (path / GRAPH).is_file() or (path / RECORD).is_file()
            path = path / part
            if part.startswith(".") or not part or {*part} & {*"/\\\0"} or path.is_symlink():
                return None
        ours = path.resolve().is_relative_to(folder.resolve())
        return path if in_run and ours and path.suffix.lower() in TYPES and path.is_file() else None
    except (OSError, ValueError):
        return None
