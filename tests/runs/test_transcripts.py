"""Conversations with language models: kept word for word, and not had again."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from biasgraph.errors import InputError, ModelError
from biasgraph.models.base import Message
from biasgraph.models.json_chat import ReplyError
from biasgraph.models.registry import load_language_model
from biasgraph.prompts.instructions import Biases, instruction
from biasgraph.runs import transcripts
from biasgraph.runs.model_choice import llm_of
from biasgraph.runs.traced_images import TracedImages
from biasgraph.runs.transcripts import answer
from biasgraph.runs.word_answers import score_yes
from biasgraph.sandbox.proposer import ABOUT
from tests.fake_models import Variations

ASKED = [Message("user", "What may it mean?")]


@dataclass
class Writer:
    """Says what it was told to, one thing after the other."""

    says: Sequence[str]
    spec: str = "writer:one"
    fingerprint: str = "1"
    settings: Mapping[str, Any] = field(default_factory=dict)
    asked: int = 0

    def reply(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> str:
        self.asked += 1
        return self.says[(self.asked - 1) % len(self.says)]


def test_the_same_is_asked_once(tmp_path: Path) -> None:
    writer = Writer(['{"variations": ["a librarian in Oslo"]}'])
    first = answer(tmp_path, "variations", writer, ASKED, Variations)
    assert first == answer(tmp_path, "variations", writer, ASKED, Variations)
    assert writer.asked == 1
    answer(tmp_path, "variations", writer, [Message("user", "And now?")], Variations)
    answer(tmp_path, "others", writer, ASKED, Variations)
    answer(tmp_path, "variations", Writer(writer.says, fingerprint="2"), ASKED, Variations)
    assert writer.asked == 3
    assert len(list((tmp_path / "transcripts").iterdir())) == 4


def test_a_transcript_says_who_said_what(tmp_path: Path) -> None:
    proposer = load_language_model("sandbox")
    asked = [
        Message("system", instruction("openbias", "system")),
        Message("user", instruction("openbias", "prompt", prompt="a dog")),
    ]
    found = answer(tmp_path, "proposals", proposer, asked, Biases)
    (path,) = (tmp_path / "transcripts").glob("proposals-*.json")
    record = json.loads(path.read_text("utf-8"))
    assert record["model"]["spec"] == "sandbox"
    assert record["model"]["settings"]["written_by"] == ABOUT
    assert [turn["role"] for turn in record["turns"]] == ["system", "user", "assistant"]
    assert record["value"] == found.model_dump(mode="json")
    assert transcripts.describe_writer(proposer) == f"sandbox ({ABOUT})"


def test_what_comes_to_nothing_is_kept_too(tmp_path: Path) -> None:
    writer = Writer(["I would rather not.\x9b31m\u202e", "[]", '{"variations": []}'])
    line = r"the transcript is in .*variations-\w{8}-failed.json$"
    with pytest.raises(ReplyError, match=line) as raised:
        answer(tmp_path, "variations", writer, ASKED, Variations)
    (path,) = (tmp_path / "transcripts").iterdir()
    assert raised.value.in_run.endswith(f"the transcript is in transcripts/{path.name}")
    written = path.read_text("utf-8")
    assert "\x9b" not in written
    assert "\u202e" not in written  # nor anything else that a terminal would obey
    record = json.loads(written)
    said = [turn["text"] for turn in record["turns"] if turn["role"] == "assistant"]
    assert said == list(writer.says)
    assert "no usable reply in 3 attempts" in record["failed"]
    with pytest.raises(ReplyError):  # a failure is no answer
        answer(tmp_path, "variations", writer, ASKED, Variations)
    assert writer.asked == 6
    writer.says = ['["a librarian in Oslo"]']
    answer(tmp_path, "variations", writer, ASKED, Variations)
    answer(tmp_path, "variations", writer, ASKED, Variations)
    assert writer.asked == 7


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"key": 1}', b"\xff", b'{"value": {"variations": []}}', b"[" * 100_000],
)
def test_a_damaged_transcript_is_none(tmp_path: Path, content: bytes) -> None:
    writer = Writer(['["a librarian in Oslo"]'])
    answer(tmp_path, "variations", writer, ASKED, Variations)
    (path,) = (tmp_path / "transcripts").iterdir()
    whole = path.read_bytes()
    path.write_bytes(content)
    answer(tmp_path, "variations", writer, ASKED, Variations)
    assert writer.asked == 2
    assert path.read_bytes() == whole


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_in_its_place_is_none(tmp_path: Path) -> None:
    writer = Writer(['["a librarian in Oslo"]'])
    answer(tmp_path, "variations", writer, ASKED, Variations)
    (path,) = (tmp_path / "transcripts").iterdir()
    path.unlink()
    os.mkfifo(path)
    answer(tmp_path, "variations", writer, ASKED, Variations)
    assert writer.asked == 2 and path.is_file()


def test_another_conversation_of_the_same_name_is_none(tmp_path: Path) -> None:
    writer = Writer(['["a librarian in Oslo"]'])
    answer(tmp_path, "variations", writer, ASKED, Variations)
    (path,) = (tmp_path / "transcripts").iterdir()
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "key": record["key"][:-1] + "x"}))
    answer(tmp_path, "variations", writer, ASKED, Variations)
    assert writer.asked == 2


def test_who_is_asked() -> None:
    assert llm_of("sandbox:debiased", None, "it") == "sandbox"
    assert llm_of("diffusers:some/model", "sandbox", "it") == "sandbox"
    with pytest.raises(InputError, match=r"^--axes llm needs a language model: .*--llm lm:.*"):
        llm_of("diffusers:some/model", None, "--axes llm")
    with pytest.raises(InputError, match="needs a language model"):
        llm_of(None, None, "it")
    with pytest.raises(InputError, match="the bare sandbox"):
        load_language_model("sandbox:stereotyped")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "transcripts").write_text("a file")
    with pytest.raises(ModelError, match="cannot work in"):
        answer(tmp_path, "variations", Writer(['["a dog"]']), ASKED, Variations)


class Doubter(Writer):
    """Says yes to every second text."""

    def yes_probability(self, messages: Sequence[Message]) -> float:
        self.asked += 1
        return float(self.asked % 2)


@pytest.mark.parametrize("shares", [[0.5], [1.0, "x"], [1.0, 2.0], [1.0, 1e999], {}])
def test_shares_that_nobody_can_have_said_are_asked_again(tmp_path: Path, shares: object) -> None:
    model = Doubter([])
    assert score_yes(tmp_path, model, model, ["a", "b"]) == [1.0, 0.0]
    assert score_yes(tmp_path, model, model, ["a", "b"]) == [1.0, 0.0] and model.asked == 2
    (path,) = (tmp_path / "transcripts").iterdir()
    record = json.loads(path.read_text())
    record["value"]["shares"] = shares
    path.write_text(json.dumps(record))
    assert score_yes(tmp_path, model, model, ["a", "b"]) == [1.0, 0.0] and model.asked == 4


SCORES = {"spans": {"clip": [[0, 1], [2, 6]]}, "scores": {"released": {"clip": [0.5, 0.25]}}}


@pytest.mark.parametrize(
    "said",
    [
        "no JSON",
        "[]",
        json.dumps({"likeliest": SCORES}),
        json.dumps({"likeliest": SCORES, "random": {**SCORES, "spans": {}}}),
        json.dumps({"likeliest": SCORES, "random": {**SCORES, "spans": {"clip": [[0], [2, 6]]}}}),
        json.dumps({"likeliest": SCORES, "random": {**SCORES, "scores": {"l1": {}}}}),
        json.dumps({"likeliest": SCORES, "random": SCORES}).replace("0.25", "NaN"),
        "[" * 100_000,
    ],
)
def test_scores_in_a_ledger_that_somebody_wrote_into_are_refused(tmp_path: Path, said: str) -> None:
    run: Any = SimpleNamespace(directory=tmp_path)
    nobody: Any = None
    images = TracedImages(run, nobody, nobody, (), every=1, released=True)
    whole = json.dumps({"likeliest": SCORES, "random": SCORES})
    assert images._read(whole)["random"].scores == {"released": {"clip": (0.5, 0.25)}}
    with pytest.raises(InputError, match=r"ledger\.sqlite is damaged"):
        images._read(said)
