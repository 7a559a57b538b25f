"""The journal: exact under threads, whole after a kill, clear when the file is not."""

from __future__ import annotations

import gc
import os
import sqlite3
import threading
import zlib
from pathlib import Path

import pytest

from biasgraph.errors import InputError, ModelError
from biasgraph.models.openai.budget import Budget
from biasgraph.models.openai.journal import FILE, BudgetSpent, Journal
from biasgraph.models.openai.server import Response
from tests.openai_server import total_spent


def store(journal: Journal, key: str, body: bytes = b"{}", images: int = 0) -> None:
    ticket = journal.reserve(key, images, Budget())
    journal.store(ticket, Response(200, body), asked="{}", about="chat m", heard=("m", "fp"))


def close(journal: Journal) -> None:
    """Close its file; the next use opens it again."""
    journal._connection().close()
    journal._opened = None


def test_a_response_is_there_for_the_next_process(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run" / "responses")
    assert not journal.begun
    assert journal.find("a") is None
    store(journal, "a", b"x" * 100_000)
    close(journal)
    again = Journal(tmp_path / "run" / "responses")
    assert again.begun
    assert again.find("a") == Response(200, b"x" * 100_000)
    assert again.identity == journal.identity
    assert total_spent(again) == (1, 0)
    assert again.versions("chat m") == [("m", "fp", 1)]


def test_a_journal_that_nobody_holds_leaves_no_file_open(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    store(journal, "a")
    assert (tmp_path / f"{FILE}-wal").exists()
    del journal
    gc.collect()
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_journals_in_memory_are_apart() -> None:
    one, other = Journal(None), Journal(None)
    store(one, "a", images=1)
    assert other.find("a") is None
    assert (total_spent(one), total_spent(other)) == ((1, 1), (0, 0))
    assert one.identity != other.identity


def test_the_budget_is_exact_among_threads_and_connections(tmp_path: Path) -> None:
    """16 threads on two connections to one file reserve 400 times; 100 may."""
    journals = [Journal(tmp_path), Journal(tmp_path)]
    granted: list[int] = []
    refused: list[BudgetSpent] = []

    def reserve(journal: Journal) -> None:
        for _ in range(25):
            try:
                granted.append(journal.reserve("k", 2, Budget(calls=100, images=500)))
            except BudgetSpent as error:
                refused.append(error)

    threads = [threading.Thread(target=reserve, args=(journals[i % 2],)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(granted), len(refused)) == (100, 300)
    assert len(set(granted)) == 100
    assert total_spent(journals[0]) == total_spent(journals[1]) == (100, 200)
    assert "budget of 100 calls is spent" in str(refused[0])


def test_what_was_free_is_given_back_and_what_was_lost_is_not(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    budget = Budget(images=2)
    journal.settle(journal.reserve("a", 1, budget), "429", charged=False)
    journal.settle(journal.reserve("a", 1, budget), "cut", charged=True)
    journal.reserve("a", 1, budget)  # in flight: it counts
    with pytest.raises(BudgetSpent, match="budget of 2 images"):
        journal.reserve("a", 1, budget)
    journal.reserve("chat", 0, budget)  # makes no image
    assert total_spent(journal) == (3, 2)


def test_a_request_in_flight_counts_after_the_process_died(tmp_path: Path) -> None:
    Journal(tmp_path).reserve("a", 1, Budget(images=1))  # and no word of what became of it
    with pytest.raises(BudgetSpent):
        Journal(tmp_path).reserve("a", 1, Budget(images=1))


def test_what_was_learned_is_kept_by_model(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.learn("chat a", "no seed")
    journal.learn("chat a", "no seed")
    assert journal.facts("chat a") == {"no seed"}
    assert journal.facts("chat b") == frozenset()


def test_a_forgotten_response_is_asked_for_anew(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    store(journal, "a")
    journal.forget("a")
    assert journal.find("a") is None
    assert total_spent(journal) == (1, 0)


def test_a_file_of_another_kind_is_one_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database at all" * 100)
    with pytest.raises(ModelError, match=r"cannot keep responses in .*not a database"):
        Journal(tmp_path).find("a")
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot keep responses"):
        Journal(tmp_path / "file").find("a")


def test_a_damaged_response_is_one_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    store(journal, "a")
    close(journal)
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("UPDATE responses SET body = x'0011'")
    connection.close()
    with pytest.raises(ModelError, match="cannot keep responses"):
        Journal(tmp_path).find("a")


def test_a_newer_journal_is_refused(tmp_path: Path) -> None:
    Journal(tmp_path).find("a")
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(InputError, match="newer biasgraph"):
        Journal(tmp_path).find("a")


def test_a_full_disk_is_one_line_and_costs_nothing_that_is_stored(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    store(journal, "a")
    journal._connection().execute("PRAGMA max_page_count = 20")
    with pytest.raises(ModelError, match=r"full.*what is stored is kept"):
        store(journal, "b", os.urandom(200_000))
    assert journal.find("a") is not None
    assert journal.find("b") is None
    assert total_spent(journal) == (2, 0)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE responses SET body = 'text'",
        "UPDATE responses SET status = 'ok'",
        "DELETE FROM spent",
        "UPDATE spent SET calls = -5",
        "INSERT INTO spent VALUES (0, 0)",
        "DELETE FROM journal",
        "UPDATE heard SET responses = 'many'",
        "UPDATE learned SET fact = x'00'",
        "UPDATE requests SET images = 'one'",
        "DROP TABLE learned",
    ],
)
def test_a_file_that_somebody_wrote_into_is_refused(tmp_path: Path, damage: str) -> None:
    journal = Journal(tmp_path)
    store(journal, "a")
    journal.learn("chat m", "no seed")
    journal._connection().execute(damage)
    close(journal)
    with pytest.raises(ModelError, match="cannot keep responses"):
        Journal(tmp_path).find("a")


@pytest.mark.parametrize(
    "body", [b"no zip", zlib.compress(b"{}")[:-3], zlib.compress(bytes(2**28))]
)
def test_a_stored_body_is_never_larger_than_what_a_server_may_send(
    tmp_path: Path, body: bytes
) -> None:
    journal = Journal(tmp_path)
    store(journal, "a")
    journal._connection().execute("UPDATE responses SET body = ?", (body,))
    with pytest.raises(ModelError, match="cannot keep responses"):
        journal.find("a")
