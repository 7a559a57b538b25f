"""Conversations with a served language model, and the schema they are held to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from biasgraph.errors import ModelError
from biasgraph.models.base import LanguageModel, Message
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.json_chat import BrokenOff, ReplyError, chat
from biasgraph.models.openai.completions import make_strict, read_chat
from biasgraph.models.openai.served_model import MalformedResponse
from biasgraph.models.openai.server import Response
from biasgraph.models.registry import load_language_model
from biasgraph.runs.transcripts import answer
from tests.openai_server import Behaviour, FakeServer, serving

ASKED = [Message("user", "Name an axis and its default.")]


class Proposal(BaseModel):
    name: str
    default: str = "none"


def model(fake: FakeServer) -> LanguageModel:
    return load_language_model("openai:talker", ModelOptions(base_url=fake.base_url))


def test_a_reply_by_schema() -> None:
    with serving(Behaviour(says=lambda _: '{"name": "age", "default": "old"}')) as fake:
        assert chat(model(fake), ASKED, Proposal).value == Proposal(name="age", default="old")
        form = fake.counted.requests[0]["response_format"]["json_schema"]
    assert form["schema"]["required"] == ["name", "default"]
    assert form["schema"]["additionalProperties"] is False


def test_a_server_that_ignores_the_schema_is_asked_again() -> None:
    def careless(body: Mapping[str, Any]) -> str:
        return "Sure! Age." if len(body["messages"]) == 1 else 'Here: {"name": "age"}'

    with serving(Behaviour(says=careless)) as fake:
        exchange = chat(model(fake), ASKED, Proposal)
        assert exchange.value == Proposal(name="age")
        assert fake.counted.calls == 2
        assert "problem" in exchange.transcript[1]
    with serving(Behaviour(says=lambda _: "never")) as fake:
        with pytest.raises(ModelError, match="no usable reply in 3 attempts"):
            chat(model(fake), ASKED, Proposal)
        assert fake.counted.calls == 3


def test_what_did_not_do_is_asked_anew_by_the_next_command(tmp_path: Path) -> None:
    replies = ["never", "never", "no"]  # twice the same, and so twice the same correction

    def ask() -> Proposal:
        how = ModelOptions(base_url=fake.base_url)
        served = load_language_model("openai:talker", how, tmp_path / "journal")
        return answer(tmp_path, "axes", served, ASKED, Proposal)

    with serving(Behaviour(says=lambda _: replies[fake.counted.calls % 3])) as fake:
        for calls in (3, 6):
            with pytest.raises(ReplyError, match=r"the transcript is in .*failed\.json") as raised:
                ask()
            with pytest.raises(ReplyError):
                ask()  # a command that goes on without a reply does not pay for it again
            assert fake.counted.calls == calls
            raised.value.forget()
        replies[:] = ['{"name": "age"}'] * 3
        assert ask() == ask() == Proposal(name="age")
        assert fake.counted.calls == 7


def test_a_conversation_that_broke_off_goes_on(tmp_path: Path) -> None:
    def ask(calls: int) -> Proposal:
        how = ModelOptions(base_url=fake.base_url, budget=f"calls={calls}")
        served = load_language_model("openai:talker", how, tmp_path / "journal")
        return answer(tmp_path, "axes", served, ASKED, Proposal)

    with serving(Behaviour(says=lambda _: "no")) as fake:
        with pytest.raises(BrokenOff, match=r"budget of 2 calls .*failed\.json") as raised:
            ask(2)
        assert not isinstance(raised.value, ReplyError)
        (path,) = (tmp_path / "transcripts").iterdir()
        assert path.read_text("utf-8").count('"problem"') == 2
        with pytest.raises(ReplyError):
            ask(3)
        assert fake.counted.calls == 3


def test_a_server_without_schemas_gets_the_words_alone() -> None:
    with serving(Behaviour(says=lambda _: '{"name": "age"}', rejects=("response_format",))) as fake:
        assert chat(model(fake), ASKED, Proposal).value.name == "age"
        assert "response_format" not in fake.counted.requests[-1]
        assert fake.counted.requests[1]["response_format"] == {"type": "json_object"}


def test_strictness_reaches_every_object_and_no_name() -> None:
    class Inner(BaseModel):
        default: int = 5
        properties: list[str] = []

    class Outer(BaseModel):
        inner: list[Inner]
        choice: Inner | None = None

    found = make_strict(Outer.model_json_schema())
    inner = found["$defs"]["Inner"]
    assert inner["required"] == ["default", "properties"]
    assert set(inner["properties"]) == {"default", "properties"}
    assert "default" not in inner["properties"]["default"]
    assert found["required"] == ["inner", "choice"]
    assert "default" not in found["properties"]["choice"]
    assert Outer.model_json_schema()["required"] == ["inner"]  # the original is as it was


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [{}]},
        {"choices": [{"message": "text"}]},
        {"choices": [{"message": {"content": 5}}]},
    ],
)
def test_what_holds_no_reply_is_garbled(document: object) -> None:
    with pytest.raises(MalformedResponse):
        read_chat(Response(200, json.dumps(document).encode()))


def test_replies_in_parts_and_probabilities_of_another_form() -> None:
    parts = [{"type": "text", "text": "B"}, {"type": "other"}, 5, {"text": 5}, {"text": "."}]
    for logprobs in (None, [], {"content": "?"}, {"content": [5]}, {"tokens": ["B"]}, 7, "x"):
        choice = {"message": {"content": parts}, "logprobs": logprobs}
        said = read_chat(Response(200, json.dumps({"choices": [choice]}).encode()))
        assert (said.text, said.tokens) == ("B.", ())
