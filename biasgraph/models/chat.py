"""Asking a language model for JSON: its reply is checked, and asked for again a few times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from biasgraph.errors import ModelError
from biasgraph.models.base import LanguageModel, Message
from biasgraph.models.reading import Schema, Unreadable, read_reply, shortened, without_thoughts

ATTEMPTS = 3
REPEATED = 4_000
"""Characters of a wrong reply that the model is shown again: a context window is finite."""
SHOWN = 160
"""Characters of a reply that an error shows."""

Turn = Mapping[str, Any]


@dataclass(frozen=True)
class Exchange(Generic[Schema]):
    """What was asked, what came back, and what was read from it.

    Attributes:
        value: the reply, checked.
        transcript: every turn in order, in JSON types: ``role``, ``text``; a reply also names its
            ``model`` (``spec``, ``fingerprint``, ``settings``) and, where it did not do, the
            ``problem``.
    """

    value: Schema
    transcript: tuple[Turn, ...]


class ReplyError(ModelError):
    """No reply did; `transcript` has all of them, as in `Exchange`."""

    def __init__(self, message: str, transcript: tuple[Turn, ...]) -> None:
        super().__init__(message)
        self.transcript = transcript


def chat(
    model: LanguageModel,
    messages: Sequence[Message],
    schema: type[Schema],
    attempts: int = ATTEMPTS,
) -> Exchange[Schema]:
    """Continue a conversation with a reply that fits a schema.

    messages: the conversation; a user's turn is the last. The schema is put behind it in words,
    since not every model can be held to it, and some servers ignore it silently. A wrong reply is
    shown to the model again with what is wrong with it, the last one only.

    Raises:
        ReplyError: none of so many attempts did; one line with what came back last.
        BiasgraphError: what the model itself raises.
    """
    form = schema.model_json_schema()
    asked = [*messages[:-1], Message("user", f"{messages[-1].text}\n\n{_in_words(form)}")]
    transcript: list[Turn] = [_turn(message) for message in asked]
    correction: list[Message] = []
    for attempt in range(1, attempts + 1):
        reply = model.reply([*asked, *correction], form)
        try:
            value = read_reply(reply, schema)
        except Unreadable as error:
            transcript.append(_replied(model, reply, str(error)))
            if attempt == attempts:
                raise ReplyError(
                    _failure(model, reply, str(error), attempts), tuple(transcript)
                ) from error
            correction = _correction(reply, str(error))
            transcript.append(_turn(correction[-1]))
        else:
            transcript.append(_replied(model, reply))
            return Exchange(value, tuple(transcript))
    raise ValueError("a conversation needs at least one attempt")


def _in_words(form: Mapping[str, Any]) -> str:
    return (
        "Reply with JSON only, without any other words, that fits this JSON schema:\n"
        + json.dumps(form)
    )


def _correction(reply: str, problem: str) -> list[Message]:
    """The wrong reply, and the request to do better."""
    return [
        Message("assistant", without_thoughts(reply).strip()[:REPEATED] or "(nothing)"),
        Message(
            "user",
            f"This does not fit: {problem}. Reply again with JSON only, that fits the JSON schema.",
        ),
    ]


def _failure(model: LanguageModel, reply: str, problem: str, attempts: int) -> str:
    tries = "one attempt" if attempts == 1 else f"{attempts} attempts"
    said = f"it said: '{shortened(reply.strip(), SHOWN)}'" if reply.strip() else "it said nothing"
    return f"{shortened(model.spec, SHOWN)} gave no usable reply in {tries}: {problem}; {said}"


def _turn(message: Message) -> Turn:
    return {"role": message.role, "text": message.text}


def _replied(model: LanguageModel, reply: str, problem: str | None = None) -> Turn:
    turn: dict[str, Any] = {
        **_turn(Message("assistant", reply)),
        "model": {
            "spec": model.spec,
            "fingerprint": model.fingerprint,
            "settings": dict(model.settings),
        },
    }
    return turn if problem is None else {**turn, "problem": problem}
