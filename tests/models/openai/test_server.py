"""Where requests go, what they carry, and how they end, on a real connection."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from biasgraph.errors import InputError, ModelError
from biasgraph.models.openai.addresses import may_send_to
from biasgraph.models.openai.server import NoResponse, Server
from tests.openai_server import Behaviour, in_turn, serving

KEY = "sk-test-0123456789abcdef"
BODY = {"model": "judge", "messages": [{"role": "user", "content": "hello"}]}
IMAGE = {"model": "painter", "prompt": "a librarian"}


def test_the_option_beats_the_variable_and_the_official_server_is_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://there:1/v1/")
    assert Server.at("http://here/v1").host == "here"
    assert Server.at(None).base_url == "http://there:1/v1"
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert Server.at(None).host == "api.openai.com"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:8000", "not an http address"),
        ("ftp://x/v1", "not an http address"),
        ("http://", "not an http address"),
        ("http://[::1/v1", "not an http address"),
        ("http://x:99999/v1", "not an http address"),
        ("http://me:hunter2secret@x/v1", "keys come from the environment only"),
        ("http://x/v1?key=hunter2secret", "keys come from the environment only"),
        ("http://x/v1#hunter2secret", "keys come from the environment only"),
        ("\x1b[31mred", "\\x1b"),
    ],
)
def test_what_is_no_address_and_what_holds_a_secret(url: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        Server.at(url)
    assert said in str(error.value)
    assert "hunter2secret" not in str(error.value)


def test_the_key_goes_along_and_is_taken_out_of_what_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    with serving(Behaviour(echo=True)) as fake:
        response = Server.at(fake.base_url).send("chat", BODY, "name-1", ExitStack())
        assert fake.counted.keys == {f"Bearer {KEY}"}
    assert response.status == 200
    assert b"Bearer [key]" in response.body
    assert KEY.encode() not in response.body
    assert fake.counted.charged == {"name-1": 1}


def test_a_server_of_ones_own_needs_no_key_and_the_official_one_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with serving() as fake:
        assert Server.at(fake.base_url).send("chat", BODY, "n", ExitStack()).status == 200
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        Server.at(None).send("chat", BODY, "n", ExitStack())


@pytest.mark.parametrize("key", ["sk-ünïcode-key", "sk-line\nbreak-key"])
def test_a_key_that_is_none_is_named_without_being_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ModelError, match="contains characters") as error:
        Server.at("http://127.0.0.1:9/v1").send("chat", BODY, "n", ExitStack())
    assert "code-key" not in str(error.value)
    assert "break-key" not in str(error.value)


def test_a_proxy_that_is_none_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://nowhere:1")
    with pytest.raises(ModelError, match="cannot prepare requests to there"):
        Server.at("http://there/v1").send("chat", BODY, "n", ExitStack())


def test_what_did_not_arrive_is_told_from_what_may_have() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(NoResponse) as refused:
            Server.at(f"http://127.0.0.1:{unused.getsockname()[1]}/v1").send(
                "chat", BODY, "n", ExitStack()
            )
    assert not refused.value.reached
    with serving(Behaviour(fault=in_turn("hang up", "cut"))) as fake:
        server = Server.at(fake.base_url)
        for _ in range(2):
            with pytest.raises(NoResponse) as cut:
                server.send("chat", BODY, "n", ExitStack())
            assert cut.value.reached


@pytest.mark.parametrize("fault", ["slow", "slow error", "silent"])
def test_a_response_that_does_not_come_is_cut_off_in_time(fault: str) -> None:
    with serving(Behaviour(fault=in_turn(fault))) as fake:
        start = time.monotonic()
        with pytest.raises(NoResponse, match=r"0\.3 s") as cut:
            Server(fake.base_url, whole=0.3).send("chat", BODY, "n", ExitStack())
        assert time.monotonic() - start < 1.5
        assert cut.value.reached


def test_words_of_a_server_are_printable_short_and_without_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    told = Server.at("http://x/v1").redact_text(
        f"{KEY} sk-proj-abc****xyz \x1b[31m\nred " + "a" * 999
    )
    assert told.startswith("[key] [key] \\x1b[31m red aaa")
    assert len(told) < 330


def test_no_other_address_than_http_is_fetched() -> None:
    with pytest.raises(NoResponse, match="not an http address"):
        Server.at("http://x/v1").fetch("file:///etc/passwd", ExitStack())


@pytest.mark.parametrize(
    ("server", "host", "may"),
    [
        ("1.1.1.1", "8.8.8.8", True),
        ("1.1.1.1", "127.0.0.1", False),
        ("1.1.1.1", "[::1]", False),
        ("1.1.1.1", "::ffff:10.0.0.1", False),
        ("1.1.1.1", "192.168.1.5", False),
        ("1.1.1.1", "1.1.1.1", True),
        ("1.1.1.1", "nowhere.invalid", True),  # a proxy may know it
        ("10.0.0.1", "10.0.0.2", True),
        ("localhost", "127.0.0.1", True),
        ("10.0.0.1", "8.8.8.8", True),
        ("10.0.0.1", "169.254.169.254", False),
        ("169.254.1.1", "169.254.169.254", True),
        *(
            (server, host, False)
            for server in ("1.1.1.1", "10.0.0.1")
            for host in (
                *("::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"),
                *("64:ff9b:1::a9fe:a9fe", "::169.254.169.254", "fd00:ec2::254", "fe80::1"),
                *("100.100.100.200", "168.63.129.16", "2001:0:1:1::5601:5601"),
            )
        ),
        *(
            ("1.1.1.1", host, False)
            for host in ("64:ff9b::10.0.0.1", "2002:7f00:1::", "fd12:3456::1", "::127.0.0.1", "::")
        ),
        ("1.1.1.1", "2606:4700::1111", True),
        ("1.1.1.1", "64:ff9b::8.8.8.8", True),
    ],
)
def test_a_server_on_the_internet_sends_nobody_into_a_network(
    server: str, host: str, may: bool
) -> None:
    assert may_send_to(server, host) is may


def test_a_redirection_is_not_followed_where_an_address_would_not_be() -> None:
    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", "http://169.254.169.254/latest")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as http:
        threading.Thread(target=http.handle_request, daemon=True).start()
        url = f"http://127.0.0.1:{http.server_port}"
        with pytest.raises(NoResponse, match=r"into the network .* \(169\.254\.169\.254\)") as cut:
            Server.at(f"{url}/v1").fetch(f"{url}/picture.png", ExitStack())
    assert not cut.value.reached


@contextmanager
def raw_server(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that says to every connection whatever `talk` says."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.recv(2**16)
                talk(connection)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(2**16):
                    pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        listener.shutdown(socket.SHUT_RDWR)


def drip(connection: socket.socket, text: bytes) -> None:
    for byte in text * 100:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nX-", b"HTTP/1.1 200 OK\r\n\r\n"])
@pytest.mark.parametrize("what", ["send", "fetch", "models"])
def test_a_byte_now_and_then_ends_with_the_deadline(begun: bytes, what: str) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(begun)
        drip(connection, b"a")

    with raw_server(talk) as url:
        server, start = Server(url, whole=0.4), time.monotonic()
        if what == "models":
            assert server.models() == []
        else:
            with pytest.raises(NoResponse, match=r"0\.4 s") as cut:
                if what == "send":
                    server.send("chat", BODY, "n", ExitStack())
                else:
                    server.fetch(f"{url}/picture.png", ExitStack())
            assert cut.value.reached
        assert time.monotonic() - start < 1.5


@pytest.mark.parametrize(("what", "most"), [("chat", 4), ("images", 64), ("models", 4)])
def test_a_response_has_a_largest_size(what: str, most: int) -> None:
    sent = 0

    def talk(connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            connection.sendall(b" " * 2**20)
            sent += 1

    with raw_server(talk) as url:
        server = Server(url, whole=20)
        if what == "models":
            assert server.models() == []
        else:
            with pytest.raises(NoResponse, match=f"larger than {most} MiB"):
                server.send(what, BODY if what == "chat" else IMAGE, "n", ExitStack())
    assert most <= sent < most + 16


def test_of_large_responses_one_is_in_memory() -> None:
    body = b"{" + b" " * (5 * 2**20) + b"}"
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
    with raw_server(lambda connection: connection.sendall(head + body)) as url:
        server = Server(url, whole=60)
        with ThreadPoolExecutor(1) as pool:
            with ExitStack() as held:
                server.send("images", IMAGE, "a", held)
                second = pool.submit(server.send, "images", IMAGE, "b", ExitStack())
                with pytest.raises(TimeoutError):
                    second.result(timeout=0.5)
            assert len(second.result(timeout=60).body) == len(body)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_nothing_is_sent_to_another_host_by_a_redirection(status: int) -> None:
    with serving() as other:
        there = other.base_url.replace("127.0.0.1", "localhost")
        head = f"HTTP/1.1 {status} R\r\nContent-Length: 0\r\nLocation: {there}/chat\r\n\r\n"
        with (
            raw_server(lambda connection: connection.sendall(head.encode())) as url,
            pytest.raises(ModelError, match="redirects to http://localhost; nothing was sent"),
        ):
            Server.at(url).send("chat", BODY, "n", ExitStack())
        assert other.counted.requests == []


def test_the_address_that_was_checked_is_the_one_that_is_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that is somebody else's at a second look leads nowhere."""
    looks = 0

    def getaddrinfo(host: str, *_: object, **__: object) -> list[Any]:
        nonlocal looks
        address = {"there": "1.1.1.1"}.get(host)
        if host == "rebound":
            address = "8.8.8.8" if looks == 0 else "127.0.0.1"
            looks += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address or host, 0))]

    with serving() as fake:
        port = fake.base_url.split(":")[2].partition("/")[0]
        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        with pytest.raises(NoResponse, match="into the network of this machine"):
            Server.at("http://there/v1").fetch(f"http://rebound:{port}/picture.png", ExitStack())
        assert looks == 2 and fake.counted.requests == []
