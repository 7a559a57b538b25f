"""A model hub on loopback that speaks as much of the Hugging Face hub's protocol as is needed."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """models: by name the folder, or the fault that a request for it meets.

    asked: the files that were fetched, as ``name/file``.
    """

    models: Mapping[str, Path | str]
    asked: list[str] = field(default_factory=list)
    url: str = ""
    commit: str = COMMIT

    @contextmanager
    def serving(self) -> Iterator[Hub]:
        hub = self

        class Handler(_Handler):
            served = hub

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    served: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def log_message(self, format: str, *args: object) -> None: ...

    def _answer(self, *, with_body: bool) -> None:
        path = unquote(urlsplit(self.path).path).strip("/")
        parts = path.removeprefix("api/models/").split("/")
        name = "/".join(parts[:2])
        model = self.served.models.get(name, "RepoNotFound")
        if isinstance(model, str):
            status = {"RepoNotFound": 401, "GatedRepo": 403, "RevisionNotFound": 404}.get(model)
            self._send(
                status or int(model), b"{}", {"X-Error-Code": model, "X-Error-Message": "no"}
            )
        elif path.startswith("api/") and "tree" in parts:
            self._send(200, json.dumps(_tree(model)).encode(), {})
        elif path.startswith("api/"):
            files = [{"rfilename": entry["path"]} for entry in _tree(model)]
            about = {"id": name, "sha": self.served.commit, "siblings": files, "tags": []}
            self._send(200, json.dumps(about).encode(), {})
        else:
            self._file(model, name, "/".join(parts[4:]), with_body=with_body)

    def _file(self, model: Path, name: str, file: str, *, with_body: bool) -> None:
        path = model / file
        if not path.is_file():
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        body = path.read_bytes()
        if with_body:
            self.served.asked.append(f"{name}/{file}")
        headers = {
            "ETag": f'"{hashlib.sha256(body).hexdigest()}"',
            "X-Repo-Commit": self.served.commit,
            "Accept-Ranges": "bytes",
        }
        self._send(200, body, headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _tree(folder: Path) -> list[dict[str, object]]:
    return [
        {
            "type": "file",
            "path": path.relative_to(folder).as_posix(),
            "size": path.stat().st_size,
            "oid": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
