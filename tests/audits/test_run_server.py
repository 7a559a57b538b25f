"""The server of `biasgraph view`: what it hands out, to whom, and nothing else."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import biasgraph
from biasgraph.audits.run_server import RunServer, find_file, parts_of
from biasgraph.commands import main
from biasgraph.errors import InputError
from tests.answer_tables import librarian_table

SECRET = b"nobody may read this"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in a folder, with files beside it and links out of it."""
    top = tmp_path_factory.mktemp("top")
    folder = top / "outputs"
    run = folder / "a run"
    biasgraph.build(answers=librarian_table(images=20), output=run, bootstrap=100)
    for place in (top / "page.html", folder / "page.html", folder / "notes" / "page.html",
                  run / "key.pem", run / ".hidden.html", run / ".git" / "page.html"):  # fmt: skip
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(SECRET)
    (run / "images").mkdir()
    (run / "images" / "0.png").write_bytes(b"\x89PNG")
    (run / "out.html").symlink_to(top / "page.html")
    (run / "in.html").symlink_to(run / "report.html")
    (run / "up").symlink_to(top)
    os.mkfifo(run / "pipe.html")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[RunServer]:
    with RunServer(folder) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    server: RunServer, path: str, method: str = "GET", host: str | None = None, secret: bool = True
) -> tuple[http.client.HTTPResponse, bytes]:
    """Send a request as it is written: nothing in its path is tidied up."""
    address, port = server.server_address[:2]
    connection = http.client.HTTPConnection(str(address), int(port), timeout=60)
    connection.putrequest(method, f"/{server.secret}{path}" if secret else path, skip_host=True)
    connection.putheader("Host", host or f"{address}:{port}")
    connection.endheaders()
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def test_the_page_and_what_it_links_to(server: RunServer, folder: Path) -> None:
    response, page = ask(server, "/")
    assert (response.status, response.getheader("Content-Type")) == (
        200,
        "text/html; charset=utf-8",
    )
    assert b'href="a%20run/report.html"' in page
    response, report = ask(server, "/a%20run/report.html?x#y")
    assert report == (folder / "a run" / "report.html").read_bytes()
    response, picture = ask(server, "/a%20run/images/0.png")
    assert (response.getheader("Content-Type"), picture) == ("image/png", b"\x89PNG")


def test_the_page_is_of_the_runs_there_are_now(server: RunServer, folder: Path) -> None:
    (folder / "later").mkdir()
    (folder / "later" / "graph.json").write_text("{}")
    assert b"later" in ask(server, "/")[1]
    (folder / "later" / "graph.json").unlink()
    assert b"later" not in ask(server, "/")[1]


@pytest.mark.parametrize(
    "path",
    [
        "/../page.html", "/a%20run/../../page.html", "/%2e%2e/page.html", "/..%2fpage.html",
        "/a%20run/..%5c..%5cpage.html", "//page.html", "/./a%20run/report.html", "/a%20run/",
        "/a%20run", "/a%20run/report.html/", "/a%20run//report.html", "/a%20run/out.html",
        "/a%20run/in.html", "/a%20run/up/page.html", "/a%20run/up/outputs/a%20run/report.html",
        "/page.html", "/notes/page.html", "/a%20run/key.pem", "/a%20run/run.json",
        "/a%20run/answers.csv", "/a%20run/.hidden.html", "/a%20run/.git/page.html",
        "/a%20run/pipe.html", "/a%20run/none.html", "/a%20run/report.html%00.png",
        "/a%20run/%ff.html", "/a%20run/" + "x" * 5000 + ".html", "/etc/passwd", "/%2fetc%2fpasswd",
        "/C:%5cpage.html", "",
    ],
)  # fmt: skip
def test_nothing_else_is_handed_out(server: RunServer, path: str) -> None:
    response, content = ask(server, path)
    assert (response.status, content) == (404, b"Not Found\n")


@pytest.mark.parametrize("path", ["/", "", "/a%20run/report.html", "*", "/%ff/", "//["])
def test_nobody_reads_without_the_secret(server: RunServer, path: str) -> None:
    assert ask(server, path, secret=False)[0].status == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:80"])
def test_another_host_is_refused(server: RunServer, host: str) -> None:
    response, content = ask(server, "/", host=host)
    assert (response.status, content) == (421, b"Misdirected Request\n")


def test_no_host_is_refused_and_localhost_is_not(server: RunServer) -> None:
    port = server.server_address[1]
    assert ask(server, "/", host=f"localhost:{port}")[0].status == 200
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(f"GET /{server.secret}/ HTTP/1.0\r\n\r\n".encode())
        assert b" 421 " in connection.recv(4096)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(server: RunServer, method: str) -> None:
    response, _ = ask(server, "/", method)
    assert (response.status, response.getheader("Allow")) == (405, "GET, HEAD")


@pytest.mark.parametrize("path", ["/", "/a%20run/report.html", "/none"])
def test_a_head_is_what_a_get_begins_with(server: RunServer, path: str) -> None:
    got, content = ask(server, path)
    head, nothing = ask(server, path, "HEAD")
    assert nothing == b""
    assert head.status == got.status
    assert head.getheader("Content-Length") == str(len(content))
    assert "sandbox" in str(head.getheader("Content-Security-Policy"))
    assert head.getheader("X-Content-Type-Options") == "nosniff"


def test_it_listens_on_the_loopback_alone(server: RunServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("start", [b"", b"GET", b"\x16\x03\x01", b"GET / HTTP/9.9\r\n\r\n"])
def test_a_browser_that_goes_ends_nothing(
    server: RunServer, start: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", server.server_address[1])) as connection:
        connection.sendall(start)
    assert ask(server, "/")[0].status == 200
    assert capfd.readouterr() == ("", "")


def test_a_folder_that_goes_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    with RunServer(folder) as server:
        folder.rmdir()
        threading.Thread(target=server.handle_request).start()
        response, content = ask(server, "/")
    assert (response.status, content) == (500, f"{folder} is not a folder\n".encode())
    with pytest.raises(InputError, match="is not a folder"):
        RunServer(folder)


def test_paths_are_decoded_after_they_are_told_apart(folder: Path) -> None:
    assert parts_of("/a%2Fb/c?d/e") == ["a/b", "c"]
    assert parts_of("*") == [""]
    assert find_file(folder, ["a run", "report.html"]) == folder / "a run" / "report.html"
    assert find_file(folder, []) is None


def test_a_port_that_is_taken_is_one_line(
    server: RunServer, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = server.server_address[1]
    assert main(["view", str(folder), "--port", str(port)]) == 1
    assert capsys.readouterr().err == (
        f"Error: cannot listen on port {port}: Address already in use; choose another --port\n"
    )


def test_ctrl_c_ends_it(folder: Path) -> None:
    command = [sys.executable, "-m", "biasgraph", "view", str(folder)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        opened, told = run.stdout.readline(), run.stdout.readline()
        host, secret = opened.split("/")[2:4]
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("GET", f"/{secret}/")
        assert b"a%20run/report.html" in connection.getresponse().read()
        run.send_signal(signal.SIGINT)
        rest, errors = run.communicate(timeout=60)
    assert opened.startswith("Open http://127.0.0.1:")
    assert told == "Ctrl-C ends it\n"
    assert (run.returncode, rest, errors) == (0, "Ended\n", "")
