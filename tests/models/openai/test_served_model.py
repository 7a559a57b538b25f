"""Requests through every fault: none lost, none paid for twice, the budget exact."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from biasgraph.errors import ModelError
from biasgraph.models.openai.budget import Budget
from biasgraph.models.openai.completions import ChatReply, Turn, chat_request
from biasgraph.models.openai.concurrency import StoppedError, run_side_by_side
from biasgraph.models.openai.journal import BudgetSpent, Journal
from biasgraph.models.openai.served_model import Patience, Request, ServedModel
from biasgraph.models.openai.server import Response, Server
from biasgraph.runs.progress import Interrupted, Quiet, showing
from tests.openai_server import (
    AFTER,
    BEFORE,
    Behaviour,
    FakeServer,
    faults,
    in_turn,
    serving,
    total_spent,
)

QUICK = Patience(attempts=40, first=0.001, longest=0.01)
USUAL = Patience(first=0.001, longest=0.01)
LONGER = pytest.mark.slow(reason="the same storm, five times as long")


def asking(fake: FakeServer, journal: Path | None = None, **options: object) -> ServedModel:
    settings = {"patience": QUICK, "concurrency": 8, **options}
    return ServedModel("openai:m", "m", Server(fake.base_url), Journal(journal), **settings)  # type: ignore[arg-type]


def requests(count: int, start: int = 0) -> list[Request[ChatReply]]:
    return [chat_request([Turn("user", f"{n}")], limit=9) for n in range(start, start + count)]


def parrot(body: object) -> str:
    return f"heard {body['messages'][0]['content']}"  # type: ignore[index]


@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=LONGER)])
def test_requests_through_storms(tmp_path: Path, count: int) -> None:
    """Every fault there is in 3 of 10 requests; the journal and the server agree to the call."""
    storm = faults(0.3, (*BEFORE, *AFTER))
    with serving(Behaviour(fault=storm, says=parrot)) as fake:
        said = asking(fake, tmp_path).all(requests(count))
        assert [reply.text for reply in said] == [f"heard {n}" for n in range(count)]
        assert fake.counted.calls == len(fake.counted.charged) == count
        sent = len(fake.counted.requests)
        assert sent > 1.25 * count
        assert 2 <= fake.counted.most_at_once <= 8
        again = asking(fake, tmp_path).all(requests(count))
        assert again == said
        assert len(fake.counted.requests) == sent
    counted = total_spent(Journal(tmp_path))[0]
    assert count < counted < sent  # what broke off after the work counts; what was refused does not


def test_the_budget_is_exact_where_it_can_be_known(tmp_path: Path) -> None:
    """Faults before the work only: what was charged for is the budget, to the call."""
    storm = faults(0.3, ("429", "500", "503 later"))
    with serving(Behaviour(fault=storm, says=parrot)) as fake:
        with pytest.raises(BudgetSpent, match="budget of 50 calls"):
            asking(fake, tmp_path, budget=Budget(50)).all(requests(100))
        assert fake.counted.calls == 50
        assert total_spent(Journal(tmp_path)) == (50, 0)
        with pytest.raises(BudgetSpent):
            asking(fake, tmp_path, budget=Budget(50)).all(requests(100))
        assert fake.counted.calls == 50
        with pytest.raises(BudgetSpent):
            asking(fake, tmp_path, budget=Budget(70)).all(requests(100))
        assert fake.counted.calls == 70
        said = asking(fake, tmp_path, budget=Budget(100)).all(requests(100))
        assert len(said) == fake.counted.calls == 100


def test_the_budget_is_never_exceeded_where_nobody_can_know(tmp_path: Path) -> None:
    """A server that charges for whatever it worked on, and forgets it when the line is cut."""
    storm = faults(0.3, ("cut", "hang up", "502", "half"))
    with serving(Behaviour(fault=storm, says=parrot, remembers=False)) as fake:
        with pytest.raises(BudgetSpent):
            asking(fake, tmp_path, budget=Budget(50)).all(requests(150))
        assert total_spent(Journal(tmp_path)) == (50, 0)
        assert fake.counted.calls <= 50


def test_what_was_answered_is_never_sent_again_even_to_a_server_without_memory(
    tmp_path: Path,
) -> None:
    with serving(Behaviour(fault=faults(0.4, BEFORE), says=parrot, remembers=False)) as fake:
        asking(fake, tmp_path).all(requests(100))
        asking(fake, tmp_path).all(requests(150))
        assert set(fake.counted.charged.values()) == {1}
        assert fake.counted.calls == 150


@pytest.mark.parametrize(
    ("error", "counted"), [(KeyboardInterrupt(), 1), (ModelError("no key"), 0)]
)
def test_what_the_user_broke_off_may_have_been_charged_for(
    tmp_path: Path, error: BaseException, counted: int
) -> None:
    class Broken(Server):
        def send(self, kind: str, body: object, name: str, held: ExitStack) -> Response:
            raise error

    asked = ServedModel("openai:m", "m", Broken("http://localhost/v1"), Journal(tmp_path))
    with pytest.raises(type(error)):
        asked.one(requests(1)[0])
    assert total_spent(Journal(tmp_path)) == (counted, 0)


def test_a_second_ctrl_c_stops_a_request_at_once(tmp_path: Path) -> None:
    with serving(Behaviour(says=parrot, seconds=8)) as fake, showing(Quiet(), "", total=1, done=0):
        for seconds in (0.5, 1):
            threading.Timer(seconds, os.kill, [os.getpid(), signal.SIGINT]).start()
        start = time.monotonic()
        with pytest.raises(Interrupted):
            asking(fake, tmp_path).one(requests(1)[0])
        assert time.monotonic() - start < 6
    assert total_spent(Journal(tmp_path)) == (1, 0)


def test_equal_requests_are_asked_once() -> None:
    with serving(Behaviour(says=parrot)) as fake:
        said = asking(fake).all(requests(3) + requests(3))
        assert [reply.text for reply in said] == ["heard 0", "heard 1", "heard 2"] * 2
        assert fake.counted.calls == 3


def test_the_wait_that_a_server_asks_for_is_kept_by_all(tmp_path: Path) -> None:
    with serving(Behaviour(fault=in_turn("429 later"), says=parrot)) as fake:
        start = time.monotonic()
        asking(fake, concurrency=1).all(requests(2))
        assert time.monotonic() - start >= 0.05
        assert len(fake.counted.requests) == 3


@pytest.mark.parametrize(
    ("fault", "said", "times"),
    [
        ("429 hours", "429: not now; it asks to wait 7,200 seconds", 1),
        ("429 for ever", "429: not now; it asks to wait longer than a week: what", 1),
        ("quota", "refused the request (429): not now", 1),
        ("refused key", "the key in OPENAI_API_KEY is missing or refused (401)", 1),
        ("no model", "the server has no such model; it has judge, painter", 1),
        ("500", "500: not now (tried 10 times); what is done is kept", 10),
        ("html", "its response is unusable: it contains no reply: <html>Welcome", 10),
        ("other", 'it contains no reply: {"result": "fine"} (tried 10 times)', 10),
        ("200", "it contains no reply: upstream is down (tried 10 times)", 10),
        ("hang up", "the connection broke off", 10),
    ],
)
def test_what_does_not_pass_is_one_line(
    fault: str, said: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    with serving(Behaviour(fault=lambda: fault)) as fake:
        with pytest.raises(ModelError) as error:
            asking(fake, patience=USUAL).all(requests(1))
        assert len(fake.counted.requests) == times
    assert said in str(error.value)
    assert str(error.value).startswith("openai:m at 127.0.0.1:")
    assert "0123456789" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_server_that_was_never_reached_is_soon_given_up() -> None:
    with serving() as fake:
        nobody = asking(fake, concurrency=1)
    with pytest.raises(ModelError, match=r"cannot be reached .* \(tried 3 times\)"):
        nobody.all(requests(1))


def test_a_server_that_was_reached_may_come_back_late() -> None:
    with serving(Behaviour(fault=lambda: "hang up")) as fake:
        known = asking(fake, patience=USUAL)
        with pytest.raises(ModelError, match="broke off"):
            known.all(requests(1))
    with pytest.raises(ModelError, match=r"cannot be reached .* \(tried 10 times\)"):
        known.all(requests(1))


def test_what_was_in_flight_when_another_failed_is_stored(tmp_path: Path) -> None:
    def slowly(body: object) -> str:
        time.sleep(0.2)
        return "done"

    turn = in_turn(None, None, None, "no model")
    with serving(Behaviour(fault=turn, says=slowly)) as fake:
        with pytest.raises(ModelError, match="no such model"):
            asking(fake, tmp_path, concurrency=4).all(requests(20))
        assert fake.counted.calls == 3
        journal = Journal(tmp_path)
        assert total_spent(journal) == (3, 0)
        ask = asking(fake)
        assert sum(journal.find(ask.key(r)) is not None for r in requests(20)) == 3


def test_a_server_is_never_asked_for_more_at_a_time() -> None:
    with serving(Behaviour(says=parrot, seconds=0.02)) as fake:
        asking(fake, concurrency=3).all(requests(12))
        assert fake.counted.most_at_once == 3


def test_what_a_server_rejects_is_left_out_from_then_on(tmp_path: Path) -> None:
    turn = [Turn("user", "hello")]
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    rejects = ("max_tokens", "temperature", "logprobs", "response_format")
    with serving(Behaviour(rejects=rejects, says=lambda _: "B")) as fake:
        ask = asking(fake, tmp_path)
        assert ask.all([chat_request(turn, limit=9, schema=schema, logprobs=True)])[0].text == "B"
        last = fake.counted.requests[-1]
        assert last.keys().isdisjoint(rejects)
        assert last["max_completion_tokens"] == 9
        before = len(fake.counted.requests)
        asking(fake, tmp_path).all(requests(1))
        assert len(fake.counted.requests) == before + 1  # known to the next process, too
        assert fake.counted.calls == 2
        assert total_spent(Journal(tmp_path)) == (2, 0)


def test_a_complaint_about_something_else_ends_it() -> None:
    with (
        serving(Behaviour(rejects=("messages",))) as fake,
        pytest.raises(ModelError, match=r"refused the request \(400\): Unsupported .*messages"),
    ):
        asking(fake).all(requests(1))


def test_who_answered_is_counted(tmp_path: Path) -> None:
    with serving(Behaviour(says=parrot)) as fake:
        ask = asking(fake, tmp_path)
        ask.all(requests(3))
        assert ask.notes("chat", {}) == []
        about = f"chat {ask.fingerprint}"
        assert ask.journal.versions(about) == [("m-2026-01-01", "fp_1", 3)]
        with ask.journal._transaction(write=True) as connection:
            connection.execute("INSERT INTO heard VALUES (?, 'm-2026-02-02', 'fp_1', 2)", (about,))
        (note,) = ask.notes("chat", {})
        assert note.endswith("changed meanwhile: m-2026-01-01 (3), m-2026-02-02 (2)")


def test_failures_of_work_side_by_side() -> None:
    begun: Counter[int] = Counter()

    def work(number: int, stop: threading.Event) -> int:
        begun[number] += 1
        if number == 3:
            raise ValueError("three")
        if stop.wait(0.2 if number < 3 else 0):
            raise StoppedError
        return number

    with pytest.raises(ValueError, match="three"):
        run_side_by_side(work, range(100), 4)
    assert len(begun) < 10
    assert run_side_by_side(lambda n, _: n * n, range(50), 7) == [n * n for n in range(50)]
    assert run_side_by_side(lambda n, _: n, [], 7) == []
