"""A language model behind a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgraph.models.base import Message, Setting
from biasgraph.models.openai.asking import Asking
from biasgraph.models.openai.chats import TEMPERATURE, Turn, chat_request

TOKENS = 8192


@dataclass(frozen=True)
class OpenAILanguageModel:
    """Replies at temperature 0; the same conversation is answered once in a run."""

    asking: Asking

    @property
    def spec(self) -> str:
        return self.asking.spec

    @property
    def fingerprint(self) -> str:
        return self.asking.fingerprint

    @property
    def settings(self) -> Mapping[str, Setting]:
        return {"temperature": TEMPERATURE, "tokens": TOKENS}

    def reply(self, messages: Sequence[Message], schema: Mapping[str, Any] | None = None) -> str:
        turns = [Turn(message.role, message.text) for message in messages]
        said = self.asking.all([chat_request(turns, limit=TOKENS, schema=schema)])[0]
        return said.text or said.refused or ""
