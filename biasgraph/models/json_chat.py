"""Asking a language model for JSON: its reply is checked, and asked for again a few times."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Generic

from biasgraph.errors import ModelError
from biasgraph.models.base import CannotContinue, LanguageModel, Message
from biasgraph.models.json_replies import Schema, Unreadable, read_reply, shorten, strip_thoughts

ATTEMPTS = 3
CORRECT = "This does not fit: {}. Reply again with JSON only, that fits the JSON schema."
REQUEST = "Reply with JSON only, without any other words, that fits this JSON schema:"
REPEATED = 4_000
"""Characters of a wrong reply that the model is shown again: a context window is finite."""
SHOWN = 160
"""Characters of a reply that an error shows."""

Turn = Mapping[str, Any]


@dataclass(frozen=True)
class Exchange(Generic[Schema]):
    """What was asked, what came back, and what was read from it.

    Attributes:
        value: The reply, checked.
        transcript: Every turn in order, in JSON types: ``role``, ``text``; a reply also names its
            ``model`` (``spec``, ``fingerprint``, ``settings``) and, where it does not fit, the
            ``problem``.
    """

    value: Schema
    transcript: tuple[Turn, ...]


class BrokenOff(ModelError):
    """A conversation that came to no end.

    Attributes:
        transcript: What was said, as in `Exchange`.
        in_run: The message for the run's own files, which may be shown to others: it names files
            relative to the run.
    """

    def __init__(self, message: str, transcript: tuple[Turn, ...]) -> None:
        super().__init__(message)
        self.transcript = transcript
        self.in_run = message


class ReplyError(BrokenOff):
    """No reply fits; `transcript` has all of them.

    Attributes:
        forget: Has a model that gives back what it said before forget these replies, so that the
            next command asks it again. It is for the end of a command: one that goes on without a
            reply has come to terms with it, and is not to pay again.
    """

    def __init__(
        self,
        message: str,
        transcript: tuple[Turn, ...],
        forget: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(message, transcript)
        self.forget = forget


def chat(
    model: LanguageModel,
    messages: Sequence[Message],
    schema: type[Schema],
    attempts: int = ATTEMPTS,
) -> Exchange[Schema]:
    """Continue a conversation with a reply that fits a schema.

    The schema is put behind the conversation in words, since not every model can be held to it,
    and some servers ignore it silently. A wrong reply is shown to the model again with what is
    wrong with it, the last one only.

    Args:
        model: Who replies.
        messages: The conversation; a user's turn is the last.
        schema: What the reply must fit.
        attempts: How often to ask, at most.

    Raises:
        ReplyError: None of the replies fits, or there is no room left to ask again; one line with
            what came back last.
        BrokenOff: The model failed after replies that do not fit.
        BiasgraphError: What the model itself raises at its first reply.
    """
    form = schema.model_json_schema()
    wanted = f"{messages[-1].text}\n\n{REQUEST}\n{json.dumps(form)}"
    asked = [*messages[:-1], Message("user", wanted)]
    transcript: list[Turn] = [asdict(message) for message in asked]
    correction: list[Message] = []
    sent: list[list[Message]] = []
    forget = partial(_forget, model, sent, form)
    unusable = ""
    for attempt in range(1, attempts + 1):
        turns = [*asked, *correction]
        try:
            reply = model.reply(turns, form)
        except ModelError as error:
            if not unusable:
                raise
            if isinstance(error, CannotContinue):
                raise ReplyError(f"{unusable}; {error}", tuple(transcript), forget) from error
            raise BrokenOff(str(error), tuple(transcript)) from error
        sent.append(turns)
        try:
            value = read_reply(reply, schema)
        except Unreadable as error:
            transcript.append(_record_reply(model, reply, problem=str(error)))
            unusable = _describe_failure(model, reply, str(error), attempt)
            if attempt == attempts:
                raise ReplyError(unusable, tuple(transcript), forget) from error
            said = strip_thoughts(reply).strip()[:REPEATED] or "(nothing)"
            correction = [Message("assistant", said), Message("user", CORRECT.format(error))]
            transcript.append(asdict(correction[-1]))
        else:
            transcript.append(_record_reply(model, reply))
            return Exchange(value, tuple(transcript))
    raise ValueError("a conversation needs at least one attempt")


def _forget(
    model: LanguageModel, sent: Sequence[Sequence[Message]], form: Mapping[str, Any]
) -> None:
    forget = getattr(model, "forget", None)
    if forget is not None:
        for turns in sent:
            forget(turns, form)


def _describe_failure(model: LanguageModel, reply: str, problem: str, attempts: int) -> str:
    tries = "one attempt" if attempts == 1 else f"{attempts} attempts"
    said = f"it said: '{shorten(reply.strip(), SHOWN)}'" if reply.strip() else "it said nothing"
    return f"{shorten(model.spec, SHOWN)} gave no usable reply in {tries}: {problem}; {said}"


def _record_reply(model: LanguageModel, reply: str, **problem: str) -> Turn:
    speaker = {
        "spec": model.spec,
        "fingerprint": model.fingerprint,
        "settings": dict(model.settings),
    }
    return {**asdict(Message("assistant", reply)), "model": speaker, **problem}
