"""A whole build on a server, through the command line: killed, resumed, paid for once."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from biasgraph.models.openai import CONCURRENCY
from biasgraph.models.openai.journal import FILE
from tests.forked import biasgraph
from tests.openai_server import Behaviour, FakeServer, faults, serving

KEY = "sk-test-0123456789abcdef"
PROGRAM = (sys.executable, "-m", "biasgraph")
IMAGES, QUESTIONS, ORDERS = 6 * 3, 3, 3
"""A nurse, 2 genders and 3 ages, three each; gender, age and the gate, in three orders."""
CALLS = IMAGES + IMAGES * QUESTIONS * ORDERS


def command(fake: FakeServer, directory: Path, *more: str) -> list[str]:
    return [
        *("build", "--prompt", "a nurse"),
        *("--only", "gender,age", "--images", "3", "--controls", "0", "-o", str(directory)),
        *("--model", "openai:painter", "--vqa", "openai:judge", "--base-url", fake.base_url),
        *("--min-valid", "1", "--bootstrap", "100", *more),
    ]


def environment(**more: str) -> dict[str, str]:
    # What coverage and other parents put there must not be taken for the builder's own key.
    return {**os.environ, "OPENAI_API_KEY": KEY, **more}


def build(arguments: Sequence[str], **more: str) -> subprocess.CompletedProcess[str]:
    words = [*PROGRAM, *arguments]
    return subprocess.run(words, env=environment(**more), capture_output=True, text=True)


def answers(directory: Path) -> list[str]:
    return (directory / "answers.csv").read_text().splitlines()


def start(arguments: Sequence[str]) -> subprocess.Popen[bytes]:
    silent = subprocess.DEVNULL
    words = [*PROGRAM, *arguments]
    return subprocess.Popen(words, env=environment(), stdout=silent, stderr=silent)


@dataclass(frozen=True)
class Undisturbed:
    """A build on a server that repeats the key in every body, and a build that it refuses."""

    directory: Path
    answers: list[str]
    screens: str
    refusal: str


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    directory = tmp_path_factory.mktemp("undisturbed") / "run"
    with serving(Behaviour(echo=True, revises=True)) as fake:
        done = biasgraph(*command(fake, directory), OPENAI_API_KEY=KEY, OPENAI_LOG="debug")
        assert done.returncode == 0, done.stderr
        assert (fake.counted.calls, fake.counted.images) == (CALLS, IMAGES)
        assert fake.counted.keys == {f"Bearer {KEY}"}
        table = answers(directory)
        fake.behaviour.fault = lambda: "refused key"
        more = command(fake, directory, "--images", "4")
        refused = biasgraph(*more, OPENAI_API_KEY=KEY, OPENAI_LOG="debug")
        assert refused.returncode == 1
    screens = "".join((done.stdout, done.stderr, refused.stdout, refused.stderr))
    return Undisturbed(directory, table, screens, refused.stderr)


@pytest.mark.slow(reason="six programs; models/openai tries each part: journal, budget, faults")
def test_killed_and_out_of_budget_and_resumed_nothing_is_paid_for_twice(
    undisturbed: Undisturbed, tmp_path: Path
) -> None:
    """Killed among the images, out of budget among the answers, with faults all along."""
    directory = tmp_path / "run"
    storm = faults(0.1, ("429", "500", "503 later"))
    with serving(Behaviour(fault=storm, seconds=0.02)) as fake:
        planned = build(command(fake, directory, "--dry-run"))
        assert f"about {CALLS} requests to servers; --budget calls={CALLS}" in planned.stdout
        assert not fake.counted.requests
        killed = start(command(fake, directory))
        while fake.counted.calls < IMAGES // 2:
            assert killed.poll() is None
            time.sleep(0.005)
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert fake.counted.calls < IMAGES
        short = build(command(fake, directory, "--budget", "calls=90"))
        assert short.returncode == 1
        assert "the budget of 90 calls is spent" in short.stderr
        # What was in flight when it was killed counts, though it may be asked for again.
        assert 90 - CONCURRENCY <= fake.counted.calls <= 90
        done = build(command(fake, directory, "--budget", f"calls={CALLS + CONCURRENCY}"))
        assert done.returncode == 0, done.stderr
        assert answers(directory) == undisturbed.answers
        assert fake.counted.calls == len(fake.counted.charged) == CALLS
        assert fake.counted.images == IMAGES
    # The server is gone: nothing is asked, and nothing heavy is loaded.
    again = build(command(fake, directory), PYTHONPROFILEIMPORTTIME="1")
    assert again.returncode == 0, again.stderr
    imported = {line.rpartition("|")[2].strip() for line in again.stderr.splitlines()}
    assert "biasgraph.models.openai.journal" in imported
    assert imported.isdisjoint({"openai", "torch", "transformers", "diffusers"})


def test_the_key_is_in_no_file_and_on_no_screen(undisturbed: Undisturbed) -> None:
    directory = undisturbed.directory
    assert "the key in OPENAI_API_KEY is missing or refused (401)" in undisturbed.refusal
    assert "Incorrect API key: Bearer [key]" in undisturbed.refusal
    files = [file for file in directory.rglob("*") if file.is_file()]
    assert len(files) > 10
    contents = [file.read_bytes() for file in files]
    with closing(sqlite3.connect(directory / "responses" / FILE)) as journal:
        bodies = [body for (body,) in journal.execute("SELECT body FROM responses")]
    contents += [zlib.decompress(body) for body in bodies]
    assert sum(b"Bearer [key]" in content for content in contents) >= CALLS
    for secret in (KEY, KEY[3:]):
        assert secret not in undisturbed.screens
        assert not any(secret.encode() in content for content in contents)


def test_rewritten_prompts_are_counted_and_told(undisturbed: Undisturbed) -> None:
    graph = json.loads((undisturbed.directory / "graph.json").read_text())["graph"]
    assert graph["rewritten_prompts"] == IMAGES
    assert any("rewrote the prompts" in note for note in graph["notes"])
