"""Where requests go, what they carry, and how they end, on a real connection."""

from __future__ import annotations

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from biasgraph.errors import InputError, ModelError
from biasgraph.models.openai.addresses import may_send_to
from biasgraph.models.openai.server import NoResponse, Server
from tests.openai_server import Behaviour, in_turn, serving

KEY = "sk-test-0123456789abcdef"
BODY = {"model": "judge", "messages": [{"role": "user", "content": "hello"}]}


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
        response = Server.at(fake.base_url).send("chat", BODY, "name-1")
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
        assert Server.at(fake.base_url).send("chat", BODY, "n").status == 200
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        Server.at(None).send("chat", BODY, "n")


@pytest.mark.parametrize("key", ["sk-ünïcode-key", "sk-line\nbreak-key"])
def test_a_key_that_is_none_is_named_without_being_shown(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ModelError, match="contains characters") as error:
        Server.at("http://127.0.0.1:9/v1").send("chat", BODY, "n")
    assert "code-key" not in str(error.value)
    assert "break-key" not in str(error.value)


def test_a_proxy_that_is_none_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://nowhere:1")
    with pytest.raises(ModelError, match="cannot prepare requests to there"):
        Server.at("http://there/v1").send("chat", BODY, "n")


def test_what_did_not_arrive_is_told_from_what_may_have() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(NoResponse) as refused:
            Server.at(f"http://127.0.0.1:{unused.getsockname()[1]}/v1").send("chat", BODY, "n")
    assert not refused.value.reached
    with serving(Behaviour(fault=in_turn("hang up", "cut"))) as fake:
        server = Server.at(fake.base_url)
        for _ in range(2):
            with pytest.raises(NoResponse) as cut:
                server.send("chat", BODY, "n")
            assert cut.value.reached


@pytest.mark.parametrize("fault", ["slow", "slow error", "silent"])
def test_a_response_that_does_not_come_is_cut_off_in_time(fault: str) -> None:
    with serving(Behaviour(fault=in_turn(fault))) as fake:
        start = time.monotonic()
        with pytest.raises(NoResponse, match=r"0\.3 s") as cut:
            Server(fake.base_url, whole=0.3).send("chat", BODY, "n")
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
        Server.at("http://x/v1").fetch("file:///etc/passwd")


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
            Server.at(f"{url}/v1").fetch(f"{url}/picture.png")
    assert not cut.value.reached
