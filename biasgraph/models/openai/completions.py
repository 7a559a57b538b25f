"""Chat requests, and what comes back: text, and how probable its tokens were."""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from biasgraph.models.openai.error_responses import ErrorResponse, document_of
from biasgraph.models.openai.served_model import Facts, MalformedResponse, Request
from biasgraph.models.openai.server import Response
from biasgraph.models.pixels import pixels_digest

if TYPE_CHECKING:
    from PIL.Image import Image

TOP_LOGPROBS = 20
"""The most that the official server gives."""
TEMPERATURE = 0.0
LONGEST_SIDE, LARGEST_PNG = 2048, 2**20
"""Pixels, and bytes, of a picture that is sent along."""

LONG_TOKENS = 8192
"""The limit for models that were seen to think longer than the usual one allows."""

THINKS, COMPLETION, PLAIN, NO_TEMPERATURE, NO_LOGPROBS, NO_SCHEMA, NO_JSON = (
    "thinks long",
    "names the limit max_completion_tokens",
    "takes no limit",
    "takes no temperature",
    "gives no logprobs",
    "takes no schema",
    "takes no response_format",
)


@dataclass(frozen=True)
class ReplyToken:
    """A token of a reply with the log-probabilities of what might have stood there, itself too."""

    text: str
    alternatives: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class ChatReply:
    """A reply to a conversation.

    Attributes:
        text: Empty where there was none.
        refused: Why the model or the service would not reply; None where it did.
        cut: Whether it ended at the limit of tokens.
        tokens: Its tokens; empty where the server does not tell them.
    """

    text: str
    refused: str | None = None
    cut: bool = False
    tokens: tuple[ReplyToken, ...] = ()


@dataclass(frozen=True)
class AttachedPicture:
    """A picture to send along, encoded when it is needed."""

    image: Image

    @cached_property
    def digest(self) -> str:
        """The hash of the picture's pixels."""
        return pixels_digest(self.image)

    @cached_property
    def url(self) -> str:
        """The picture itself in a data URL: PNG, or JPEG where PNG would be large.

        It goes along with every question; and servers scale what is larger than this anyway.
        """
        image = self.image.convert("RGB")
        image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        file, kind = io.BytesIO(), "png"
        image.save(file, "PNG")
        if file.tell() > LARGEST_PNG:
            file, kind = io.BytesIO(), "jpeg"
            image.save(file, "JPEG", quality=95, subsampling=0)
        return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}"


@dataclass(frozen=True)
class Turn:
    """A turn of a conversation, with a picture before its words where there is one."""

    role: str
    text: str
    picture: AttachedPicture | None = None

    def content(self) -> dict[str, str]:
        """What a reply depends on, in JSON types."""
        shown = {} if self.picture is None else {"picture": self.picture.digest}
        return {"role": self.role, "text": self.text, **shown}

    def message(self) -> dict[str, Any]:
        """The turn as the protocol has it; pictures first, so that servers can reuse them."""
        if self.picture is None:
            return {"role": self.role, "content": self.text}
        url = {"type": "image_url", "image_url": {"url": self.picture.url}}
        return {"role": self.role, "content": [url, {"type": "text", "text": self.text}]}


def chat_request(
    turns: Sequence[Turn],
    *,
    limit: int,
    schema: Mapping[str, Any] | None = None,
    logprobs: bool = False,
    occurrence: int = 0,
) -> Request[ChatReply]:
    """The request for the next turn.

    What a server does not take (a schema, a temperature, log-probabilities, the name of the limit)
    is left out once it has complained about it.

    Args:
        turns: The conversation so far.
        limit: The most tokens of the reply.
        schema: A JSON schema that it should fit.
        logprobs: Whether to ask how probable its tokens were.
        occurrence: Tells a request from an earlier one of the same words.
    """
    content = {
        "messages": [turn.content() for turn in turns],
        "schema": schema,
        "logprobs": logprobs,
        "temperature": TEMPERATURE,
        "occurrence": occurrence,
    }

    def body(facts: Facts) -> Mapping[str, Any]:
        parameters: dict[str, Any] = {"messages": [turn.message() for turn in turns]}
        if NO_TEMPERATURE not in facts:
            parameters["temperature"] = TEMPERATURE
        if PLAIN not in facts:
            name = "max_completion_tokens" if COMPLETION in facts else "max_tokens"
            parameters[name] = max(limit, LONG_TOKENS) if THINKS in facts else limit
        if logprobs and NO_LOGPROBS not in facts:
            parameters |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        if schema is not None and NO_SCHEMA not in facts:
            form = {"name": "reply", "schema": make_strict(schema), "strict": True}
            parameters["response_format"] = {"type": "json_schema", "json_schema": form}
        elif schema is not None and NO_JSON not in facts:
            parameters["response_format"] = {"type": "json_object"}
        return parameters

    adapts: dict[str, tuple[str, ...]] = {
        COMPLETION: ("max_tokens",),
        PLAIN: ("max_completion_tokens",),
        NO_TEMPERATURE: ("temperature",),
    }
    if logprobs:
        adapts[NO_LOGPROBS] = ("logprobs", "top_logprobs")
    if schema is not None:
        adapts[NO_SCHEMA] = ("response_format", "json_schema", "schema")
        adapts[NO_JSON] = ("response_format", "json_object")
    return Request("chat", content, body, read_chat, adapts)


def read_chat(response: Response) -> ChatReply:
    """The reply that a response holds. Raises MalformedResponse."""
    if response.status >= 400:
        complaint = ErrorResponse.of(response)
        return ChatReply("", refused=complaint.moderated or complaint.message or "refused")
    try:
        choice = document_of(response.body)["choices"][0]
        message = choice["message"]
        content = message.get("content")
        refusal = message.get("refusal")
        reason = choice.get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise MalformedResponse("it contains no reply") from error
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    if content is not None and not isinstance(content, str):
        raise MalformedResponse("its reply is not text")
    refused = refusal if isinstance(refusal, str) and refusal else None
    if reason == "content_filter":
        refused = refused or "content_filter"
    return ChatReply(content or "", refused, reason == "length", _tokens(choice.get("logprobs")))


def _tokens(logprobs: Any) -> tuple[ReplyToken, ...]:
    """The tokens of a reply; none at all where their form is not the protocol's."""
    try:
        return tuple(_token(token) for token in (logprobs or {}).get("content") or [])
    except (LookupError, TypeError, ValueError, AttributeError):
        return ()


def _token(token: Mapping[str, Any]) -> ReplyToken:
    logprobs = {str(token["token"]): float(token["logprob"])}
    for other in token.get("top_logprobs") or []:
        logprobs.setdefault(str(other["token"]), float(other["logprob"]))
    # -9999 stands for a token that was sampled without being among the likeliest.
    return ReplyToken(
        str(token["token"]),
        tuple((text, p) for text, p in logprobs.items() if not math.isnan(p) and p <= 0.001),
    )


def make_strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema as strict structured output wants it: every property required, no others.

    What is optional becomes required, which a reply that fits the schema may have anyway.
    """
    copied: dict[str, Any] = json.loads(json.dumps(schema))
    _tighten(copied)
    return copied


def _tighten(part: Any) -> None:
    if isinstance(part, list):
        for item in part:
            _tighten(item)
    elif isinstance(part, dict):
        part.pop("default", None)
        if isinstance(part.get("properties"), dict):
            part["required"] = list(part["properties"])
            part["additionalProperties"] = False
        for name, value in part.items():
            if name in ("properties", "$defs") and isinstance(value, dict):
                _tighten(list(value.values()))  # its own names are no keywords
            elif name not in ("enum", "const", "examples"):
                _tighten(value)
