"""JSON out of what language models say: what is read, what is asked for again, and when it ends."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, RootModel

from biasgraph.errors import ModelError
from biasgraph.models.base import CannotContinue, Message
from biasgraph.models.json_chat import ATTEMPTS, BrokenOff, ReplyError, chat
from biasgraph.models.json_replies import LONGEST_REPLY, Unreadable, read_reply
from biasgraph.prompts.instructions import Biases, Counterfactuals
from tests.fake_models import Variations


class Person(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str
    ages: tuple[int, ...] = ()


class Table(RootModel[dict[str, list[str]]]):
    pass


@dataclass
class Parrot:
    """Says what it was given, turn by turn; remembers what it was asked."""

    says: list[str | ModelError]
    heard: list[list[Message]] = field(default_factory=list)
    spec: str = "parrot:\x1b[31m"
    fingerprint: str = "feathers"
    settings: dict[str, object] = field(default_factory=lambda: {"decoding": "greedy"})

    def reply(self, messages: Sequence[Message], schema: object = None) -> str:
        self.heard.append(list(messages))
        said = self.says.pop(0)
        if isinstance(said, ModelError):
            raise said
        return said


ASK = [Message("system", "be brief"), Message("user", "who?")]


@pytest.mark.parametrize(
    "reply",
    [
        '{"name": "Ada", "ages": [36]}',
        '  \ufeff\n{"ages": [36],\n "name": "Ada"}\n',
        '```json\n{"name": "Ada", "ages": [36]}\n```',
        'Certainly! [1] Here {you} go:\n```\n{"name": "Ada", "ages": [36]}\n```\nAnything else?',
        '<think>say {"name": "Bob", "ages": [1, 2, 3]}?</think>{"name": "Ada", "ages": [36]}',
        '{"name": "Eve"} is shorter than {"name": "Ada", "ages": [36]}, and [ never ends',
        '{"answer": "no"} {"name": "Ada", "ages": [36]}',
    ],
)
def test_the_longest_value_that_fits_is_read(reply: str) -> None:
    assert read_reply(reply, Person) == Person(name="Ada", ages=(36,))


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "no JSON"),
        ("I cannot help with that.", "no JSON"),
        ('<think>perhaps {"name": "Ada"}? Let me see', "ends before its thoughts do"),
        ('{"name": "Ada", "ages": [36', "ends too early"),
        ('{"name": "Ad', "ends too early"),
        ("{'name': 'Ada'}", "broken: Expecting property name"),
        ('{"name": "Ada",}', "broken: "),
        ('{"name": "Ada", "name": "Eve"}', "the key 'name' appears twice"),
        ('{"name": NaN}', "NaN is not a JSON number"),
        ('{"name": 3}', "name: Input should be a valid string"),
        ('{"nom": "Ada"}', "name: Field required"),
        ('{"name": "\\ud800"}', "Invalid JSON"),
        ("[" * 50_000, "nested too deeply"),
        ('{"name": ' + "9" * 5_000 + "}", "broken"),
        ("x" * (LONGEST_REPLY + 1), "at most 200,000 are read"),
        ('"Ada"', "no JSON"),
    ],
)
def test_what_is_wrong_with_a_reply_is_said(reply: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_reply(reply, Person)


def test_a_part_of_a_cut_off_table_is_not_taken_for_it() -> None:
    with pytest.raises(Unreadable, match="ends too early"):
        read_reply('{"outer": {"gender": ["male"]}, "age": ["yo', Table)
    assert read_reply('{"gender": ["male"]}', Table).root == {"gender": ["male"]}


def test_a_bare_list_is_the_one_field_of_a_schema() -> None:
    assert read_reply('Sure: ["a nurse", "a chef"]', Variations).variations == ["a nurse", "a chef"]
    with pytest.raises(Unreadable, match="object"):
        read_reply('["a nurse"]', Table)


def test_replies_full_of_brackets_are_read_quickly() -> None:
    begun = time.perf_counter()
    for filling in ("[", "{", "[1,", '{"a":', "[]", "{} "):
        with pytest.raises(Unreadable):
            read_reply((filling * LONGEST_REPLY)[:LONGEST_REPLY], Person)
    assert time.perf_counter() - begun < 10


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    for schema in (Person, Table, Biases, Counterfactuals, Variations):
        try:
            read_reply(text, schema)
        except Unreadable as problem:
            assert "\n" not in str(problem)


def test_the_schema_is_said_in_words_and_the_exchange_is_written_down() -> None:
    parrot = Parrot(['{"name": "Ada"}'])
    exchange = chat(parrot, ASK, Person)
    assert exchange.value.name == "Ada"
    asked = parrot.heard[0]
    assert asked[0] == ASK[0]
    assert asked[1].text.startswith("who?\n\n")
    assert json.dumps(Person.model_json_schema()) in asked[1].text
    assert json.loads(json.dumps(exchange.transcript)) == [
        {"role": "system", "text": "be brief"},
        {"role": "user", "text": asked[1].text},
        {
            "role": "assistant",
            "text": '{"name": "Ada"}',
            "model": {
                "spec": "parrot:\x1b[31m",
                "fingerprint": "feathers",
                "settings": {"decoding": "greedy"},
            },
        },
    ]


def test_a_wrong_reply_goes_back_with_its_problem() -> None:
    parrot = Parrot(["", "x" * 10_000, '{"name": "Ada"}'])
    exchange = chat(parrot, ASK, Person)
    assert exchange.value.name == "Ada"
    assert [len(heard) for heard in parrot.heard] == [2, 4, 4]  # the last wrong reply only
    assert parrot.heard[1][2:] == [
        Message("assistant", "(nothing)"),
        Message(
            "user",
            "This does not fit: there is no JSON in it. Reply again with JSON only, that fits the "
            "JSON schema.",
        ),
    ]
    assert len(parrot.heard[2][2].text) == 4_000
    problems = [turn.get("problem") for turn in exchange.transcript if turn["role"] == "assistant"]
    assert problems == ["there is no JSON in it"] * 2 + [None]
    assert [turn["role"] for turn in exchange.transcript[1:]] == ["user", "assistant"] * 3


def test_thoughts_are_not_shown_to_the_model_again() -> None:
    parrot = Parrot(["<think>hm, {}</think>no", "<think>hm", '{"name": "Ada"}'])
    chat(parrot, ASK, Person)
    assert [heard[2].text for heard in parrot.heard[1:]] == ["no", "(nothing)"]


def test_attempts_end_with_one_line_and_keep_the_transcript() -> None:
    parrot = Parrot(["no", "no", "As\nan \x1bassistant, " + "I must decline " * 100])
    with pytest.raises(ReplyError) as raised:
        chat(parrot, ASK, Person)
    message = str(raised.value)
    assert raised.value.exit_code == 1
    assert message.startswith(
        "parrot:\\x1b[31m gave no usable reply in 3 attempts: there is no JSON"
    )
    assert "As\\nan \\x1bassistant" in message
    assert len(message) < 400 and message.isprintable()
    assert len(raised.value.transcript) == 2 + 2 * ATTEMPTS - 1
    assert parrot.says == []
    with pytest.raises(ReplyError, match="in one attempt: there is no JSON in it; it said nothing"):
        chat(Parrot([" "]), ASK, Person, attempts=1)


def test_no_room_to_ask_again_is_no_reply() -> None:
    parrot = Parrot(["I must decline", CannotContinue("it reads 8 tokens")])
    with pytest.raises(ReplyError, match=r"in one attempt.*I must decline.*it reads 8") as raised:
        chat(parrot, ASK, Person)
    assert [turn["role"] for turn in raised.value.transcript] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    with pytest.raises(CannotContinue):  # from the beginning: nothing was said that could be kept
        chat(Parrot([CannotContinue("it reads 8 tokens")]), ASK, Person)


def test_a_failure_between_attempts_keeps_what_was_said() -> None:
    with pytest.raises(BrokenOff, match=r"^the network is down$") as raised:
        chat(Parrot(["no", ModelError("the network is down")]), ASK, Person)
    assert not isinstance(raised.value, ReplyError)  # the rerun goes on; nobody is passed over
    assert raised.value.transcript[2]["text"] == "no"


@pytest.mark.parametrize(
    ("schema", "value", "problem"),
    [
        (Biases, [], "at least 1 item"),
        (Biases, {"biases": [{"name": "x"}]}, "Field required"),
        (Biases, [{"name": "x", "classes": ["a"], "question": "?", "present_in_prompt": 1}], "2"),
        (
            Biases,
            [
                {
                    "name": "size",
                    "classes": [f"class {i}" for i in range(500)],
                    "question": "?",
                    "present_in_prompt": False,
                }
            ],
            "at most 30 items",
        ),
        (
            Biases,
            [{"name": "x", "classes": ["A", "a "], "question": "?", "present_in_prompt": False}],
            "contains an entry twice",
        ),
        (Counterfactuals, {}, "at least 1 item"),
        (Counterfactuals, {"gender": []}, "at least 1 item"),
        (Counterfactuals, {"gender": ["x"], "Gender": ["y"]}, "contains an entry twice"),
        (Counterfactuals, {"gender": ["x", "x"]}, "contains an entry twice"),
        (Counterfactuals, {"gender": ["a\x1b[2Jb"]}, "control characters"),
        (Counterfactuals, {"gender": "a male nurse"}, "valid array"),
        (Variations, ["x"] * 3, "contains an entry twice"),
        (Variations, [f"x {i}" for i in range(65)], "at most 64 items"),
        (Variations, {"variants": ["x"]}, "Field required"),
    ],
)
def test_forms_refuse_what_no_audit_can_use(
    schema: type[BaseModel], value: object, problem: str
) -> None:
    with pytest.raises(Unreadable, match=problem):
        read_reply(json.dumps(value), schema)
